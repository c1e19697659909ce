// The panel under the graph: one step told in formula, numbers and source; and one node, told in full.

const MOST_VISITS = 24;
const section = (name, title, ...children) => make("section", name, make("p", "title", title), ...children);
// A card after a sign; the two are never parted by the end of a line.
const then = (sign, shown) => make("div", "then", make("span", "sign", sign), shown);

function stepPanel(data, step) {
  const rule = data.rules[step.rule];
  return [
    make("div", "column wide", ruleSection(rule, step)),
    make("div", "column", numbersSection(data, step)),
    make("div", "column", sourceSection(data, step, rule)),
    ...Object.keys(step.reads).length ? [make("div", "column wide", readsSection(data, step))] : [],
  ];
}

function ruleSection(rule, step) {
  const shown = section("rule", "The rule");
  shown.firstChild.append(make("span", "", `${step.rule}, ${rule.kind}`));
  if (rule.formula) {
    shown.append(make("div", "formulas", formula(rule.formula, "formula", `The formula of the rule: ${rule.text}`),
      formula(step.numbers, "formula filled", "The formula with numbers")));
  } else if (rule.text) shown.append(make("p", "formula plain", rule.text));
  if (rule.reason) shown.append(make("p", "reason", rule.reason));
  return shown;
}

function numbersSection(data, step) {
  const word = step.summed === null ? "contribution" : "raw";
  const sent = card(word, valueAt(data, step[word]));
  const local = valueAt(data, step.local);
  const times = [local, valueAt(data, step.upstreams.upstream)].every(isComplex) ? "\u00d7 conj" : "\u00d7";
  const sending = step.local === null ? [then("\u2192", sent)] : [then(times, card("local", local)), then("=", sent)];
  const arrived = cardsOf(data, step.upstreams).map((shown, k) => (k ? then(",", shown) : shown));
  return section("numbers", "The numbers", make("div", "cards", ...arrived, ...sending),
    step.summed && make("p", "summed", step.summed),
    make("p", "title small", `What ${data.names[step.to]} holds`), holding(data, step));
}

const readsSection = (data, step) => section("numbers", "What the rule read besides",
  make("div", "cards full", ...cardsOf(data, step.reads)));

const cardsOf = (data, places) => Object.entries(places).map(([name, place]) => card(name, valueAt(data, place)));

// before + contribution = after, in colours that mean the same in all three.
function holding(data, step) {
  const [before, sent, after] = ["before", "contribution", "after"].map((word) => valueAt(data, step[word]));
  const largest = largestOf([...keptOf(before), ...keptOf(sent), ...keptOf(after)]);
  const first = step.accumulates ? card("before", before, largest) : framed("before", null, missing("nothing yet"));
  const [added, sum] = [card("contribution", sent, largest), card("after", after, largest)];
  return make("div", "cards", first, then("+", added), then("=", sum));
}

function sourceSection(data, step, rule) {
  const site = data.nodes[step.node].site;
  const shown = make("section", "sources");
  if (site && site.text) {
    const where = `${site.file}, line ${site.line}` + (site.function ? `, in ${site.function}` : "");
    shown.append(quoted(data.line, where, sourceLine(site)));
  }
  if (rule.source) {
    shown.append(quoted("The rule\u2019s own code", `${rule.file}, line ${rule.line}`, ...sourceLines(rule.source)));
  }
  return shown;
}

// What is there before the first step, or after the last.
function startPanel(data) {
  const held = Object.entries(data.started).filter(([, place]) => place !== null);
  return held.length ? nodeCards(data, `The ${data.word} the walk starts with`, held) : [];
}

function endPanel(data) {
  const left = data.gradients.filter((gradient) => gradient.value !== null).map(({ node, value }) => [node, value]);
  return left.length ? nodeCards(data, `The walk is over: every ${data.word} it leaves behind`, left) : [];
}

const nodeCards = (data, title, held) => [make("div", "column wide", section("numbers", title,
  make("div", "cards full", ...held.map(([node, place]) => card(data.names[node], valueAt(data, place))))))];

// One node in full: what made it, its value, and what has arrived there so far.
function nodePanel(data, i, place, enter) {
  const node = data.nodes[i];
  const shown = section("node-told", data.names[i]);
  const about = node.kind === "leaf" ? "leaf" : node.summary ?? node.op ?? node.kind;
  shown.firstChild.append(make("span", "", about));
  const given = Object.entries(node.params).map(([name, text]) => `${name}=${text}`).join(", ");
  if (given) shown.append(make("p", "reason", `with ${given}`));
  const outputs = outputsOf(data, i);
  if (outputs.length) {
    shown.append(make("p", "reason", `It has several outputs: its values, and the ${data.word}s that arrive, stand at `
      + `${outputs.map((output) => data.names[output]).join(", ")}.`));
    return shown;
  }
  const held = valueAt(data, place);
  const nothing = node.requires_grad ? "nothing has arrived yet" : `asks for no ${data.word}`;
  shown.append(make("div", "cards full", fullCard("value", valueAt(data, node.value)),
    held ? fullCard(data.word, held) : framed(data.word, null, missing(nothing))));
  if (data.insides[i]) shown.append(insideButton(data.names[i], () => enter(i)));
  return shown;
}

// The steps in which a node receives and sends, each as a button that leads there.
function visits(received, sent, go) {
  const lead = (i) => {
    const button = makeButton("visit", () => go(i), String(i + 1));
    button.setAttribute("aria-label", `Go to step ${i + 1}`);
    return button;
  };
  const told = (word, steps) => (steps.length ? [make("span", "", `${word} in step${steps.length > 1 ? "s" : ""}`),
    ...steps.slice(0, MOST_VISITS).map(lead), steps.length > MOST_VISITS ? make("span", "", "\u2026") : null] : []);
  return make("p", "visits", ...told("Receives", received), ...told(received.length ? "sends" : "Sends", sent));
}

const outputsOf = (data, i) => data.edges.filter(([from, to]) => from === i && data.nodes[to].kind === "output")
  .map(([, to]) => to);

const insideButton = (name, enter) => makeButton("inside", enter, `Step inside ${name}`);

// The panel under the graph: one step told in formula, numbers and source; and one node, told in full.

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
  const value = (place) => (place === null ? null : data.values[place]);
  const sent = step.summed === null ? card("contribution", value(step.contribution)) : card("raw", value(step.raw));
  const sending = step.local === null ? [then("\u2192", sent)]
    : [then("\u00d7", card("local", value(step.local))), then("=", sent)];
  const arrived = Object.entries(step.upstreams).map(([name, place]) => card(name, value(place)));
  const [first, ...others] = arrived.map((shown, k) => (k ? then(",", shown) : shown));
  const shown = section("numbers", "The numbers", make("div", "cards", first, ...others, ...sending));
  if (step.summed !== null) shown.append(make("p", "summed", step.summed));
  shown.append(make("p", "title small", `What ${data.names[step.to]} holds`), holding(step, value));
  return shown;
}

function readsSection(data, step) {
  const cards = Object.entries(step.reads).map(([name, place]) => card(name, place === null ? null : data.values[place]));
  return section("numbers", "What the rule read besides", make("div", "cards", ...cards));
}

// before + contribution = after, in colours that mean the same in all three.
function holding(step, value) {
  const [before, sent, after] = ["before", "contribution", "after"].map((word) => value(step[word]));
  const largest = largestOf([...keptOf(before), ...keptOf(sent), ...keptOf(after)]);
  return make("div", "cards", step.accumulates ? card("before", before, largest) : empty(),
    then("+", card("contribution", sent, largest)), then("=", card("after", after, largest)));
}

function empty() {
  const shown = make("figure", "card", make("figcaption", "", make("b", "", "before")));
  shown.append(make("p", "missing", "nothing yet"));
  return shown;
}

function sourceSection(data, step, rule) {
  const site = data.nodes[step.node].site;
  const shown = make("section", "sources");
  if (site && site.text) {
    const where = `${site.file}, line ${site.line}` + (site.function ? `, in ${site.function}` : "");
    shown.append(quoted(data.line, where, sourceLine(site)));
  }
  if (rule.source) {
    shown.append(quoted("The rule\u2019s own code", `${rule.file}, line ${rule.line}`, make("code", "", rule.source)));
  }
  return shown;
}

// What is there before the first step, or after the last.
function startPanel(data) {
  const held = Object.entries(data.started).filter(([, place]) => place !== null);
  const cards = held.map(([node, place]) => card(data.names[node], data.values[place]));
  return [make("div", "column wide", section("numbers", `The ${data.word} the walk starts with`,
    make("div", "cards", ...cards)))];
}

function endPanel(data) {
  if (!data.gradients.length) return [];
  const cards = data.gradients.filter((g) => g.value !== null)
    .map((g) => card(data.names[g.node], data.values[g.value]));
  return [make("div", "column wide", section("numbers", `The walk is over: every ${data.word} it leaves behind`,
    make("div", "cards", ...cards)))];
}

// One node in full: what made it, its value, and what has arrived there so far.
function nodePanel(data, i, place, enter) {
  const node = data.nodes[i];
  const value = (p) => (p === null || p === undefined ? null : data.values[p]);
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
  const held = node.requires_grad ? (place === null || place === undefined
    ? [make("p", "missing", "nothing has arrived yet")] : inFull(value(place)))
    : [make("p", "missing", `asks for no ${data.word}`)];
  shown.append(make("div", "cards full", fullCard("value", value(node.value), inFull(value(node.value))),
    fullCard(data.word, value(place), held)));
  if (data.insides[i]) shown.append(insideButton(data.names[i], () => enter(i)));
  return shown;
}

const outputsOf = (data, i) => data.edges.filter(([from, to]) => from === i && data.nodes[to].kind === "output")
  .map(([, to]) => to);

function fullCard(word, value, children) {
  const about = value && !isScalar(value) ? `${shapeText(value.shape)} ${value.dtype}` : "";
  return make("figure", "card", make("figcaption", "", make("b", "", word), about && make("span", "", about)),
    ...children);
}

function insideButton(name, enter) {
  const button = make("button", "inside", `Step inside ${name}`);
  button.type = "button";
  button.addEventListener("click", enter);
  return button;
}

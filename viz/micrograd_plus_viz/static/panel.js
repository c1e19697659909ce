// The panel under the graph: one step told in formula and numbers; and one node, told in full.

const MOST_VISITS = 24;
const MOST_CARDS = 60;
const section = (name, title, ...children) => make("section", name, make("p", "title", title), ...children);
// A card after a sign; the two are never parted by the end of a line.
const then = (sign, shown) => make("div", "then", make("span", "sign", sign), shown);

// Equality where every number is written to its last digit, or none is written; else about equal.
const signOf = (...values) => {
  const written = values.filter((value) => value && value.data && (isScalar(value) || isWritten(value)));
  return written.every((value) => value.data.every(isWhole)) ? "=" : "\u2248";
};

// What the program calls what a rule has letters for: by the input's own name, or where the program has a name of that
// letter for something else, by the operation that made it.
function namesOf(data, step) {
  const own = [...(data.formulas[step.formula] ?? "").matchAll(/data-name="([^"]+)"[^>]*>([^<]+)/g)]
    .filter(([, name, text]) => text !== name && !WORDS[name]);
  if (own.length) return Object.fromEntries(own.map(([, name, text]) => [name, text.replaceAll("&amp;", "&")]));
  const inputs = data.edges.filter(([, to]) => to === step.node);
  return Object.fromEntries(inputs.flatMap(([from, , name]) => {
    const called = data.called[from] ?? (data.called.includes(name) ? data.names[from] : null);
    return called && called !== name ? [[name, called]] : [];
  }));
}

function stepPanel(data, step, isLast) {
  const rule = data.rules[step.rule];
  return [
    make("div", "column rule-told scroller", ruleSection(data, rule, step),
      isLast ? endSection(data) : null, codeSection(rule)),
    make("div", "column scroller", numbersSection(data, step)),
  ];
}

function ruleSection(data, rule, step) {
  const shown = section("rule", "The rule");
  shown.firstChild.append(make("span", "", `${step.rule}, `, gloss(rule.kind)));
  const general = data.formulas[step.formula];
  if (general) {
    shown.append(make("div", "formulas", formula(general, "formula", `The formula of the rule: ${rule.text}`,
      namesOf(data, step)),
      step.numbers && formula(step.numbers, "formula filled", "The formula with numbers", namesOf(data, step))));
  } else if (rule.text) shown.append(make("p", "formula plain", rule.text));
  if (rule.reason) shown.append(make("p", "reason", rule.reason));
  return shown;
}

// upstream, local and what is sent; then what the receiver had and has. One scale for all gradients.
function numbersSection(data, step) {
  const value = (word) => valueAt(data, step[word]);
  const [before, sent, after, local, raw] = ["before", "contribution", "after", "local", "raw"].map(value);
  const arrived = Object.entries(step.upstreams).map(([name, place]) => [name, valueAt(data, place)]);
  const largest = largestOf(...arrived.map(([, each]) => each), before, sent, after, raw);
  const room = [176, step.accumulates || step.summed ? 72 : 110];
  const cards = arrived.map(([name, each], k) => (k ? then(",", card(name, each, largest, room)) : card(name, each,
    largest, room)));
  const upstream = valueAt(data, step.upstreams.upstream);
  const first = step.summed ? raw : sent;
  if (local) {
    cards.push(then([local, upstream].every(isComplex) ? "\u00d7 conj" : "\u00d7", card("local", local, largestOf(
      local), room)));
  }
  const besides = local ? [] : arraysRead(data, step, room);
  for (const each of besides) cards.push(then(",", each));
  cards.push(then(local ? signOf(upstream, local, first) : "\u2192", card(step.summed ? "raw" : "contribution",
    first, largest, room)));
  if (step.summed) {
    const axes = `${step.summed_axes.length > 1 ? "axes" : "axis"} ${step.summed_axes.join(", ")}`;
    cards.push(then(`\u2211 over ${axes} ${signOf(raw, sent)}`, card("contribution", sent, largest)));
  }
  const holds = step.accumulates || !sent || isScalar(sent) ? holding(step, before, sent, after, largest)
    : make("p", "holds", gloss("before"), ": nothing yet. ", gloss("after"), ": the contribution itself.");
  return section("numbers", "The numbers", make("div", "cards", ...cards), step.summed && make("p", "summed",
    step.summed),
    make("p", "title small", `What ${data.names[step.to]} holds`), holds,
    [...arrived.map(([, each]) => each), sent, after, raw].some((each) => each && ofSeveral(each)) ? scaleOf(
      largest) : null,
    readsSection(data, step));
}

// before + contribution = after.
function holding(step, before, sent, after, largest) {
  const had = step.accumulates ? card("before", before, largest) : framed(gloss("before"), null,
    missing("nothing yet"));
  if (step.earlier) had.append(make("p", "statistics", "from an earlier walk"));
  return make("div", "cards", had, then("+", card("contribution", sent, largest)),
    then(signOf(before, sent, after), card("after", after, largest)));
}

const readOf = (data, step) => Object.entries(step.reads).map(([name, place]) => [name, valueAt(data, place)]);

// Whether what a rule read weighs as much as an array: its inputs, its result, arrays; no parameter that is a number.
function weighs(data, step, [name, value]) {
  const inputs = data.edges.filter(([, to]) => to === step.node).map(([, , input]) => input);
  return !value || ofSeveral(value) || inputs.includes(name) || name === "out";
}

function arraysRead(data, step, room) {
  const names = namesOf(data, step);
  const title = (name) => (names[name] ? `${names[name]} (${name} in the rule)` : name === "out"
    ? "out, the result" : name);
  return readOf(data, step).filter((each) => weighs(data, step, each)).map(([name, value]) => framed(
    make("b", "", title(name)), value && ofSeveral(value) ? shapeText(value.shape) : null, ...brief(value, largestOf(
      value), room)));
}

// What else the rule used: arrays that made the local derivative as cards, parameters in a line.
function readsSection(data, step) {
  const settings = readOf(data, step).filter((each) => !weighs(data, step, each))
    .map(([name, value]) => `${name} = ${number(value.data[0])}`);
  const arrays = step.local === null ? [] : arraysRead(data, step);
  if (!arrays.length && !settings.length) return null;
  return make("div", "reads", arrays.length ? make("p", "title small", data.besides
    ?? "What the local derivative was made of") : null,
    make("div", "cards", ...arrays), settings.length ? make("p", "reason", `with ${settings.join(", ")}`) : null);
}

const codeSection = (rule) => rule.source
  ? make("section", "sources", quoted("The rule\u2019s own code", `${rule.file}, line ${rule.line}`, ...sourceLines(
    rule.source)))
  : null;

// The student's line that a step belongs to, and from where it was called.
function lineOf(data, node) {
  const { site } = data.nodes[node];
  if (!site?.text) return null;
  const where = `${site.file}, line ${site.line}` + (site.function ? `, in ${site.function}` : "");
  const calls = data.nodes[node].calls ?? [];
  return make("div", "your-line quoted", make("p", "title", data.line, make("span", "", where)),
    make("div", "source", sourceLine(site)),
    calls.length ? make("p", "reason", `called from ${calls.map((call) => `${call.file},
      line ${call.line}`).join(", from ")}`) : null);
}

// What is there before the first step, or after the last.
function startPanel(data) {
  const held = Object.entries(data.started).filter(([, place]) => place !== null);
  return held.length ? nodeCards(data, `The ${data.word} the walk starts with`, held) : [];
}

function endSection(data) {
  const left = data.gradients.filter((gradient) => gradient.value !== null).map(({ node, value }) => [node, value]);
  const shown = left.length ? cardsSection(data, `The walk is over: every ${data.word} it leaves behind`, left) : null;
  if (shown) shown.className = "held sources";
  return shown;
}

const nodeCards = (data, title, held) => [make("div", "column wide scroller", cardsSection(data, title, held))];

function cardsSection(data, title, held) {
  const largest = largestOf(...held.map(([, place]) => valueAt(data, place)));
  const more = held.length - MOST_CARDS;
  const cards = held.slice(0, MOST_CARDS).map(([node, place]) => card(make("b", "", data.names[node]),
    valueAt(data, place), largest));
  return section("numbers", title, make("div", "cards", ...cards),
    more > 0 ? make("p", "reason", `and ${more} more: search for a node, or press it, to see its own.`) : null,
    scaleOf(largest));
}

function errorPanel(data, error) {
  return [make("div", "column wide scroller", section("failed", `${error.kind}`, make("p", "error-text", error.text)))];
}

// One node in full: what made it, its value, and what has arrived there so far.
function nodePanel(data, i, place, enter, leave) {
  const node = data.nodes[i];
  const shown = section("node-told", data.names[i]);
  const about = node.kind === "leaf" ? "an input or a parameter" : node.summary ?? node.op ?? node.kind;
  shown.firstChild.append(make("span", "", about), makeButton("close", leave, "Back to the step"));
  const given = Object.entries(node.params).map(([name, text]) => `${name}=${text}`).join(", ");
  if (given) shown.append(make("p", "reason", `with ${given}`));
  const outputs = outputsOf(data, i);
  if (outputs.length) {
    shown.append(make("p", "reason", `It has several outputs: its values, and the ${data.word}s that arrive, stand at `
      + `${outputs.map((output) => data.names[output]).join(", ")}.`));
    return shown;
  }
  const [value, held] = [valueAt(data, node.value), valueAt(data, place)];
  const nothing = node.requires_grad ? "nothing has arrived yet" : `no ${data.word} is asked for here`;
  shown.append(make("div", "cards full", fullCard("value", value, largestOf(value)),
    held ? fullCard(data.word, held, largestOf(held)) : framed(make("b", "", data.word), null, missing(nothing))));
  if (data.insides[i] !== undefined) shown.append(insideButton(data, i, () => enter(i)));
  return shown;
}

// The steps in which a node receives and sends, each as a button that leads there.
function visits(data, received, sent, go) {
  const lead = (i) => {
    const button = makeButton("visit", () => go(i), String(data.first + i + 1));
    button.setAttribute("aria-label", `Go to step ${data.first + i + 1}`);
    return button;
  };
  const told = (word, steps) => (steps.length ? [make("span", "", `${word} in step${steps.length > 1 ? "s" : ""}`),
    ...steps.slice(0, MOST_VISITS).map(lead), steps.length > MOST_VISITS ? make("span", "", "\u2026") : null] : []);
  return make("p", "visits", ...told("Receives", received), ...told(received.length ? "sends" : "Sends", sent));
}

const outputsOf = (data, i) => data.edges.filter(([from, to]) => from === i && data.nodes[to].kind === "output")
  .map(([, to]) => to);

function insideButton(data, i, enter) {
  const like = data.insides[i];
  const text = typeof like === "number" ? `Step inside ${data.names[like]}, made alike`
    : `Step inside ${data.names[i]}`;
  return makeButton("inside", enter, text);
}

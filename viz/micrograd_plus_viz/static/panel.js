// The panel below the graph: a step with its formula and numbers, or a node in full.

const MOST_VISITS = 24;
const MOST_CARDS = 60;
const section = (name, title, ...children) => make("section", name, make("p", "title", title), ...children);
// A card after a sign, always on the same line.
const then = (sign, shown) => make("div", "then", make("span", "sign", sign), shown);

// "=" if all printed numbers are exact, if none is printed, or if the rounded numbers still add or multiply up;
// otherwise "\u2248".
const signOf = (...values) => {
  const written = values.filter((value) => value && value.data && (isScalar(value) || isWritten(value)));
  return written.every((value) => value.data.every(isWhole)) ? "=" : "\u2248";
};

// Entry by entry; a single number goes with each.
function holdsAsPrinted(does, ...values) {
  const sizes = values.map((value) => value?.data?.length);
  const most = Math.max(...sizes);
  return most <= 16 && sizes.every((size) => size === 1 || size === most) && [...Array(most).keys()].every((k) => {
    const read = values.map(({ data }) => Number(number(data[k] ?? data[0]).replaceAll(MINUS, "-")));
    const result = read.pop();
    return Math.abs(read.reduce(does) - result) <= 1e-12 * Math.abs(result);
  });
}

const EQUALS = ["=", "\u2248", "\u2192"];

// The sign before a number that a student wrote: it need not be the sum or the product of the others.
const signBefore = (sign, mark, word) => (mark?.word === word && mark.wrong.length && sign !== "=" ? "\u2192" : sign);
const productSign = (...values) => (holdsAsPrinted((a, b) => a * b, ...values) ? "=" : signOf(...values));
const sumSign = (...values) => (holdsAsPrinted((a, b) => a + b, ...values) ? "=" : signOf(...values));

// The program's names for the rule's symbols: those of the formula, what the program writes for an input, or, where the
// rule has only a letter, the input's name in the graph, which may be a number.
function namesOf(data, step) {
  const own = [...(data.formulas[step.formula] ?? "").matchAll(/data-name="([^"]+)"[^>]*>([^<]+)/g)]
    .filter(([, name, text]) => text !== name && !WORDS[name]);
  const inputs = data.edges.filter(([, to]) => to === step.node);
  const called = ([from, , name]) => data.terms[from] ?? (isNumber(data.names[from]) ? inBrackets(data.names[from])
    : name.length > 2 && !data.called.includes(name) && data.nodes[from].kind !== "leaf" ? name : data.names[from]);
  const given = Object.fromEntries(inputs.map((input) => [input[2], called(input)]));
  for (const [, name, text] of own) {
    const [plain, term] = [text.replace(/&(amp|lt|gt);/g, (_, entity) => ENTITIES[entity]),
      name === "out" ? data.terms[step.node] : given[name]];
    given[name] = term?.startsWith(`${plain} #`) ? term : plain;
  }
  return given;
}

const ENTITIES = { amp: "&", lt: "<", gt: ">" };
const inBrackets = (number) => (number[0] === MINUS ? `(${number})` : number);

// What a panel gives up as it grows denser: the height and width of its pictures relative to the usual, and the rows of
// numbers that it prints; a longer column becomes a picture.
const DENSITIES = [[1, 1, Infinity], [1, 1, Infinity], [0.75, 1, 4], [0.5, 2, 4], [0.25, 4, 1]];
const LEAST_HIGH = 28;
// The classes of a half of the panel: one for each density up to its own.
const densities = (half, most) => Array.from({ length: most }, (_, k) => ` ${half}-${k + 1}`).join("");

function stepPanel(data, step, end, dense) {
  const rule = data.rules[step.rule];
  return [
    make("div", "column rule-details scroller", ruleSection(data, rule, step), codeSection(rule)),
    make("div", "column scroller", numbersSection(data, step, dense), end),
  ];
}

// Makes the two halves of a panel as dense as needed to be fully visible, starting at 0. The density of similar steps
// is tried first, so that most panels are built only once.
function fitPanel(panel, needed, step, build) {
  const sizes = ["contribution", ...Object.keys(step.upstreams)].map((word) => step[word] ?? "");
  const like = [step.rule, step.accumulates, step.formula === null ? sizes : step.formula].join("|");
  const [most, at] = [DENSITIES.length - 1, needed.get(like) ?? [0, 0]];
  const overflows = (column) => column && column.scrollHeight > column.clientHeight + 1;
  for (;;) {
    panel.className = `panel${densities("rule", at[0])}${densities("numbers", at[1])}`;
    panel.classList.toggle("broad-rule", at[0] > at[1]);
    panel.replaceChildren(...build(at[1]));
    const over = [0, 1].map((k) => overflows(panel.children[k]) && at[k] < most);
    if (!over.includes(true)) break;
    over.forEach((too, k) => { at[k] += Number(too); });
  }
  needed.set(like, at);
}

// A rule's name as it is defined; the record counts rules of one name.
const ruleName = (step) => step.rule.replace(/#\d+$/, "");

function ruleSection(data, rule, step) {
  const shown = section("rule", "The rule");
  shown.firstChild.append(make("span", "", `${ruleName(step)}, `, gloss(rule.kind)));
  const general = data.formulas[step.formula];
  if (general) {
    shown.append(make("div", "formulas", formula(general, "formula", `The formula of the rule: ${rule.text}`,
      namesOf(data, step), true),
      step.numbers && formula(step.numbers, "formula filled", "The formula with numbers", namesOf(data, step))));
  } else if (rule.text) shown.append(make("p", "formula plain", rule.text));
  if (step.summed) shown.append(make("p", "summed", step.summed));
  if (rule.reason) shown.append(make("p", "reason", rule.reason));
  return shown;
}

// upstream, local and contribution, then the receiver's value before and after. All gradients share one scale.
function numbersSection(data, step, dense) {
  const { mark } = step;
  const value = (word) => {
    const found = valueAt(data, step[word]);
    return found && mark?.word === word ? { ...found, outlined: new Set(mark.wrong) } : found;
  };
  const [before, sent, after, local, raw] = ["before", "contribution", "after", "local", "raw"].map(value);
  const [row] = rowsOf(data, step, weighs);
  const arrived = Object.entries(step.upstreams).map(([name, place]) => [name, valueAt(data, place)]);
  const largest = largestOf(...arrived.map(([, each]) => each), before, sent, after, raw, mark?.right ?? null);
  const many = arrived.length + Object.keys(step.reads).length > 3;
  const sums = step.summed_axes.length;
  const [left, times, rows] = DENSITIES[dense];
  const roomOf = (wide, high) => [wide * times, Math.max(LEAST_HIGH, high * left), rows];
  const room = roomOf(many ? 120 : 176, many || step.accumulates || sums ? 56 : 104);
  const gradients = { raw, contribution: sent };
  const cardOf = (part) => {
    if (part.name === "local") return card("local", local, largestOf(local), room, shapeAndRange(local));
    if (!part.of) return factorCard(data, part, room);
    const shown = card(part.transposed ? gloss(part.word, WORDS[part.name]) : part.name,
      gradients[part.name] ?? shownBy(data, part), largest, room);
    shown.dataset.of = part.name;
    return shown;
  };
  const signText = ({ sign, note }) => (note ? sign.replace(" ", ` ${note} `)
    : EQUALS.includes(sign) ? signBefore(sign, mark, "contribution") : sign);
  const cards = [cardOf(row[0])];
  for (let k = 1; k < row.length; k += 2) cards.push(then(signText(row[k]), cardOf(row[k + 1])));
  const beside = mark?.right ? then("\u2260", card("right", mark.right, largest, room)) : null;
  if (beside && mark.word === "contribution") cards.push(beside);
  const holds = step.accumulates || !sent || isScalar(sent) ? accumulation(step, before, sent, after, largest, room)
    : make("p", "holds", gloss("before"), ": nothing yet. ", gloss("after"), ": the contribution.");
  const all = [...arrived.map(([, each]) => each), before, sent, after, raw];
  const several = all.some((each) => each && hasSeveral(each));
  const share = (title, ...children) => make("div", "share", make("p", "title", title), ...children);
  if (beside && mark.word === "after") holds.append(beside);
  return make("section", "numbers", mark ? make("p", `mark${mark.wrong.length ? " bad" : ""}`, mark.say) : null,
    share("The numbers", make("div", "cards", ...cards), ...readsText(data, step)),
    readsSection(data, step, row, roomOf(120, 56)), share(`What ${data.names[step.to]} holds`, holds),
    several ? scaleOf(largest, ...all) : null);
}

// before + contribution = after.
function accumulation(step, before, sent, after, largest, room) {
  const had = step.accumulates ? card("before", before, largest, room) : cardFrame(gloss("before"), null,
    missing("nothing yet"));
  if (step.earlier) had.append(make("p", "statistics", "held before this walk"));
  return make("div", "cards", had, then("+", card("contribution", sent, largest, room)),
    then(signBefore(sumSign(...[before, sent, after].filter((value, k) => k || value)), step.mark, "after"),
      card("after", after, largest, room)));
}

const readOf = (data, step) => Object.entries(step.reads).map(([name, place]) => [name, valueAt(data, place)]);

// Whether a value that the rule read deserves a card: inputs, the result and arrays, but not numeric parameters.
function weighs(data, step, [name, value]) {
  const inputs = data.edges.filter(([, to]) => to === step.node).map(([, , input]) => input);
  return !value || hasSeveral(value) || inputs.includes(name) || name === "out";
}

// A factor with its own range. If the program has another name for it than the rule's code, both are its name.
function factorCard(data, part, room) {
  const { name, called, word } = part;
  const value = shownBy(data, part);
  const title = word === "out" ? "out, the result" : `.${called}`.endsWith(`.${name}`) ? word
    : `${word} (${name} in the rule)`;
  const shown = cardFrame(make("b", "", title), shapeAndRange(value), ...brief(value, largestOf(value), room));
  shown.dataset.of = name;
  return shown;
}

// The axes that a step sums. A real input gets the real part of a complex sum.
function axesText(data, { summed_axes: axes, raw, contribution }) {
  const [hasComplex, isReal] = [isComplex(valueAt(data, raw)), !isComplex(valueAt(data, contribution))];
  return `${axes.length > 1 ? "axes" : "axis"} ${axes.join(", ")}${hasComplex && isReal ? ", real part" : ""}`;
}

// Whether the factors of a rule multiply to what it gives: its own, or upstream and local.
const isProduct = ({ product, local }) => Boolean(product ?? local !== null);

// Whether a rule sends the sum of its upstream, which needs no name of its own.
const sumsUpstream = ({ product, summed_axes: axes }) => product === "upstream" && axes.length;

// The sign between upstream and local.
function signOfLocal(data, step) {
  if (!isProduct(step)) return ",";
  const both = [step.local, step.upstreams.upstream].every((place) => isComplex(valueAt(data, place)));
  return both ? "\u00b7 conj" : "\u00b7";
}

// Cards of the other arrays that the rule read, as for its local derivative.
function readsSection(data, step, row, room) {
  const names = namesOf(data, step);
  const isShown = (name) => row.some((part) => part.name === name) || (step.local ?? -1) === step.reads[name];
  const arrays = readOf(data, step).filter(([name, value]) => (!value || hasSeveral(value)) && !isShown(name))
    .map(([name]) => factorCard(data, factorOf(step, names, name), room));
  const title = data.besides ?? (step.local === null ? "Also read" : "Used by local");
  return arrays.length ? make("div", "share reads", make("p", "title", title), make("div", "cards", ...arrays)) : null;
}

// Other values that the rule read, as text: the source of local, single numbers, parameters.
function readsText(data, step) {
  const names = namesOf(data, step);
  const about = (name, text) => {
    const one = make("span", "", text);
    one.dataset.of = name;
    return one;
  };
  const called = (name) => names[name] ?? (name === "out" ? "the result" : name);
  const equation = ([name, value], k) => about(name, `${k ? ", " : ""}${called(name)} = ${number(value.data[0])}`);
  const isLocal = ([name]) => step.local !== null && step.reads[name] === step.local;
  const alone = readOf(data, step).filter(([, value]) => value && !hasSeveral(value));
  const [same] = readOf(data, step).filter(isLocal);
  const factors = step.local === null ? [] : alone.filter((each) => weighs(data, step, each) && !isLocal(each));
  const settings = alone.filter((each) => !weighs(data, step, each) && !isLocal(each));
  const parts = [same && ["local is ", about(same[0], called(same[0]))],
    factors.length && ["local uses ", ...factors.map(equation)],
    settings.length && ["with ", ...settings.map(equation)]].filter(Boolean);
  return parts.length ? [make("p", "reason", ...parts.flatMap((part, k) => (k ? ["; ", ...part] : part)))] : [];
}

// The code of a rule, which opens and closes on click; the next step keeps the state.
let codeIsShown = false;

function codeSection(rule) {
  if (!rule.source) return null;
  const title = `The ${rule.walk ? "operation" : "rule"}\u2019s code`;
  const shown = make("details", "sources", make("summary", "title", title, make("span", "",
    `${rule.file}, line ${rule.line}`)), scroller("source", title, ...sourceLines(rule.source)));
  shown.open = codeIsShown;
  shown.firstChild.addEventListener("click", () => { codeIsShown = !shown.open; });
  return shown;
}

// The student's source line for a step, or where the program failed, and its callers.
function lineOf(data, { site, calls = [] }) {
  if (!site?.text) return null;
  const where = `${site.file}, line ${site.line}` + (site.function ? `, in ${site.function}` : "");
  return make("div", "your-line quoted", make("p", "title", data.line, make("span", "", where)),
    make("div", "source", sourceLine(site)),
    calls.length ? make("p", "reason", `called from ${calls.map((call) => `${call.file},
      line ${call.line}`).join(", from ")}`) : null);
}

// The panel before the first step: buttons, the legend, and the start values.
const KEYS = [["\u2192 \u2190", "step, back"], ["space", "play"], ["v", "values first"],
  ["+ \u2212", "size"], ["f", "full screen"], ["h", "the stage alone"], ["d", "all numbers and code"], ["m", "more"]];

function startPanel(data, act) {
  const [{ word, back, starts }] = data.walks;
  const held = Object.entries(starts);
  const failed = data.error && !data.steps.length;
  const start = makeButton("begin", act.next, failed ? "Show what went wrong" : "Start the walk");
  const first = makeButton("inside", act.values, "Values first");
  const way = back ? "Each step sends one gradient back, from a result to one of its inputs."
    : "Each step sends one tangent forward, from an input to a result.";
  const keys = make("dl", "keys", ...KEYS.map(([key, does]) => make("div", "", make("dt", "", key), make("dd", "",
    does))));
  const colours = make("ul", "colours", ...[["active", "sends: its rule is applied"], ["receives",
    `receives a ${word}`], ["accumulates", "adds it to what was there (+=)"], ["done", "finished"]]
    .map(([name, text]) => make("li", "", make("i", name), text)));
  const begins = data.steps.length || failed ? section("", "Begin here", make("p", "reason", failed
    ? "The program failed." : `${way}${walksText(data)}`), make("div", "choices", start, first)) : null;
  const caught = data.caught.length ? section("", "Failed, and the program went on", ...data.caught.map((text) =>
    make("p", "error-text", text))) : null;
  return make("div", "column wide scroller start", begins, caught,
    data.steps.length ? section("", "Colours", colours) : null,
    held.length ? cardsSection(data, `The ${word} the walk starts with`, held) : null,
    section("", "Keys", keys));
}

// The number of walks and their directions.
function walksText({ walks }) {
  const [first, ...others] = walks.map(({ back }) => (back ? "back" : "forward"));
  if (!others.length) return "";
  if (others.every((way) => way === first)) return ` There are ${walks.length} such walks.`;
  return ` There are ${walks.length} walks: ${[first, ...others].join(", then ")}.`;
}

// A computed value and its inputs.
function valuePanel(data, i) {
  const shown = make("div", "column wide scroller");
  if (i === undefined) return shown;
  const read = data.edges.filter(([, to]) => to === i).map(([from]) => [data.names[from],
    valueAt(data, data.nodes[from].value)]);
  const value = valueAt(data, data.nodes[i].value);
  const largest = largestOf(value, ...read.map(([, each]) => each));
  const cards = read.map(([name, each], k) => {
    const one = card(make("b", "", name), each, largest);
    return k ? then(",", one) : one;
  });
  shown.append(section("numbers", data.nodes[i].summary ?? "The value", make("div", "cards", ...cards,
    then(read.length ? "\u2192" : "", card(make("b", "", data.names[i]), value, largest))),
    scaleOf(largest, value, ...read.map(([, each]) => each))));
  return shown;
}

// At the end of an inner walk: its gradient of each input beside the outer rule's result.
function insideOut(data, outside) {
  const rows = outside.flatMap(([name, sent]) => {
    const left = data.gradients.filter(({ node }) => data.names[node] === name)
      .map(({ value }) => valueAt(data, value));
    if (left.length !== 1 || !left[0] || !sent) return [];
    const largest = largestOf(left[0], sent);
    const title = (where) => make("b", "", `${where}: ${data.left} for ${name}`);
    return [make("div", "cards", card(title("inside"), left[0], largest, [176, 60]), then(sameSign(left[0], sent),
      card(title("outside"), sent, largest, [176, 60])))];
  });
  return rows.length ? section("inside-out", "Inside and outside", ...rows) : make("p", "reason");
}

// "=" if all recorded entries are equal and printed, "\u2248" if they agree to three digits, otherwise "\u2260".
function sameSign(one, other) {
  const [a, b] = [one, other].map((value) => entriesOf(value).flat());
  const top = [...a, ...b].map(Number).filter(Number.isFinite).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const near = (far) => a.length === b.length && String(one.shape) === String(other.shape) && a.every((x, k) =>
    x === b[k] || Math.abs(x - b[k]) <= Math.max(1e-12 * top, far * Math.max(Math.abs(x), Math.abs(b[k]))));
  if (near(1e-12) && one.data?.length <= 16) return "=";
  return near(2e-3) ? "\u2248" : "\u2260";
}

function endSection(data) {
  const left = data.gradients.filter((gradient) => gradient.value !== null).map(({ node, value }) => [node, value]);
  if (!left.length) return null;
  const cards = cardsSection(data, "", left);
  cards.firstChild.remove();
  const title = `The walk is over: every ${data.left} it leaves`;
  return make("details", "held", make("summary", "title", title), cards);
}

function cardsSection(data, title, held) {
  const values = held.map(([, place]) => valueAt(data, place));
  const largest = largestOf(...values);
  const more = held.length - MOST_CARDS;
  const cards = held.slice(0, MOST_CARDS).map(([node, place]) => card(make("b", "", data.names[node]),
    valueAt(data, place), largest));
  return section("numbers", title, make("div", "cards", ...cards),
    more > 0 ? make("p", "reason", `and ${more} more: search for a node, or press it, to see its value.`) : null,
    scaleOf(largest, ...values));
}

function errorPanel(data, error) {
  return [make("div", "column wide scroller", section("failed", `${error.kind}`, make("p", "error-text", error.text)))];
}

// One node in full: its operation, its value, and its gradient so far.
function nodePanel(data, i, holds, word, enter, leave) {
  const node = data.nodes[i];
  const shown = section("node-details", data.names[i]);
  const about = node.kind === "leaf" ? "an input or a parameter" : node.summary ?? node.op ?? node.kind;
  shown.firstChild.append(make("span", "", about), makeButton("close", leave, "Back to the step"));
  if (node.withheld) {
    shown.append(make("p", "reason", node.withheld));
    return shown;
  }
  const given = Object.entries(node.params).map(([name, text]) => `${name}=${text}`).join(", ");
  if (given) shown.append(make("p", "reason", `with ${given}`));
  const outputs = outputsOf(data, i);
  if (outputs.length) {
    shown.append(make("p", "reason", `It has several outputs. Its values and ${word}s are shown at `
      + `${outputs.map((output) => data.names[output]).join(", ")}.`));
    return shown;
  }
  const [value, held] = [valueAt(data, node.value), valueAt(data, holds.place)];
  const nothing = flowText(node) || (node.requires_grad ? "nothing has arrived yet" : `no ${word} is needed here`);
  shown.append(make("div", "cards full", fullCard("value", value, largestOf(value)),
    held ? fullCard(holds.word, held, largestOf(held)) : cardFrame(make("b", "", word), null, missing(nothing))));
  if (data.insides[i] !== undefined) shown.append(insideButton(data, i, () => enter(i)));
  return shown;
}

// Buttons to the steps in which a node receives and sends.
function visits(data, received, sent, go) {
  const lead = (i) => {
    const button = makeButton("visit", () => go(i), String(data.first + i + 1));
    button.setAttribute("aria-label", `Go to step ${data.first + i + 1}`);
    return button;
  };
  const links = (word, steps) => (steps.length ? [make("span", "", `${word} in step${steps.length > 1 ? "s" : ""}`),
    ...steps.slice(0, MOST_VISITS).map(lead), steps.length > MOST_VISITS ? make("span", "", "\u2026") : null] : []);
  return make("p", "visits", ...links("Receives", received), ...links(received.length ? "sends" : "Sends", sent));
}

const outputsOf = (data, i) => data.edges.filter(([from, to]) => from === i && data.nodes[to].kind === "output")
  .map(([, to]) => to);

function insideButton(data, i, enter) {
  const like = data.insides[i];
  const text = typeof like === "number" ? `Step inside a similar one: ${data.names[like]}`
    : `Step inside ${data.names[i]}`;
  return makeButton("inside", enter, text);
}

// What surrounds the stage: sentence, legend, path of inner walks, tooltips, linked highlights.

function notBegun(data) {
  const press = data.quiz ? "Step" : "Play or Step";
  if (data.steps.length) return `${data.first ? "This" : "The"} walk has not begun. Press ${press}.`;
  if (data.error) return "The program failed: take one step to see the error.";
  return data.root === null ? "No walk was recorded: call backward() inside the recorded block."
    : "No rule is applied.";
}

// Marks the sender and the receiver in a sentence, in their colours in the graph.
function markNames(sentence, data, step) {
  const text = sentence.textContent;
  const [from, receiver] = [`. ${data.names[step.from]}`, data.names[step.to]];
  const lead = [" to ", " to the number "].find((words) => text.includes(`${words}${receiver},`));
  const to = `${lead}${receiver},`;
  const [start, stop] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || stop < start) return;
  const mark = (name, at) => make("mark", name, data.names[at]);
  sentence.replaceChildren(text.slice(0, start + 2), mark("sends", step.from),
    text.slice(start + from.length, stop + lead.length), mark(step.accumulates ? "adds" : "gets", step.to),
    text.slice(stop + to.length - 1));
}

// Whether a walk has no arrays: then numbers need little room, and the graph gets more.
const hasOnlyScalars = (data) => data.values.every((value) => value && (value.shape.length === 0 || isScalar(value)));

// The nodes of a symbol or a card, by its name.
function nodesNamed(data, step, name) {
  if (!step) return [];
  if (name.startsWith("upstream")) return [step.from];
  if (name === "out") return [step.node];
  if (["contribution", "raw", "before", "after"].includes(name)) return [step.to];
  return data.edges.filter(([, to, input]) => to === step.node && input === (name === "local" ? step.input : name))
    .map(([from]) => from);
}

// Highlights a symbol, the card with its numbers and its node together, on hover or focus of any of them.
function linkParts(player, nodesOf, graph) {
  const parts = () => [...player.querySelectorAll("[data-name], [data-of]")];
  const nameOf = (part) => part.dataset.name ?? part.dataset.of;
  const light = (names) => {
    for (const part of parts()) part.classList.toggle("linked", names.includes(nameOf(part)));
    graph.point(names.flatMap(nodesOf));
  };
  const on = (event) => {
    const part = event.target.closest?.("[data-name], [data-of]");
    const node = event.type === "mouseover" && event.target.closest?.(".node");
    if (part) light([nameOf(part)]);
    else if (node) light([...new Set(parts().map(nameOf))].filter((name) => nodesOf(name).includes(graph.at(node)?.i)));
  };
  const off = (event) => { if (event.target.closest?.("[data-name], [data-of], .node")) light([]); };
  for (const happening of ["mouseover", "focusin"]) player.addEventListener(happening, on);
  for (const happening of ["mouseout", "focusout"]) player.addEventListener(happening, off);
}

// The path of inner walks; each part leads back to its walk.
function trail(opts) {
  if (!opts.leave) return null;
  const parts = opts.trail.map(([text], k) => makeButton("crumb", () => {
    for (const [, leave] of opts.trail.slice(k).reverse()) leave();
  }, text));
  return make("div", "trail", makeButton("inside", opts.leave, "Back"),
    ...parts.flatMap((part) => [part, make("span", "", "\u203a")]), make("span", "", opts.name));
}

// The legend of what is visible.
function legendOf(data, graph, states, step, word) {
  const entry = (name, text, when = states.has(name)) => (when ? make("li", "", make("i", name), text) : null);
  const { ends } = graph.thickness;
  const alike = data.walks.every((each) => each.word === word);
  return [
    entry("active", "sends"), entry("receives", "receives"), entry("accumulates", "adds (+=)"),
    entry("done", "finished"), entry("computing", "is computed"), entry("failed", "what failed"),
    ends && step ? make("li", "thick", `size of ${alike ? "the" : "what is sent,"} ${alike ? word : "in all walks"}`,
      make("i", "thin"), number(Number(ends[0].toPrecision(2))), make("i", "fat"),
      number(Number(ends[1].toPrecision(2)))) : null,
    entry("group", "closed group"), entry("stub", "drawn again where used"), entry("leaf", "input"),
    entry("application", "result"), entry("output", "one of several outputs"), entry("constant",
      `no ${word} asked for`),
    entry("dead", `no ${word} flows here`), states.has("is-cut") ? make("li", "", make("b", "cut-sign", "//"),
      `cut: no ${word} flows back`) : null,
    entry("opens", "opens", Object.keys(data.insides).length > 0 || states.has("group")),
    entry("ring", "start", data.rings.length > 0 && data.steps.length > 0),
    data.labels.some(([, , held]) => held?.startsWith("|")) ? make("li", "", gloss(`|${SHORT[word]}|`, WORDS.norm))
      : null,
  ];
}

// Shows a tooltip beside a word or a cell on hover or focus.
function showTips(player, tip) {
  const put = (detail) => {
    tip.hidden = !detail;
    if (!detail) return;
    tip.textContent = detail.text;
    const around = player.getBoundingClientRect();
    const room = around.width - tip.offsetWidth - 8;
    const zoom = Number(player.style.zoom || 1);
    tip.style.left = `${Math.max(4, Math.min(room, detail.x - around.x + 10)) / zoom}px`;
    tip.style.top = `${Math.max(4, detail.y - around.y - tip.offsetHeight - 6) / zoom}px`;
  };
  const onWord = (event) => {
    const word = event.target.closest?.("[data-tip]");
    if (!word) return;
    const box = word.getBoundingClientRect();
    put({ text: word.dataset.tip, x: box.x, y: box.y });
  };
  const off = (event) => { if (event.target.closest?.("[data-tip]")) put(null); };
  for (const happening of ["mouseover", "focusin"]) player.addEventListener(happening, onWord);
  for (const happening of ["mouseout", "focusout"]) player.addEventListener(happening, off);
  player.addEventListener("tip", (event) => put(event.detail));
}

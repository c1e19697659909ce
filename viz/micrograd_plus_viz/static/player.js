// The player of one recorded program. `mount` builds it in a shadow root below `host`.

export function mount(host, data, opts = {}) {
  if (data.film && !opts.inFilm) return mountFilm(host, data, opts);
  const root = ownRoot(host);
  const forgetTheme = followTheme(host);
  keepKeys(host);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const walk = walkOf(data);
  // A question may replace the next step.
  const { ask } = opts;
  const count = data.steps.length + (data.error || ask ? 1 : 0);
  const born = data.nodes.flatMap((node, i) => (node.kind === "leaf" ? [] : [i]));

  let index = 0;
  let least = 0;
  let playing = false;
  let timer = 0;
  let selected = null;
  let child = null;
  let along = false;
  let ready = false;
  const needed = new Map();

  const act = {
    go: (wanted) => { setPlay(false); seek(wanted); }, more: opts.more,
    first: () => act.go(opts.beyond && least === 0 ? -data.first : least), back: () => act.go(index - 1),
    next: () => { setPlay(false); stepOn(); }, last: () => act.go(opts.beyond ? data.total + 1 : count),
    play: () => setPlay(!playing),
    onNode, onGroups: () => { if (ready) restore(); }, search, values: () => valuesFirst(least === 0),
    along: () => { along = !along; player.querySelector(".along")?.setAttribute("aria-pressed", String(along)); seek(
      index); },
    nextAdding: () => jump((step) => step.accumulates), size, hush,
    full: () => (document.fullscreenElement ? document.exitFullscreen() : (opts.frame ?? player).requestFullscreen?.()),
  };
  const graph = drawGraph(data, act);
  const controlled = controls(data, count, act);
  const sentence = make("p", "sentence");
  sentence.setAttribute("aria-live", "polite");
  const line = make("div", "source-row");
  const panel = make("div", "panel");
  const legend = make("ul", "legend");
  const tip = make("div", "tip");
  tip.setAttribute("role", "status");
  tip.hidden = true;
  const tools = viewTools(data, graph, act);
  const player = make("div", "player", trail(opts), controlled.bar, opts.strip,
    data.note && make("p", "note", data.note), make("div", "stage", graph.frame), opts.timeline,
    make("div", "under", legend, tools),
    sentence, line, panel, tip);
  player.tabIndex = 0;
  player.setAttribute("role", "group");
  player.setAttribute("aria-label", `Walk ${nextNumber()}. ${data.summary}`);
  if (window === top && opts.tall !== false) player.classList.add("tall");
  if (!opts.strip && hasOnlyScalars(data)) player.classList.add("scalars");
  const nested = make("div", "nested");
  root.replaceChildren(player, nested);
  showTips(player, tip);
  linkParts(player, (name) => nodesNamed(data, data.steps[index - 1], name), graph);

  // State k is the state after k steps; a change updates only the steps between. Negative states show the values of
  // the program, one by one.
  const isAsked = () => ask && index > data.steps.length;
  const litAt = (k) => (ask && k > data.steps.length ? ask.lit : data.steps[k - 1]);
  const atHand = () => (isAsked() ? ask.lit ?? data.steps[index - 2] : data.steps[index - 1]);

  function seek(wanted, moving = false) {
    const outside = wanted > count || (opts.inFilm ? wanted < least
      : least === 0 && wanted < (data.first > 0 ? 1 : 0));
    if (outside && opts.beyond?.(wanted, playing)) { setPlay(false); return; }
    const target = Math.min(count, Math.max(least, wanted));
    graph.stopMarkers();
    if (along && litAt(target)) for (const i of nodesOfStep(data, litAt(target))) graph.openTo(i);
    graph.light(litAt(index), false);
    while (index < target) { apply(index, true); index += 1; }
    while (index > target) { index -= 1; apply(index, false); }
    const step = data.steps[index - 1];
    graph.light(litAt(index), true);
    graph.follow(atHand());
    if (step && moving && !still.matches) graph.sendMarkers(step, 0.8 * controlled.stepTime());
    const focused = root.activeElement;
    tell(step);
    if (focused && (!focused.isConnected || focused.disabled)) player.focus({ preventScroll: true });
    opts.onIndex?.(index);
  }

  // Restores the state after the graph was rebuilt.
  function restore() {
    graph.forget();
    data.nodes.forEach((_, i) => graph.hold(i, walk.begins(0, i)));
    showValues(0);
    for (let i = Math.min(0, index); i < index; i += 1) apply(i, true);
    graph.light(litAt(index), true);
    if (selected !== null) graph.select(selected);
    tellLegend(data.steps[index - 1]);
  }

  function apply(i, on) {
    if (i < 0) { unborn(born[born.length + i], !on); return; }
    const step = data.steps[i];
    if (!step) { if (data.error) graph.failed(data.error, on); return; }
    const next = walk.newWalk(i);
    if (next) {
      graph.forget();
      data.nodes.forEach((_, node) => graph.hold(node, on ? walk.begins(next, node) : walk.held(node, i)));
    }
    if (next && !on) for (let j = data.walks[next - 1].at; j < i; j += 1) travel(j, true);
    else travel(i, on);
    for (const node of nodesOfStep(data, step)) if (walk.lastOf[node] === i) graph.finish(node, on);
    for (const node of [step.to, ...walk.atEnd(i)]) graph.hold(node, walk.held(node, on ? i + 1 : i));
    if (next) showValues(walk.walkAt(on ? i : i - 1));
  }

  // Shows the values that leaves have in a walk.
  function showValues(at) {
    for (const [node, place, text] of walk.valuesIn(at)) {
      data.nodes[node].value = place;
      graph.value(node, text);
    }
  }

  function travel(i, on) {
    const { contribution } = data.steps[i];
    for (const edge of edgesOf(data.steps[i])) graph.travelled(edge, on, contribution, wordAt(data, i + 1));
  }

  const unborn = (i, on) => root.querySelector(`#n${i}`)?.classList.toggle("unborn", on);

  function valuesFirst(on) {
    setPlay(false);
    if (!on && index < 0) seek(0);
    least = on ? -born.length : 0;
    controlled.fromValues(least);
    if (on) { seek(0); seek(least); } else tell(data.steps[index - 1]);
  }

  function tell(step) {
    controlled.show(index, playing);
    sentence.setAttribute("aria-live", playing && controlled.isFast() ? "off" : "polite");
    const failed = index > data.steps.length ? data.error : null;
    sentence.textContent = isAsked() ? ask.say : failed ? `${failed.say} ${failed.kind}: ${failed.text}`
      : opts.say ? opts.say : index < 0 ? sayValue()
      : step ? step.say : `${data.summary}. ${notBegun(data)}`;
    if (step && !failed && !isAsked()) markNames(sentence, data, step);
    sentence.classList.toggle("failed", Boolean(failed));
    const computed = index < 0 ? born[born.length + index - 1] : undefined;
    graph.compute(computed);
    const at = isAsked() ? ask.lit?.node : failed ? failed.node : index < 0 ? computed : step?.node;
    const inside = step && !failed && data.insides[step.node] !== undefined;
    line.replaceChildren(...[at === undefined || at === null ? null : lineOf(data, at),
      step && !failed ? withinButton(step) : null,
      inside ? insideButton(data, step.node, () => enter(step.node)) : null].filter(Boolean));
    tellLegend(step);
    updatePanel(step);
  }

  // If a step is inside one closed group, a button names and opens the group.
  function withinButton(step) {
    const part = graph.partOf(step.from);
    if (part[0] !== "g" || part !== graph.partOf(step.to)) return null;
    return makeButton("inside within", () => { graph.toggle(Number(part.slice(1))); seek(index); },
      `Within ${data.groups.names[part.slice(1)]}: open it`);
  }

  function sayValue() {
    const i = born[born.length + index - 1];
    if (i === undefined) return "Values first: the inputs are known, and nothing is computed yet.";
    const value = valueAt(data, data.nodes[i].value);
    const result = value && isScalar(value) ? number(value.data[0]) : value ? `a ${shapeText(value.shape)} array`
      : "a value";
    return `Value ${index - least} of ${-least}. ${data.names[i]} is computed: ${result}.`;
  }

  // The panel shows the step, or the selected node until it is deselected.
  function updatePanel(step) {
    const failed = index > data.steps.length ? data.error : null;
    panel.className = "panel";
    if (selected !== null) {
      panel.replaceChildren(make("div", "column wide scroller", nodePanel(data, selected, walk.held(selected, index),
        wordAt(data, index),
        enter,
        letGo), visits(data, walk.arrivals[selected], walk.departures[selected], (i) => act.go(i + 1))));
    } else if (isAsked()) panel.replaceChildren(...ask.panel);
    else if (opts.panel) panel.replaceChildren(opts.panel());
    else if (failed) panel.replaceChildren(...errorPanel(data, failed));
    else if (step) {
      const last = index === count;
      const end = () => (last && !opts.outside ? endSection(data) : null);
      fitPanel(panel, needed, step, (dense) => stepPanel(data, step, end(), dense));
      if (last && opts.outside) panel.lastChild.prepend(insideOut(data, opts.outside));
    } else if (index < 0) panel.replaceChildren(valuePanel(data, born[born.length + index - 1]));
    else panel.replaceChildren(startPanel(data, act));
    settle(player);
  }

  function tellLegend(step) {
    const states = [...root.querySelectorAll(".drawing .node")].flatMap((node) => [...node.classList]);
    legend.replaceChildren(...legendOf(data, graph, new Set(states), step, wordAt(data, index)).filter(Boolean));
  }

  function onNode(i, how) {
    if (isAsked() && ask.onNode?.(i, how)) { graph.select(i); return; }
    if (how === "enter") { enter(i); return; }
    selected = i;
    graph.select(i);
    updatePanel(data.steps[index - 1]);
  }

  function letGo() {
    selected = null;
    graph.select(null);
    updatePanel(data.steps[index - 1]);
    player.focus({ preventScroll: true });
  }

  function search(text) {
    if (!text) return;
    const wanted = text.toLowerCase();
    const close = (test) => data.names.findIndex((name, i) => i > (selected ?? -1) && test(name.toLowerCase()));
    const [first, after] = [(name) => name === wanted, (name) => name.includes(wanted)];
    let found = close(first);
    if (found < 0) found = close(after);
    if (found < 0) { selected = null; found = close(after); }
    if (found < 0) { sentence.textContent = `No node name contains \u201c${text}\u201d.`; return; }
    graph.openTo(found);
    onNode(found);
    graph.reveal([graph.partOf(found)]);
  }

  // Goes to the next step that passes a test; without one, the walk stays.
  function jump(test) {
    const found = data.steps.findIndex((step, i) => i >= index && test(step));
    if (found >= 0) act.go(found + 1);
  }

  const oddOne = (step) => Boolean(valueAt(data, step.contribution)?.odd
    || (step.contribution !== null && /nan|inf/.test(String(valueAt(data, step.contribution)?.data?.[0]))));

  function stepOn() {
    if (index < count || opts.beyond) seek(index + 1, true);
  }

  function setPlay(on, later = false) {
    if (on === playing) return;
    playing = on;
    clearTimeout(timer);
    if (on && index === count && !opts.beyond) seek(least);
    if (on && !later) beat();
    else tell(data.steps[index - 1]);
    if (on && later) timer = setTimeout(beat, controlled.stepTime());
  }

  function beat() {
    if (index === count && !opts.beyond?.(count + 1, true) || !host.isConnected) { setPlay(false); return; }
    if (index === count) { setPlay(false); return; }
    stepOn();
    timer = setTimeout(beat, controlled.stepTime());
  }

  function enter(i) {
    const like = data.insides[i];
    const inside = typeof like === "number" ? data.insides[like] : like;
    if (!inside) return;
    setPlay(false);
    player.hidden = true;
    const inner = nested.appendChild(document.createElement("div"));
    const leave = () => {
      child.destroy();
      child = null;
      inner.remove();
      player.hidden = false;
      fit();
      player.focus();
    };
    const before = opts.trail ?? [];
    const source = typeof like === "number" ? like : i;
    const outside = data.steps.filter((step) => step.node === source).map((step) => [step.input,
      valueAt(data, step.contribution)]);
    child = mount(inner, inside, { leave, trail: [...before, [data.summary.split(":")[0], leave]],
      name: data.names[i], outside });
    child.focus();
  }

  function size(by) {
    player.style.setProperty("zoom", String(Math.min(2, Math.max(0.8, by * (player.style.zoom || 1)))));
  }

  function hush() {
    const hidden = player.classList.toggle("hushed");
    player.querySelector(".hush").setAttribute("aria-pressed", String(hidden));
  }

  const keys = {
    ArrowRight: act.next, ArrowLeft: act.back, Home: act.first, End: act.last, " ": act.play,
    Escape: () => { if (selected !== null) letGo(); else opts.leave?.(); },
    a: act.nextAdding, n: () => jump((step) => [step.from, step.to].includes(
      selected ?? data.steps[index - 1]?.to)), "!": () => jump(oddOne), g: () => controlled.goTo.focus(),
    "/": () => controlled.search.focus(), 0: () => graph.whole(), o: act.along, f: act.full, v: act.values,
    "+": () => size(SIZE_STEP), "=": () => size(SIZE_STEP), "-": () => size(1 / SIZE_STEP), h: hush,
  };
  const keysOnNode = { ArrowDown: (part) => graph.besides(part, 1), ArrowUp: (part) => graph.besides(part, -1),
    Enter: (part) => { const item = graph.at(part); if (part.matches(".group, .group-heading")) graph.toggle(
      item.i ?? Number(item.part.slice(1))); else onNode(item.i, "enter"); } };

  player.addEventListener("keydown", (event) => {
    if (isForThePage(event) && !(event.shiftKey && ["+", "!", "/"].includes(event.key))) return;
    event.stopPropagation();
    const { target, key } = event;
    if (target.matches(".field")) { if (key === "Escape") player.focus(); return; }
    if (target === controlled.speed || target === controlled.slider && key !== " ") return;
    if (target.closest("button") && [" ", "Enter"].includes(key)) return;
    const part = target.closest(".node, .group-heading");
    const onNode = part ? keysOnNode[key] : null;
    const press = onNode ?? opts.keys?.[key] ?? keys[key];
    if (!press || target.closest(".scroller") && !target.closest("button") && key.startsWith("Arrow")) return;
    event.preventDefault();
    press(part);
  });

  function fit() {
    if (graph.fit()) graph.follow(atHand());
  }

  let breadth = 0;
  const sizes = new ResizeObserver(() => {
    fit();
    const changed = player.clientWidth !== breadth;
    breadth = player.clientWidth;
    if (changed) needed.clear();
    if (changed && data.steps[index - 1] && selected === null && !isAsked()) updatePanel(data.steps[index - 1]);
    settle(player);
  });
  sizes.observe(graph.frame);
  fit();
  data.nodes.forEach((_, i) => graph.hold(i, walk.begins(0, i)));
  showValues(0);
  if (data.unborn) for (const i of born) unborn(i, true);
  ready = true;
  const odd = data.steps.findIndex(oddOne);
  if (odd >= 0) {
    const button = makeButton("tool first-odd", () => act.go(odd + 1),
      `First nan or inf: step ${data.first + odd + 1}`);
    if (data.odd) button.dataset.tip = data.odd;
    tools.prepend(button);
  }
  seek(opts.index ?? data.index ?? 0);

  function destroy() {
    setPlay(false);
    graph.stopMarkers();
    sizes.disconnect();
    forgetTheme();
    child?.destroy();
    root.replaceChildren();
  }

  return { seek: (wanted) => seek(wanted), setPlay, focus: () => player.focus(), destroy, valuesFirst,
    isOpen: graph.isOpen,
    state: () => ({ index, least, first: data.first, drawn: graph.drawn() }) };
}

function notBegun(data) {
  if (data.steps.length) return "The walk has not begun. Press Play, or Step for one step.";
  if (data.error) return "The program failed: take one step to see the error.";
  return data.root === null ? "No walk was recorded: call backward() inside the recorded block."
    : "No rule is applied.";
}

const nodesOfStep = (data, step) => edgesOf(step).flatMap((edge) => data.edges[edge].slice(0, 2));

// The last step that uses each node, the steps in which a node receives and sends, and its value after k steps. At the
// start of each walk, inner nodes are empty again; leaves keep their gradients.
function walkOf(data) {
  const lastOf = {};
  const [arrivals, departures] = [data.nodes.map(() => []), data.nodes.map(() => [])];
  data.steps.forEach((step, i) => {
    for (const node of nodesOfStep(data, step)) lastOf[node] = i;
    arrivals[step.to].push(i);
    departures[step.from].push(i);
  });
  for (const node of data.pending ?? []) delete lastOf[node];
  const starts = data.walks.map(({ at }) => at);
  const walkAt = (i) => starts.findLastIndex((start) => start <= i);
  const latest = (node, k, since) => arrivals[node].findLast((i) => i < k && i >= since);
  const begins = (at, node) => {
    const { word, starts: held } = data.walks[at];
    if (held[node] !== undefined) return { place: held[node], word };
    const kept = data.nodes[node].kind === "leaf" && !data.walks[at].back ? at - 1 : -1;
    for (let earlier = kept; earlier >= 0; earlier -= 1) {
      if (data.walks[earlier].back) return endOf(earlier, node, starts[earlier + 1]);
    }
    return { place: null, word };
  };
  // The value of a node in a walk before step k.
  const endOf = (at, node, k) => {
    const found = latest(node, k, starts[at]);
    const { ends, word } = data.walks[at];
    if (ends[node] !== undefined && k >= (starts[at + 1] ?? data.steps.length)) return { place: ends[node], word };
    return found === undefined ? begins(at, node) : { place: data.steps[found].after, word };
  };
  const held = (node, k) => endOf(walkAt(Math.max(0, k - 1)), node, k);
  // The leaves that have another value in a walk than the program began with, each with its value and its text.
  const first = data.nodes.map(({ value }, i) => [value, data.labels[i][1]]);
  const changed = [...new Set(data.walks.flatMap(({ values }) => Object.keys(values).map(Number)))];
  const valuesIn = (at) => changed.map((node) => [node, ...(data.walks[at].values[node] ?? first[node])]);
  const atEnd = (i) => (i + 1 === (starts[walkAt(i) + 1] ?? data.steps.length)
    ? Object.keys(data.walks[walkAt(i)].ends).map(Number) : []);
  const newWalk = (i) => Math.max(0, starts.indexOf(i));
  return { walkAt, valuesIn, atEnd, lastOf, arrivals, departures, begins, held, newWalk };
}

// The quantity that the walk at step k sends.
const wordAt = (data, k) => data.walks.findLast(({ at }, number) => number === 0 || at < k).word;

// Marks the sender and the receiver in a sentence, in their colours in the graph.
function markNames(sentence, data, step) {
  const [from, to] = [`. ${data.names[step.from]}`, ` to ${data.names[step.to]},`];
  const text = sentence.textContent;
  const [start, stop] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || stop < start) return;
  const mark = (name, at) => make("mark", name, data.names[at]);
  sentence.replaceChildren(text.slice(0, start + 2), mark("sends", step.from),
    text.slice(start + from.length, stop + 4), mark(step.accumulates ? "adds" : "gets", step.to),
    text.slice(stop + to.length - 1));
}

// Whether a walk has no arrays: then numbers need little room, and the graph gets more.
const hasOnlyScalars = (data) => data.values.every((value) => value.shape.length === 0 || isScalar(value));

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

// On a page, the address holds the step: walk.html#step=12, or #value=3 in the forward pass.
export function address(player) {
  const go = () => {
    const [, kind, text] = /^#(step|value)=(\d+)$/.exec(location.hash) ?? [];
    if (kind === "step") player.seek(Number(text) - player.state().first);
    if (kind === "value") { player.valuesFirst(true); player.seek(player.state().least + Number(text)); }
  };
  addEventListener("hashchange", go);
  go();
}

export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// Several walks side by side, moved together.
export function mountTogether(host, walks, index) {
  let moving = false;
  const players = [];
  const along = (k) => (i) => {
    if (moving || players.length < walks.length) return;
    moving = true;
    players.forEach((player, j) => { if (j !== k) player.seek(i); });
    moving = false;
  };
  for (const [k, data] of walks.entries()) {
    players.push(mount(host.appendChild(make("div", "walk")), data, { index, onIndex: along(k) }));
  }
  players[0].focus();
  return players;
}

export default {
  async render({ model, el }) {
    const host = el.appendChild(document.createElement("div"));
    const synced = model.get("synced");
    const start = async (index) => mount(host, await unpack(model.get("payload")), { index, onIndex: (i) => {
      if (synced && model.get("index") !== i) { model.set("index", i); model.save_changes(); }
    } });
    let player = await start(model.get("index"));
    const onIndex = () => player.seek(model.get("index"));
    const onPayload = async () => {
      const { index } = player.state();
      player.destroy();
      player = await start(index);
    };
    model.on("change:index", onIndex);
    model.on("change:payload", onPayload);
    return () => {
      model.off("change:index", onIndex);
      model.off("change:payload", onPayload);
      player.destroy();
    };
  },
};

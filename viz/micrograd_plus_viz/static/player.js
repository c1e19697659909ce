// The player: one recorded walk, stepped both ways. `mount` builds it in a shadow root below `host`.

export function mount(host, data, opts = {}) {
  const root = ownRoot(host);
  const forgetTheme = followTheme(host);
  keepKeys(host);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const walk = walkOf(data);
  const count = data.steps.length;

  const act = {
    go: (wanted) => { setPlay(false); seek(wanted); }, first: () => act.go(0), back: () => act.go(index - 1),
    next: () => { setPlay(false); stepOn(); }, last: () => act.go(count), play: () => setPlay(!playing),
  };
  const graph = drawGraph(data, onNode);
  const controlled = controls(count, act);
  const said = make("p", "said");
  said.setAttribute("aria-live", "polite");
  const panel = make("div", "panel");
  const told = make("div", "told");
  const player = make("div", "player", trail(opts), controlled.bar, data.note && make("p", "note", data.note),
    graph.frame, legend(data), said, panel, told);
  player.tabIndex = 0;
  player.setAttribute("role", "group");
  player.setAttribute("aria-label", `Walk ${nextNumber()}. ${data.summary}`);
  const nested = make("div", "nested");
  root.replaceChildren(player, nested);

  let index = 0;
  let playing = false;
  let timer = 0;
  let selected = null;
  let child = null;

  // State k is what holds after k steps; going from one to another touches only the steps between.
  function seek(wanted, moving = false) {
    const target = Math.min(count, Math.max(0, wanted));
    graph.stopBeads();
    graph.light(data.steps[index - 1], false);
    while (index < target) { apply(index, true); index += 1; }
    while (index > target) { index -= 1; apply(index, false); }
    const step = data.steps[index - 1];
    graph.light(step, true);
    follow(step);
    if (step && moving && !still.matches) graph.sendBeads(step, 0.8 * controlled.stepTime());
    const focused = root.activeElement;
    tell(step);
    if (focused && (!focused.isConnected || focused.disabled)) player.focus({ preventScroll: true });
    opts.onIndex?.(index);
  }

  function follow(step) {
    if (step) graph.follow(step.from, step.to);
    else graph.follow(data.steps[0]?.from ?? data.root);
  }

  function apply(i, on) {
    const step = data.steps[i];
    for (const edge of edgesOf(step)) graph.travelled(edge, on);
    for (const node of walk.concerned(step)) if (walk.lastOf[node] === i) graph.finish(node, on);
    graph.hold(step.to, on ? step.after : step.before);
  }

  function tell(step) {
    controlled.show(index, playing);
    said.setAttribute("aria-live", playing && controlled.isFast() ? "off" : "polite");
    said.textContent = step ? step.say : `${data.summary}. ${notBegun(data)}`;
    panel.replaceChildren(...(step ? stepPanel(data, step) : startPanel(data)),
      ...(index === count ? endPanel(data) : []));
    tellNode();
  }

  function tellNode() {
    const step = data.steps[index - 1];
    if (selected !== null) {
      told.replaceChildren(nodePanel(data, selected, walk.held(selected, index), enter),
        visits(walk.arrivals[selected], walk.departures[selected], (i) => act.go(i + 1)));
    } else if (step && data.insides[step.node]) {
      told.replaceChildren(insideButton(data.names[step.node], () => enter(step.node)));
    } else told.replaceChildren(make("p", "hint", "In a heat map blue is positive, orange with a "
      + `${MINUS} negative, and stronger is larger. Press a node, or Tab into the graph, to see all its numbers.`));
    settle(player);
  }

  function onNode(i, how) {
    if (how === "enter") { enter(i); return; }
    selected = i;
    graph.select(i);
    tellNode();
  }

  function stepOn() {
    if (index < count) seek(index + 1, true);
  }

  function setPlay(on) {
    if (on === playing) return;
    playing = on;
    clearTimeout(timer);
    if (on && index === count) seek(0);
    if (on) beat();
    else tell(data.steps[index - 1]);
  }

  function beat() {
    if (index === count || !host.isConnected) { setPlay(false); return; }
    stepOn();
    timer = setTimeout(beat, controlled.stepTime());
  }

  function enter(i) {
    const inside = data.insides[i];
    if (!inside) return;
    setPlay(false);
    player.hidden = true;
    const inner = nested.appendChild(document.createElement("div"));
    child = mount(inner, inside, { trail: [...(opts.trail ?? [data.summary.split(":")[0]]), data.names[i]],
      leave: () => {
        child.destroy();
        child = null;
        inner.remove();
        player.hidden = false;
        fit();
        player.focus();
      } });
    child.focus();
  }

  function roveTo(i) {
    const next = (i + data.nodes.length) % data.nodes.length;
    graph.nodes[next].focus();
    graph.follow(next);
  }

  const keys = {
    ArrowRight: act.next, ArrowLeft: act.back, Home: act.first, End: act.last, " ": act.play,
    Escape: () => { if (selected !== null) { selected = null; graph.select(null); tellNode(); } else opts.leave?.(); },
  };
  const keysOnNode = { ArrowDown: (i) => roveTo(i + 1), ArrowUp: (i) => roveTo(i - 1), Enter: enter };

  player.addEventListener("keydown", (event) => {
    if (isForThePage(event)) return;
    event.stopPropagation();
    if (event.target === controlled.speed || event.target === controlled.slider && event.key !== " ") return;
    if (event.target.closest("button") && [" ", "Enter"].includes(event.key)) return;
    const node = graph.nodes.indexOf(event.target.closest(".node"));
    const press = keys[event.key] ?? (node >= 0 ? keysOnNode[event.key] : null);
    if (!press || event.target.closest(".scroller") && event.key.startsWith("Arrow")) return;
    event.preventDefault();
    press(node);
  });

  function fit() {
    if (graph.fit()) follow(data.steps[index - 1]);
  }

  const sizes = new ResizeObserver(() => { fit(); settle(player); });
  sizes.observe(graph.frame);
  fit();
  graph.rove(data.nodes.length - 1);
  data.nodes.forEach((_, i) => graph.hold(i, data.started[i]));
  seek(opts.index ?? 0);

  function destroy() {
    setPlay(false);
    graph.stopBeads();
    sizes.disconnect();
    forgetTheme();
    child?.destroy();
    root.replaceChildren();
  }

  return { seek, setPlay, focus: () => player.focus(), destroy };
}

function notBegun(data) {
  if (data.root === null) return "No walk was recorded: that takes a call of backward() inside the recorded block.";
  return data.steps.length ? "The walk has not begun." : "No rule is applied.";
}

// The nodes a step concerns, which step is the last to concern a node, the steps in which a node receives and sends,
// and what it holds after k steps.
function walkOf(data) {
  const concerned = (step) => edgesOf(step).flatMap((edge) => data.edges[edge]);
  const lastOf = {};
  const [arrivals, departures] = [data.nodes.map(() => []), data.nodes.map(() => [])];
  data.steps.forEach((step, i) => {
    for (const node of concerned(step)) lastOf[node] = i;
    arrivals[step.to].push(i);
    departures[step.from].push(i);
  });
  const held = (node, k) => {
    const latest = arrivals[node].filter((i) => i < k).pop();
    return latest === undefined ? data.started[node] : data.steps[latest].after;
  };
  return { concerned, lastOf, arrivals, departures, held };
}

function trail(opts) {
  if (!opts.leave) return null;
  return make("div", "trail", makeButton("inside", opts.leave, "Back"), make("span", "", opts.trail.join(" \u203a ")));
}

function legend(data) {
  const entry = (name, text) => make("li", "", make("i", name), text);
  return make("ul", "legend",
    entry("active", data.direction === "forward" ? "sends its tangent" : "its rule is applied"),
    entry("receives", "receives"), entry("accumulates", "accumulates (+=)"), entry("done", "finished"),
    entry("leaf", "leaf"), entry("application", "application"),
    data.nodes.some((node) => node.kind === "output") ? entry("output", "one of several outputs") : null,
    Object.keys(data.insides).length ? entry("opens", "can be stepped into") : null);
}

export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

export default {
  async render({ model, el }) {
    const host = el.appendChild(document.createElement("div"));
    const data = await unpack(model.get("payload"));
    const synced = model.get("synced");
    const player = mount(host, data, { index: model.get("index"), onIndex: (i) => {
      if (synced && model.get("index") !== i) { model.set("index", i); model.save_changes(); }
    } });
    const onIndex = () => player.seek(model.get("index"));
    model.on("change:index", onIndex);
    return () => { model.off("change:index", onIndex); player.destroy(); };
  },
};

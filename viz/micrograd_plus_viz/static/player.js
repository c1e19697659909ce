// The player: one recorded walk, stepped both ways. `mount` builds it in a shadow root below `host`.

const ICONS = {
  first: "M3,3V13M13,3L5,8L13,13Z", back: "M11,3L4,8L11,13Z", play: "M4,2.5L13,8L4,13.5Z",
  pause: "M4,3H7V13H4ZM9,3H12V13H9Z", next: "M5,3L12,8L5,13Z", last: "M13,3V13M3,3L11,8L3,13Z",
};
const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 1600;
const QUIET_SPEED = 4;

export function mount(host, data, opts = {}) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PLAYER_CSS);
  root.adoptedStyleSheets = [sheet];
  keepKeys(host);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const forget = followTheme(host);
  const walk = walkOf(data);
  const count = data.steps.length;

  const graph = drawGraph(data, onNode);
  const buttons = Object.fromEntries([["first", "To the start (Home)", () => seek(0)],
    ["back", "One step back (left arrow)", () => seek(index - 1)], ["play", "Play (space)", () => setPlay(!playing)],
    ["next", "One step on (right arrow)", () => stepOn()], ["last", "To the end (End)", () => seek(count)]]
    .map(([name, label, press]) => [name, iconButton(name, label, press)]));
  const slider = make("input", "slider");
  Object.assign(slider, { type: "range", min: "0", max: String(count), step: "1" });
  slider.setAttribute("aria-label", "Step");
  slider.addEventListener("input", () => { setPlay(false); seek(Number(slider.value)); });
  const counter = make("span", "counter");
  const speed = make("select", "speed", ...SPEEDS.map((s) => new Option(`${s}\u00d7`, String(s), s === 1, s === 1)));
  speed.setAttribute("aria-label", "Speed");
  const said = make("p", "said");
  said.setAttribute("aria-live", "polite");
  const panel = make("div", "panel");
  const told = make("div", "told");
  const player = make("div", "player", trail(opts), make("div", "bar", ...Object.values(buttons), slider, counter, speed),
    graph.frame, legend(data), said, panel, told);
  player.tabIndex = 0;
  player.setAttribute("role", "group");
  player.setAttribute("aria-label", `Walk ${nextNumber()}. ${data.summary}`);
  if (data.note) player.insertBefore(make("p", "note", data.note), graph.frame);
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
    if (step && moving && !still.matches) graph.sendBeads(step, 0.8 * STEP_MS / Number(speed.value));
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
    slider.value = String(index);
    slider.setAttribute("aria-valuetext", `Step ${index} of ${count}`);
    counter.textContent = `${index} / ${count}`;
    buttons.first.disabled = buttons.back.disabled = index === 0;
    buttons.play.disabled = count === 0;
    buttons.next.disabled = buttons.last.disabled = index === count;
    said.setAttribute("aria-live", playing && Number(speed.value) >= QUIET_SPEED ? "off" : "polite");
    said.textContent = step ? step.say : `${data.summary}. ${notBegun(data)}`;
    panel.replaceChildren(...(step ? stepPanel(data, step) : startPanel(data)),
      ...(index === count ? endPanel(data) : []));
    tellNode();
  }

  function tellNode() {
    const step = data.steps[index - 1];
    if (selected !== null) told.replaceChildren(nodePanel(data, selected, walk.held(selected, index), enter),
      visits(walk.arrivals[selected], walk.departures[selected], (i) => { setPlay(false); seek(i + 1); }));
    else if (step && data.insides[step.node]) {
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
    setIcon(buttons.play, on ? "pause" : "play", on ? "Pause (space)" : "Play (space)");
    if (!on) { tell(data.steps[index - 1]); return; }
    if (index === count) seek(0);
    beat();
  }

  function beat() {
    if (index === count || !host.isConnected) { setPlay(false); return; }
    stepOn();
    timer = setTimeout(beat, STEP_MS / Number(speed.value));
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
    ArrowRight: () => { setPlay(false); stepOn(); }, ArrowLeft: () => { setPlay(false); seek(index - 1); },
    Home: () => { setPlay(false); seek(0); }, End: () => { setPlay(false); seek(count); }, " ": () => setPlay(!playing),
    Escape: () => { if (selected !== null) { selected = null; graph.select(null); tellNode(); } else opts.leave?.(); },
  };
  const keysOnNode = { ArrowDown: (i) => roveTo(i + 1), ArrowUp: (i) => roveTo(i - 1), Enter: enter };

  player.addEventListener("keydown", (event) => {
    if (isForThePage(event)) return;
    event.stopPropagation();
    if (event.target === speed || event.target === slider && event.key !== " ") return;
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
  return {
    seek, setPlay, focus: () => player.focus(),
    destroy: () => { setPlay(false); graph.stopBeads(); sizes.disconnect(); forget(); child?.destroy(); root.replaceChildren(); },
  };
}

function notBegun(data) {
  if (data.root === null) return "No walk was recorded: that takes a call of backward() inside the recorded block.";
  return data.steps.length ? "The walk has not begun." : "No rule is applied.";
}

// The nodes a step concerns, which step is the last to concern a node, the steps in which a node receives and sends, and
// what it holds after k steps.
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

// Every output of a notebook has a module of its own: walks are counted where all of them are.
function nextNumber() {
  window.walksShown = (window.walksShown ?? 0) + 1;
  return window.walksShown;
}

function iconButton(name, label, press) {
  const button = makeButton(`icon ${name}`, press);
  setIcon(button, name, label);
  return button;
}

function setIcon(button, name, label) {
  const icon = svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  icon.append(svgElement("path", { d: ICONS[name] }));
  button.replaceChildren(icon);
  button.setAttribute("aria-label", label);
  button.title = label;
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

// With a modifier held a key is the notebook's: Ctrl+S saves it, Shift+Enter runs a cell.
const isForThePage = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

// JupyterLab hears keys before the player does, and leaves them alone below an element that asks for it.
function keepKeys(host) {
  const ask = (event) => {
    if (isForThePage(event)) host.removeAttribute("data-lm-suppress-shortcuts");
    else host.setAttribute("data-lm-suppress-shortcuts", "true");
  };
  for (const happening of ["focusin", "keydown", "keyup"]) host.addEventListener(happening, ask, true);
  host.setAttribute("data-lm-suppress-shortcuts", "true");
}

// Light or dark as the notebook says it; elsewhere as the reader's system says.
function takeTheme(host) {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  const dark = jpThemeLight === "false" || /dark|high-contrast$/.test(vscodeThemeKind ?? "");
  const known = jpThemeLight !== undefined || vscodeThemeKind !== undefined;
  host.style.colorScheme = known ? (dark ? "dark" : "light") : "";
}

// The page outlives the output of a cell that is run again, so what watches the page must not hold the player.
function followTheme(host) {
  const shown = new WeakRef(host);
  const watch = new MutationObserver(() => {
    const alive = shown.deref();
    if (alive) takeTheme(alive);
    else watch.disconnect();
  });
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  takeTheme(host);
  return () => watch.disconnect();
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

// The player of one recorded program. `mount` builds it in a shadow root below `host`.

const LONG_SENTENCE = 130;
const WIDE = 1280;

export function mount(host, given, opts = {}) {
  if (given.film && !opts.inFilm) return mountFilm(host, given, opts);
  const data = withOwnNodes(given);
  const root = ownRoot(host);
  const forgetTheme = followTheme(host);
  keepKeys(host);
  let walk = walkOf(data);
  let steps = null;
  // A question may replace the next step.
  const { ask } = opts;
  const reach = () => data.steps.length + (data.error || ask ? 1 : 0);
  let count = reach();
  let born = bornIn(data);

  let index = 0;
  let least = 0;
  let playing = false;
  let selected = null;
  let child = null;
  let wantsDetails = opts.details ?? false;
  let { moment = {} } = opts;
  let breadth = 0;
  const needed = new Map();

  const act = {
    go: (wanted) => { setPlay(false); seek(wanted); }, more: opts.more,
    slide: (wanted) => (least < 0 ? act.go(wanted) : opts.slide ? opts.slide(wanted) : act.go(wanted - data.first)),
    isWhole: Boolean(opts.beyond),
    toStep: (wanted) => (opts.toStep ?? act.go)(wanted),
    first: () => act.go(opts.beyond && least === 0 ? -data.first : least), back: () => act.go(index - 1),
    next: () => { setPlay(false); stepOn(); }, last: () => act.go(opts.beyond ? data.total + 1 : count),
    play: () => { if (!playing && clock.isMoving()) clock.stop(); else setPlay(!playing); }, onNode, search,
    values: () => valuesFirst(least === 0),
    now: () => index, onView: () => event?.place(), wordNow: () => wordAt(data, index),
    leaveMenu: () => { menu.close(); player.focus({ preventScroll: true }); },
    along: () => { act.press("along", graph.along()); graph.show(litAt(index)); },
    nextAdding: () => jump((step) => step.accumulates), size, hush, details: () => showDetails(!wantsDetails),
    press: (name, on) => player.querySelector(`.${name}`)?.setAttribute("aria-pressed", String(on)),
    full: () => (document.fullscreenElement ? document.exitFullscreen() : (opts.frame ?? player).requestFullscreen?.())
      ?.catch(() => { sentence.textContent = "The browser does not allow full screen here."; }),
  };
  let event = null;
  const graph = drawGraph(data, act);
  event = makeEvent(data, graph);
  let program = makeProgram(data, act, Boolean(opts.inFilm));
  const clock = makeClock((t) => event.at(t));
  const controlled = controls(data, count, act);
  const sentence = make("p", "sentence scroller");
  const heard = make("p", "heard");
  const said = make("div", "", sentence, heard);
  const rule = make("div", "edge-formula");
  const line = make("div", "source-row");
  const panel = make("div", "panel");
  const legend = make("ul", "legend");
  const tip = make("div", "tip");
  tip.setAttribute("role", "status");
  tip.hidden = true;
  let tools = viewTools(data, graph, act);
  const note = data.note ? make("p", "note", data.note) : null;
  const menu = moreMenu([controlled.tools, tools, legend, note].filter(Boolean));
  controlled.bar.append(...[opts.parts, menu.button].filter(Boolean));
  if (opts.moments) controlled.slider.after(opts.moments);
  const aside = make("div", "aside", opts.companion);
  const scene = make("div", "scene", make("div", "stage", graph.frame), aside);
  showProgram();
  // What is in the player, as classes: with `:has()`, each element that is drawn would ask all that are around it.
  const kinds = ["player", opts.leave && "with-trail", opts.strip && "with-quiz",
    opts.companion && (opts.inFilm ? "with-timeline" : "with-figure")];
  const player = make("div", kinds.filter(Boolean).join(" "), trail(opts), controlled.bar, menu.element, opts.strip,
    scene, make("div", "caption", said, rule), line, panel, tip);
  player.tabIndex = 0;
  player.setAttribute("role", "group");
  player.setAttribute("aria-label", `Walk ${nextNumber()}. ${data.summary}`);
  if (window === top && opts.tall !== false) player.classList.add("tall");
  if (!opts.strip && hasOnlyScalars(data)) player.classList.add("scalars");
  const forgetRoom = followRoom(host, player);
  const nested = make("div", "nested");
  root.replaceChildren(player, nested);
  showTips(player, tip);
  linkParts(player, (name) => nodesNamed(data, data.steps[index - 1], name), graph);

  const isAsked = () => ask && index > data.steps.length;
  const litAt = (k) => (ask && k > data.steps.length ? ask.lit : data.steps[k - 1]);
  const atHand = () => (isAsked() ? ask.lit ?? data.steps[index - 2] : data.steps[index - 1]);

  // Beyond the ends, other parts or moments follow. In a film, they also lie between the values and the walk.
  const isOutside = (wanted) => wanted > count || (opts.inFilm ? wanted < least || (index < 0 && wanted >= 0)
    : least === 0 && wanted < (data.first > 0 ? 1 : 0));

  function seek(wanted, moving = false) {
    if (!isOutside(wanted) || !opts.beyond?.(wanted, playing)) move(wanted, moving);
  }

  function move(wanted, moving = false) {
    const target = Math.min(count, Math.max(least, wanted));
    event.clear();
    while (index < target) { steps.apply(index, true); index += 1; }
    while (index > target) { index -= 1; steps.apply(index, false); }
    if (index < 0) steps.holdEarly(index);
    const step = data.steps[index - 1];
    const focused = root.activeElement;
    graph.show(litAt(index));
    graph.follow(atHand(), isAsked() ? 0 : event.heightOf(step));
    event.open(isAsked() ? null : step);
    clock.start(step && moving ? controlled.stepTime() : 0);
    tell(step);
    keepFocus(focused);
    opts.onIndex?.(index);
  }

  function valuesFirst(on) {
    setPlay(false);
    if (!on && index < 0) move(0);
    least = on ? -born.length : 0;
    controlled.fromValues(least);
    if (on) { move(0); move(least); } else tell(data.steps[index - 1]);
  }

  function tell(step) {
    controlled.show(index, playing);
    said.setAttribute("aria-live", playing && controlled.isFast() ? "off" : "polite");
    const failed = index > data.steps.length ? data.error : null;
    if (isAsked()) sentence.replaceChildren(...richText(ask.say));
    else sentence.textContent = failed ? `${failed.say} ${failed.kind}: ${failed.text}`
      : moment.say ? moment.say : index < 0 ? sayValue()
      : step ? step.say : `${data.summary}. ${notBegun(data)}${data.note ? ` ${data.note}` : ""}`;
    if (step && !failed && !isAsked()) markNames(sentence, data, step);
    heard.textContent = playing ? "" : event.words();
    sentence.classList.toggle("failed", Boolean(failed));
    sentence.classList.toggle("long", sentence.textContent.length > LONG_SENTENCE * Math.max(1, breadth / WIDE));
    const computed = index < 0 ? born[born.length + index - 1] : undefined;
    graph.compute(computed);
    const at = isAsked() ? ask.lit?.node : failed ? failed.node : index < 0 ? computed : step?.node;
    const placed = failed?.site ? failed : moment.site ? moment : program.siteOf(at);
    program.showVariables(index, { computed, isChange: Boolean(moment.say) });
    program.light(placed);
    program.lightStep(index);
    const inside = step && !failed && data.insides[step.node] !== undefined;
    line.replaceChildren(...[lineOf(data, placed),
      inside ? insideButton(data, step.node, () => enter(step.node)) : null].filter(Boolean));
    if (!menu.element.hidden) tellLegend(step);
    updatePanel(step);
  }

  function sayValue() {
    const i = born[born.length + index - 1];
    if (i === undefined) return "Values first: the inputs are known, and nothing is computed yet.";
    const value = valueAt(data, data.nodes[i].value);
    const result = value && isScalar(value) ? number(value.data[0]) : value ? `a ${shapeText(value.shape)} array`
      : "a value";
    return `Value ${index - least} of ${-least}. ${data.names[i]} is computed: ${result}.`;
  }

  function showDetails(on) {
    wantsDetails = on;
    if (!on && selected !== null) letGo();
    act.press("details", on);
    updatePanel(data.steps[index - 1]);
  }

  // The panel opens on demand, for a selected node, and for a question.
  function updatePanel(step) {
    const failed = index > data.steps.length ? data.error : null;
    const isOver = index === count && opts.outside;
    panel.hidden = !(wantsDetails || selected !== null || isAsked() || isOver);
    if (player.classList.toggle("with-panel", !panel.hidden) !== graph.frame.classList.contains("short")) {
      graph.frame.classList.toggle("short", !panel.hidden);
      fit();
    }
    const atEdge = panel.hidden && step && !failed && !isAsked() ? edgeFormula(data, step) : null;
    rule.replaceChildren(...[atEdge].filter(Boolean));
    fitFormula(rule, needed, step);
    program.measure();
    if (panel.hidden) { settle(player); return; }
    panel.className = "panel";
    player.classList.remove("with-choices");
    if (selected !== null) {
      panel.replaceChildren(make("div", "column wide scroller", nodePanel(data, selected, walk.held(selected, index),
        wordAt(data, index), enter, letGo), visits(data, walk.arrivals[selected], walk.departures[selected],
        (i) => act.go(i + 1))));
    } else if (isAsked()) panel.replaceChildren(...ask.panel);
    else if (moment.panel) panel.replaceChildren(moment.panel());
    else if (failed) panel.replaceChildren(...errorPanel(data, failed));
    else if (step) {
      const end = () => (index === count && !opts.outside ? endSection(data) : null);
      fitPanel(panel, needed, step, (dense) => stepPanel(data, step, end(), dense));
      if (isOver) panel.lastChild.prepend(insideOut(data, opts.outside));
    } else if (index < 0) panel.replaceChildren(valuePanel(data, born[born.length + index - 1]));
    else panel.replaceChildren(startPanel(data, act));
    player.classList.toggle("with-choices", panel.querySelector(".start, .typed, .choices") !== null);
    settle(player);
  }

  function tellLegend(step) {
    const states = [...root.querySelectorAll(".drawing .node")].flatMap((node) => [...node.classList]);
    legend.replaceChildren(...legendOf(data, graph, new Set(states), step, wordAt(data, index)).filter(Boolean));
  }

  function onNode(i, how) {
    if (isAsked() && ask.onNode?.(i, how)) { graph.select(i); return; }
    if (how === "focus") return;
    if (how === "enter") { enter(i); return; }
    const focused = root.activeElement;
    selected = i;
    graph.select(i);
    program.choose(i);
    updatePanel(data.steps[index - 1]);
    keepFocus(focused);
  }

  // What is drawn again loses the focus, and a notebook would then get the keys.
  function keepFocus(focused) {
    if (!focused || (root.activeElement === focused && !focused.disabled)) return;
    const again = focused.isConnected ? focused : focused.id && root.getElementById(focused.id);
    (again && !again.disabled ? again : player).focus({ preventScroll: true });
  }

  function letGo() {
    selected = null;
    graph.select(null);
    program.choose(null);
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

  // Playing stops at once, also in the middle of an event, and goes on from there.
  function setPlay(on, later = false) {
    if (on === playing) return;
    playing = on;
    if (on && clock.isPaused()) clock.go(beat);
    else if (on) {
      if (index === count && !opts.beyond) seek(least);
      if (later) clock.after(controlled.stepTime(), beat);
      else beat();
    } else clock.stop();
    tell(data.steps[index - 1]);
  }

  function beat() {
    if (!playing) return;
    if (!host.isConnected || index === count && !opts.beyond) { setPlay(false); return; }
    // What is beyond the end plays on by itself.
    if (index === count) { if (!opts.beyond(count + 1, true)) setPlay(false); return; }
    stepOn();
    if (playing) clock.after(controlled.stepTime(), beat);
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
      name: data.names[i], outside, details: wantsDetails });
    child.focus();
  }

  function size(by) {
    player.style.setProperty("zoom", String(Math.min(2, Math.max(0.8, by * (player.style.zoom || 1)))));
  }

  function hush() {
    act.press("hush", player.classList.toggle("hushed"));
    fit();
  }

  const keys = {
    ArrowRight: act.next, ArrowLeft: act.back, Home: act.first, End: act.last, " ": act.play,
    Escape: () => { if (!menu.element.hidden) menu.close(); else if (selected !== null) letGo(); else opts.leave?.(); },
    a: act.nextAdding, n: () => jump((step) => [step.from, step.to].includes(
      selected ?? data.steps[index - 1]?.to)), "!": () => jump(oddOne), g: () => menu.open(controlled.goTo),
    "/": () => menu.open(controlled.search), 0: () => graph.whole(), o: act.along, f: act.full, v: act.values,
    d: act.details, m: () => menu.toggle(),
    "+": () => size(SIZE_STEP), "=": () => size(SIZE_STEP), "-": () => size(1 / SIZE_STEP), h: hush,
  };
  const pressOn = (part) => {
    const item = graph.at(part);
    if (part.matches(".group, .group-heading")) graph.toggle(item.i ?? Number(item.part.slice(1)));
    else onNode(item.i, item.i === selected || isAsked() ? "enter" : "press");
  };
  const keysOnNode = { ArrowDown: (part) => graph.besides(part, 1), ArrowUp: (part) => graph.besides(part, -1),
    Enter: pressOn };

  player.addEventListener("keydown", (pressed) => {
    if (isForThePage(pressed) && !(pressed.shiftKey && ["+", "!", "/"].includes(pressed.key))) return;
    pressed.stopPropagation();
    const { target, key } = pressed;
    if (target.matches(".field")) { if (key === "Escape") act.leaveMenu(); return; }
    if (target === controlled.speed || target === controlled.slider && key !== " ") return;
    if (target.closest("button") && [" ", "Enter"].includes(key)) return;
    const part = target.closest(".node, .group-heading");
    const onNode = part ? keysOnNode[key] : null;
    const press = onNode ?? opts.keys?.[key] ?? keys[key];
    if (!press || target.closest(".scroller") && !target.closest("button") && key.startsWith("Arrow")) return;
    pressed.preventDefault();
    press(part);
  });

  function fit() {
    const focused = root.activeElement;
    if (!graph.fit()) return;
    graph.follow(atHand(), event.heightOf(data.steps[index - 1]));
    event.place();
    event.uncover();
    keepFocus(focused);
  }

  // A quiz takes room from the program after a line is lit.
  const programSize = new ResizeObserver(() => program.fit());
  programSize.observe(program.list);
  const sizes = new ResizeObserver(() => {
    fit();
    const changed = player.clientWidth !== breadth;
    breadth = player.clientWidth;
    if (changed) needed.clear();
    if (changed && data.steps[index - 1] && selected === null && !isAsked()) updatePanel(data.steps[index - 1]);
    settle(player);
  });
  sizes.observe(graph.frame);
  menu.onOpen = () => tellLegend(data.steps[index - 1]);
  begin();
  fit();
  seek(opts.index ?? data.index ?? 0);

  // What the graph shows before the first step.
  function begin() {
    steps = stepsOn(graph, data, walk);
    steps.begin();
    controlled.bar.querySelector(".first-odd")?.remove();
    const odd = data.steps.findIndex(oddOne);
    if (odd < 0) return;
    const button = makeButton("tool first-odd", () => act.go(odd + 1),
      `First nan or inf: step ${data.first + odd + 1}`);
    if (data.odd) button.dataset.tip = data.odd;
    controlled.bar.insertBefore(button, menu.button);
  }

  // Shows the same program at another moment. The graph, its camera, open groups and the focus stay.
  function become(next, at) {
    startAgain(next, at);
    program.renew();
    graph.renew();
    begin();
  }

  // Shows another part of a long program. The camera, what the user opened, and the focus stay.
  function turnTo(next, more) {
    const focused = root.activeElement?.closest?.(".node") ? data.names[graph.at(root.activeElement)?.i] : null;
    for (const name of Object.keys(data)) if (!(name in next)) delete data[name];
    startAgain(next, {});
    act.more = more;
    [born, selected] = [bornIn(data), null];
    program.element?.remove();
    program = makeProgram(data, act);
    showProgram();
    programSize.disconnect();
    programSize.observe(program.list);
    graph.replace();
    const before = tools;
    tools = viewTools(data, graph, act);
    before.replaceWith(tools);
    act.press("details", wantsDetails);
    if (note) note.textContent = data.note;
    begin();
    const found = focused === null ? -1 : data.names.indexOf(focused);
    if (found >= 0) graph.itemOfNode(found).element.focus({ preventScroll: true });
    else if (!root.activeElement) player.focus({ preventScroll: true });
  }

  function showProgram() {
    aside.prepend(...[program.element].filter(Boolean));
    scene.classList.toggle("with-aside", aside.hasChildNodes());
  }

  function startAgain(next, at) {
    playing = false;
    clock.end();
    event.clear();
    Object.assign(data, withOwnNodes(next));
    [walk, count, moment, index, least] = [walkOf(data), reach(), at, 0, 0];
    controlled.reachTo(count);
    controlled.fromValues(least);
    needed.clear();
  }

  function destroy() {
    setPlay(false);
    clock.end();
    sizes.disconnect();
    programSize.disconnect();
    forgetTheme();
    forgetRoom();
    child?.destroy();
    root.replaceChildren();
  }

  return { seek: (wanted) => seek(wanted), setPlay, focus: () => player.focus({ preventScroll: true }), destroy,
    become, turnTo, valuesFirst, isOpen: graph.isOpen, showDetails,
    placeOf: (node) => data.nodes[node].value,
    state: () => ({ index, least, first: data.first, drawn: graph.drawn() }) };
}

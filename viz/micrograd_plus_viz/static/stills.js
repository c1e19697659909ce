// The stage without a browser: the player's own drawing of a walk, as SVG. Python calls the functions at the end.

function still(data, { width, height, details, natural = false }) {
  data.values = decodeValues(data.values);
  let index = 0;
  let event = null;
  const act = { onView: () => event?.place(), wordNow: () => wordAt(data, index), now: () => index, onNode() {},
    toStep() {} };
  const graph = drawGraph(data, act, details);
  event = makeEvent(data, graph);
  // A picture of the whole graph has no program beside it.
  const program = makeProgram(natural ? { ...data, program: [] } : data, act);
  const steps = stepsOn(graph, data, walkOf(data));
  Object.assign(graph.frame, { clientWidth: width, clientHeight: height });
  steps.begin();
  graph.fit();
  const room = natural ? graph.size().map((side) => Math.ceil(side) + 4) : [width, height];
  if (natural) { graph.camera.resize(...room); graph.whole(); }

  // Shows the walk after k steps, its last event at a time from 0 to 1.
  function show(k, t) {
    event.clear();
    while (index < k) { steps.apply(index, true); index += 1; }
    while (index > k) { index -= 1; steps.apply(index, false); }
    const step = natural ? null : data.steps[index - 1];
    graph.show(step);
    graph.follow(step, event.heightOf(step));
    event.open(step);
    event.at(t);
    const failed = index > data.steps.length ? data.error : null;
    program.light(failed?.site ? failed : program.siteOf((failed ?? data.steps[index - 1])?.node));
    program.lightStep(index);
    program.showVariables(index);
  }

  // The drawing in parts, in the order in which they are painted.
  function parts() {
    const [world, layer] = graph.svg.childNodes;
    const overview = graph.frame.lastChild;
    const isSeen = overview.classList.contains("shown") && !overview.classList.contains("covered");
    return { transform: world.attributes.get("transform") ?? "",
      world: world.childNodes.map((part, k) => [part.attributes.get("id") ?? `${part.className} ${k}`,
        markupOf(part)]).filter(([, markup]) => markup), event: layer.childNodes.map(markupOf).join(""),
      overview: !isSeen ? null : { view: overview.attributes.get("viewBox"),
        left: overview.classList.contains("at-left"), top: overview.classList.contains("at-top"),
        inner: overview.childNodes.map(markupOf).join("") },
      program: program.element && textsOf(program.element) };
  }

  // Lets the viewer move the last event by itself, from one second on and for some seconds.
  function animate(start, length) {
    for (const { element, from, to, times, fades, only } of event.flyers()) {
      const [begins, lasts] = [start + times[0] * length, (times[1] - times[0]) * length];
      const kind = only ? "pass" : !from ? "appear" : fades ? "drift" : "fly";
      const at = ([x, y, scale]) => `translate(${x.toFixed(1)}px,${y.toFixed(1)}px) scale(${scale.toFixed(3)})`;
      if (from) Object.assign(element.style, { from: at(from), to: at(to) });
      element.style.opacity = only ? "0" : "";
      element.style.animation = `${kind} ${lasts.toFixed(2)}s ${begins.toFixed(2)}s ${only ? "none" : "both"}`;
    }
  }

  return { room, show, parts, animate };
}

// The program's lines beside the stage, and the values of its names.
function textsOf(element) {
  const lines = element.querySelectorAll(".program-lines").flatMap((list) => [...list.children.flatMap((section) =>
    section.children.map(lineOf))]);
  const names = element.querySelectorAll("dt").map((name) => [name.textContent, name.parentNode.lastChild.textContent]);
  return { lines, names };
}

function lineOf(row) {
  const { className } = row;
  if (!row.classList.contains("program-line")) return { kind: className, text: row.textContent };
  const [number, code] = row.childNodes;
  const kind = ["current", "calls"].find((name) => row.classList.contains(name)) ?? "";
  const parts = code.childNodes.filter(({ tag }) => tag !== "wbr").map((part) => (part instanceof StillElement
    ? [part.textContent, part.tag === "mark"] : [part, false]));
  return { kind, number: number.textContent, parts };
}

// A tile alone, with what stands below it.
function pictureOf(value) {
  const tile = tileOf(value, "picture");
  return inText({ markup: markupOf(drawTile(tile)), width: tile.width, height: tile.height,
    caption: ownValueCaption({ values: [value] }, 0) });
}

const stills = new Map();
const inText = (made) => JSON.stringify(made);

function openStill(name, data, options, closed) {
  for (const other of closed) stills.delete(other);
  stills.set(name, still(data, options));
  return inText(stills.get(name).room);
}

function showStill(name, k, t) {
  const shown = stills.get(name);
  shown.show(k, t);
  return inText(shown.parts());
}

function animateStill(name, k, start, length) {
  const shown = stills.get(name);
  shown.show(k, 1);
  shown.animate(start, length);
  return inText(shown.parts());
}

// The drawn graph: what is lit at a step, beads along an edge, and a window that follows the walk.

const SVG = "http://www.w3.org/2000/svg";
const SMALLEST = 0.72;
const LARGEST = 1.25;
const BEADS = 3;

const svgElement = (tag, attributes) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

function gradientText(data, place) {
  if (place === null || place === undefined) return "";
  const value = data.values[place];
  const word = data.direction === "forward" ? "tangent" : "grad";
  if (isScalar(value)) return `${word} ${number(value.data[0])}`;
  const size = notFinite(value) ?? (value.statistics && number(value.statistics.norm));
  return size === null ? `${word} empty` : `|${word}| ${size}`;
}

// The edges that a step travels: first those between an application and its several outputs, which have no rule.
const edgesOf = (step) => [...step.passed, step.edge];

function drawGraph(data, onNode) {
  const parsed = new DOMParser().parseFromString(`<svg xmlns="${SVG}">${data.drawing}</svg>`, "image/svg+xml");
  const svg = svgElement("svg", { role: "group", "aria-label": data.alt, viewBox: `0 0 ${data.width} ${data.height}` });
  svg.append(...Array.from(document.importNode(parsed.documentElement, true).childNodes));
  const frame = make("div", "graph", svg);
  const nodes = data.nodes.map((_, i) => svg.querySelector(`#n${i}`));
  const edges = data.edges.map((_, j) => svg.querySelector(`#e${j}`));
  const lines = nodes.map((node) => node.querySelector(".gradient"));
  const curve = (edge) => edges[edge].querySelector("path");
  const badge = svgElement("g", { class: "badge", "aria-hidden": "true" });
  badge.append(svgElement("rect", { width: 26, height: 16, rx: 8, x: -13, y: -8 }), svgElement("text", { y: 4 }));
  badge.lastChild.textContent = "+=";
  svg.append(badge);
  const lit = svgElement("path", { class: "lit", "aria-hidden": "true" });
  svg.insertBefore(lit, nodes[0] ?? badge);
  let beads = [];
  let frameRequest = 0;
  let open = 0;
  let room = 0;

  nodes.forEach((node, i) => {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "-1");
    node.addEventListener("click", () => onNode(i, "click"));
    node.addEventListener("dblclick", () => onNode(i, "enter"));
    node.addEventListener("focus", () => { rove(i); onNode(i, "focus"); });
    if (data.insides[i]) markInside(node);
  });

  function rove(i) {
    nodes[open]?.setAttribute("tabindex", "-1");
    open = i;
    nodes[open]?.setAttribute("tabindex", "0");
  }

  function light(step, on) {
    if (!step) return;
    nodes[step.from].classList.toggle("active", on);
    nodes[step.to].classList.toggle(step.accumulates ? "accumulates" : "receives", on);
    for (const edge of edgesOf(step)) edges[edge].classList.toggle("active", on);
    lit.setAttribute("d", on ? edgesOf(step).map((edge) => curve(edge).getAttribute("d")).join("") : "");
    if (on) {
      const box = nodes[step.to].querySelector(".body").getBBox();
      badge.setAttribute("transform", `translate(${box.x + box.width} ${box.y - 3})`);
    }
    badge.classList.toggle("shown", on && step.accumulates);
  }

  const travelled = (edge, on) => edges[edge].classList.toggle("done", on);
  const finish = (node, on) => nodes[node].classList.toggle("done", on);

  function hold(i, place) {
    const held = gradientText(data, place);
    const opens = data.insides[i] ? "has a walk inside" : "";
    nodes[i].setAttribute("aria-label", [data.names[i], data.nodes[i].kind, held, opens].filter(Boolean).join(", "));
    if (!lines[i]) return;
    lines[i].textContent = held;
    lines[i].classList.toggle("odd", /(nan|inf)$/.test(held));
  }

  function stopBeads() {
    cancelAnimationFrame(frameRequest);
    beads.forEach((bead) => bead.remove());
    beads = [];
  }

  // Beads roll along the edges without a rule, where there are any, all at once; then along the edge of the rule.
  function sendBeads(step, duration) {
    stopBeads();
    const legs = step.passed.length ? [step.passed, [step.edge]] : [[step.edge]];
    const rolls = legs.flatMap((leg, k) => leg.flatMap((edge) => beadsAlong(curve(edge), k)));
    beads = rolls.map((roll) => roll.bead);
    svg.append(...beads);
    const started = performance.now();
    const move = (now) => {
      const t = legs.length * (now - started) / duration;
      for (const { roll, leg } of rolls) roll(t - leg);
      if (t < legs.length) frameRequest = requestAnimationFrame(move);
      else stopBeads();
    };
    frameRequest = requestAnimationFrame(move);
  }

  function beadsAlong(path, leg) {
    const length = path.getTotalLength();
    return Array.from({ length: BEADS }, (_, k) => {
      const bead = svgElement("circle", { class: "bead", r: 4, "aria-hidden": "true" });
      const roll = (t) => {
        const along = Math.min(1, Math.max(0, t * 1.4 - k * 0.2));
        const point = path.getPointAtLength(length * (data.direction === "backward" ? 1 - along : along));
        bead.setAttribute("cx", point.x);
        bead.setAttribute("cy", point.y);
        bead.style.opacity = along > 0 && along < 1 ? "1" : "0";
      };
      return { bead, leg, roll };
    });
  }

  // Fit the width, but never so small that it cannot be read: then the frame scrolls after the walk. True where there
  // was no room before, because the player was hidden.
  function fit() {
    const wasHidden = room <= 0;
    room = frame.clientWidth - 2;
    if (room <= 0) return false;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, room / data.width));
    svg.setAttribute("width", String(data.width * scale));
    svg.setAttribute("height", String(data.height * scale));
    const scrolls = data.width * scale > room + 1 || svg.getAttribute("height") > frame.clientHeight + 1;
    if (scrolls) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
    return wasHidden;
  }

  // Bring nodes to the middle; where there is no room for all of them, the first at least is seen whole.
  function follow(...shown) {
    if (!nodes[shown[0]]) return;
    const around = frame.getBoundingClientRect();
    const boxes = shown.map((i) => nodes[i].getBoundingClientRect());
    const way = (start, size, room) => {
      const first = boxes[0];
      const middle = boxes.reduce((sum, box) => sum + box[start] + box[size] / 2, 0) / boxes.length - room / 2;
      return Math.min(first[start], Math.max(first[start] + first[size] - room, middle)) - around[start];
    };
    frame.scrollBy(way("x", "width", frame.clientWidth), way("y", "height", frame.clientHeight));
  }

  function select(i) {
    svg.querySelector(".node.selected")?.classList.remove("selected");
    if (i !== null) nodes[i].classList.add("selected");
  }

  return { frame, nodes, rove, light, travelled, finish, hold, sendBeads, stopBeads, fit, follow, select };
}

// A node that can be stepped into carries a small plus on its upper edge, clear of its name and of arrows.
function markInside(node) {
  const box = node.querySelector(".body");
  const [x, y, width] = ["x", "y", "width"].map((name) => Number(box.getAttribute(name)));
  const mark = svgElement("g", { class: "opens", "aria-hidden": "true" });
  mark.setAttribute("transform", `translate(${x + width / 2} ${y - 2})`);
  mark.append(svgElement("circle", { r: 6.5 }), svgElement("path", { d: "M-3,0H3M0,-3V3" }));
  node.append(mark);
}

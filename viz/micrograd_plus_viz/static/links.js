// Links between parts: their widths, and the lit way of a step.

// The norm of an array; nan or infinite if an entry is.
function normOf(value) {
  if (!value) return null;
  if (isScalar(value)) return Math.abs(magnitude(value.data[0]));
  return value.odd ? NaN : value.statistics?.norm ?? null;
}

// The edges of a step: first edges between an application and its outputs, which have no rule.
const edgesOf = (step) => [...step.passed, step.edge];
const nodesOfStep = (data, step) => edgesOf(step).flatMap((edge) => data.edges[edge].slice(0, 2));

// The same without rounding errors.
const trueNorm = (value) => (value?.beside ? 0 : normOf(value));

// The width of a gradient's line, by the logarithm of its norm relative to the walk's smallest and largest.
function thicknessOf(data) {
  const logs = data.steps.map((step) => trueNorm(valueAt(data, step.contribution)))
    .filter((norm) => norm > 0 && norm < Infinity).map(Math.log10);
  const [low, high] = [logs.reduce((a, b) => Math.min(a, b), Infinity), logs.reduce((a, b) => Math.max(a, b),
    -Infinity)];
  const varies = high - low > 0.3;
  const of = (norm) => (norm === 0 ? 0.8
    : varies ? 1.2 + 4.4 * Math.max(0, Math.log10(norm) - low) / (high - low) : 2);
  return { of, ends: varies ? [10 ** low, 10 ** high] : null };
}

// A link between two parts, faint if no gradient can pass. Links of closed groups have norms. It has the elements that
// it had `before`.
function drawLink(data, link, before) {
  const ends = link.edges.map((j) => data.edges[j].slice(0, 2).map((i) => data.nodes[i]));
  const faint = ends.every(([from, to]) => !from.requires_grad || from.dead || to.dead);
  if (before?.isFaint === faint) {
    ({ element: link.element, path: link.path } = before);
    const [, , ...marks] = link.element.childNodes;
    for (const mark of marks) mark.remove();
  } else {
    link.element = svgElement("g", { id: `e${link.edges[0]}`, class: faint ? "edge faint" : "edge" });
    link.path = svgElement("path", {});
    link.element.append(link.path, svgElement("path", { class: "head" }));
  }
  link.path.setAttribute("d", link.curve);
  link.element.childNodes[1].setAttribute("d", arrow(link.head, 0.38));
  link.isFaint = faint;
  link.cut = ends.find(([from, to]) => to.cut && from.requires_grad)?.[1];
  link.hasNorm = [link.a, link.b].some((part) => part[0] === "g");
  return link.element;
}

const BETWEEN_MARKS = 14;

// Why no gradient goes through a node, in words.
const flowText = ({ cut, dead }) => (cut ? `${cut}: no gradient flows back` : dead ? "no gradient flows here" : "");

// Marks where no gradient passes. Lines that end at one arrow share one mark, unless a gradient passes along another
// line there.
function markCuts(links) {
  const atArrows = new Map();
  for (const link of links) {
    const key = String(link.head.slice(0, 2));
    atArrows.set(key, [...atArrows.get(key) ?? [], link]);
  }
  for (const ending of atArrows.values()) {
    const cuts = ending.filter(({ cut }) => cut);
    if (cuts.length && ending.every(({ cut, isFaint }) => cut || isFaint)) {
      const { element, cut, head: [x, y, footX, footY] } = cuts[0];
      element.append(cutMark(cut, [2 * footX - x, 2 * footY - y], [x, y]));
    } else {
      cuts.forEach(({ element, cut, curve }, k) => {
        const { length, at } = alongCurve(curve);
        const part = Math.max(0.5, 1 - (k + 2) * BETWEEN_MARKS / length);
        element.append(cutMark(cut, at(part), at(part + 2 / length)));
      });
    }
  }
}

// Two strokes across a line at a place, on the way to another one.
function cutMark(node, [x, y], [toX, toY]) {
  const turn = Math.atan2(toY - y, toX - x) * 180 / Math.PI;
  const mark = svgElement("path", { class: "cut-mark", d: "M-4,6L0,-6M0,6L4,-6",
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn.toFixed(0)})` });
  mark.dataset.tip = flowText(node);
  return mark;
}

// The lit way of a gradient along a link, with a large arrow in its direction. A way begins and ends level.
function litParts({ curve, head: [tip, y] }, back) {
  const [x, level] = back ? alongCurve(curve).at(0) : [tip, y];
  return [svgElement("path", { class: "lit", d: back ? `${curve}L${tip},${y}` : curve }),
    svgElement("path", { class: "lit-head", d: arrow([x, level, x + (back ? 13 : -13), level], 0.55) })];
}

// The room of that sign on the screen.
const badgeEdges = ([left, top]) => [left - 8, top - 18, left + 24, top];

// The sign that a gradient is added to what was there.
function badgeAt(box, scale) {
  const badge = svgElement("g", { class: "badge" });
  badge.append(svgElement("rect", { width: 26, height: 16, rx: 8, x: -13, y: -8 }), svgElement("text", { y: 4 }));
  badge.lastChild.textContent = "+=";
  sizeBadge(badge, box, scale);
  return badge;
}

// The sign is never smaller than in a full drawing. It is above the node, whose name may be at its upper edge.
function sizeBadge(badge, [x, y, width, height], scale) {
  const size = Math.max(1, SMALLEST_TEXT / 11 / scale);
  badge.setAttribute("transform",
    `translate(${x - width / 2 + 8 * size} ${y - height / 2 - 7 * size}) scale(${size.toFixed(3)})`);
}

// Routes of edges: curves from left to right, and lines with rounded corners around the nodes that a curve would run
// behind.

const BEFORE_TIP = 7;
const LANES = [6, 11];
const OUT = [2, 8, 18];
const STUB = 18;
const NEAR_END = 160;
const CORNER = 9;
// How much longer a way may be, for each pixel that is not behind a node, and for each that is not on another line.
const [WORTH_BEHIND, WORTH_APART] = [8, 2];

const edgesOfBox = ([x, y, width, height]) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];

// The curve from one box's right side to the arrow at another's left, and the arrow's tip and base. A curve that would
// run behind `others` goes around them; `lanes` are the lines that went around before, which it avoids, too.
function curveBetween(from, to, others, lanes, { width, height }) {
  const [[x, y], [tip, by]] = [[from[0] + from[2] / 2, from[1]], [to[0] - to[2] / 2, to[1]]];
  const foot = tip - BEFORE_TIP;
  const isClear = !leadsBack(x, tip) && !others.some((box) => isBehind(box, x, y, foot, by));
  const bend = foot > x ? Math.max(6, (foot - x) / 2) : 18;
  const at = (v) => v.toFixed(1);
  const arc = `C${at(x + bend)},${at(y)} ${at(foot - bend)},${at(by)} ${at(foot)},${at(by)}`;
  const curve = isClear ? `M${at(x)},${at(y)}${arc}`
    : wayAround([x, y], [foot, by], [from, ...others, to].map(edgesOfBox), lanes, { width, height });
  return { curve, head: [tip, by, foot, by] };
}

const leadsBack = (x, tip) => tip - BEFORE_TIP < x - 40;

// Whether the curve between two points runs behind a box. It rises or falls all the way.
function isBehind([bx, by, width, height], x, y, stop, low) {
  const [left, right] = [Math.max(x, bx - width / 2), Math.min(stop, bx + width / 2)];
  if (left >= right) return false;
  const at = (there) => {
    const part = (there - x) / (stop - x);
    // Its part of the way across is 1.5 t - 1.5 t^2 + t^3.
    let t = part;
    for (let k = 0; k < 4; k += 1) t -= (t * (1.5 + t * (t - 1.5)) - part) / (1.5 + t * (3 * t - 3));
    return y + (low - y) * t * t * (3 - 2 * t);
  };
  const [a, b] = [at(left), at(right)];
  return Math.max(a, b) > by - height / 2 - 2 && Math.min(a, b) < by + height / 2 + 2;
}

// A function that returns what a piece of a level line (axis 0) or of an upright one (axis 1) costs, by its pixels
// behind boxes and on lanes. Many pieces of a line are asked for, so what it does not cross is left out once.
function lineCost(axis, at, boxes, lanes) {
  const crossing = (rects, worth) => rects.filter((rect) => at > rect[1 - axis] && at < rect[3 - axis])
    .map((rect) => ({ from: rect[axis], to: rect[axis + 2], worth }));
  const parts = [...crossing(boxes, WORTH_BEHIND), ...crossing(lanes, WORTH_APART)];
  return (start, stop) => {
    let sum = 0;
    for (const { from, to, worth } of parts) {
      sum += worth * Math.max(0, Math.min(Math.max(start, stop), to) - Math.max(Math.min(start, stop), from));
    }
    return sum;
  };
}

// A way out to the right, up or down to a level, along it, and back to the end: the best of the ways beside boxes.
function wayAround([x, y], [foot, by], boxes, lanes, { width, height }) {
  const [left, right] = [Math.min(x, foot) - 30, Math.max(x, foot) + 30];
  const beside = [...new Set(boxes.flatMap((box) => [box[0] - 4, box[2] + 4]))];
  const outs = [...OUT.map((far) => Math.min(width - 2, x + far)), ...beside].filter((at) => at > x && at < x
    + NEAR_END);
  const ins = [...OUT.map((far) => Math.max(2, foot - far)), ...beside].filter((at) => at < foot && at > foot
    - NEAR_END);
  const levels = [...new Set([y, by, ...boxes.filter((box) => box[2] > left && box[0] < right)
    .flatMap(([, top, , bottom]) => LANES.flatMap((lane) => [top - lane, bottom + lane]))])];
  const upDown = (level) => Math.abs(level - y) + Math.abs(level - by);
  const uprights = (places, start, from) => {
    const level = lineCost(0, from, boxes, lanes);
    return places.map((at) => {
      const far = Math.abs(at - start);
      return { at, cost: Math.max(far, 2 * STUB - far) + level(start, at), upright: lineCost(1, at, boxes, lanes) };
    });
  };
  const [ways, waysBack] = [uprights(outs, x, y), uprights(ins, foot, by)];
  const least = (all, from, level) => all.map(({ at, cost, upright }) => [cost + upright(from, level), at])
    .reduce((a, b) => (b[0] < a[0] ? b : a));
  let best = [Infinity];
  for (const level of levels.filter((at) => at > 2 && at < height - 2).sort((a, b) => upDown(a) - upDown(b))) {
    if (upDown(level) > best[0]) break;
    const [[out, first], [back, last]] = [least(ways, y, level), least(waysBack, by, level)];
    const along = Math.abs(last - first) + lineCost(0, level, boxes, lanes)(first, last);
    const cost = upDown(level) + out + back + along;
    if (cost < best[0]) best = [cost, first, level, last];
  }
  const [, first, level, last] = best;
  lanes.push([Math.min(first, last), level - 2, Math.max(first, last), level + 2]);
  return roundCorners([[x, y], [first, y], [first, level], [last, level], [last, by], [foot, by]]);
}

// A line through points with rounded corners.
function roundCorners(points) {
  const at = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const towards = ([x, y], [toX, toY], part) => [x + (toX - x) * part, y + (toY - y) * part];
  const corners = points.slice(1, -1).map((corner, k) => {
    const ends = [points[k], points[k + 2]];
    const far = ends.map((end) => Math.hypot(end[0] - corner[0], end[1] - corner[1]));
    const radius = Math.min(CORNER, far[0] / 2, far[1] / 2);
    if (!radius) return "";
    const [before, after] = ends.map((end, j) => towards(corner, end, radius / far[j]));
    return `L${at(before)}C${at(towards(before, corner, 0.6))} ${at(towards(after, corner, 0.6))} ${at(after)}`;
  });
  return `M${at(points[0])}${corners.join("")}L${at(points.at(-1))}`;
}

// A curve of our own: its length, and the point at a part of it. Its pieces are straight lines and cubic curves.
function alongCurve(curve) {
  const numbers = curve.match(/-?[\d.]+/g).map(Number);
  const letters = curve.match(/[MLC]/g);
  let [at, k] = [[numbers[0], numbers[1]], 2];
  const pieces = [];
  for (const letter of letters.slice(1)) {
    const count = letter === "L" ? 1 : 3;
    const points = [at, ...Array.from({ length: count }, (_, i) => [numbers[k + 2 * i], numbers[k + 2 * i + 1]])];
    k += 2 * count;
    at = points.at(-1);
    const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const around = points.slice(1).reduce((sum, point, i) => sum + far(point, points[i]), 0);
    pieces.push({ points, length: (around + far(points[0], at)) / 2 });
  }
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0) || 1;
  const point = (part) => {
    let left = part * length;
    const piece = pieces.find((each) => left <= each.length || (left -= each.length, false)) ?? pieces.at(-1);
    const t = Math.min(1, left / (piece.length || 1));
    const weights = piece.points.length === 2 ? [1 - t, t]
      : [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
    return [0, 1].map((axis) => piece.points.reduce((sum, each, i) => sum + weights[i] * each[axis], 0));
  };
  return { length, at: point };
}

// Adds room at both sides for lines that lead back. Then the drawing has no empty border.
function addSides(laid, links) {
  let [left, right] = [0, laid.width];
  for (const [[ax, , aw], [bx, , bw]] of links.map((ends) => ends.map((part) => laid.boxes.get(part)))) {
    const [x, tip] = [ax + aw / 2, bx - bw / 2];
    if (leadsBack(x, tip)) [left, right] = [Math.min(left, tip - 29), Math.max(right, x + 22)];
  }
  const boxes = new Map([...laid.boxes].map(([part, [x, ...rest]]) => [part, [x - left, ...rest]]));
  return { ...laid, boxes, width: right - left, border: left < 0 || right > laid.width ? 0 : 2 * LEAST_INSET };
}

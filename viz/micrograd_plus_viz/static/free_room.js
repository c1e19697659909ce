// Where the event opens on the stage: over as few nodes as possible, with leaders that run over none.

const CELL = 6;
const MOST_PLACES = 48;
const MOST_LOOKED = 24;
// How much a place may cost more than the best if its leaders cost less, and what a leader costs that needs no corner.
const WORTH_A_LEADER = 160;
const CHEAP = 12;
const ALONG_A_SIDE = [0.15, 0.5, 0.85];
// What it costs to cover a cell of a node, of its name, of sender or receiver, of the gradient's way, of the overview;
// to be a pixel away from the way; the length and the turns of leaders.
const COST = { node: 3, name: 6, end: 60, way: 20, overview: 6, away: 0.12, length: 0.05, turn: 6 };

// How much is under each cell of a room, in sums from its corner: what is under a rectangle is known at once.
function makeGround([width, height]) {
  const [columns, rows] = [Math.ceil(width / CELL) + 2, Math.ceil(height / CELL) + 2];
  const sums = new Float64Array(columns * rows);
  const before = (at, most, more) => Math.min(most - 1, Math.max(0, Math.floor(at / CELL) + more));
  const behind = (at, most, more) => Math.min(most - 1, Math.max(0, Math.ceil(at / CELL) + more));

  // Adds a cost to each cell of a box. The sums of the differences at corners are costs, the sums of costs are what is
  // under a rectangle.
  function add([left, top, right, bottom], cost) {
    const [x, stop] = [before(left, columns, 1), behind(right, columns, 1)];
    const [y, low] = [before(top, rows, 1) * columns, behind(bottom, rows, 1) * columns];
    sums[y + x] += cost;
    sums[y + stop] -= cost;
    sums[low + x] -= cost;
    sums[low + stop] += cost;
  }

  function sum() {
    for (let at = 1; at < sums.length; at += 1) if (at % columns) sums[at] += sums[at - 1];
    for (let at = columns; at < sums.length; at += 1) sums[at] += sums[at - columns];
  }

  function under(left, top, right, bottom) {
    const [x, stop] = [before(left, columns, 0), behind(right, columns, 0)];
    const [y, low] = [before(top, rows, 0) * columns, behind(bottom, rows, 0) * columns];
    return sums[low + stop] - sums[low + x] - sums[y + stop] + sums[y + x];
  }
  return { add, sum, under };
}

// Where a straight line enters and leaves a box, from 0 to 1; null if it does not.
function partInside(x, y, stopX, stopY, box) {
  if (Math.max(x, stopX) <= box[0] || Math.min(x, stopX) >= box[2] || Math.max(y, stopY) <= box[1]
    || Math.min(y, stopY) >= box[3]) return null;
  const [across, down] = [stopX - x, stopY - y];
  let [enter, leave] = [0, 1];
  if (across) {
    const [a, b] = [(box[0] - x) / across, (box[2] - x) / across];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  if (down) {
    const [a, b] = [(box[1] - y) / down, (box[3] - y) / down];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return leave > enter ? [enter, leave] : null;
}

function lengthInside(x, y, stopX, stopY, box) {
  const inside = partInside(x, y, stopX, stopY, box);
  return inside ? (inside[1] - inside[0]) * Math.hypot(stopX - x, stopY - y) : 0;
}

// A line through points, as a path that leaves out what is over boxes: it passes behind them.
function pathBehind(points, boxes) {
  return points.slice(1).map(([stopX, stopY], k) => {
    const [x, y] = points[k];
    const point = (part) => `${(x + (stopX - x) * part).toFixed(1)},${(y + (stopY - y) * part).toFixed(1)}`;
    const hidden = boxes.map((box) => partInside(x, y, stopX, stopY, box)).filter(Boolean).sort((a, b) => a[0] - b[0]);
    let [at, path] = [0, ""];
    for (const [enter, leave] of [...hidden, [1, 1]]) {
      if (enter > at) path += `M${point(at)}L${point(enter)}`;
      at = Math.max(at, leave);
    }
    return path;
  }).join("");
}

// How much a line through points runs over boxes, and how long it is; if that is more than `most`, a part of it.
function costOfLine(points, boxes, most) {
  let cost = COST.turn * (points.length - 2);
  for (let k = 1; k < points.length; k += 1) {
    const [[x, y], [stopX, stopY]] = [points[k - 1], points[k]];
    cost += COST.length * Math.hypot(stopX - x, stopY - y);
    for (const box of boxes) {
      if (cost > most) return cost;
      cost += lengthInside(x, y, stopX, stopY, box);
    }
  }
  return cost;
}

// Points of a side from which leaders start.
const alongSide = (from, to) => ALONG_A_SIDE.map((part) => from + (to - from) * part);

// Straight lines from a node to the event, where they face each other or aslant.
function straightLines(end, event) {
  const facing = (mine, theirs) => [0, 1].flatMap((axis) => {
    const side = theirs[axis] >= mine[axis + 2] ? axis + 2 : theirs[axis + 2] <= mine[axis] ? axis : -1;
    if (side < 0) return [];
    const [low, high] = [Math.max(mine[1 - axis], theirs[1 - axis]), Math.min(mine[3 - axis], theirs[3 - axis])];
    return (high - low > 12 ? alongSide(low, high) : alongSide(mine[1 - axis], mine[3 - axis]))
      .map((at) => (axis ? [at, mine[side]] : [mine[side], at]));
  });
  return facing(end, event).flatMap((start) => facing(event, end).map((stop) => [start, stop]));
}

// Lines with one corner, which may run between boxes.
function cornerLines(end, event, boxes) {
  return [0, 1].flatMap((axis) => {
    const other = 1 - axis;
    const point = (at, across) => (axis ? [across, at] : [at, across]);
    const within = (box) => (at) => at > box[other] + 5 && at < box[other + 2] - 5;
    const starts = alongSide(end[other], end[other + 2]);
    const turns = [...alongSide(event[axis], event[axis + 2]), ...boxes.flatMap((box) => [box[axis] - 4,
      box[axis + 2] + 4])].filter((at) => at > event[axis] + 5 && at < event[axis + 2] - 5 && (at < end[axis]
      || at > end[axis + 2]));
    const levels = [...starts, ...boxes.flatMap((box) => [box[other] - 4, box[other + 2] + 4])].filter(within(end));
    return levels.filter((level) => level < event[other] || level > event[other + 2]).flatMap((level) =>
      turns.map((turn) => [point(turn < end[axis] ? end[axis] : end[axis + 2], level), point(turn, level),
        point(turn, level < event[other] ? event[other] : event[other + 2])]));
  });
}

// The line from a node to the event that runs least over `boxes`, with its cost; none if the event covers the node.
function leaderBetween(lines, boxes) {
  return lines.reduce((best, line) => {
    const cost = costOfLine(line, boxes, best.line ? best.cost : Infinity);
    return !best.line || cost < best.cost ? { cost, line } : best;
  }, { cost: 0, line: null });
}

// The boxes that a straight line from one box to another can run over.
function between(one, other, boxes) {
  const [left, top] = [Math.min(one[0], other[0]), Math.min(one[1], other[1])];
  const [right, bottom] = [Math.max(one[2], other[2]), Math.max(one[3], other[3])];
  return boxes.filter((box) => box[0] < right && box[2] > left && box[1] < bottom && box[3] > top);
}

// What is on the stage: the edges of the nodes, of sender and receiver, points of the gradient's way, the overview.
function groundOf({ nodes, ends, names, headings, badge, way, overview }, room, nameHeight) {
  const ground = makeGround(room);
  for (const box of headings) ground.add(box, COST.name);
  for (const box of nodes) {
    ground.add(box, COST.node);
    ground.add([box[0], box[1], box[2], Math.min(box[3], box[1] + nameHeight)], COST.name);
  }
  for (const box of [...ends, ...names, ...badge ? [badge] : []]) ground.add(box, COST.end);
  for (const [x, y] of way) ground.add([x, y, x + 1, y + 1], COST.way);
  if (overview) ground.add(overview, COST.overview);
  ground.sum();
  ground.sum();
  return ground;
}

// The best place of an event of a size, if it costs less than `most`: its upper left corner, its leaders to both ends,
// and the cost.
function findPlace([width, height], room, { nodes, ends }, ground, most) {
  const middle = [0, 1].map((axis) => ends.reduce((sum, box) => sum + box[axis] + box[axis + 2], 0) / 2 / ends.length);
  const [across, down] = room.map((side, k) => {
    const last = Math.max(4, side - [width, height][k] - 4);
    const step = Math.max(CELL, side / MOST_PLACES);
    return [...Array.from({ length: Math.floor((last - 4) / step) + 1 }, (_, j) => 4 + j * step), last];
  });
  let least = most;
  const places = [];
  for (const left of across) {
    for (const top of down) {
      const cost = ground.under(left, top, left + width, top + height)
        + COST.away * Math.hypot(left + width / 2 - middle[0], top + height / 2 - middle[1]);
      least = Math.min(least, cost);
      if (cost < most && cost < least + WORTH_A_LEADER) places.push([left, top, cost]);
    }
  }
  const around = ends.map((_, k) => [...nodes, ...ends.filter((__, j) => j !== k)]);
  let best = { cost: most };
  for (const [left, top, cost] of places.sort((a, b) => a[2] - b[2]).slice(0, MOST_LOOKED)) {
    if (cost >= best.cost) break;
    const event = [left, top, left + width, top + height];
    const leaders = ends.map((end, k) => leaderBetween(straightLines(end, event), between(end, event, around[k])));
    const whole = leaders.reduce((sum, leader) => sum + leader.cost, cost);
    if (whole < best.cost) best = { left, top, event, cost: whole, leaders };
  }
  return { ...best, around };
}

// The lines of the leaders of a place, with a corner where that covers less.
const leadersOf = ({ event, leaders, around }, ends) => leaders.map((straight, k) => {
  if (!straight.line || straight.cost < CHEAP) return straight.line;
  const cornered = leaderBetween(cornerLines(ends[k], event, around[k]), around[k]);
  return (cornered.line && cornered.cost < straight.cost ? cornered : straight).line;
});

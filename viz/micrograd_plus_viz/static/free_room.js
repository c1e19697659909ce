// Where the event opens on the stage: over as few nodes as possible, with leaders that run over none.

const CELL = 5;
const MOST_PLACES = 100;
const MOST_LOOKED = 120;
const ALONG_A_SIDE = [0.15, 0.5, 0.85];
// What it costs to cover a cell of a node, of its name, of sender or receiver, of the gradient's way, of the overview;
// to be a pixel away from the way; the length and the turns of leaders.
const COST = { node: 3, name: 6, end: 60, way: 20, overview: 6, away: 0.12, length: 0.05, turn: 6 };

// How much is under each cell of a room, in sums from its corner: what is under a rectangle is known at once.
function makeGround([width, height]) {
  const [columns, rows] = [Math.ceil(width / CELL) + 2, Math.ceil(height / CELL) + 2];
  const sums = new Float64Array(columns * rows);
  const corners = (box, more) => {
    const [left, top, right, bottom] = box.map((at, k) => Math.min((k % 2 ? rows : columns) - 1, Math.max(0, more
      + (k < 2 ? Math.floor(at / CELL) : Math.ceil(at / CELL)))));
    return [[left, top, 1], [right, top, -1], [left, bottom, -1], [right, bottom, 1]].map(([x, y, sign]) =>
      [y * columns + x, sign]);
  };

  // Adds a cost to each cell of a box. The sums of the differences at corners are costs, the sums of costs are what is
  // under a rectangle.
  function add(box, cost) {
    for (const [at, sign] of corners(box, 1)) sums[at] += sign * cost;
  }

  function sum() {
    for (let at = 0; at < sums.length; at += 1) if (at % columns) sums[at] += sums[at - 1];
    for (let at = columns; at < sums.length; at += 1) sums[at] += sums[at - columns];
  }

  const under = (box) => corners(box, 0).reduce((all, [at, sign]) => all + sign * sums[at], 0);
  return { add, sum, under };
}

// The length of a straight line inside a box.
function lengthInside([[x, y], [stopX, stopY]], [left, top, right, bottom]) {
  let [enter, leave] = [0, 1];
  for (const [from, by, low, high] of [[x, stopX - x, left, right], [y, stopY - y, top, bottom]]) {
    if (!by && (from <= low || from >= high)) return 0;
    if (!by) continue;
    const [a, b] = [(low - from) / by, (high - from) / by];
    [enter, leave] = [Math.max(enter, Math.min(a, b)), Math.min(leave, Math.max(a, b))];
  }
  return Math.max(0, leave - enter) * Math.hypot(stopX - x, stopY - y);
}

// How much a line through points runs over boxes, and how long it is.
const costOfLine = (points, boxes) => points.slice(1).reduce((sum, point, k) => sum + COST.length * Math.hypot(point[0]
  - points[k][0], point[1] - points[k][1]) + boxes.reduce((all, box) => all + lengthInside([points[k], point], box), 0),
COST.turn * (points.length - 2));

// The points of a side from which leaders start, and the lines between boxes that they may follow.
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
    const cost = costOfLine(line, boxes);
    return !best.line || cost < best.cost ? { cost, line } : best;
  }, { cost: 0, line: null });
}

// The best place of an event of a size: its upper left corner, its leaders to both ends, and the cost.
function findPlace([width, height], room, { nodes, ends, way, overview }, nameHeight) {
  const ground = makeGround(room);
  for (const box of nodes) {
    ground.add(box, COST.node);
    ground.add([box[0], box[1], box[2], Math.min(box[3], box[1] + nameHeight)], COST.name);
  }
  for (const box of ends) ground.add(box, COST.end);
  for (const [x, y] of way) ground.add([x, y, x + 1, y + 1], COST.way);
  if (overview) ground.add(overview, COST.overview);
  ground.sum();
  ground.sum();
  const middle = [0, 1].map((axis) => ends.reduce((sum, box) => sum + box[axis] + box[axis + 2], 0) / 2 / ends.length);
  const [across, down] = room.map((side, k) => {
    const most = Math.max(4, side - [width, height][k] - 4);
    const step = Math.max(CELL, side / MOST_PLACES);
    return [...Array.from({ length: Math.floor((most - 4) / step) + 1 }, (_, j) => 4 + j * step), most];
  });
  const places = across.flatMap((left) => down.map((top) => ({ left, top, cost: ground.under([left, top, left + width,
    top + height]) + COST.away * Math.hypot(left + width / 2 - middle[0], top + height / 2 - middle[1]) })))
    .sort((a, b) => a.cost - b.cost);
  const around = ends.map((_, k) => [...nodes, ...ends.filter((__, j) => j !== k)]);
  let best = { cost: Infinity };
  for (const { left, top, cost } of places.slice(0, MOST_LOOKED)) {
    if (cost >= best.cost) break;
    const event = [left, top, left + width, top + height];
    const leaders = ends.map((end, k) => leaderBetween(straightLines(end, event), around[k]));
    const whole = leaders.reduce((sum, leader) => sum + leader.cost, cost);
    if (whole < best.cost) best = { left, top, event, cost: whole, leaders };
  }
  return { ...best, leaders: best.leaders.map((straight, k) => {
    const cornered = leaderBetween(cornerLines(ends[k], best.event, around[k]), around[k]);
    return (cornered.line && cornered.cost < straight.cost ? cornered : straight).line;
  }) };
}

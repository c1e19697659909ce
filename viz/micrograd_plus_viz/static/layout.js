// Where nodes and groups lie in the page: in layers from left to right, a group's parts within its frame. The method is
// that of Sugiyama, Tagawa and Toda (1981), but an edge over several layers is one curve.

const ACROSS = 40;
const ACROSS_GROUPS = 86;
const BETWEEN_ROWS = 30;
const MOST_ROWS = 5;
const DOWN = 14;
const INSET = 12;
const HEADING = 30;

// Places for parts of known sizes: `links` are pairs of parts, listed in the order in which the parts came to be.
function inLayers(parts, links, sizeOf, room) {
  const order = new Map(parts.map((part, i) => [part, i]));
  const ways = links.map(([a, b]) => (order.get(a) < order.get(b) ? [a, b] : [b, a])).filter(([a, b]) => a !== b);
  const [before, after] = [new Map(parts.map((p) => [p, []])), new Map(parts.map((p) => [p, []]))];
  for (const [a, b] of ways) { after.get(a).push(b); before.get(b).push(a); }
  const depth = new Map();
  for (const part of parts) depth.set(part, Math.max(-1, ...before.get(part).map((p) => depth.get(p))) + 1);
  for (const part of parts) {
    const readers = after.get(part);
    if (!before.get(part).length && readers.length) depth.set(part, Math.min(...readers.map((p) => depth.get(p))) - 1);
  }
  const layers = [];
  for (const part of parts) (layers[depth.get(part)] ??= []).push(part);
  const filled = layers.filter(Boolean);
  const height = new Map(parts.map((part) => [part, 0]));
  for (const layer of filled) spread(layer, layer.map(() => 0), sizeOf, height);
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const neighbours = sweep % 2 ? after : before;
    for (const layer of sweep % 2 ? filled.toReversed() : filled) {
      const wish = new Map(layer.map((part) => {
        const around = neighbours.get(part).length ? neighbours.get(part) : [part];
        return [part, around.reduce((sum, p) => sum + height.get(p), 0) / around.length];
      }));
      if (sweep < 4) layer.sort((a, b) => wish.get(a) - wish.get(b));
      spread(layer, layer.map((part) => wish.get(part)), sizeOf, height);
    }
  }
  const across = parts.some((part) => part[0] === "g") ? ACROSS_GROUPS : ACROSS;
  return inRows(filled, height, sizeOf, across, room);
}

// A drawing much wider than its room goes on in further rows, like text, where it can then be larger.
function inRows(layers, height, sizeOf, across, room) {
  const one = framedPlaces(layers, height, sizeOf, across);
  if (!room) return one;
  const scaleOf = ({ width, height: tall }) => Math.min(1, room[0] / width, room[1] / tall);
  let best = one;
  for (let rows = 2; rows <= MOST_ROWS && scaleOf(best) < 1 && layers.length > 2 * rows; rows += 1) {
    const laid = stacked(cutInRows(layers, sizeOf, across, one.width / rows)
      .map((row) => framedPlaces(row, height, sizeOf, across)));
    if (scaleOf(laid) > 1.1 * scaleOf(best)) best = laid;
  }
  return best;
}

function cutInRows(layers, sizeOf, across, width) {
  const rows = [[]];
  let used = 0;
  for (const layer of layers) {
    const wide = Math.max(...layer.map((part) => sizeOf(part)[0])) + across;
    if (used + wide / 2 > width && rows.at(-1).length) { rows.push([]); used = 0; }
    rows.at(-1).push(layer);
    used += wide;
  }
  return rows;
}

function stacked(rows) {
  const places = new Map();
  let top = 0;
  for (const row of rows) {
    for (const [part, [x, y]] of row.places) places.set(part, [x, y + top]);
    top += row.height + BETWEEN_ROWS;
  }
  return { places, width: Math.max(...rows.map((row) => row.width)), height: top - BETWEEN_ROWS };
}

function framedPlaces(layers, height, sizeOf, across) {
  const places = new Map();
  const all = layers.flat();
  const top = Math.min(...all.map((part) => height.get(part) - sizeOf(part)[1] / 2));
  const bottom = Math.max(...all.map((part) => height.get(part) + sizeOf(part)[1] / 2));
  let left = 0;
  for (const layer of layers) {
    const wide = Math.max(...layer.map((part) => sizeOf(part)[0]));
    for (const part of layer) places.set(part, [left + wide / 2, height.get(part) - top]);
    left += wide + across;
  }
  return { places, width: Math.max(0, left - across), height: all.length ? bottom - top : 0 };
}

// Give every part the height nearest to its wish that keeps the order and the gaps: parts that would overlap are joined
// to a block, which moves to the average of its members' wishes.
function spread(layer, wishes, sizeOf, height) {
  const blocks = [];
  let total = 0;
  const offsets = layer.map((part, i) => {
    if (i) total += (sizeOf(layer[i - 1])[1] + sizeOf(part)[1]) / 2 + DOWN;
    return total;
  });
  wishes.forEach((wish, i) => {
    let [start, members] = [wish - offsets[i], 1];
    while (blocks.length && blocks.at(-1)[0] > start) {
      const [other, more] = blocks.pop();
      start = (start * members + other * more) / (members + more);
      members += more;
    }
    blocks.push([start, members]);
  });
  let i = 0;
  for (const [start, members] of blocks) {
    for (let k = 0; k < members; k += 1, i += 1) height.set(layer[i], start + offsets[i]);
  }
}

// Places for a whole drawing: `children` lists the parts of every open group, `links` the edges between parts, and
// `parentOf` leads to the open group that a part lies in. Boxes are [x, y, width, height] from the centre.
function nestedLayout(root, children, parentOf, links, leafSize, room) {
  const boxes = new Map();
  const sizes = new Map();
  const inner = new Map();
  const perGroup = new Map();
  const chain = (part) => { const up = [part]; while (up.at(-1) !== root) up.push(parentOf(up.at(-1))); return up; };
  for (const [a, b] of links) {
    const [from, to] = [chain(a), chain(b)];
    const shared = from.find((group) => to.includes(group));
    const pair = [from[from.indexOf(shared) - 1], to[to.indexOf(shared) - 1]];
    if (pair[0] !== undefined && pair[1] !== undefined) {
      if (!perGroup.has(shared)) perGroup.set(shared, []);
      perGroup.get(shared).push(pair);
    }
  }
  const measure = (part) => {
    if (!children.has(part)) return leafSize(part);
    const parts = children.get(part);
    parts.forEach((each) => sizes.set(each, measure(each)));
    const laid = inLayers(parts, perGroup.get(part) ?? [], (each) => sizes.get(each), part === root ? room : null);
    inner.set(part, laid);
    return part === root ? [laid.width, laid.height] : [laid.width + 2 * INSET, laid.height + INSET + HEADING];
  };
  const place = (part, left, top) => {
    const { places } = inner.get(part);
    for (const [each, [x, y]] of places) {
      const [width, height] = sizes.get(each);
      boxes.set(each, [left + x, top + y, width, height]);
      if (inner.has(each)) place(each, left + x - width / 2 + INSET, top + y - height / 2 + HEADING);
    }
  };
  const [width, height] = measure(root);
  place(root, INSET, INSET);
  return { boxes, width: width + 2 * INSET, height: height + 2 * INSET };
}

// The curve from one box's right side to the foot of the arrow at another's left, and the arrow's tip and foot.
function curveBetween([ax, ay, aw], [bx, by, bw]) {
  const [x, tip] = [ax + aw / 2, bx - bw / 2];
  const foot = tip - 7;
  const hang = Math.min(70, Math.max(0, foot - x - 60) / 8);
  const bend = Math.max(18, Math.abs(foot - x) / 2);
  const at = (v) => v.toFixed(1);
  const bent = `${at(x + bend)},${at(ay + hang)} ${at(foot - bend)},${at(by + hang)}`;
  return { curve: `M${at(x)},${at(ay)}C${bent} ${at(foot)},${at(by)}`,
    head: [tip, by, foot, by] };
}

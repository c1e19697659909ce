// Layout of nodes and groups in layers from left to right, with a group's parts inside its frame. The method comes from
// Sugiyama, Tagawa and Toda (1981), except that an edge over several layers is one curve.

const ACROSS = 40;
const ACROSS_GROUPS = 86;
const BETWEEN_ROWS = 30;
const MOST_ROWS = 12;
const NARROW = 600;
const SMALL = 0.75;
const WORTH_A_ROW = 1.1;
const WORTH_NEAR = 1.25;
const MOST_COLUMNS = 6;
const DOWN = 14;
const INSET = 12;
const HEADING = 20;
const LEAST_DOWN = 7;
const LEAST_INSET = 6;
const WEIGHT_OF_OWN = 0.1;

// Positions for parts of known sizes; `links` are pairs of parts, in order of creation.
function inLayers(parts, links, sizeOf, room, { gap, fold }) {
  const order = new Map(parts.map((part, i) => [part, i]));
  const pairs = links.map(([a, b]) => (order.get(a) < order.get(b) ? [a, b] : [b, a])).filter(([a, b]) => a !== b);
  const [before, after] = [new Map(parts.map((p) => [p, []])), new Map(parts.map((p) => [p, []]))];
  for (const [a, b] of pairs) { after.get(a).push(b); before.get(b).push(a); }
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
  const down = Math.max(LEAST_DOWN, gap * DOWN);
  for (const layer of filled) spread(layer, layer.map(() => 0), sizeOf, height, down);
  const isOwn = (part) => !before.get(part).length && after.get(part).length < 2;
  const weight = new Map(parts.map((part) => [part, isOwn(part) ? WEIGHT_OF_OWN : 1]));
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const neighbours = sweep % 2 ? after : before;
    for (const layer of sweep % 2 ? filled.toReversed() : filled) {
      const wish = new Map(layer.map((part) => {
        const around = neighbours.get(part).length ? neighbours.get(part) : [part];
        const all = around.reduce((sum, p) => sum + weight.get(p), 0);
        return [part, around.reduce((sum, p) => sum + weight.get(p) * height.get(p), 0) / all];
      }));
      if (sweep < 4) layer.sort((a, b) => wish.get(a) - wish.get(b));
      spread(layer, layer.map((part) => wish.get(part)), sizeOf, height, down, (part) => weight.get(part));
    }
  }
  const across = gap * (parts.some((part) => part[0] === "g") ? ACROSS_GROUPS : ACROSS);
  const readerOf = (part) => (isOwn(part) ? after.get(part)[0] : undefined);
  return inRows(foldLayers(filled, height, sizeOf, room && fold * room[1], down), height, sizeOf, across, room, gap,
    readerOf);
}

// A layer much higher than its room continues in a second column.
function foldLayers(layers, height, sizeOf, high, down) {
  if (!high) return layers;
  return layers.flatMap((layer) => {
    const tall = layer.reduce((sum, part) => sum + sizeOf(part)[1] + down, 0);
    const columns = Math.min(MOST_COLUMNS, layer.length, Math.ceil(tall / high));
    if (columns < 2) return [layer];
    const middle = layer.reduce((sum, part) => sum + height.get(part), 0) / layer.length;
    const each = Math.ceil(layer.length / columns);
    return Array.from({ length: Math.ceil(layer.length / each) }, (_, k) => {
      const column = layer.slice(k * each, (k + 1) * each);
      const step = tall / layer.length;
      spread(column, column.map((_, i) => middle + (i - (column.length - 1) / 2) * step), sizeOf, height, down);
      return column;
    });
  });
}

// A drawing much wider than its room wraps to further rows, like text, if it can then be larger. What only the first
// column of a row reads is in that row, unless all would be much smaller.
function inRows(layers, height, sizeOf, across, room, gap, readerOf) {
  const one = placesInFrame(layers, height, sizeOf, across);
  if (!room) return one;
  const most = growthIn(room);
  const scaleOf = ({ width, height: tall }) => Math.min(most, room[0] / width, room[1] / tall);
  const widest = Math.max(...layers.flat().map((part) => sizeOf(part)[0])) + across;
  let best = one;
  // A room that is higher than wide has room for rows, in which all digits are readable.
  const isHigh = room[0] < NARROW || room[1] > room[0];
  const least = isHigh || scaleOf(one) < SMALL * most ? 1 : 2;
  for (let rows = 2; rows <= MOST_ROWS && scaleOf(best) < most && layers.length >= least * rows; rows += 1) {
    for (const [width, over] of [[one.width / rows, 0.5], [Math.max(widest, one.width / rows), 0.5], [widest, 0]]) {
      const lay = (readers) => stackRows(cutInRows(layers, sizeOf, across, width, over, readers)
        .map((row) => placesInFrame(row, height, sizeOf, across)), BETWEEN_ROWS * Math.max(0.6, gap));
      const [near, plain] = [lay(readerOf), lay(() => undefined)];
      const laid = scaleOf(near) * WORTH_NEAR > scaleOf(plain) ? near : plain;
      if (scaleOf(laid) > WORTH_A_ROW * scaleOf(best) || (isHigh && scaleOf(best) < most && scaleOf(laid) === most)) {
        best = laid;
      }
    }
  }
  return best;
}

// A row may exceed its width by part of its last column. What only the first column of a row reads begins that row, if
// `readerOf` tells the only reader of a part.
function cutInRows(layers, sizeOf, across, width, over, readerOf) {
  const rows = [[]];
  const wideOf = (layer) => Math.max(...layer.map((part) => sizeOf(part)[0])) + across;
  let used = 0;
  for (const layer of layers) {
    const wide = wideOf(layer);
    if (used + (1 - over) * wide > width && rows.at(-1).length) {
      const last = rows.at(-1).at(-1);
      const own = last.filter((part) => layer.includes(readerOf(part)));
      const goes = own.length > 0 && own.length < last.length;
      if (goes) rows.at(-1).splice(-1, 1, last.filter((part) => !own.includes(part)));
      rows.push(goes ? [own] : []);
      used = goes ? wideOf(own) : 0;
    }
    rows.at(-1).push(layer);
    used += wide;
  }
  return rows;
}

function stackRows(rows, between) {
  const places = new Map();
  let top = 0;
  for (const row of rows) {
    for (const [part, [x, y]] of row.places) places.set(part, [x, y + top]);
    top += row.height + between;
  }
  return { places, width: Math.max(...rows.map((row) => row.width)), height: top - between };
}

function placesInFrame(layers, height, sizeOf, across) {
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

// Moves each part as near to its wish as the order and the gaps allow. Parts that would overlap form a block, which
// moves to the average of their wishes.
function spread(layer, wishes, sizeOf, height, down, weight = () => 1) {
  const blocks = [];
  let total = 0;
  const offsets = layer.map((part, i) => {
    if (i) total += (sizeOf(layer[i - 1])[1] + sizeOf(part)[1]) / 2 + down;
    return total;
  });
  wishes.forEach((wish, i) => {
    let [start, weighs, members] = [wish - offsets[i], weight(layer[i]), 1];
    while (blocks.length && blocks.at(-1)[0] > start) {
      const [other, more, others] = blocks.pop();
      start = (start * weighs + other * more) / (weighs + more);
      weighs += more;
      members += others;
    }
    blocks.push([start, weighs, members]);
  });
  let i = 0;
  for (const [start, , members] of blocks) {
    for (let k = 0; k < members; k += 1, i += 1) height.set(layer[i], start + offsets[i]);
  }
}

// Positions for a full drawing: `children` lists the parts of every open group, `links` the edges between parts, and
// `parentOf` maps a part to its open group. Boxes are [x, y, width, height] from the centre. `gap` scales the usual
// distances; `fold` is the maximum height of a layer relative to its room.
function nestedLayout(root, children, parentOf, links, leafSize, room, spacing = { gap: 1, fold: 1.5 }) {
  const { gap } = spacing;
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
  const inset = Math.max(LEAST_INSET, gap * INSET);
  const heading = HEADING + Math.max(LEAST_DOWN, gap * INSET);
  const measure = (part) => {
    if (!children.has(part)) return leafSize(part);
    const parts = children.get(part);
    parts.forEach((each) => sizes.set(each, measure(each)));
    const laid = inLayers(parts, perGroup.get(part) ?? [], (each) => sizes.get(each),
      room && (part === root ? room : [room[0] - 2 * inset, Math.max(120, room[1] - inset - heading)]),
      spacing);
    inner.set(part, laid);
    return part === root ? [laid.width, laid.height] : [laid.width + 2 * inset, laid.height + inset + heading];
  };
  const place = (part, left, top) => {
    const { places } = inner.get(part);
    for (const [each, [x, y]] of places) {
      const [width, height] = sizes.get(each);
      boxes.set(each, [left + x, top + y, width, height]);
      if (inner.has(each)) place(each, left + x - width / 2 + inset, top + y - height / 2 + heading);
    }
  };
  const [width, height] = measure(root);
  place(root, inset, inset);
  return { boxes, width: width + 2 * inset, height: height + 2 * inset };
}

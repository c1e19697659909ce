// Tiles: a value as digits, or as a heat map whose shape is to scale. Nodes carry tiles, and the event moves them.

const svgElement = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return setAll(element, attributes);
};

function setAll(element, attributes) {
  for (const name of Object.keys(attributes)) element.setAttribute(name, attributes[name]);
  return element;
}

const memoized = (f) => {
  const known = new Map();
  return (x) => known.get(x) ?? known.set(x, f(x)).get(x);
};

// Sizes of tiles: the room of a heat map, the largest side of its cells, and how many entries are printed as digits.
const TILE_SIZES = {
  picture: { room: [420, 300], side: 14, digits: 48, columns: 8 },
  event: { room: [132, 84], side: 11, digits: 12, columns: 4 },
  compact: { room: [84, 56], side: 8, digits: 6, columns: 3 },
  node: { room: [76, 50], side: 9, digits: 6, columns: 3 },
  small: { room: [52, 34], side: 7, digits: 4, columns: 2 },
  tiny: { room: [30, 24], side: 5, digits: 0, columns: 0 },
};
TILE_SIZES.bare = TILE_SIZES.small;
for (const size of ["node", "small"]) TILE_SIZES[`${size} cells`] = { ...TILE_SIZES[size], digits: 0 };
const DIGIT_HEIGHT = 15;
// A smaller drawing has larger digits in its cells, as long as they fit.
const DIGIT_FONTS = [11, 12, 13];
const LEAST_DIGITS = 11;
const LEAST_CELL = 2;
const GAP_OF_SLICES = 4;
const GAP_OF_MANY = 2;
const SLICE_LABEL = 12;
// Between the labels of slices, so that they do not read as one index.
const LEAST_BETWEEN = 3;
const MOST_LABELLED = 4;

// Entries as rows and columns: a vector is one line, a matrix one block, further axes are slices. A thumbnail has its
// rows and columns already.
function gridOf(value) {
  const { shape, data } = value.data ? value : value.cells ?? { shape: [], data: [] };
  const [columns, rows] = [shape.at(-1) ?? 1, shape.at(-2) ?? 1];
  const slices = shape.slice(0, -2).reduce((a, b) => a * b, 1);
  return { data, rows, columns, slices, folded: !value.data && value.shape.length > 2 };
}

// Up to four slices are beside each other, more of them in as many lines as give them the largest cells. Slices of one
// row, and slices that are too many for lines, become one block of rows.
function arrangeSlices(grid, room, largestSide) {
  const { rows, columns, slices } = grid;
  if (slices <= MOST_LABELLED) return grid;
  if (rows === 1) return { ...grid, rows: slices, slices: 1 };
  let best = { side: 0 };
  for (let down = 1; down <= slices; down += 1) {
    const across = Math.ceil(slices / down);
    const side = Math.min(largestSide, Math.floor((room[0] - GAP_OF_MANY * (across - 1)) / (across * columns)),
      Math.floor((room[1] - GAP_OF_MANY * (down - 1)) / (down * rows)));
    if (side > best.side) best = { side, across, down, gap: GAP_OF_MANY };
  }
  return best.side >= LEAST_CELL ? { ...grid, ...best } : { ...grid, rows: rows * slices, slices: 1, folded: true };
}

const rank = (x) => { const size = Math.abs(magnitude(x)); return Number.isNaN(size) ? Infinity : size; };

// Fewer rows and columns, each cell the largest entry of its block.
function coarsenGrid({ data, rows, columns, slices }, mostRows, mostColumns) {
  if (rows <= mostRows && columns <= mostColumns) return { data, rows, columns, slices, each: 1 };
  const [high, wide] = [Math.min(rows, mostRows), Math.min(columns, mostColumns)];
  const kept = new Array(slices * high * wide).fill(0);
  data.forEach((x, k) => {
    const [slice, row, column] = indexIn({ rows, columns }, k);
    const at = (slice * high + Math.floor(row * high / rows)) * wide + Math.floor(column * wide / columns);
    if (rank(x) > rank(kept[at])) kept[at] = x;
  });
  return { data: kept, rows: high, columns: wide, slices, each: Math.ceil(rows * columns / (high * wide)) };
}

const turned = ({ data, rows, columns, slices }) => ({ rows: columns, columns: rows, slices, data: data.map((_, k) => {
  const [slice, row, column] = [Math.floor(k / (rows * columns)), Math.floor(k / rows) % columns, k % rows];
  return data[slice * rows * columns + column * columns + row];
}) });

// How a value is shown in a size: its kind, its cells and its width and height. `transposed` exchanges the axes.
const tileOf = (value, size, transposed = false) => {
  if (!value) return { kind: "none", width: 34, height: 20 };
  value.tiles ??= new Map();
  const key = transposed ? `${size} turned` : size;
  if (!value.tiles.has(key)) value.tiles.set(key, layTile(value, TILE_SIZES[size], transposed));
  return value.tiles.get(key);
};

// The same within a width: cells in place of digits that need more.
function tileWithin(value, size, most) {
  const tile = tileOf(value, size);
  return tile.kind === "digits" && tile.width > most ? tileOf(value, `${size} cells`) : tile;
}

const digitFont = (scale) => DIGIT_FONTS.find((font) => font * scale >= LEAST_DIGITS) ?? null;

// A tile with its texts in a font. Digits that do not fit, or that would be too small, give way to square cells.
function withFont(tile, font) {
  if (tile.kind === "map" && !tile.label) return tile;
  tile.inFonts ??= new Map();
  if (!tile.inFonts.has(font)) {
    const isTight = tile.kind === "digits" && !(font && (tile.cell - 9) * font / 11 <= tile.cell - 3);
    tile.inFonts.set(font, isTight ? { ...tile, font, kind: "map", cell: undefined, side: DIGIT_HEIGHT,
      width: tile.columns * DIGIT_HEIGHT } : { ...tile, font });
  }
  return tile.inFonts.get(font);
}

function layTile(value, { room, side: largestSide, digits, columns: mostColumns }, transposed) {
  if (isScalar(value)) {
    const text = number(value.data[0]);
    return { kind: "number", text, value, width: Math.max(34, breadthOf(text, 1, 12) + 14), height: 20 };
  }
  const whole = transposed ? turned(gridOf(value)) : gridOf(value);
  if (!whole.data.length) {
    return { kind: "none", text: isDropped(value) ? "\u2026" : "empty", value, width: 44, height: 20 };
  }
  const largest = largestOf(value);
  if (whole.slices === 1 && value.data && value.data.length <= digits && whole.columns <= mostColumns) {
    const cell = Math.max(...whole.data.map((x) => breadthOf(number(x), 1, 11))) + 9;
    const width = whole.columns * cell;
    if (width <= 2 * room[0] || whole.columns === 1) {
      return { kind: "digits", value, largest, ...whole, cell, width, height: whole.rows * DIGIT_HEIGHT };
    }
  }
  const arranged = arrangeSlices(whole, room, largestSide);
  if (arranged.across) {
    const { rows, columns, across, down, gap, side } = arranged;
    return { kind: "map", value, largest, ...arranged, width: across * (columns * side + gap) - gap,
      height: down * (rows * side + gap) - gap };
  }
  const across = room[0] - GAP_OF_SLICES * (arranged.slices - 1);
  // Many slices below each other have no shape of their own: they are not much higher than wide.
  const mostRows = arranged.folded ? Math.max(6, 2 * arranged.columns) : Infinity;
  const grid = coarsenGrid(arranged, Math.min(mostRows, Math.floor(room[1] / LEAST_CELL)),
    Math.floor(across / arranged.slices / LEAST_CELL));
  const side = Math.max(LEAST_CELL, Math.min(largestSide, Math.floor(across / (grid.columns * grid.slices)),
    Math.floor(room[1] / grid.rows)));
  const label = grid.slices > 1 && grid.columns * side >= 14 ? SLICE_LABEL : 0;
  return { kind: "map", value, largest, ...grid, side, label,
    width: (grid.columns * grid.slices) * side + GAP_OF_SLICES * (grid.slices - 1), height: grid.rows * side + label };
}

// The shape of an array whose last two axes are exchanged.
const turnedAxes = (shape) => [...shape.slice(0, -2), ...shape.slice(-2).reverse()];

// The array itself. The cells of a large one with more axes are rows of its last axis, which have no such order.
function turnedValue(value) {
  if (value.shape.length < 2) return value;
  const turn = (data, [rows, columns]) => turned({ data, rows, columns, slices: data.length / (rows * columns) }).data;
  const { data, cells, shape } = value;
  const turnedCells = cells && shape.length === 2 && { ...cells, shape: turnedAxes(cells.shape),
    data: turn(cells.data, cells.shape) };
  return { ...value, tiles: null, shape: turnedAxes(shape), data: data && turn(data, shape.slice(-2)),
    cells: turnedCells || undefined };
}

const indexIn = ({ rows, columns }, k) => [Math.floor(k / (rows * columns)), Math.floor(k / columns) % rows,
  k % columns];

// The position of an entry in a tile.
function placeInTile(tile, k) {
  const { rows, columns, slices, side, cell, label = 0, across = slices, gap = GAP_OF_SLICES } = tile;
  const [slice, row, column] = indexIn(tile, k);
  if (cell) return [column * cell, row * DIGIT_HEIGHT];
  return [slice % across * (columns * side + gap) + column * side,
    label + Math.floor(slice / across) * (rows * side + gap) + row * side];
}

// The size of an array's largest entry, with three digits wherever it is written. Complex numbers have no sign.
const sizeText = (largest) => number(Number(largest.toPrecision(3)));
const plusMinus = (value) => (sizeOf(value) > 0 ? (isComplex(value) ? "up to " : "\u00b1") + sizeText(sizeOf(value))
  + (value.beside ? " \u2248 0" : "") : "0");
const scaleText = (value) => (value.odd ? oddWords(value) : entriesOf(value).length || isDropped(value)
  ? plusMinus(value) : "empty");

// A tile as a group with its upper left corner at the origin. `largest` may be a scale that several tiles share.
function drawTile(tile, name = "", largest = tile.largest) {
  const group = svgElement("g", { class: `tile ${tile.kind} ${name}` });
  if (tile.kind === "map") group.append(...mapParts(tile, largest, tile.data.map((_, k) => k)));
  else if (tile.kind === "digits") group.append(...tile.data.flatMap((x, k) => digitParts(tile, x, k, largest)));
  else {
    group.append(svgElement("rect", { class: "slot", width: tile.width, height: tile.height, rx: 4 }),
      tileText(tile.text ?? "", tile.width / 2, 14, 12));
  }
  return group;
}

function tileText(text, x, y, font) {
  const element = svgElement("text", { x, y });
  element.style.fontSize = `${font}px`;
  element.textContent = text;
  return element;
}

function digitParts(tile, x, k, largest) {
  const [left, top] = placeInTile(tile, k);
  const { font = 11 } = tile;
  const text = tileText(number(x), left + tile.cell / 2 - 0.5, top + 7 + font * 0.36, font);
  if (!Number.isFinite(magnitude(x))) text.setAttribute("class", "off");
  return [svgElement("rect", { class: heat(x, largest), x: left, y: top, width: tile.cell - 1,
    height: DIGIT_HEIGHT - 1 }), text];
}

// The cells of some entries: one path for each shade, so that a thousand cells need a dozen elements.
function mapParts(tile, largest, entries) {
  const { side } = tile;
  const gap = side > 4 ? 1 : 0;
  const paths = new Map();
  const signs = new Signs();
  for (const k of entries) {
    const [left, top] = placeInTile(tile, k);
    const name = heat(tile.data[k], largest);
    paths.set(name, `${paths.get(name) ?? ""}M${left},${top}h${side - gap}v${side - gap}h${gap - side}z`);
    if (side > 5) signs.add(tile.data[k], left, top, side - gap);
  }
  const parts = [...[...paths].map(([name, d]) => svgElement("path", { class: name, d })), ...signs.elements()];
  const { font = 11 } = tile;
  const wide = tile.columns * side + GAP_OF_SLICES;
  if (tile.label && font && breadthOf("[0]", 1, font) + LEAST_BETWEEN <= wide) {
    for (let slice = 0; slice < tile.slices; slice += 1) {
      const [left] = placeInTile(tile, slice * tile.rows * tile.columns);
      parts.push(tileText(`[${slice}]`, left + tile.columns * side / 2, 9, font));
    }
  }
  return parts;
}

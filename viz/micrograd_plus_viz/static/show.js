// Values, formulas and source lines as elements. All text is inserted as text; only formulas, which Python sanitized,
// are parsed as HTML.

const make = (tag, name, ...children) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

function makeButton(name, press, ...children) {
  const button = make("button", name, ...children);
  button.type = "button";
  button.addEventListener("click", press);
  return button;
}

const MINUS = "\u2212";
const minus = (text) => text.replaceAll("-", MINUS);

// All digits if there are at most six, otherwise four, as in digits.py.
const isSame = (near, x) => Math.abs(near - x) <= 1e-12 * Math.abs(x);
const isShort = (x) => Number.isInteger(x) && Math.abs(x) < 1e6;

function number(x) {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (typeof x === "string") return minus(x);
  if (Array.isArray(x)) return complexNumber(number(x[0]), number(x[1]));
  if (isShort(x)) return minus(String(x));
  const digits = isSame(Number(x.toPrecision(6)), x) ? 6 : 4;
  if (Math.abs(x) < 1e5 && Math.abs(x) >= 1e-4) return minus(String(Number(x.toPrecision(digits))));
  const [mantissa, power] = x.toExponential(digits - 1).split("e");
  return minus(`${Number(mantissa)}e${Number(power)}`);
}

// Whether the printed number is exact.
const isWhole = (x) => Array.isArray(x) ? x.every(isWhole)
  : typeof x !== "number" || isShort(x) || isSame(Number(x.toPrecision(6)), x);

function complexNumber(real, imaginary) {
  const negative = imaginary.startsWith(MINUS);
  return `${real} ${negative ? MINUS : "+"} ${negative ? imaginary.slice(1) : imaginary}i`;
}

const exact = (x) => Array.isArray(x) ? complexNumber(minus(String(x[0])), minus(String(x[1])))
  : typeof x === "number" ? minus(String(x)) : number(x);
const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const valueAt = (data, place) => data.values[place] ?? null;
// What a function says about a value, which does not change, is found once.
const remembered = (f) => {
  const known = new WeakMap();
  return (value) => {
    if (!value) return f(value);
    if (!known.has(value)) known.set(value, f(value));
    return known.get(value);
  };
};
const isComplex = remembered((value) => entriesOf(value).some(Array.isArray));
const isScalar = (value) => value.data !== null && value.data.length === 1;
const asNumber = (x) => (typeof x === "string" ? Number(x.replace("inf", "Infinity")) : Number(x));
const magnitude = (x) => (Array.isArray(x) ? Math.hypot(...x.map(asNumber)) : asNumber(x));
const entriesOf = (value) => value?.data ?? value?.cells?.data ?? [];
// Whether a film has left out the entries of an array, and has only its statistics.
const isDropped = (value) => Boolean(value.dropped && value.statistics);
// The sizes of a value's largest entries. Statistics have more digits than entries, which would be rounded twice.
const extremesOf = (value) => {
  if (!value || isScalar(value)) return [];
  const { statistics, cells } = value;
  return statistics && cells?.keeps !== "mean" ? [statistics.min, statistics.max] : entriesOf(value);
};
const sizeOf = remembered((value) => extremesOf(value).map((x) => Math.abs(magnitude(x))).filter(Number.isFinite)
  .reduce((a, b) => Math.max(a, b), 0));
// The end of the scale that some values share. Rounding errors are pale: their scale is that of the terms of their sum.
const largestOf = (...values) => values.reduce((most, value) => Math.max(most, sizeOf(value), value?.beside ?? 0), 0);
const notFinite = (value) => value?.odd ? (value.odd.nan ? "nan" : "inf") : null;

// Up to twelve numbers, or four by four, are printed; more are drawn as a picture.
const isWritten = (value) => value.data !== null
  && (value.data.length <= 12 || (value.data.length <= 16 && value.shape.length === 2 && value.shape[1] <= 4));

const rowsIn = ({ data, shape }) => data.length / (shape.at(-1) ?? 1);

// The index of an entry along every axis, as in `[1, 0]`.
function placeName(shape, k) {
  const place = [];
  for (const size of shape.toReversed()) {
    place.unshift(k % size);
    k = Math.floor(k / size);
  }
  return `[${place.join(", ")}]`;
}

// Only zero is blank. Darker is larger; positive is blue, negative is red with a minus sign, complex is violet. The
// fifth shade is infinite; nan has no shade.
const LEVELS = [0.1, 0.35, 0.7];

function heat(x, largest) {
  const size = magnitude(x);
  if (Number.isNaN(size)) return "odd";
  if (size === 0 || (Number.isFinite(size) && !(largest > 0))) return "h0";
  const kind = Array.isArray(x) ? "c" : size < 0 ? "n" : "p";
  if (!Number.isFinite(size)) return size < 0 ? "n5" : "p5";
  return `${kind}${1 + LEVELS.filter((level) => Math.abs(size) / largest > level).length}`;
}

// The sign in a cell, as the class and the data of its path: a minus, an arrowhead up or down for infinity, a cross for
// nan.
function signIn(x, left, top, side) {
  const size = magnitude(x);
  if (size < 0 && Number.isFinite(size)) return ["minus", `M${left + side * 0.25},${top + side / 2}h${side * 0.5}`];
  if (Number.isFinite(size)) return null;
  const [a, b] = [side * 0.25, side * 0.5];
  const down = size < 0 ? b : -b;
  return ["off", Number.isNaN(size) ? `M${left + a},${top + a}l${b},${b}m0,${-b}l${-b},${b}`
    : `M${left + a},${top + (size < 0 ? a : a + b)}l${b / 2},${down}l${b / 2},${-down}`];
}

// All signs of a picture.
class Signs {
  paths = {};

  add(x, left, top, side) {
    const [name, d] = signIn(x, left, top, side) ?? [];
    if (name) this.paths[name] = (this.paths[name] ?? "") + d;
  }

  elements() {
    return Object.entries(this.paths).map(([name, d]) => svgElement("path", { class: name, d }));
  }
}

// The cells of a picture: their names and numbers, arranged in slices, rows and columns. Leading axes of length one
// take no room; a long vector wraps like text.
function cellsOf(value) {
  const { shape, data, block } = value.data ? value : { block: true, ...value.cells };
  const isLine = data.length === (shape.at(-1) ?? 1);
  const fold = isLine ? Math.min(data.length, 32) : shape.at(-1);
  const rows = isLine ? Math.ceil(data.length / fold) : shape.at(-2);
  const name = block ? (k) => blockName(value, shape, k) : (k) => `${placeName(shape, k)} ${equals(data[k])}`;
  const slices = Math.ceil(data.length / (rows * fold));
  return { data, columns: fold, rows, slices, leading: shape.slice(0, -2).filter((size) => size !== 1), name };
}

const equals = (x) => `${isWhole(x) && String(x).length < 7 ? "=" : "\u2248"} ${number(x)}`;

// The rows and columns of a cell that represents a block, in the array seen as rows of its last axis.
function blockName(value, [rows, columns], k) {
  const wide = value.shape.at(-1) ?? 1;
  const high = value.shape.slice(0, -1).reduce((a, b) => a * b, 1);
  const part = (i, parts, length) => {
    const [start, stop] = [Math.floor(i * length / parts), Math.floor((i + 1) * length / parts) - 1];
    return stop > start ? `${start}\u2013${stop}` : String(start);
  };
  const [r, c] = [Math.floor(k / columns), k % columns];
  const what = value.cells.keeps === "mean" ? "mean of" : "largest in";
  return `${what} [${part(r, rows, high)}, ${part(c, columns, wide)}]: ${number(value.cells.data[k])}`;
}

const LABEL = 14;
const LETTER = 6.2;
const [LARGEST_CELL, SMALLEST_CELL, SMALLEST_OF_ONE, ROWS_TOGETHER] = [14, 3, 1.5, 64];

// The size of a cell, so that all fit, and the number of slices side by side. Slices have their index above if there
// is room. A matrix is one block; with very many rows, it continues in further columns.
function cellLayout(cells, room) {
  const together = cells.slices === 1 && cells.rows <= ROWS_TOGETHER;
  const layouts = [...cells.slices > 1 ? [labelledSlices] : [], plainSlices, ...together ? [] : [bandedSlices]];
  for (const way of layouts) {
    const least = together && way === plainSlices ? SMALLEST_OF_ONE : SMALLEST_CELL;
    for (let side = LARGEST_CELL; side >= least; side -= side > SMALLEST_CELL ? 1 : 0.5) {
      const place = way(cells, side, room);
      if (place.width <= room[0] && place.height <= room[1]) return place;
    }
  }
  return layouts.at(-1)(cells, SMALLEST_CELL, room);
}

// With two or more leading axes, slices form rows and columns with labels at their ends.
function labelledSlices(cells, side, [wide]) {
  const { leading, rows, columns, slices } = cells;
  const grid = leading.length > 1 && leading.at(-1) * 26 <= 1.6 * wide;
  const named = LETTER * placeName(leading, slices - 1).length + 10;
  if (grid) {
    const [left, top, each, tall] = [named - 6, LABEL, Math.max(columns * side + 5, 26), Math.max(rows * side + 4, 12)];
    return tileSlices(cells, { side, left, top, each, tall, grid, across: leading.at(-1), label: 0, per: rows,
      labels: true });
  }
  const each = Math.max(columns * side, named) + 8;
  return tileSlices(cells, { side, left: 0, top: 0, each, tall: rows * side + LABEL, label: LABEL, per: rows,
    labels: true,
    across: Math.max(1, Math.floor(wide / each)) });
}

function plainSlices(cells, side, [wide]) {
  const each = cells.columns * side + (cells.slices > 1 ? 4 : 0);
  return tileSlices(cells, { side, left: 0, top: 0, each, tall: cells.rows * side + (cells.slices > 1 ? 3 : 0),
    label: 0,
    per: cells.rows, across: Math.max(1, Math.floor((wide + 4) / each)) });
}

function bandedSlices(cells, side, [wide]) {
  const each = cells.columns * side + 5;
  const across = Math.max(1, Math.floor((wide + 5) / each));
  const per = Math.min(cells.rows, Math.ceil(cells.rows * cells.slices / across));
  return tileSlices(cells, { side, left: 0, top: 0, each, tall: per * side + 3, label: 0, per, across });
}

// Tiles of `per` rows each, with functions from a cell to its position and back.
function tileSlices({ rows, columns, slices }, place) {
  const { side, left, top, each, tall, label, per } = place;
  const bands = Math.ceil(rows / per);
  const across = Math.min(place.across, slices * bands);
  const down = Math.ceil(slices * bands / across);
  const at = (k) => {
    const [slice, row] = [Math.floor(k / (rows * columns)), Math.floor(k / columns) % rows];
    const tile = slice * bands + Math.floor(row / per);
    return [left + (tile % across) * each + (k % columns) * side,
      top + Math.floor(tile / across) * tall + label + (row % per) * side];
  };
  const cellAt = (x, y) => {
    const [r, c] = [Math.floor(((y - top) % tall - label) / side), Math.floor(((x - left) % each) / side)];
    const tile = Math.floor((y - top) / tall) * across + Math.floor((x - left) / each);
    const row = tile % bands * per + r;
    const inside = x >= left && y >= top && x < left + across * each && r >= 0 && r < per && c < columns && row < rows;
    return !inside ? -1 : (Math.floor(tile / bands) * rows + row) * columns + c;
  };
  return { ...place, across, at, cellAt, width: left + each * across, height: top + tall * down };
}

// The labels of slices and their positions.
function sliceNames({ leading, slices }, { across, each, tall, left, top, grid }) {
  const open = (text) => text.replace("]", ", \u2026]");
  if (!grid) {
    return Array.from({ length: slices }, (_, k) => [open(placeName(leading, k)), (k % across) * each,
      Math.floor(k / across) * tall + LABEL - 3]);
  }
  const rows = Array.from({ length: slices / across }, (_, r) =>
    [open(placeName(leading.slice(0, -1), r)), 0, top + r * tall + 9]);
  const columns = Array.from({ length: across }, (_, c) => [`\u2026${c}`, left + c * each, LABEL - 4]);
  return [...rows, ...columns];
}

// A picture with one path for all cells of a colour, so that a thousand cells need a dozen elements.
function picture(value, largest, room) {
  const cells = cellsOf(value);
  const place = cellLayout(cells, room);
  const { side, at } = place;
  const gap = side > 5 ? 1 : 0.5;
  const paths = new Map();
  const signs = new Signs();
  cells.data.forEach((x, k) => {
    const [left, top] = at(k);
    const name = heat(x, largest);
    paths.set(name, `${paths.get(name) ?? ""}M${left},${top}h${side - gap}v${side - gap}h${gap - side}z`);
    signs.add(x, left, top, side - gap);
  });
  const svg = svgElement("svg", { class: "picture", width: place.width, height: place.height, tabindex: 0,
    role: "img" });
  for (const [name, d] of paths) svg.append(svgElement("path", { class: name, d }));
  svg.append(...signs.elements());
  const around = [...value.outlined ?? []].filter((k) => value.data && k in cells.data).map(at);
  if (around.length) {
    const square = ([left, top]) => `M${left},${top}h${side - gap}v${side - gap}h${gap - side}z`;
    svg.append(svgElement("path", { class: "outlined", d: around.map(square).join("") }));
  }
  for (const [name, x, y] of place.labels ? sliceNames(cells, place) : []) {
    const text = svgElement("text", { x, y });
    text.textContent = name;
    svg.append(text);
  }
  const cursor = svgElement("rect", { class: "cursor", width: side, height: side, visibility: "hidden" });
  svg.append(cursor);
  svg.setAttribute("aria-label", `${shapeText(value.shape)}: ${rangeText(value)}. Arrow keys go from cell to cell.`);
  pointAt(svg, cells, place, (k) => {
    const [x, y] = at(k);
    for (const [name, size] of [["x", x], ["y", y]]) cursor.setAttribute(name, size - 0.5);
    cursor.setAttribute("visibility", "visible");
    return { text: cells.name(k), x: x + side, y };
  });
  return svg;
}

const rangeText = ({ statistics: s }) => (s ? `from ${number(s.min)} to ${number(s.max)}` : "nothing finite");

// The mouse, or the arrow keys while focused, select a cell of a picture; `tell` puts the cursor there.
function pointAt(svg, cells, place, tell) {
  let chosen = 0;
  const show = (k) => {
    chosen = Math.min(cells.data.length - 1, Math.max(0, k));
    const { text, x, y } = tell(chosen);
    const box = svg.getBoundingClientRect();
    const zoom = box.width / place.width;
    svg.dispatchEvent(new CustomEvent("tip", { bubbles: true, detail: { text, x: box.x + x * zoom,
      y: box.y + y * zoom } }));
  };
  const hide = () => {
    svg.querySelector(".cursor").setAttribute("visibility", "hidden");
    svg.dispatchEvent(new CustomEvent("tip", { bubbles: true, detail: null }));
  };
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    const zoom = box.width / place.width;
    const k = place.cellAt((event.clientX - box.x) / zoom, (event.clientY - box.y) / zoom);
    if (k in cells.data) show(k);
    else hide();
  });
  svg.addEventListener("mouseleave", hide);
  svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(chosen); });
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: cells.columns, ArrowUp: -cells.columns }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    show(chosen + way);
  });
}

// A few numbers in rows and columns, or in one line for a vector.
function written(value, largest) {
  const entry = (tag, x, k) => {
    const isWrong = value.outlined?.has(k);
    const cell = make(tag, `${heat(x, largest)}${isWrong ? " outlined" : ""}`, number(x));
    cell.title = `${placeName(value.shape, k)} = ${exact(x)}${isWrong ? ", wrong" : ""}`;
    return cell;
  };
  if (value.data.length === (value.shape.at(-1) ?? 1)) {
    return make("p", "line numbers", ...value.data.map((x, k) => entry("span", x, k)));
  }
  return numberTable(value, value.shape.at(-1), entry);
}

function numberTable(part, columns, entry, heads = false, caption = null) {
  const table = make("table", "numbers");
  if (caption) table.append(make("caption", "", caption));
  if (heads) table.append(make("tr", "", make("td", ""), ...Array.from({ length: columns }, (_, c) => header(c,
    "col"))));
  for (let r = 0; r * columns < part.data.length; r += 1) {
    const row = make("tr", part.shape.length > 2 && part.shape.at(-2) > 1 && r && r % part.shape.at(-2) === 0
      ? "apart" : "");
    if (heads) row.append(header(placeName(part.shape.slice(0, -1), r).slice(1, -1), "row"));
    part.data.slice(r * columns, (r + 1) * columns).forEach((x, c) => row.append(entry("td", x, r * columns + c)));
    table.append(row);
  }
  return table;
}

function header(text, scope) {
  const cell = make("th", "", String(text));
  cell.scope = scope;
  return cell;
}

function statistics(value) {
  const s = value.statistics;
  return s && make("p", "statistics", `${value.odd ? "finite entries: " : ""}min ${number(s.min)}, `
    + `max ${number(s.max)}, mean ${number(s.mean)}, norm ${number(s.norm)}`);
}

// How many entries are not finite: "1 of 3 is nan", "2 of 3 are inf", "1 nan, 1 inf of 3".
function oddWords({ odd, shape }) {
  const counts = Object.entries(odd).filter(([, count]) => count);
  const all = shape.reduce((a, b) => a * b, 1);
  if (counts.length > 1) return `${counts.map(([word, count]) => `${count} ${word}`).join(", ")} of ${all}`;
  const [[word, count]] = counts;
  return `${count} of ${all} ${count === 1 ? "is" : "are"} ${word}`;
}

const oddText = (value) => (value.odd ? make("p", "odd-text", oddWords(value)) : null);

// A note about cells that represent several entries.
function cellText(value) {
  if (value.data || !value.cells) return null;
  const count = value.shape.reduce((x, y) => x * y, 1);
  const sizes = [[count / (value.shape.at(-1) ?? 1), value.cells.shape[0]], [value.shape.at(-1) ?? 1,
    value.cells.shape[1]]].map(([whole, cells]) => [Math.floor(whole / cells), Math.ceil(whole / cells)]);
  const [least, most] = [0, 1].map((k) => sizes[0][k] * sizes[1][k]);
  const each = least === most ? String(least) : `${least} to ${most}`;
  return make("p", "statistics", value.cells.keeps === "mean" ? `a cell: the mean of ${each} (an older record)`
    : `a cell: the largest of ${each}`);
}

// A value as small as is readable: a number, a few numbers, or a picture.
function brief(value, largest, room = [176, 74]) {
  const [, , mostRows = Infinity] = room;
  if (value === null) return [missing("not recorded")];
  if (isScalar(value)) return [scalar(value)];
  if (value.shape.includes(0)) return [missing("empty")];
  if (isWritten(value) && rowsIn(value) <= mostRows) return [written(value, largest)];
  if (value.dropped) return [missing("entries not on this page"), statistics(value)];
  if (!entriesOf(value).length) return [statistics(value) ?? missing("no numbers recorded")];
  return [picture(value, largest, room), cellText(value), oddText(value)];
}

function scalar(value) {
  const shown = make("p", "scalar", make("span", value.outlined?.has(0) ? "outlined" : "", number(value.data[0])));
  shown.title = exact(value.data[0]);
  return shown;
}

const FIRST_ENTRIES = {
  1: "its first entries", 2: "its first rows and columns", 3: "the first entries along its last two axes",
};

// A value with the numbers that the page has, and their arrangement.
function fullView(value, largest) {
  if (value === null || isScalar(value) || !entriesOf(value).length) return brief(value, largest);
  const entry = (shape) => (tag, x, k) => {
    const cell = make(tag, heat(x, largest), number(x));
    cell.title = `${placeName(shape, k)} = ${exact(x)}`;
    return cell;
  };
  const part = value.data ? value : value.corner;
  const few = part && part.data.length <= 256;
  const caption = value.data ? null : FIRST_ENTRIES[Math.min(value.shape.length, 3)];
  const table = few ? numberTable(part, part.shape.at(-1) ?? 1, entry(part.shape), part.shape.length > 1, caption)
    : null;
  return [isWritten(value) ? null : picture(value, largest, [330, 120]), cellText(value),
    table && scroller("", `Numbers of a ${shapeText(value.shape)} array`, table), statistics(value), oddText(value)];
}

const cardFrame = (word, about, ...children) => make("figure", "card",
  make("figcaption", "", word, about && make("span", "", about)), ...children);
const missing = (text) => make("p", "missing", text);
const hasSeveral = (value) => value !== null && !isScalar(value);

// The shape of an array, and with it the size of its largest entry, if its picture has a scale of its own.
const shapeOf = (value) => (hasSeveral(value) ? shapeText(value.shape) : null);
const shapeAndRange = (value) => (!hasSeveral(value) || isWritten(value) || value.odd || !entriesOf(value).length
  ? shapeOf(value) : `${shapeText(value.shape)} ${plusMinus(value)}`);

// A value below its name.
function card(word, value, largest, room, about = shapeOf(value)) {
  const shown = cardFrame(wordFor(word), about, ...brief(value, largest, room));
  if (typeof word === "string") shown.dataset.of = word;
  return shown;
}

const fullCard = (word, value, largest) => cardFrame(make("b", "", word),
  hasSeveral(value) ? `${shapeText(value.shape)} ${value.dtype}` : null, ...fullView(value, largest));

// The shades of a scale with the numbers at its ends. Complex numbers have a size, and no sign.
const SHADES = ["n4", "n3", "n2", "n1", "h0", "p1", "p2", "p3", "p4"];
const scaleEnds = (largest, hasComplex) => ({ high: sizeText(largest), ...hasComplex ? { low: "0",
  shades: ["h0", "c1", "c2", "c3", "c4"] } : { low: MINUS + sizeText(largest), shades: SHADES } });

// The scale that the pictures of some values share.
function scaleOf(largest, ...values) {
  if (!(largest > 0)) return null;
  const { low, shades, high } = scaleEnds(largest, values.some(isComplex));
  return make("p", "scale", `one scale: ${low} `, make("span", "strip", ...shades.map((name) => make("i", name))),
    ` ${high}`, make("span", "", "blank is 0"));
}

const WORDS = {
  upstream: "The gradient (in a forward walk, the tangent) that has arrived at the sending node.",
  local: "The local derivative: how much the result changes for a small change of this input.",
  right: "What the right rule gives here.",
  raw: "The result of the rule, before the sum over broadcast axes.",
  contribution: "The value that this step sends, and adds to the receiving node.",
  before: "The receiving node's value before this step.",
  after: "The receiving node's value after this step: before + contribution.",
  elementwise: "Each entry of the result depends only on the entry at the same position.",
  linear: "Twice the input gives twice the result.",
  multilinear: "Linear in each input separately, like a product.",
  variadic: "Any number of inputs, given as a list.",
  general: "No simpler kind: the rule is specific to this operation.",
  norm: "The length of an array: the square root of the sum of its squares. Written |grad| in the graph.",
};

// A word with a tooltip on hover, focus and click.
function gloss(word, text = WORDS[word]) {
  if (!text) return make("b", "", word);
  const button = makeButton("gloss", () => button.focus(), word);
  button.dataset.tip = text;
  button.setAttribute("aria-label", `${word}: ${text}`);
  return button;
}

const wordFor = (word) => (typeof word === "string" ? gloss(word) : word);

// The two brackets of a pair may be in pieces of different heights, so none stretches.
function writeFormula(holder, mathml) {
  holder.innerHTML = mathml;
  for (const sign of holder.querySelectorAll("mo")) {
    if ("()[]{}".includes(sign.textContent)) sign.setAttribute("stretchy", "false");
  }
}

// A formula in a box; `names` maps the rule's symbols to the program's names.
function formula(mathml, name, label, names = {}, stops = false) {
  const holder = scroller(name, label);
  writeFormula(holder, mathml);
  const seen = new Set();
  for (const symbol of holder.querySelectorAll("[data-name]")) {
    const { name: meant } = symbol.dataset;
    const called = names[meant];
    const shown = symbol.firstElementChild ?? symbol;
    const { textContent: text } = shown;
    if (called && (text === meant || called.startsWith(`${text} #`))) shown.textContent = called;
    if (stops && !seen.has(meant)) symbol.setAttribute("tabindex", "0");
    seen.add(meant);
  }
  return holder;
}

// A box that scrolls if its content is too wide.
function scroller(name, label, ...children) {
  const holder = make("div", `scroller ${name}`, ...children);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", label);
  return holder;
}

// Only boxes that can scroll are reachable by keyboard. (Both sizes of a box are rounded, so they may differ by one
// without scrolling.)
function settle(root) {
  const boxes = [...root.querySelectorAll(".scroller")];
  const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
  boxes.forEach((box, i) => { if (scrolls[i]) box.tabIndex = 0; else box.removeAttribute("tabindex"); });
}

// A source line with the expression between two columns highlighted; columns count characters, not UTF-16 units.
function sourceLine(site) {
  const text = Array.from(site.text);
  const indent = text.findIndex((c) => c.trim() !== "");
  if (site.column === null) return codeLine(0, site.text.trim());
  const stop = site.end_line > site.line || site.end_column === null ? text.length : site.end_column;
  return codeLine(0, text.slice(Math.max(0, indent), site.column).join(""),
    make("mark", "", text.slice(site.column, stop).join("")), text.slice(stop).join(""),
    site.end_line > site.line ? " \u2026" : null);
}

// Source of several lines. Long lines wrap with an indent.
const sourceLines = (text) => text.split(/(?<=\n)/).map((line) => codeLine(line.search(/\S|$/), line));

// Code wraps at brackets, commas, operators, dots and spaces, and within a name only if it is wider than its column.
const breakable = (text) => text.split(/(?<=[(,/[]|[\w)\]](?:[@+%]|\*\*?))(?![)\]*])|(?=\.[a-z])/)
  .flatMap((part, k) => (k ? [make("wbr"), part] : [part])).concat(/[(,[]$/.test(text) ? [make("wbr")] : []);

// A line of code with so many spaces before it, after which it does not break.
function codeLine(indent, text, ...more) {
  const spaces = indent ? make("span", "indent", text.slice(0, indent)) : null;
  const parts = [text.slice(indent), ...more].flatMap((part) => (typeof part === "string" ? breakable(part) : [part]));
  const line = make("code", "", spaces, ...parts);
  line.style.setProperty("--inset", `${indent + 4}ch`);
  return line;
}

const TICK = "\x60";

// Text with `code` in it.
function richText(text) {
  return text.split(TICK).map((part, i) => (i % 2 ? make("code", "", part) : document.createTextNode(part)));
}

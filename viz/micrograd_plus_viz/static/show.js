// Values, formulas and source lines as elements. Every text goes in as text; only the drawing and the formulas,
// which Python rebuilt from known elements, are parsed.

const make = (tag, name, ...children) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.filter((child) => child !== null));
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

// Four significant digits, as digits.py writes them.
function number(x) {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (typeof x === "string") return minus(x);
  if (Array.isArray(x)) return complexNumber(number(x[0]), number(x[1]));
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return minus(String(x));
  if (Math.abs(x) < 1e5 && Math.abs(x) >= 1e-4) return minus(String(Number(x.toPrecision(4))));
  const [mantissa, power] = x.toExponential(3).split("e");
  return minus(`${Number(mantissa)}e${Number(power)}`);
}

function complexNumber(real, imaginary) {
  const negative = imaginary.startsWith(MINUS);
  return `${real} ${negative ? MINUS : "+"} ${negative ? imaginary.slice(1) : imaginary}i`;
}

const exact = (x) => Array.isArray(x) ? complexNumber(minus(String(x[0])), minus(String(x[1])))
  : typeof x === "number" ? minus(String(x)) : number(x);
const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const valueAt = (data, place) => data.values[place] ?? null;
const isComplex = (value) => keptOf(value).some(Array.isArray);
const isScalar = (value) => value.data !== null && value.data.length === 1;
const magnitude = (x) => Array.isArray(x) ? Math.hypot(Number(x[0]), Number(x[1])) : Number(x);

// A value seen as a matrix of its last axis.
function asMatrix(part) {
  const columns = part.shape.length ? part.shape[part.shape.length - 1] : 1;
  return { rows: columns ? part.data.length / columns : 0, columns, data: part.data, shape: part.shape };
}

// The place of a row along every axis but the last, as in `1` or `0, 2`.
function rowName(shape, row) {
  const place = [];
  for (const size of shape.slice(0, -1).reverse()) {
    place.unshift(row % size);
    row = Math.floor(row / size);
  }
  return place.join(", ");
}

// Nine steps of a diverging scale: 0 is white; blue is positive, orange negative, and a minus sign says so too.
function heat(x, largest) {
  const size = magnitude(x);
  if (!Number.isFinite(size)) return "odd";
  const level = largest > 0 ? Math.round(4 * Math.min(1, Math.abs(size) / largest)) : 0;
  return level === 0 ? "h0" : `${size < 0 ? "n" : "p"}${level}`;
}

// `nan` or `inf` where what is kept of a value has such an entry: statistics leave it out, a norm may not.
function notFinite(value) {
  const entries = keptOf(value).flat();
  if (entries.includes("nan")) return "nan";
  return entries.some((x) => typeof x === "string") ? "inf" : null;
}

const keptOf = (value) => value?.data ?? value?.thumbnail?.data ?? [];
const largestOf = (data) => data.map((x) => Math.abs(magnitude(x))).filter(Number.isFinite)
  .reduce((a, b) => Math.max(a, b), 0);

function numberTable(matrix, headed, caption, largest = largestOf(matrix.data)) {
  const table = make("table", "numbers");
  if (caption) table.append(make("caption", "", caption));
  const hasRows = headed && matrix.shape.length > 1;
  if (headed) {
    const top = make("tr", "", hasRows ? make("td", "") : null);
    for (let c = 0; c < matrix.columns; c += 1) top.append(header(String(c), "col"));
    table.append(top);
  }
  for (let r = 0; r < matrix.rows; r += 1) {
    const row = make("tr", "");
    if (hasRows) row.append(header(rowName(matrix.shape, r), "row"));
    for (let c = 0; c < matrix.columns; c += 1) {
      const x = matrix.data[r * matrix.columns + c];
      const cell = make("td", heat(x, largest), number(x));
      cell.title = exact(x);
      row.append(cell);
    }
    table.append(row);
  }
  return table;
}

function header(text, scope) {
  const cell = make("th", "", text);
  cell.scope = scope;
  return cell;
}

function heatMap(matrix, label, largest = largestOf(matrix.data)) {
  const grid = make("div", matrix.rows > 16 || matrix.columns > 16 ? "heat fine" : "heat");
  grid.setAttribute("role", "img");
  grid.setAttribute("aria-label", label);
  grid.style.setProperty("--columns", String(Math.min(matrix.columns, 32)));
  for (const x of matrix.data) {
    const cell = make("span", heat(x, largest), magnitude(x) < 0 ? MINUS : "");
    cell.title = exact(x);
    grid.append(cell);
  }
  return grid;
}

function statistics(value) {
  const s = value.statistics;
  const finite = notFinite(value) ? "finite entries: " : "";
  return s && make("p", "statistics", `${finite}min ${number(s.min)}, max ${number(s.max)}, mean ${number(s.mean)}, `
    + `norm ${number(s.norm)}`);
}

// A value as small as it can be read: a number, a table of at most 4 by 4, else a heat map. `largest` is the size that
// the strongest colour stands for, the value's own largest unless told.
function brief(value, largest) {
  if (value === null) return missing("not recorded");
  if (isScalar(value)) return scalar(value);
  if (value.shape.includes(0)) return missing("empty");
  const part = value.data ? value : value.thumbnail;
  if (!part) return statistics(value) ?? missing("no numbers kept");
  const matrix = asMatrix(part);
  if (value.data && matrix.rows <= 4 && matrix.columns <= 4) return numberTable(matrix, false, null, largest);
  const s = value.statistics;
  return heatMap(matrix, `Heat map of a ${shapeText(value.shape)} array`
    + (s ? ` from ${number(s.min)} to ${number(s.max)}` : ""), largest);
}

function scalar(value) {
  const shown = make("p", "scalar", number(value.data[0]));
  shown.title = exact(value.data[0]);
  return shown;
}

const FIRST_ENTRIES = {
  1: "its first entries", 2: "its first rows and columns", 3: "the first entries along its last two axes",
};

// A value with every number the trace kept, as a table with numbered rows and columns.
function inFull(value) {
  if (value === null) return [missing("not recorded")];
  if (isScalar(value)) return [scalar(value)];
  const part = value.data && value.data.length ? value : value.corner;
  const table = part && part.data.length
    ? numberTable(asMatrix(part), true, value.data ? null : FIRST_ENTRIES[Math.min(value.shape.length, 3)]) : null;
  const whole = table && scroller("", `Numbers of a ${shapeText(value.shape)} array`, table);
  return [value.data ? null : brief(value), whole ?? missing("empty"), statistics(value)];
}

const framed = (word, about, ...children) => make("figure", "card",
  make("figcaption", "", make("b", "", word), about && make("span", "", about)), ...children);
const missing = (text) => make("p", "missing", text);
const ofSeveral = (value) => value !== null && !isScalar(value);

// A value under its word, with its shape; pointing at a number tells it exactly.
const card = (word, value, largest) => framed(word, ofSeveral(value) ? shapeText(value.shape) : null,
  brief(value, largest));
// The same with every number that the trace kept.
const fullCard = (word, value) => framed(word, ofSeveral(value) ? `${shapeText(value.shape)} ${value.dtype}` : null,
  ...inFull(value));

// A formula in a box of its own; the markup was rebuilt in Python from known elements.
function formula(mathml, name, label) {
  const holder = scroller(name, label);
  holder.innerHTML = mathml;
  return holder;
}

// A box that scrolls when what it holds is too wide.
function scroller(name, label, ...children) {
  const holder = make("div", `scroller ${name}`, ...children);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", label);
  return holder;
}

// A keyboard reaches the boxes that have something to scroll, and is not stopped at the others. (Both sizes of a box
// are rounded, so they may differ by one where nothing scrolls.)
function settle(root) {
  for (const box of root.querySelectorAll(".scroller")) {
    if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

// A line of source with the expression between its columns marked; columns count characters, not UTF-16 units.
function sourceLine(site) {
  const text = Array.from(site.text);
  const indent = text.findIndex((c) => c.trim() !== "");
  if (site.column === null) return codeLine(0, site.text.trim());
  const stop = site.end_line > site.line || site.end_column === null ? text.length : site.end_column;
  return codeLine(0, text.slice(Math.max(0, indent), site.column).join(""),
    make("mark", "", text.slice(site.column, stop).join("")), text.slice(stop).join(""),
    site.end_line > site.line ? " \u2026" : null);
}

// Source of several lines. What is too long for its line goes on below it, further in.
const sourceLines = (text) => text.split(/(?<=\n)/).map((line) => codeLine(line.search(/\S|$/), line));

function codeLine(indent, ...children) {
  const line = make("code", "", ...children);
  line.style.setProperty("--inset", `${indent + 4}ch`);
  return line;
}

const quoted = (title, place, ...code) => make("div", "quoted", make("p", "title", title, make("span", "", place)),
  scroller("source", title, ...code));

// Nodes and groups: their sizes in each level of detail, and how they are drawn and written.

const LINE = 14.5;
const CLOSE_LINE = 11.6;
const CAPTION = 14;
const HEAD = 18;
const PAD = 8;
const BETWEEN_TILES = 6;
const FROM_CORNER = 10;
const LINES = ["name", "value", "gradient"];
// How much a node shows: tiles above or beside each other, smaller tiles, tiles without captions, lines of text, or
// its name.
const DETAILS = {
  stacked: { tiles: "node" }, beside: { tiles: "node", beside: true }, smaller: { tiles: "small" },
  "smaller beside": { tiles: "small", beside: true }, bare: { tiles: "tiny", beside: true, bare: true },
  lines: {}, named: {}, short: {},
};
const SHORT = { gradient: "grad", tangent: "tangent" };

// What a node holds, as text: a number, or the norm of an array.
function heldText(data, holds) {
  return besideOther(holds, (place) => ownHeldText(data, { place, word: holds.word }));
}

// In a comparison, the text of the other walk beside this one's: "grad 3 | 4".
function besideOther({ place, word, other }, textOf) {
  const mine = textOf(place);
  if (other === undefined || other === place) return mine;
  const theirs = textOf(other);
  const start = mine.startsWith("|") ? `|${SHORT[word]}| ` : `${SHORT[word]} `;
  return mine === theirs ? mine : `${mine || `${SHORT[word]} \u2013`} | ${theirs.replace(start, "") || "\u2013"}`;
}

function ownHeldText(data, { place, word }) {
  const value = valueAt(data, place);
  if (!value) return "";
  if (isScalar(value)) return `${SHORT[word]} ${number(value.data[0])}`;
  const size = notFinite(value) ?? (value.statistics && number(Number(value.statistics.norm.toPrecision(4))));
  return size === null || size === undefined ? `${SHORT[word]} empty` : `|${SHORT[word]}| ${size}`;
}

// The caption below a gradient's tile: the number, or the scale of the picture.
function gradientCaption(data, holds) {
  const { word } = holds;
  return besideOther(holds, (place) => {
    const value = valueAt(data, place);
    if (!value) return "";
    return isScalar(value) ? ownHeldText(data, { place, word }) : `${SHORT[word]} ${scaleText(value)}`;
  });
}

// The caption below a value's tile: its shape, and the scale of the picture.
function valueCaption(data, place) {
  const mine = ownValueCaption(data, place);
  const theirs = data.other?.values[place];
  const text = theirs === undefined ? mine : ownValueCaption(data, theirs);
  return text === mine ? mine : `${mine} | ${text.replace(/^\([^)]*\),? /, "")}`;
}

function ownValueCaption(data, place) {
  const value = valueAt(data, place);
  if (!value) return "";
  if (isScalar(value)) return number(value.data[0]);
  return `${shapeText(value.shape)} ${scaleText(value)}`;
}

// What a result says below its value: its gradient, or why none can leave it. A `Value` that was computed under
// `no_grad` receives one.
const lastLine = (data, i, held) => held || (data.nodes[i].cut ?? held);

// The size of a node, and the places of its tiles relative to its centre. Numbers are texts without a tile.
function nodeForm(data, i, detail, head, place) {
  const { tiles: size, beside, bare } = DETAILS[detail];
  const label = data.labels[i];
  const value = valueAt(data, place);
  const takes = label[2] !== null;
  const slant = data.nodes[i].kind === "output" ? 1.6 : 1;
  const cut = data.nodes[i].cut !== undefined;
  if (detail === "named" || detail === "short") return { tiles: {}, named: true };
  if (!size || !value || isScalar(value)) {
    const lines = 1 + (value && label[1] !== null) + (takes || cut);
    return { width: (Math.max(6.6 * label[3], head) + 20) * slant, height: LINE * lines + 12, tiles: {} };
  }
  const tile = tileOf(value, size);
  const caption = Math.max(bare ? 0 : breadthOf(valueCaption(data, place), 1, 11),
    takes && !bare ? breadthOf(`grad \u00b10.00000${data.other ? " | \u00b10.00000" : ""}`, 2, 11) : 0,
    cut ? breadthOf(data.nodes[i].cut, 2, 11) : 0);
  const each = Math.max(tile.width, caption);
  const [across, down] = beside && takes ? [2 * each + BETWEEN_TILES, 1] : [each, takes ? 2 : 1];
  const width = Math.max(head, across) + 2 * PAD;
  const height = HEAD + down * (tile.height + (bare ? 0 : CAPTION)) + (down - 1) * 2 + 7 + (cut ? CAPTION : 0);
  const top = -height / 2 + HEAD + 2;
  const places = { value: [beside && takes ? -(each + BETWEEN_TILES) / 2 : 0, top + tile.height / 2] };
  if (takes) {
    places.gradient = beside ? [(each + BETWEEN_TILES) / 2, top + tile.height / 2]
      : [0, top + tile.height + CAPTION + 2 + tile.height / 2];
  }
  const room = beside && takes ? each : Math.max(head, across) + PAD;
  return { width: width * slant, height, tiles: places, tall: tile.height, wide: tile.width, tile, room, bare,
    last: cut ? [0, height / 2 - 7] : null };
}

// The shape of a node: a box, a rounded box or a hexagon.
const outline = (kind, box, name) => setAll(svgElement(kind === "output" ? "path" : "rect", { class: name }),
  outlineOf(kind, box));

function outlineOf(kind, [x, y, width, height]) {
  const [left, top] = [x - width / 2, y - height / 2];
  if (kind === "output") {
    const slant = width * 0.25;
    return { d: `M${left},${y}L${left + slant},${top}L${left + width - slant},${top}`
      + `L${left + width},${y}L${left + width - slant},${top + height}L${left + slant},${top + height}Z` };
  }
  const rx = kind === "application" ? Math.min(14, height / 2) : kind === "group" ? 8 : 1.5;
  return { x: left, y: top, width, height, rx };
}

// A part that can be opened has a small plus at its upper right corner, clear of its name and of arrows.
function markOpens(item) {
  item.mark = svgElement("g", { class: "opens", "aria-hidden": "true" });
  placeMark(item);
  item.mark.append(svgElement("circle", { r: 6.5 }), svgElement("path", { d: "M-3,0H3M0,-3V3" }));
  item.element.append(item.mark);
}

const placeMark = ({ mark, box: [x, y, width, height] }) =>
  mark.setAttribute("transform", `translate(${x + width / 2 - FROM_CORNER} ${y - height / 2 - 2})`);

// A part that was drawn before, and looks the same, keeps its elements at its new place.
function takeOver(item, { element, texts, mark, slots }) {
  Object.assign(item, { element, texts, mark, slots, isMoved: texts });
  element.setAttribute("tabindex", "-1");
  element.classList.remove("pointed");
  item.outlines.forEach(([, box], k) => setAll(element.childNodes[k], outlineOf(item.shape, box)));
  if (mark) placeMark(item);
  for (const kind of Object.keys(slots)) placeSlot(item, kind);
}

// A small triangle from base to tip.
function arrow([x, y, footX, footY], breadth) {
  const [acrossX, acrossY] = [(footY - y) * breadth, (x - footX) * breadth];
  return `M${x},${y}L${footX + acrossX},${footY + acrossY}L${footX - acrossX},${footY - acrossY}Z`;
}

// The width available for a part's text.
const breadthFor = (width, shape, scale) => width * (shape === "output" ? 0.62 : 1)
  - (shape === "application" ? 12 : 6) / scale;

// Puts a tile in a node, if it is another one; an empty slot has a dashed outline.
function fillSlot(item, kind, tile, font) {
  const laid = withFont(tile ?? item.form.tile, font);
  const before = item.slots[kind];
  if (before?.laid === laid && before.isEmpty === !tile) return;
  before?.shown.remove();
  const shown = tile ? drawTile(laid, `of-${kind}`) : svgElement("g", { class: `tile empty of-${kind}` });
  const { width, height } = laid;
  if (!tile) shown.append(svgElement("rect", { class: "slot", width, height, rx: 2 }));
  item.slots[kind] = { shown, laid, isEmpty: !tile };
  placeSlot(item, kind);
  item.element.insertBefore(shown, item.texts[0]);
}

// A tile is centred at its place in the node.
function placeSlot({ box, form, slots }, kind) {
  const { shown, laid } = slots[kind];
  const [x, y] = form.tiles[kind];
  const [left, top] = [box[0] + x - laid.width / 2, box[1] + y - laid.height / 2];
  shown.setAttribute("transform", `translate(${left.toFixed(1)} ${top.toFixed(1)})`);
}

// Writes the lines of a node. Text is never too small to read: in a small drawing, text that does not fit is omitted.
function writeNode(item, view, room) {
  const { scale } = view;
  const breadth = breadthFor(item.box[2], item.shape, scale);
  const { tiles, tall } = item.form;
  if (tiles.value) writeTiled(item, scale, tiles, tall, breadth);
  else writeLines(item, scale, breadth);
  writeOutside(item, view, room);
}

// The nodes of a step have their names in any case: above them, if there is no room inside. A short name is not cut.
const WIDTH_OUTSIDE = 110;
const MARK = 8;

function writeOutside(item, view, [across]) {
  const { isLit, mark, box: [x, y, width, height], texts: [name], lines, inOwn } = item;
  const { scale } = view;
  const font = Math.max(12, SMALLEST_TEXT / scale);
  const isCut = () => breadthOf(lines[0], 0, font) <= WIDTH_OUTSIDE / scale
    && !formsOf(lines[0], 0, inOwn).includes(name.textContent);
  const isOutside = Boolean(isLit) && (!name.textContent || isCut());
  name.classList.toggle("outside", isOutside);
  item.outside = null;
  if (!isOutside) return;
  const shown = fitText(lines[0], 0, Math.max(width, WIDTH_OUTSIDE / scale), font, inOwn);
  const half = breadthOf(shown, 0, font) / 2 + 4 / scale;
  const [first, last] = [half - view.x / scale, (across - view.x) / scale - half];
  const [at, low] = [Math.max(first, Math.min(last, x)), y - height / 2 - 5 / scale - (mark ? MARK : 0)];
  putText(name, shown, font, at, low);
  item.outside = [at, low - font / 2, 2 * half, 1.6 * font];
}

// After its value, a gradient is known without its word.
function fitCaption(line, k, breadth, font, inOwn) {
  const shown = fitText(line, k, breadth, font, inOwn);
  return shown === "\u2026" && k === 2 ? fitText(line.replace(/^(grad|tangent) /, ""), k, breadth, font) : shown;
}

function writeLines(item, scale, breadth) {
  const [x, y, , height] = item.box;
  const line = height * scale >= 3 * (SMALLEST_TEXT + 2) + 2 ? SMALLEST_TEXT + 2 : CLOSE_LINE;
  const leading = scale >= 1 ? LINE : line / scale;
  const oneFits = height * scale + 1 >= SMALLEST_TEXT + 2 ? 1 : 0;
  const fitting = scale >= 1 ? Math.floor((height + 2) / LINE)
    : Math.max(0, Math.floor((height * scale - 2) / line), oneFits);
  const fonts = LINES.map((_, k) => Math.max(k === 0 ? 12 : 11, SMALLEST_TEXT / scale));
  const kept = [0, 2, 1].filter((k) => item.lines[k]).slice(0, fitting).sort();
  // With room for two lines, the value is beside the gradient.
  const [value, gradient] = [1, 2].map((k) => breadthOf(item.lines[k] ?? "", k, fonts[k]));
  const gap = 6 / scale;
  const beside = fitting === 2 && value && gradient && value + gap + gradient <= breadth;
  const shifts = beside ? [0, -(gap + gradient) / 2, (gap + value) / 2] : [0, 0, 0];
  let top = y - leading * (kept.length - 1) / 2 + 4 / Math.min(1, scale);
  item.texts.forEach((text, k) => {
    const line = kept.includes(k) || beside ? item.lines[k] : "";
    const fit = kept.includes(1) ? fitCaption : fitText;
    putText(text, fit(line, k, breadth, fonts[k], item.inOwn), fonts[k], x + shifts[k], top);
    if (kept.includes(k) && !(beside && k)) top += leading;
  });
}

// The name above the tiles and a caption below each, as long as there is room.
function writeTiled(item, scale, tiles, tall, breadth) {
  const [x, y, , height] = item.box;
  const roomFor = [HEAD, CAPTION, CAPTION].map((room) => (room + 1) * scale >= SMALLEST_TEXT);
  const places = [[0, -height / 2 + 14], ...["value", "gradient"].map((kind) => tiles[kind]
    && [tiles[kind][0], tiles[kind][1] + tall / 2 + 11])];
  places[2] ??= item.form.last;
  item.texts.forEach((text, k) => {
    const font = Math.max(k === 0 ? 12 : 11, SMALLEST_TEXT / scale);
    const across = k && tiles.gradient && tiles.value[0] !== tiles.gradient[0] ? breadth / 2 - 4 / scale : breadth;
    const shown = places[k] && roomFor[k] ? fitCaption(item.lines[k] ?? "", k, across, font, item.inOwn) : "";
    putText(text, shown, font, x + (places[k]?.[0] ?? 0), y + (places[k]?.[1] ?? 0));
  });
}

function putText(text, shown, font, x, y) {
  if (text.textContent !== shown) text.textContent = shown;
  if (!shown) return;
  text.style.fontSize = `${font}px`;
  text.setAttribute("x", x);
  text.setAttribute("y", y);
}

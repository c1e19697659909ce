// The event: the active rule opens between its two nodes. The upstream tile leaves the sender and meets the local one;
// their product, summed over broadcast axes, travels to the receiver and joins what it has.

const [SIGN_WIDTH, SIGN_FONT] = [24, 19];
const BUBBLE = { pad: 12, caption: 13, row: 10 };
const [SHADE_WIDTH, SCALE_HIGH] = [9, 24];
// The sizes of an event; the last ones serve where no other fits: with the shapes of arrays, or else without.
const EVENT_SIZES = ["event", "node"];
const SMALLEST_SIZES = ["small", "bare"];
// The cost of a place that covers nothing but is far away, and how much less a smaller event must cost.
const NOTHING_COVERED = 80;
const WORTH_SMALLER = 40;
// How much larger numbers are than text; arrays are where the drawing is.
const LARGER = 1.35;
const MOST_PIECES = 100;
// How much of the height of a narrow room an event may have before it goes without the shapes of arrays.
const MOST_HIGH = 0.6;
const FORMULA_SIZES = ["large", "medium", "small"];
// When the parts of an event move, from 0 to 1.
const TIMES = { arrive: [0, 0.24], others: [0.16, 0.38], product: [0.36, 0.54], fall: [0.52, 0.7], before: [0.6, 0.72],
  leave: [0.7, 0.95] };

const ease = (u) => (u < 0.5 ? 2 * u * u : 1 - 2 * (1 - u) * (1 - u));
const within = ([start, stop], t) => ease(Math.min(1, Math.max(0, (t - start) / (stop - start))));

// Whether a value that a rule read is worth its room in the event: an array that the rule's formula names.
function isInEvent(data, step, [name, value]) {
  const written = data.formulas[step.formula];
  return value && !isScalar(value) && (!written || written.includes(`"${name}"`));
}

// The factors of a rule with the signs between them, if it is a plain product of them; a factor may be transposed. Any
// other rule reads its values in some other way, and commas say no more than that.
function factorsOf(data, step, isShown) {
  const names = namesOf(data, step);
  if (step.local !== null) {
    const [same] = Object.entries(step.reads).find(([, place]) => place === step.local) ?? [];
    return [factorOf(step, names, "upstream"), { sign: signOfLocal(data, step) },
      { name: "local", place: step.local, from: same,
        word: same && !/^\(?\u2212?\d/.test(names[same]) ? names[same] ?? same : "local" }];
  }
  const read = readOf(data, step).filter((each) => isShown(data, step, each)).map(([name]) => name);
  const parts = step.product?.split(" ")
    ?? [...Object.keys(step.upstreams), ...read].flatMap((name, k) => (k ? [",", name] : [name]));
  return parts.map((part, k) => (k % 2 ? { sign: part } : factorOf(step, names, part)));
}

// A factor, whose name may end with marks for the matrix of its rows and for its transpose.
function factorOf(step, names, part) {
  const [, name, rows, transposed] = /^(.*?)(\u25a4?)(\u22a4?)$/.exec(part);
  const called = names[name] ?? name;
  const shown = { name, called, rows, transposed,
    word: `${rows ? `reshape(${called})` : called}${transposed ? "\u1d40" : ""}` };
  return name in step.upstreams ? { ...shown, place: step.upstreams[name], of: "upstream" }
    : { ...shown, place: step.reads[name], from: name };
}

// A value as the matrix of all its rows.
function matrixOf(value) {
  const { shape } = value;
  value.rows ??= { ...value, tiles: null, shape: [shape.slice(0, -1).reduce((a, b) => a * b, 1), shape.at(-1)] };
  return value.rows;
}

// What a factor shows: a value, the matrix of its rows, or its transpose.
function shownBy(data, { place, rows, transposed }) {
  const whole = valueAt(data, place);
  const value = rows && whole ? matrixOf(whole) : whole;
  return transposed && value ? turnedValue(value) : value;
}

// The rows of a step: the rule's equation, and the sum with what the receiver had. `isShown` chooses among the values
// of a rule that is no plain product.
function rowsOf(data, step, isShown = isInEvent) {
  const factors = factorsOf(data, step, isShown);
  const sent = { name: "contribution", place: step.contribution, word: "contribution", of: "contribution" };
  const [raw, before, after] = ["raw", "before", "after"].map((word) => ({ name: word, place: step[word], of: word,
    word: word === "raw" ? "raw, before the sum" : word }));
  const valuesOf = (...parts) => parts.filter(({ sign }) => !sign).map(({ place }) => valueAt(data, place));
  const sums = step.summed_axes.length;
  const result = sums ? raw : sent;
  const equals = { sign: isProduct(step) ? productSign(...valuesOf(...factors, result)) : "\u2192" };
  const rule = sumsUpstream(step) ? factors : [...factors, equals, result];
  const rows = [[...rule, ...sums ? [{ sign: `\u2211 ${sumSign(...valuesOf(rule.at(-1), sent))}`,
    note: axesText(data, step) }, sent] : []]];
  if (step.accumulates) {
    const isSum = { sign: sumSign(...valuesOf(before, sent, after)) };
    rows.push([before, { sign: "+" }, { ...sent, name: "added" }, isSum, after]);
  }
  return rows;
}

function makeEvent(data, graph) {
  const layer = graph.svg.appendChild(svgElement("g", { class: "event", "aria-hidden": "true" }));
  let step = null;
  let flyers = [];
  let time = 1;
  let joined = true;
  // Where the event is, with its leaders.
  let shown = null;

  function open(next) {
    step = next ?? null;
    time = 1;
    build();
    uncover();
  }

  // Where the event covers sender or receiver, the drawing gives it room below them. Then it is drawn again.
  function uncover() {
    if (shown?.leaders.some(({ line }) => !line)) graph.giveRoom(step, leastHeight(step), true);
  }

  function clear() {
    join(true);
    step = null;
    flyers = [];
    layer.replaceChildren();
    graph.camera.giveWay(null);
  }

  function place() {
    if (!step) return;
    build();
    at(time);
  }

  // The tiles of all rows in the largest size that fits the room and covers nothing; otherwise in the size that covers
  // least. All gradients share one scale, which is written below them if they have different ranges.
  function layRows(rows, room, stage) {
    const ground = groundOf(stage, room, HEAD * graph.camera.view.scale);
    let best = null;
    for (let k = 0; k <= EVENT_SIZES.length; k += 1) {
      const isLast = k === EVENT_SIZES.length;
      const size = EVENT_SIZES[k] ?? smallestSize(step, rows);
      const whole = layIn(size, step, rows);
      const wide = graph.camera.isNarrow() ? room[0] - 8 : 0.62 * room[0];
      const numbers = whole.laid.flat().every((part) => part.tile?.kind !== "map" && part.tile?.kind !== "digits");
      const wanted = numbers ? LARGER * growthIn(room)
        : Math.max(1, Math.min(LARGER, graph.camera.view.scale / growthIn(room))) * growthIn(room);
      for (const scale of new Set([wanted, growthIn(room), 1])) {
        // On a large screen, long rows go on below rather than be small.
        const isLong = scale > 1 && scale === growthIn(room) && whole.width * scale >= wide;
        const form = isLong ? layIn(size, step, rows, wide / scale) : whole;
        const { unlike, width, height } = form;
        const fits = width * scale < wide && (height - (unlike ? SCALE_HIGH : 0)) * scale < 0.55 * room[1];
        if (!fits && (scale > 1 || !isLast)) continue;
        const most = best ? best.place.cost - WORTH_SMALLER : Infinity;
        const place = findPlace([width * scale, height * scale], room, stage, ground, most);
        if (place.cost < most) best = { ...form, scale, place };
        if (best.place.cost < NOTHING_COVERED) return best;
      }
    }
    return best;
  }

  function layIn(size, of, rows = rowsOf(data, of), most = graph.camera.room()[0]) {
    const shared = largestOf(...rows.flat().filter(({ of }) => of).map(({ place: at }) => valueAt(data, at)));
    const laid = rows.flatMap((row, r) => cutRow(row.map((part) => ({ ...layPart(part, size, shared), row: r })),
      most - 2 * BUBBLE.pad - 16));
    const maps = laid.flat().filter(({ of, tile }) => of && tile.kind === "map");
    const unlike = maps.some(({ tile }) => tile.largest !== shared);
    if (unlike) laid.push([layScale(maps, shared, of.back)]);
    const widths = laid.map((row) => row.reduce((sum, part) => sum + part.wide, 0));
    const heights = laid.map((row) => Math.max(...row.map((part) => part.high)));
    const width = Math.max(...widths) + 2 * BUBBLE.pad;
    const height = heights.reduce((a, b) => a + b, 0) + BUBBLE.row * (laid.length - 1) + 2 * BUBBLE.pad;
    return { laid, unlike, widths, heights, width, height };
  }

  // The first of the smallest sizes that is not too high: in a narrow room, the step's nodes are above it.
  function smallestSize(of, rows) {
    const most = graph.camera.room()[1] * (graph.camera.isNarrow() ? MOST_HIGH : 1);
    return SMALLEST_SIZES.find((size) => layIn(size, of, rows).height + AIR <= most) ?? SMALLEST_SIZES.at(-1);
  }

  // The height that a step needs for its event, and what is kept free for it from the start: all, in a narrow room.
  const leastHeight = (of) => layIn(smallestSize(of), of).height + AIR;
  const heightOf = (next) => (next && graph.camera.isNarrow() ? leastHeight(next) : 0);

  // A row that is too wide goes on below, from a sign on.
  function cutRow(row, wide) {
    const lines = [[]];
    let used = 0;
    row.forEach((part, k) => {
      const unit = part.wide + (part.sign ? row[k + 1]?.wide ?? 0 : 0);
      if (used + unit > wide && part.sign && lines.at(-1).length) { lines.push([]); used = 0; }
      lines.at(-1).push(part);
      used += part.wide;
    });
    return lines;
  }

  function layPart(part, size, shared) {
    if (part.sign) {
      const wide = Math.max(breadthOf(part.sign, 1, SIGN_FONT), breadthOf(part.note ?? "", 1, 11)) + 10;
      return { ...part, wide: Math.max(SIGN_WIDTH, wide), high: 24 };
    }
    const value = shownBy(data, { ...part, transposed: "" });
    const tile = tileOf(value, size, part.transposed);
    const largest = part.of ? shared : tile.largest;
    const axes = value && part.transposed ? turnedAxes(value.shape) : value?.shape;
    const shape = value && !isScalar(value) && size !== "bare" ? shapeText(axes) : "";
    const scale = tile.kind === "map" && !value.odd ? scaleText(value) : "";
    const word = fitText(part.word, 0, 150, 11) || `${part.word.slice(0, 15)}\u2026`;
    const captions = [word, `${shape} ${scale}`.trim(), value?.odd && oddWords(value)].filter(Boolean);
    return { ...part, tile, largest, captions,
      wide: Math.max(tile.width, ...captions.map((text) => breadthOf(text, 0, 11))) + 6,
      high: tile.height + BUBBLE.caption * captions.length + 4 };
  }

  function layScale(maps, largest, back) {
    const { low, shades, high } = scaleEnds(largest, maps.some(({ tile }) => isComplex(tile.value)));
    const texts = [`all ${back ? "gradients" : "tangents"}: ${low}`, high];
    const [left, right] = texts.map((text) => breadthOf(text, 1, 11) + 5);
    return { scale: { texts, left, shades }, wide: left + SHADE_WIDTH * shades.length + right,
      high: SCALE_HIGH - BUBBLE.row };
  }

  // What is on the stage, as edges of boxes: the nodes in view, those of the step, names of groups, the gradient's way.
  function onStage(items, [wide, high]) {
    const ends = items.map(({ box }) => box);
    const isSeen = ([left, top, right, bottom]) => right > 0 && bottom > 0 && left < wide && top < high;
    const seen = (box) => edgesOfBox(graph.camera.onScreen(box));
    const overview = graph.camera.overviewBox();
    const others = graph.camera.boxes().filter((box) => !ends.includes(box));
    // A receiver that is drawn again at its use is lit at both places.
    const again = [graph.itemOfNode(step.to).box].filter((box) => !ends.includes(box)).map(seen);
    return { headings: graph.headings().map(seen).filter(isSeen), nodes: others.map(seen).filter(isSeen),
      ends: ends.map(seen), names: [...again, ...items.flatMap(({ outside }) => (outside ? [seen(outside)] : []))],
      badge: step.accumulates ? badgeEdges(seen(ends[1])) : null, way: graph.wayOf(step),
      overview: overview && edgesOfBox(overview) };
  }

  function build() {
    flyers = [];
    shown = null;
    const room = graph.camera.room();
    if (!step || !room[0]) { layer.replaceChildren(); graph.camera.giveWay(null); return; }
    const ends = [step.from, step.to].map((i) => graph.itemOf(step, i));
    const stage = onStage(ends, room);
    const { laid, widths, heights, width, height, scale, place } = layRows(rowsOf(data, step), room, stage);
    shown = place;
    graph.camera.giveWay(place.event);
    const origin = [place.left, place.top];
    const bubble = svgElement("g", { class: "bubble", transform: `translate(${origin}) scale(${scale})` });
    bubble.append(svgElement("rect", { class: "ground", width, height, rx: 10 }));
    // From a point on the screen to the coordinates of the bubble.
    const inside = ([px, py]) => [(px - origin[0]) / scale, (py - origin[1]) / scale];
    let top = BUBBLE.pad;
    const placed = new Map();
    laid.forEach((row, r) => {
      let left = (width - widths[r]) / 2;
      for (const part of row) {
        const middle = top + (heights[r] - (part.captions?.length ?? 0) * BUBBLE.caption) / 2;
        if (part.scale) bubble.append(scaleAt(part, left, top));
        else if (part.sign) {
          bubble.append(signAt(part, left + part.wide / 2, top + heights[r] / 2 - BUBBLE.caption / 2));
        } else placed.set(part.name, partAt(bubble, part, left, middle));
        left += part.wide;
      }
      top += heights[r] + BUBBLE.row;
    });
    const tethers = svgElement("g", { class: "tethers" });
    tethers.append(...leadersOf(place, stage.ends).flatMap((line, k) => (line ? [svgElement("path", {
      class: `tether ${k ? "to" : "from"}`, d: pathBehind(line, place.around[k]) })] : [])));
    layer.replaceChildren(tethers, bubble);
    move(placed, ends, inside, scale);
  }

  function signAt(part, x, y) {
    const text = svgElement("text", { class: "sign", x, y: y + 5 });
    text.textContent = part.sign;
    const group = svgElement("g", {});
    group.append(text);
    if (part.note) {
      const note = svgElement("text", { class: "note", x, y: y + 19 });
      note.textContent = part.note;
      group.append(note);
    }
    const isResult = EQUALS.includes(part.sign);
    const appears = part.sign[0] === "\u2211" ? TIMES.fall : part.row ? TIMES.leave
      : isResult ? TIMES.product : TIMES.others;
    flyers.push({ element: group, times: [appears[0], appears[0] + 0.06], fades: true });
    return group;
  }

  function scaleAt({ scale: { texts, left: wide, shades } }, left, top) {
    const strip = svgElement("g", { class: "scale", transform: `translate(${left} ${top})` });
    const ends = texts.map((text, k) => tileText(text, k ? wide + SHADE_WIDTH * shades.length + 4 : 0, 11, 11));
    strip.append(...ends, ...shades.map((name, k) => svgElement("rect", { class: name, x: wide + k * SHADE_WIDTH, y: 2,
      width: SHADE_WIDTH - 1, height: 10 })));
    return strip;
  }

  // A tile with its captions below; the tile moves, the captions appear when it has come.
  function partAt(bubble, part, left, middle) {
    const { tile } = part;
    const at = [left + (part.wide - tile.width) / 2, middle - tile.height / 2];
    const element = drawTile(tile, part.of ?? "factor", part.largest);
    element.setAttribute("transform", `translate(${at})`);
    const captions = part.captions.map((text, k) => {
      const caption = svgElement("text", { class: k ? "about" : "word", x: left + part.wide / 2,
        y: at[1] + tile.height + 11 + k * BUBBLE.caption });
      caption.textContent = text;
      return caption;
    });
    const words = svgElement("g", {});
    words.append(...captions);
    bubble.append(element, words);
    return { ...part, element, words, at };
  }

  // Where a node's tile is, in the coordinates of the bubble, and how large beside a tile.
  function tileIn(item, kind, tile, inside, scale) {
    const offset = item.form?.tiles[kind] ?? [0, 0];
    const [x, y, w] = graph.camera.onScreen([item.box[0] + offset[0], item.box[1] + offset[1],
      item.form?.wide ?? tile.width, 1]);
    const size = w / scale / tile.width;
    const [cx, cy] = inside([x, y]);
    return [cx - tile.width * size / 2, cy - tile.height * size / 2, size];
  }

  function move(placed, ends, inside, scale) {
    const fly = (part, times, from, rest = {}) => {
      flyers.push({ element: part.element, from, to: [...part.at, 1], times, ...rest });
      flyers.push({ element: part.words, times: [times[1] - 0.02, times[1] + 0.03], fades: true });
    };
    for (const part of placed.values()) {
      const { tile, of, from } = part;
      if (of === "upstream") fly(part, TIMES.arrive, tileIn(ends[0], "gradient", tile, inside, scale));
      else if (!of) fly(part, TIMES.others, from ? tileIn(inputItem(from) ?? ends[0], "value", tile, inside, scale)
        : [part.at[0], part.at[1] - 16, 1], { fades: true });
      else if (part.row) {
        const times = part.name === "before" ? TIMES.before : TIMES.leave;
        fly(part, times, [part.at[0], part.at[1] + 10, 1], { fades: true });
      } else if (of === "raw" || !placed.has("raw")) {
        fly(part, TIMES.product, [part.at[0] - 40, part.at[1], 0.6], { fades: true });
      } else fly(part, TIMES.fall, [...part.at, 1], { fades: true });
    }
    const sent = placed.get("contribution");
    const raw = placed.get(sumsUpstream(step) ? "upstream" : "raw");
    if (raw) fallInto(raw, sent);
    leave(sent, tileIn(ends[1], "gradient", sent.tile, inside, scale));
  }

  // The input's part of the graph, if it is drawn as itself.
  function inputItem(name) {
    const edge = data.edges.findIndex(([, to, input]) => to === step.node && input === name);
    const item = name === "out" ? graph.itemOfNode(step.node) : edge < 0 ? null : graph.itemOfNode(data.edges[edge][0]);
    return item?.form?.tiles.value ? item : null;
  }

  // What broadcasting repeated falls together: each row, column or slice moves to where the sum is, as one.
  function fallInto(raw, sent) {
    const { tile } = raw;
    const { shape } = valueAt(data, raw.place) ?? {};
    const gone = step.summed_axes.map((axis) => axis - shape?.length);
    if (!["map", "digits"].includes(tile.kind) || shape.length > 3 || tile.slices !== (shape.at(-3) ?? 1)) return;
    const pieces = new Map();
    tile.data.forEach((_, k) => {
      const name = indexIn(tile, k).filter((__, axis) => gone.includes(axis - 3)).join();
      pieces.set(name, pieces.get(name) ?? []).get(name).push(k);
    });
    if (pieces.size > MOST_PIECES) return;
    const size = sent.tile.data ? (sent.tile.cell ?? sent.tile.side) / (tile.cell ?? tile.side) : 1;
    raw.element.parentNode.append(...[...pieces.values()].map((entries) => {
      const element = svgElement("g", { class: "tile falling" });
      element.append(...tile.kind === "map" ? mapParts(tile, raw.largest, entries)
        : entries.flatMap((k) => digitParts(tile, tile.data[k], k, raw.largest)));
      const first = placeInTile(tile, entries[0]);
      flyers.push({ element, from: [...raw.at, 1], times: TIMES.fall, only: true,
        to: [sent.at[0] - first[0] * size, sent.at[1] - first[1] * size, size] });
      return element;
    }));
  }

  // The contribution travels to the receiver, which then has it.
  function leave(sent, to) {
    const flying = drawTile(sent.tile, "flying", sent.largest);
    sent.element.parentNode.append(flying);
    flyers.push({ element: flying, from: [...sent.at, 1], to, times: TIMES.leave, only: true });
  }

  // The receiver has its old gradient until the contribution has come.
  function join(on) {
    if (joined === on || !step) return;
    joined = on;
    const word = wordAt(data, data.steps.indexOf(step) + 1);
    const moment = on ? "after" : "before";
    graph.hold(step.to, { place: step[moment], word, ...otherAt(data, step, moment) });
    graph.paint();
  }

  // Shows the event at a time from 0 to 1.
  function at(t) {
    time = t;
    for (const { element, from, to, times, fades, only } of flyers) {
      const u = within(times, t);
      if (from) {
        const [x, y, s] = from.map((start, k) => start + (to[k] - start) * u);
        element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${s.toFixed(3)})`);
      }
      const shown = only ? t > times[0] && t < times[1] : fades ? u : t >= times[0];
      element.style.opacity = String(Number(shown));
    }
    if (step) join(t >= TIMES.leave[1]);
  }

  // What the bubble shows, as text: each number with its name, and the signs between them.
  function words() {
    const texts = layer.querySelectorAll(".bubble > :not(.flying, .falling) text");
    const rule = step && data.rules[step.rule].text;
    return [...rule ? [`${rule}:`] : [], ...[...texts].map((text) => text.textContent)].join(" ");
  }

  return { open, clear, place, at, heightOf, uncover, words, flyers: () => flyers };
}

// Shows the formula of a step in the largest size at which all its lines fit, and none is too long. Alike steps share
// the size, because measuring lays the page out once more.
function fitFormula(place, needed, step) {
  const shown = place.firstChild;
  if (!shown) return;
  const like = `formula ${step.formula ?? step.rule}`;
  let at = needed.get(like) ?? 0;
  const overflows = () => shown.scrollHeight > shown.clientHeight + 1 || shown.scrollWidth > shown.clientWidth + 1;
  place.dataset.size = FORMULA_SIZES[at];
  while (at < FORMULA_SIZES.length - 1 && overflows()) {
    at += 1;
    place.dataset.size = FORMULA_SIZES[at];
  }
  needed.set(like, at);
}

// The formula of a step, at the edge of the stage.
function edgeFormula(data, step) {
  const general = data.formulas[step.formula];
  if (general) return formula(general, "formula", "The formula of the step", namesOf(data, step), true);
  const { text } = data.rules[step.rule];
  return text ? make("p", "formula plain", text) : null;
}

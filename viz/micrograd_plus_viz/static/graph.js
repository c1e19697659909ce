// The graph: nodes, groups that open and close, highlights of a step, and a view that follows the walk.

const SVG = "http://www.w3.org/2000/svg";
const BEADS = 3;
const MOST_USES = 4;
const SMALLEST_TEXT = 11.02;
const LINE = 14.5;
const LARGEST = 1.25;
const READABLE = 0.62;
const ROOMY = 0.8;
const FULL_TEXT = 0.92;
const WAYS = [0, 1, 2].flatMap((brief) => [1.5, 0.8, 0.5].flatMap((fold) => [1, 0.65, 0.35, 0.2].map((gap) => ({
  brief, fold, gap }))));
const FEWEST_DRAWN = 5;
const CORNERS = [[true, true], [false, true], [true, false], [false, false]];
const MOST_TRIED = 60;
const LINES = ["name", "value", "gradient"];
const ALONG_A_LINE = [0.5, 0.36, 0.64, 0.22, 0.78];

const svgElement = (tag, attributes) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

const SHORT = { gradient: "grad", tangent: "tangent" };

function gradientText(data, { place, word }) {
  if (place === null || place === undefined) return "";
  const value = data.values[place];
  if (isScalar(value)) return `${SHORT[word]} ${number(value.data[0])}`;
  const size = notFinite(value) ?? (value.statistics && number(Number(value.statistics.norm.toPrecision(4))));
  return size === null || size === undefined ? `${SHORT[word]} empty` : `|${SHORT[word]}| ${size}`;
}

// The norm of an array; nan or infinite if an entry is.
function normOf(value) {
  if (!value) return null;
  if (isScalar(value)) return Math.abs(magnitude(value.data[0]));
  return value.odd ? NaN : value.statistics?.norm ?? null;
}

// The edges of a step: first edges between an application and its outputs, which have no rule.
const edgesOf = (step) => [...step.passed, step.edge];

// The width of a gradient's line, by the logarithm of its norm relative to the walk's smallest and largest.
function thicknessOf(data) {
  const logs = data.steps.map((step) => Math.log10(normOf(valueAt(data, step.contribution)) ?? NaN))
    .filter(Number.isFinite);
  const [low, high] = [logs.reduce((a, b) => Math.min(a, b), Infinity), logs.reduce((a, b) => Math.max(a, b),
    -Infinity)];
  const varies = high - low > 0.3;
  const of = (norm) => norm > 0 && varies ? 1.2 + 4.4 * (Math.log10(norm) - low) / (high - low) : norm === 0 ? 0.8 : 2;
  return { of, ends: varies ? [10 ** low, 10 ** high] : null };
}

function drawGraph(data, act) {
  const { groups } = data;
  const svg = svgElement("svg", { class: "drawing", role: "group", "aria-label": data.alt });
  const world = svg.appendChild(svgElement("g", {}));
  const overview = svgElement("svg", { class: "overview", "aria-hidden": "true" });
  const frame = make("div", "graph", svg, overview);
  const thickness = thicknessOf(data);
  let open = new Set(groups ? groups.open : [0]);
  let asMade = true;
  let untoldGroups = false;
  let placement = null;
  const view = { x: 0, y: 0, scale: 1, own: false };
  let items = new Map();
  let links = [];
  let linkOf = [];
  let size = [1, 1];
  let room = [0, 0];
  let lit = null;
  let markers = [];
  let frameRequest = 0;
  let roving = null;
  let normsChanged = false;

  // The part that represents a node: the node, or the outermost closed group around it.
  function partOf(i) {
    let part = `n${i}`;
    if (groups) for (let g = groups.of[i]; g > 0; g = groups.parents[g]) if (!open.has(g)) part = `g${g}`;
    return part;
  }

  const parentOf = (part) => {
    if (!groups) return "g0";
    return `g${(part[0] === "g" ? groups.parents : groups.of)[part.slice(1)]}`;
  };

  function build() {
    const narrow = room[0] > 0 && room[0] < NARROW;
    placement = data.placement && !(narrow && scaleIn(room, data.placement) < ROOMY) ? data.placement : null;
    items = new Map();
    links = [];
    linkOf = [];
    const parts = data.nodes.map((_, i) => partOf(i));
    const first = new Map();
    data.nodes.forEach(({ kind }, i) => {
      const known = first.get(parts[i]);
      if (known === undefined || (known.leaf && kind !== "leaf")) first.set(parts[i], { at: i, leaf: kind === "leaf" });
    });
    const early = (part) => (first.get(part).leaf ? 0 : data.nodes.length) + first.get(part).at;
    const order = [...first.keys()].sort((a, b) => early(a) - early(b));
    const parents = new Map(order.map((part) => [part, parentOf(part)]));
    const joined = joinEdges(parts, parents, order);
    for (const part of order) items.set(part, { part, parent: parents.get(part) });
    const children = childrenOf(order, parents);
    placeAll(children, parents, joined);
    drawAll([...children.keys()].filter((part) => part !== "g0"));
    roving = null;
    rove(order.at(-1));
    writeAll();
  }

  // Edges between the same parts are merged; a leaf with many users is drawn again at each.
  function joinEdges(parts, parents, order) {
    const users = new Map();
    data.edges.forEach(([start, end]) => {
      if (data.nodes[start].kind === "leaf" && parts[start][0] === "n") {
        users.set(start, (users.get(start) ?? new Set()).add(parts[end]));
      }
    });
    const joined = new Map();
    data.edges.forEach(([start, end], j) => {
      let [a, b] = [parts[start], parts[end]];
      if (a === b) return;
      if (!placement && users.get(start)?.size > MOST_USES) {
        a = `s${start}@${b}`;
        if (!parents.has(a)) { parents.set(a, parents.get(b)); order.splice(order.indexOf(b), 0, a); }
      }
      const key = placement ? j : `${a}>${b}`;
      if (!joined.has(key)) joined.set(key, { a, b, edges: [], sent: [] });
      joined.get(key).edges.push(j);
      linkOf[j] = joined.get(key);
    });
    links = [...joined.values()];
    return links;
  }

  function childrenOf(order, parents) {
    const children = new Map([["g0", []]]);
    const add = (part, parent) => {
      if (!children.has(parent)) {
        children.set(parent, []);
        parents.set(parent, parentOf(parent));
        add(parent, parents.get(parent));
      }
      children.get(parent).push(part);
    };
    for (const part of order) add(part, parents.get(part));
    return children;
  }

  function placeAll(children, parents, joined) {
    if (placement) {
      const placed = room[0] ? filling(placement, room.map((far) => far - 4), LARGEST, needs()) : placement;
      placed.boxes.forEach((box, i) => { items.get(`n${i}`).box = box; });
      joined.forEach((link) => {
        Object.assign(link, { curve: placed.curves[link.edges[0]], head: placed.heads[link.edges[0]] });
      });
      size = [placed.width, placed.height];
      return;
    }
    for (const part of parents.keys()) if (part[0] === "s") items.set(part, { part, parent: parents.get(part) });
    const laid = legible(children, parents, joined);
    for (const [part, box] of laid.boxes) {
      if (!items.has(part)) items.set(part, { part, opened: true });
      items.get(part).box = box;
    }
    for (const link of joined) Object.assign(link, curveBetween(items.get(link.a).box, items.get(link.b).box));
    size = [laid.width, laid.height];
  }

  // The width and height at which every line of a node is readable.
  const needs = () => data.labels.map(([name, value, gradient], i) => {
    const slant = data.nodes[i].kind === "output" ? 1.6 : 1;
    const wide = Math.max(breadthOf(name, 0, 12), breadthOf(shortenNumber(value ?? "", 1), 1, 11),
      breadthOf(shortenNumber(gradient ?? "", 2), 2, 11));
    return [(wide + 18) * slant, LINE * [name, value, gradient].filter((line) => line !== null).length + 10];
  });

  const scaleIn = ([wide, high], { width, height }) => Math.min((wide - 4) / width, (high - 4) / height);

  // Parts move closer, then show only their names, until every name is readable in the full drawing. If that is
  // impossible, as many as possible are readable, group names first.
  function legible(children, parents, joined) {
    const there = [Math.max(340, room[0]), Math.max(200, room[1])];
    const ends = joined.map(({ a, b }) => [a, b]);
    const sizeOf = [0, 1, 2].map((brief) => memoized((part) => sizeOfPart(part, brief)));
    const lay = ({ brief, ...way }) => addSides(nestedLayout("g0", children, (part) => parents.get(part), ends,
      (part) => sizeOf[brief](part), there, way), ends);
    const parts = [...parents.keys()].filter((part) => part !== "g0");
    if (!room[0] || parts.length > MOST_TRIED) return lay(WAYS[0]);
    let best = null;
    for (const way of WAYS) {
      const laid = lay(way);
      const scale = Math.min(1, scaleIn(room, laid));
      const untold = scale >= FULL_TEXT ? 0 : parts.reduce((sum, part) => sum
        + untoldOf(part, laid.boxes.get(part), scale) * (part[0] === "g" ? parts.length : 1), 0);
      if (!best || untold < best.untold) best = { laid, untold };
      if (!untold) break;
    }
    untoldGroups = best.untold >= parts.length;
    return best.laid;
  }

  // Initially open groups close again, the fullest first, if they have too little room for names.
  function buildFirst() {
    open = new Set(groups ? groups.open : [0]);
    for (;;) {
      build();
      const around = new Set([...open].map((g) => groups?.parents[g]));
      const parts = (g) => [...items.values()].filter((item) => item.parent === `g${g}`).length;
      const [fullest] = [...open].filter((g) => g > 0 && !around.has(g)).sort((a, b) => parts(b) - parts(a));
      if (!untoldGroups || fullest === undefined || drawn() - parts(fullest) + 1 < FEWEST_DRAWN) return;
      open.delete(fullest);
    }
  }

  const shapeOf = (part, i) => (part[0] === "g" ? "group" : part[0] === "s" ? "stub" : data.nodes[i].kind);
  const titleOf = (part, i) => (part[0] === "g" ? groups.names[i] : data.labels[i][0]);
  const numberOf = (part) => Number(part.slice(1).split("@")[0]);

  // Whether a result has the name of the module around it, so that its operation says more.
  function inOwnFrame(part) {
    const last = (name) => name.split(".").at(-1).replace(/\)$/, "");
    return groups !== null && part[0] === "n" && / \(.+\)$/.test(data.labels[numberOf(part)][0])
      && last(titleOf(part, numberOf(part)).split("(")[1]) === last(groups.names[groups.of[numberOf(part)]]);
  }

  // The width available for a part's text.
  const breadthFor = (width, shape, scale) => width * (shape === "output" ? 0.62 : 1)
    - (shape === "application" ? 12 : 6) / scale;

  // How much of a name is unreadable: nothing, its words, or all.
  function untoldOf(part, [, , width, height], scale) {
    const i = numberOf(part);
    if (height * scale + 1 < SMALLEST_TEXT + 2) return 1;
    const title = bestForm(titleOf(part, i), 0, breadthFor(width, shapeOf(part, i), scale),
      Math.max(12, SMALLEST_TEXT / scale), inOwnFrame(part));
return title === undefined ? 1 : hasWord(title) || !hasWord(titleOf(part, i)) ? 0 : 0.5;
  }

  // The size of a part: with all lines, with its name only, or with the shortest form of its name that has a word.
  function sizeOfPart(part, brief) {
    const i = numberOf(part);
    const forms = formsOf(titleOf(part, i), 0, inOwnFrame(part));
    const name = Math.min(...forms.filter((form, k) => k === 0 || (brief === 2 && hasWord(form)))
      .map((form) => breadthOf(form, 0, 12)));
    if (part[0] === "g") return brief ? [name + 20, 24] : [Math.max(90, name + 26), 40];
    if (part[0] === "s") return [Math.max(40, name + 22), 22];
    const slant = data.nodes[i].kind === "output" ? 1.6 : 1;
    if (brief) return [Math.max(34, name + 26) * slant, 24];
    const lines = data.labels[i].slice(0, 3).filter((line) => line !== null).length;
    return [(Math.max(6.6 * data.labels[i][3], name) + 20) * slant, LINE * lines + 12];
  }

  function drawAll(opened) {
    const drawn = opened.map((part) => drawFrame(items.get(part)));
    for (const link of links) drawn.push(drawLink(link));
    lit = svgElement("g", { class: "lit-way", "aria-hidden": "true" });
    drawn.push(lit, ...links.map((link) => link.text).filter(Boolean));
    for (const item of items.values()) if (!item.opened) drawn.push(drawPart(item));
    world.replaceChildren(...drawn);
    drawOverview();
  }

  function drawLink(link) {
    const faint = link.edges.every((j) => !data.nodes[data.edges[j][0]].requires_grad);
    link.element = svgElement("g", { id: `e${link.edges[0]}`, class: faint ? "edge faint" : "edge" });
    link.path = svgElement("path", { d: link.curve });
    link.element.append(link.path, svgElement("path", { class: "head", d: arrow(link.head, 0.38) }));
    if ([link.a, link.b].some((part) => part[0] === "g")) {
      link.text = svgElement("text", { class: "norm" });
    }
    return link.element;
  }

  // The frame of an open group; a click on its heading closes it.
  function drawFrame(item) {
    const [x, y, width, height] = item.box;
    const group = svgElement("g", { class: "group-frame" });
    group.append(svgElement("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 8 }));
    const heading = svgElement("g", { class: "group-heading", role: "button", tabindex: "0" });
    const i = Number(item.part.slice(1));
    heading.setAttribute("aria-label", `Close the group ${groups.names[i]}`);
    heading.append(svgElement("rect", { x: x - width / 2, y: y - height / 2, width, height: 20, rx: 8 }),
      svgElement("text", { class: "name", x: x - width / 2 + 8, y: y - height / 2 + 14 }));
    heading.addEventListener("click", () => toggle(i));
    item.element = heading;
    item.lines = [`\u2212 ${groups.names[i]}`];
    group.append(heading);
    return group;
  }

  function drawPart(item) {
    const kind = item.part[0];
    const i = numberOf(item.part);
    const node = kind === "g" ? null : data.nodes[i];
    const shape = kind === "g" ? "group" : node.kind;
    Object.assign(item, { kind, i, shape, inOwn: inOwnFrame(item.part) });
    const names = ["node", shape, kind === "s" && "stub", node && !node.requires_grad && "constant",
      node?.failed && "failed"];
    item.element = svgElement("g", { class: names.filter(Boolean).join(" "), role: "button", tabindex: "-1" });
    if (kind !== "s") item.element.id = item.part;
    item.element.append(outline(shape, item.box, "body"));
    if (kind === "n" && data.rings.includes(i)) {
      const [x, y, width, height] = item.box;
      item.element.append(outline(shape, [x, y, width + 6, height + 6], "ring"));
    }
    item.lines = kind === "g" ? [groups.names[i], groups.notes[i], null]
      : kind === "s" ? [data.labels[i][0], null, null] : data.labels[i].slice(0, 3);
    item.texts = LINES.map((name) => svgElement("text", { class: name }));
    item.element.append(...item.texts);
    if (kind === "n") item.lines[2] = item.lines[2] === null ? null : "";
    const mark = kind === "g" || (kind === "n" && data.insides[i] !== undefined);
    if (mark) markOpens(item);
    item.element.setAttribute("aria-label", labelOf(item, ""));
    item.element.addEventListener("click", () => (kind === "g" ? toggle(i) : act.onNode(i, "click")));
    item.element.addEventListener("dblclick", () => { if (kind === "n") act.onNode(i, "enter"); });
    item.element.addEventListener("focus", () => { rove(item.part); if (kind !== "g") act.onNode(i, "focus"); });
    return item.element;
  }

  const groupLabel = (i) => [groups.names[i], groups.notes[i], `closed group of ${groups.counts[i]} nodes`]
    .filter((note) => note !== `${groups.counts[i]} nodes`).join(", ");

  const labelOf = ({ kind, i }, held) => (kind === "g" ? groupLabel(i)
    : [data.names[i], data.nodes[i].kind, kind === "s" ? "drawn again at its use" : "", held,
      data.insides[i] === undefined ? "" : "has a walk inside"].filter(Boolean).join(", "));

  // Opens or closes a group; the walk keeps its position.
  function toggle(g) {
    if (open.has(g)) open.delete(g);
    else open.add(g);
    asMade = false;
    build();
    act.onGroups();
    reveal(open.has(g) ? [`g${g}`] : [`g${g}`]);
    items.get(`g${g}`)?.element.focus();
  }

  // Opens the groups around a node.
  function openTo(i) {
    let changed = false;
    for (let g = groups ? groups.of[i] : 0; g > 0; g = groups.parents[g]) {
      if (!open.has(g)) { open.add(g); changed = true; }
    }
    if (changed) { asMade = false; build(); act.onGroups(); }
  }

  function rove(part) {
    items.get(roving)?.element.setAttribute("tabindex", "-1");
    roving = part;
    items.get(roving)?.element.setAttribute("tabindex", "0");
  }

  // The part that shows an edge's leaf: the copy beside its user, if there is one.
  const endOf = (step, i) => {
    const link = linkOf[step.edge];
    const [start] = data.edges[step.edge];
    return link && i === start && link.a[0] === "s" ? link.a : partOf(i);
  };

  function light(step, on) {
    if (normsChanged) writeNorms();
    if (!step) return;
    const [from, to] = [endOf(step, step.from), endOf(step, step.to)];
    items.get(from).element.classList.toggle("active", on);
    const kind = step.accumulates ? "accumulates" : "receives";
    for (const part of new Set([to, partOf(step.to)])) items.get(part).element.classList.toggle(kind, on);
    const links = edgesOf(step).map((edge) => [edge, linkOf[edge]]).filter(([, link]) => link);
    for (const [, { element }] of links) element.classList.toggle("active", on);
    lit.replaceChildren();
    if (!on) return;
    for (const [edge, { curve, head, path }] of links) {
      const { back } = step;
      const length = path.getTotalLength();
      const tip = back ? path.getPointAtLength(0) : path.getPointAtLength(length);
      const foot = path.getPointAtLength(back ? Math.min(13, length) : Math.max(0, length - 13));
      lit.append(svgElement("path", { class: "lit", d: back ? `${curve}L${head[0]},${head[1]}` : curve }),
        svgElement("path", { class: "lit-head", d: arrow([tip.x, tip.y, foot.x, foot.y], 0.55) }));
    }
    if (!step.accumulates) return;
    const [x, y, width, height] = items.get(to).box;
    const badge = svgElement("g", { class: "badge",
      transform: `translate(${x - width / 2 + 8} ${y - height / 2 - 3})` });
    badge.append(svgElement("rect", { width: 26, height: 16, rx: 8, x: -13, y: -8 }), svgElement("text", { y: 4 }));
    badge.lastChild.textContent = "+=";
    badge.lastChild.style.fontSize = `${Math.max(11, SMALLEST_TEXT / view.scale)}px`;
    lit.append(badge);
  }

  // The width of a line shows the size of its gradient.
  function travelled(edge, on, place, word) {
    const link = linkOf[edge];
    if (!link) return;
    if (on) link.sent.push(place);
    else link.sent.pop();
    const sent = link.sent.map((each) => normOf(valueAt(data, each))).filter((norm) => norm !== null);
    const norm = sent.reduce((a, b) => Math.max(a, b), 0);
    link.element.classList.toggle("done", link.sent.length > 0);
    link.element.classList.toggle("odd", sent.some(Number.isNaN));
    link.path.style.strokeWidth = link.sent.length ? String(thickness.of(norm)) : "";
    if (link.text) {
      const size = sent.some(Number.isNaN) ? "nan" : number(Number(norm.toPrecision(3)));
      link.norm = sent.length ? `|${SHORT[word]}| ${size}` : "";
      normsChanged = true;
    }
  }

  // At the start of a walk, all lines are reset.
  function forget() {
    for (const link of links) {
      link.sent = [];
      link.norm = "";
      link.element.classList.remove("done", "odd");
      link.path.style.strokeWidth = "";
    }
    normsChanged = true;
  }

  // Shows another value of a leaf.
  function value(i, text) {
    data.labels[i][1] = text;
    const item = items.get(`n${i}`);
    if (!item || item.lines[1] === null) return;
    item.lines[1] = text;
    write(item);
  }

  function finish(i, on) {
    items.get(`n${i}`)?.element.classList.toggle("done", on);
  }

  function hold(i, holds) {
    const item = items.get(`n${i}`);
    if (!item) return;
    const held = gradientText(data, holds);
    item.element.setAttribute("aria-label", labelOf(item, held));
    if (item.lines[2] === null) return;
    item.lines[2] = held;
    item.texts[2].classList.toggle("odd", /(nan|inf)$/.test(held));
    write(item);
  }

  // Text is never too small to read: in a small drawing, text that does not fit is omitted.
  function write(item) {
    if (!item.texts) { writeHeading(item); return; }
    const [x, y, width, height] = item.box;
    const { scale } = view;
    const leading = scale >= 1 ? LINE : (SMALLEST_TEXT + 2) / scale;
    const oneFits = height * scale + 1 >= SMALLEST_TEXT + 2 ? 1 : 0;
    const fitting = scale >= 1 ? Math.floor((height + 2) / LINE)
      : Math.max(0, Math.floor((height * scale - 2) / (SMALLEST_TEXT + 2)), oneFits);
    const kept = [0, 2, 1].filter((k) => item.lines[k]).slice(0, fitting).sort();
    const breadth = breadthFor(width, item.shape, scale);
    let top = y - leading * (kept.length - 1) / 2 + 4 / Math.min(1, scale);
    item.texts.forEach((text, k) => {
      const font = Math.max(k === 0 ? 12 : 11, SMALLEST_TEXT / scale);
      text.textContent = fitText(kept.includes(k) ? item.lines[k] : "", k, breadth, font, item.inOwn);
      text.style.fontSize = `${font}px`;
      text.setAttribute("x", x);
      text.setAttribute("y", top);
      if (kept.includes(k)) top += leading;
    });
  }

  function writeHeading(item) {
    const text = item.element.querySelector("text");
    const tall = 20 * view.scale >= SMALLEST_TEXT;
    const font = Math.max(12, SMALLEST_TEXT / view.scale);
    text.textContent = tall ? fitText(item.lines[0], 0, item.box[2] - 14 / view.scale, font) : "";
    text.style.fontSize = `${font}px`;
  }

  // Norms are placed at the middle of their lines, or beside it to avoid overlaps. If there is no room, they are
  // omitted.
  function writeNorms() {
    normsChanged = false;
    const font = Math.max(11, SMALLEST_TEXT / view.scale);
    const taken = [...items.values()].filter((item) => !item.opened).map(({ box: [x, y, w, h] }) => [x, y, w, h]);
    const free = ([x, y, w, h]) => taken.every(([tx, ty, tw, th]) =>
      Math.abs(x - tx) * 2 >= w + tw || Math.abs(y - ty) * 2 >= h + th);
    for (const link of links.filter(({ text }) => text)) {
      link.text.textContent = "";
      if (!link.norm) continue;
      const length = link.path.getTotalLength();
      const wide = breadthOf(link.norm, 2, font) + 12;
      for (const part of ALONG_A_LINE) {
        const { x, y } = link.path.getPointAtLength(length * part);
        const box = [x, y, wide, font + 2];
        if (!free(box)) continue;
        taken.push(box);
        link.text.textContent = link.norm;
        link.text.style.fontSize = `${font}px`;
        link.text.setAttribute("x", x);
        link.text.setAttribute("y", y + font * 0.36);
        break;
      }
    }
  }

  // The view -----------------

  function show(scale, x, y) {
    const changed = scale !== view.scale;
    const centred = (at, whole, there) => (whole * scale <= there ? (there - whole * scale) / 2
      : Math.min(8, Math.max(there - whole * scale - 8, at)));
    Object.assign(view, { scale, x: centred(x, size[0], room[0]), y: centred(y, size[1], room[1]) });
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${scale})`);
    if (changed) writeAll();
    showOverview();
  }

  function writeAll() {
    for (const item of items.values()) write(item);
    writeNorms();
    const badge = lit.querySelector(".badge text");
    if (badge) badge.style.fontSize = `${Math.max(11, SMALLEST_TEXT / view.scale)}px`;
  }

  const wholeScale = () => Math.min(LARGEST, (room[0] - 4) / size[0], (room[1] - 4) / size[1]);

  function whole(own = false) {
    view.own = own;
    show(wholeScale(), 0, 0);
  }

  function zoom(factor, at = [room[0] / 2, room[1] / 2]) {
    view.own = true;
    const scale = Math.min(3, Math.max(Math.min(0.05, wholeScale()), view.scale * factor));
    const by = scale / view.scale;
    show(scale, at[0] - (at[0] - view.x) * by, at[1] - (at[1] - view.y) * by);
  }

  // Brings parts into view at a readable size; the view stays if they are visible.
  function reveal(parts) {
    const boxes = parts.map((part) => items.get(part)?.box).filter(Boolean);
    if (!boxes.length || !room[0]) return;
    const fits = wholeScale();
    if (!view.own && fits >= READABLE) { show(fits, 0, 0); return; }
    const ends = (k) => [Math.min(...boxes.map((box) => box[k] - box[k + 2] / 2)),
      Math.max(...boxes.map((box) => box[k] + box[k + 2] / 2))];
    const [[left, right], [top, bottom]] = [ends(0), ends(1)];
    const most = Math.min((room[0] - 24) / (right - left), (room[1] - 24) / (bottom - top));
    const wanted = view.own ? view.scale : Math.max(fits, 1);
    const scale = Math.min(wanted, most);
    const seen = scale === view.scale && left * scale + view.x >= 4 && right * scale + view.x <= room[0] - 4
      && top * scale + view.y >= 4 && bottom * scale + view.y <= room[1] - 4;
    if (!seen) show(scale, room[0] / 2 - (left + right) / 2 * scale, room[1] / 2 - (top + bottom) / 2 * scale);
    keepClear(boxes);
  }

  // The overview takes a corner where it covers nothing of interest.
  function keepClear(boxes) {
    const [wide, high] = [overview.clientWidth + 8, overview.clientHeight + 8];
    const covers = ([right, low]) => boxes.some(([x, y, w, h]) => {
      const [left, top] = [(x - w / 2) * view.scale + view.x, (y - h / 2) * view.scale + view.y];
      return (right ? left + w * view.scale > room[0] - wide : left < wide)
        && (low ? top + h * view.scale > room[1] - high : top < high);
    });
    const [right, low] = CORNERS.find((corner) => !covers(corner)) ?? CORNERS[0];
    overview.classList.toggle("at-left", !right);
    overview.classList.toggle("at-top", !low);
  }

  function follow(step) {
    if (!step) {
      if (!view.own && (groups || wholeScale() >= READABLE)) whole();
      else reveal([partOf(data.steps[0]?.from ?? data.root ?? data.nodes.length - 1)]);
    } else reveal([endOf(step, step.from), endOf(step, step.to)]);
  }

  function fit() {
    const before = room;
    room = [frame.clientWidth, frame.clientHeight];
    if (!room[0]) return false;
    if (room[0] && (Math.abs(room[0] - before[0]) > 60 || Math.abs(room[1] - before[1]) > 30)) {
      if (asMade) buildFirst();
      else build();
      act.onGroups();
    }
    if (room[0] !== before[0] || room[1] !== before[1]) {
      if (view.own) show(view.scale, view.x, view.y);
      else whole();
    }
    return true;
  }

  function drawOverview() {
    overview.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const rects = [...items.values()].filter((item) => !item.opened).map(({ box: [x, y, w, h] }) =>
      `M${x - w / 2},${y - h / 2}h${w}v${h}h${-w}z`);
    overview.replaceChildren(svgElement("path", { d: rects.join("") }), svgElement("rect", { class: "seen" }));
  }

  function showOverview() {
    const [width, height] = [room[0] / view.scale, room[1] / view.scale];
    overview.classList.toggle("shown", width < size[0] - 2 || height < size[1] - 2);
    for (const [name, value] of Object.entries({ x: -view.x / view.scale, y: -view.y / view.scale, width, height })) {
      overview.lastChild.setAttribute(name, value);
    }
  }

  overview.addEventListener("click", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(overview.getScreenCTM().inverse());
    view.own = true;
    show(view.scale, room[0] / 2 - point.x * view.scale, room[1] / 2 - point.y * view.scale);
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.x, event.clientY - box.y]);
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const from = [event.clientX - view.x, event.clientY - view.y, event.clientX, event.clientY];
    const move = (moved) => {
      if (Math.hypot(moved.clientX - from[2], moved.clientY - from[3]) < 4) return;
      view.own = true;
      show(view.scale, moved.clientX - from[0], moved.clientY - from[1]);
    };
    const stop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", stop);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
  });

  // Markers ------------------

  function stopMarkers() {
    cancelAnimationFrame(frameRequest);
    markers.forEach((marker) => marker.remove());
    markers = [];
  }

  // Markers move along all edges without a rule at once, then along the edge of the rule.
  function sendMarkers(step, duration) {
    stopMarkers();
    const legs = step.passed.length ? [step.passed, [step.edge]] : [[step.edge]];
    const rolls = legs.flatMap((leg, k) => leg.flatMap((edge) => (linkOf[edge] ? beadsAlong(linkOf[edge].path, k,
      step.back) : [])));
    markers = rolls.map((roll) => roll.marker);
    world.append(...markers);
    const started = performance.now();
    const move = (now) => {
      const t = legs.length * (now - started) / duration;
      for (const { roll, leg } of rolls) roll(t - leg);
      if (t < legs.length) frameRequest = requestAnimationFrame(move);
      else stopMarkers();
    };
    frameRequest = requestAnimationFrame(move);
  }

  function beadsAlong(path, leg, back) {
    const length = path.getTotalLength();
    return Array.from({ length: BEADS }, (_, k) => {
      const marker = svgElement("circle", { class: "marker", r: 4, "aria-hidden": "true" });
      const roll = (t) => {
        const along = Math.min(1, Math.max(0, t * 1.4 - k * 0.2));
        const point = path.getPointAtLength(length * (back ? 1 - along : along));
        marker.setAttribute("cx", point.x);
        marker.setAttribute("cy", point.y);
        marker.style.opacity = along > 0 && along < 1 ? "1" : "0";
      };
      return { marker, leg, roll };
    });
  }

  function select(i) {
    svg.querySelectorAll(".node.selected").forEach((node) => node.classList.remove("selected"));
    for (const { i: at, kind, element } of items.values()) if (at === i
      && kind !== "g") element.classList.add("selected");
  }

  // The next or previous part in program order.
  function besides(element, by) {
    const parts = [...items.values()].filter((item) => item.texts);
    const next = parts[(parts.findIndex((item) => item.element === element) + by + parts.length) % parts.length];
    next.element.focus();
    reveal([next.part]);
  }

  // The node where the walk or the program failed.
  function failed({ node }, on) {
    if (node === null) return;
    items.get(partOf(node))?.element.classList.toggle("failed", on || data.nodes[node].failed === true);
  }

  // Nodes that belong to a symbol or a card beside the graph.
  function point(nodes) {
    svg.querySelectorAll(".pointed").forEach((part) => part.classList.remove("pointed"));
    for (const i of nodes) items.get(partOf(i))?.element.classList.add("pointed");
  }

  // The node whose value is being computed.
  function compute(i) {
    svg.querySelectorAll(".computing").forEach((part) => part.classList.remove("computing"));
    if (i === undefined) return;
    items.get(partOf(i)).element.classList.add("computing");
    reveal([partOf(i)]);
  }

  const drawn = () => [...items.values()].filter((item) => !item.opened).length;
  const at = (element) => [...items.values()].find((item) => item.element === element);
  build();
  return { frame, build, failed, point, compute, light, travelled, forget, finish, hold, value, sendMarkers,
    stopMarkers, fit, follow, select, besides, at, whole, zoom,
    openTo, toggle, reveal, partOf, thickness, drawn,
    isOpen: (g) => open.has(g), grouped: groups !== null };
}

const memoized = (f) => {
  const known = new Map();
  return (x) => known.get(x) ?? known.set(x, f(x)).get(x);
};

// As much of a line as fits, with fewer digits of numbers first; empty if too little fits.
const ruler = document.createElement("canvas").getContext("2d");

function breadthOf(text, k, font) {
  ruler.font = `${k === 0 ? "bold " : ""}${font}px Arial, "Liberation Sans", Helvetica, sans-serif`;
  return ruler.measureText(text).width;
}

// A shape without its dtype, or a number with two digits.
const shortenNumber = (line, k) => (k === 1 && line[0] === "(" ? line.replace(/ [a-z]+\d+/, "")
  : line.replace(/\d+\.\d+/, (digits) => String(Number(Number(digits).toPrecision(2)))));

// Forms of a name, the most informative first: its name in the program, the last parts of its path with a word, loop
// round numbers, the sign of an operation.
const SIGNS = { multiply: "\u00d7", add: "+", subtract: "\u2212", divide: "\u00f7", matmul: "@", negative: "\u2212" };

function formsOf(line, k, inOwn = false) {
  if (k !== 0) return [line, shortenNumber(line, k), ...line[0] !== "(" && line.includes(", ") ? [line.replace(/, .*/,
    " \u2026")] : []];
  const counted = /^(rounds? [\d\u2013]+) of \d+$|^(\d+ op)erations$/.exec(line);
  if (counted) return counted[1] ? [line, counted[1], counted[1].split(" ")[1]] : [line, `${counted[2]}s`];
  const [, operation, rest] = /^(\w+)( #\d+)?$/.exec(line) ?? [];
  if (SIGNS[operation]) return [line, SIGNS[operation] + (rest ?? "")];
  const given = /^(.+) \(([^()]+)\)$/.exec(line);
  if (given && inOwn) return [line, given[1]];
  const parts = (given ? given[2] : line).split(".");
  const ends = parts.map((part, k) => (k && /^[^\d]/.test(part) ? `\u2026${parts.slice(k).join(".")}` : null));
  return [line, ...given ? [given[2]] : [], ...ends.filter(Boolean), ...given && parts.length < 2 ? [given[1]] : []];
}

const hasWord = (text) => /[a-z]{4}/i.test(text);
const bestForm = (line, k, breadth, font, inOwn) => formsOf(line, k, inOwn)
  .find((form) => breadthOf(form, k, font) <= breadth);

// If no form fits, as much of a line as is still useful.
const FEWEST_LETTERS = 4;

function fitText(line, k, breadth, font, inOwn) {
  const form = bestForm(line, k, breadth, font, inOwn);
  if (form !== undefined || k === 2) return form ?? "";
  for (let kept = line.length - 1; kept >= Math.max(FEWEST_LETTERS, line.length / 2); kept -= 1) {
    if (breadthOf(`${line.slice(0, kept)}\u2026`, k, font) <= breadth) return `${line.slice(0, kept)}\u2026`;
  }
  return "";
}

// A small triangle from base to tip.
function arrow([x, y, footX, footY], breadth) {
  const [acrossX, acrossY] = [(footY - y) * breadth, (x - footX) * breadth];
  return `M${x},${y}L${footX + acrossX},${footY + acrossY}L${footX - acrossX},${footY - acrossY}Z`;
}

// The shape of a node: a box, a rounded box or a hexagon; a group has a second outline behind it.
function outline(kind, [x, y, width, height], name) {
  const [left, top] = [x - width / 2, y - height / 2];
  if (kind === "output") {
    const slant = width * 0.25;
    return svgElement("path", { class: name, d: `M${left},${y}L${left + slant},${top}L${left + width - slant},${top}`
      + `L${left + width},${y}L${left + width - slant},${top + height}L${left + slant},${top + height}Z` });
  }
  const rx = kind === "application" ? Math.min(16, height / 2) : kind === "group" ? 8 : 1.5;
  return svgElement("rect", { class: name, x: left, y: top, width, height, rx });
}

// A part that can be opened has a small plus on its upper edge, clear of its name and of arrows.
function markOpens({ element, box: [x, y, , height] }) {
  const mark = svgElement("g", { class: "opens", "aria-hidden": "true",
    transform: `translate(${x} ${y - height / 2 - 2})` });
  mark.append(svgElement("circle", { r: 6.5 }), svgElement("path", { d: "M-3,0H3M0,-3V3" }));
  element.append(mark);
}

// The graph: nodes, groups that open and close, and what each shows at the moment. What happened is kept apart from
// what is drawn, so that groups can open at any moment.

const MOST_USES = 4;
const NEAR = 120;
const MOST_KEPT = 400;
const FEWEST_DRAWN = 5;
const ALONG_A_LINE = [0.5, 0.36, 0.64, 0.22, 0.78];
function drawGraph(data, act, details) {
  let { groups } = data;
  const svg = svgElement("svg", { class: "drawing", role: "group", "aria-label": data.alt });
  const world = svg.appendChild(svgElement("g", { class: "world" }));
  const overview = svgElement("svg", { class: "overview", "aria-hidden": "true" });
  const frame = make("div", "graph", svg, overview);
  let thickness = thicknessOf(data);
  const laidOut = new Map();
  let placer = makePlacer(data, details);
  let open = new Set(groups ? groups.open : [0]);
  const pinned = new Set();
  let along = true;
  let untoldGroups = false;
  let detail = "stacked";
  let items = new Map();
  // Parts and links that were drawn, also in groups that have closed again.
  const drawn = new Map();
  let copies = [];
  let links = [];
  let linkOf = [];
  let size = [1, 1];
  let border = 0;
  let lit = null;
  let norms = null;
  let marks = null;
  let litNow = [];
  let roving = null;
  let normsChanged = false;
  // Where nodes were on the screen before another part of the program was shown.
  let placesBefore = null;

  // What happened so far: what each node holds, what was sent along each edge, which nodes are finished.
  const nothing = () => ({ holds: data.nodes.map(() => ({ place: null, word: "gradient" })),
    sent: data.edges.map(() => []), finished: new Set(), step: null, failed: null, computing: null, unborn: new Set(),
    selected: null });
  const now = nothing();
  const [changedNodes, changedLinks] = [new Set(), new Set()];

  const camera = makeCamera(svg, world, overview, { size: () => size, border: () => border, write: writeAll,
    moved: () => { fillNear(); openGroups().forEach(placeHeading); act.onView?.(); },
    boxes: () => [...items.values()].filter((item) => !item.opened).map(({ box }) => box) });
  const { view } = camera;

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
    if (drawn.size > MOST_KEPT) drawn.clear();
    for (const item of items.values()) if (item.kind) drawn.set(item.part, item);
    for (const link of links) drawn.set(link.key, link);
    items = new Map();
    copies = data.nodes.map(() => []);
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
    joinEdges(parts, parents, order);
    for (const part of order) items.set(part, { part, parent: parents.get(part) });
    const children = childrenOf(order, parents);
    placeAll(children, parents);
    drawAll([...children.keys()].filter((part) => part !== "g0"));
    roving = null;
    rove(order.at(-1));
    for (const item of items.values()) if (item.kind) paintItem(item);
    for (const link of links) paintLink(link);
    changedNodes.clear();
    changedLinks.clear();
    light();
    writeAll();
  }

  // Edges between the same parts are merged; a leaf with many users is drawn again at each. In a narrow room, a closed
  // group has its copies inside.
  function joinEdges(parts, parents, order) {
    const users = new Map();
    data.edges.forEach(([start, end]) => {
      if (data.nodes[start].kind === "leaf" && parts[start][0] === "n") {
        users.set(start, (users.get(start) ?? new Set()).add(parts[end]));
      }
    });
    const joined = new Map();
    const added = new Map();
    data.edges.forEach(([start, end], j) => {
      let [a, b] = [parts[start], parts[end]];
      if (a === b) return;
      if (users.get(start)?.size > MOST_USES) {
        if (b[0] === "g" && camera.room()[0] && camera.isNarrow()) return;
        a = `s${start}@${b}`;
        if (!parents.has(a)) {
          parents.set(a, parents.get(b));
          added.set(b, [...added.get(b) ?? [], a]);
        }
      }
      const key = `${a}>${b}`;
      if (!joined.has(key)) joined.set(key, { key, a, b, edges: [] });
      joined.get(key).edges.push(j);
      linkOf[j] = joined.get(key);
    });
    if (added.size) order.splice(0, order.length, ...order.flatMap((part) => [...added.get(part) ?? [], part]));
    links = [...joined.values()];
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

  // Positions for the open groups; the same groups have the same positions when they open again.
  function placeAll(children, parents) {
    const key = [...open].sort((a, b) => a - b).join();
    if (!laidOut.has(key)) laidOut.set(key, placer.place(children, parents, links, camera.room(), now.step));
    const laid = laidOut.get(key);
    ({ detail, border } = laid);
    untoldGroups = laid.untold ?? false;
    for (const [part, box] of laid.boxes) {
      if (!items.has(part)) items.set(part, { part, opened: true });
      items.get(part).box = box;
    }
    routeLinks(laid);
    size = [laid.width, laid.height];
  }

  // The curves of all links. They are as many and the same wherever the same groups are open.
  function routeLinks(laid) {
    if (!laid.curves) {
      const boxes = new Map([...items.values()].filter((item) => !item.opened).map(({ part, box }) => [part, box]));
      const lanes = [];
      laid.curves = links.map(({ a, b }) => curveBetween(boxes.get(a), boxes.get(b), [...boxes].flatMap(([part, box]) =>
        (part === a || part === b ? [] : [box])), lanes, laid));
    }
    links.forEach((link, k) => Object.assign(link, laid.curves[k]));
  }

  // Draws the graph as before the first step, and then as it is at this one. So names are the same however often the
  // graph is drawn again.
  function buildFirst() {
    const [{ step }, opened] = [now, open];
    laidOut.clear();
    now.step = null;
    openFirst();
    now.step = step;
    if (step && !isOpenNow(opened)) { open = opened; build(); } else light();
  }

  // Initially open groups close again, the fullest first, if they have too little room for names.
  function openFirst() {
    open = new Set([...groups ? groups.open : [0], ...pinned]);
    for (;;) {
      build();
      const around = new Set([...open].map((g) => groups?.parents[g]));
      const parts = (g) => [...items.values()].filter((item) => item.parent === `g${g}`).length;
      const [fullest] = [...open].filter((g) => g > 0 && !around.has(g)).sort((a, b) => parts(b) - parts(a));
      if (!untoldGroups || fullest === undefined || countDrawn() - parts(fullest) + 1 < FEWEST_DRAWN) return;
      open.delete(fullest);
    }
  }

  function drawAll(opened) {
    const elements = opened.map((part) => drawFrame(items.get(part)));
    for (const link of links) elements.push(drawLink(data, link, drawn.get(link.key)));
    markCuts(links);
    lit ??= svgElement("g", { class: "lit-way", "aria-hidden": "true" });
    norms ??= svgElement("g", { class: "norms", "aria-hidden": "true" });
    elements.push(lit, norms);
    for (const item of items.values()) if (!item.opened) elements.push(drawPart(item, drawn.get(item.part)));
    marks ??= svgElement("g", { class: "marks", "aria-hidden": "true" });
    arrange([...elements, marks]);
    camera.drawOverview();
  }

  // Puts elements into the drawing, in order. Those that are in it already stay: no element is styled anew.
  function arrange(elements) {
    const wanted = new Set(elements);
    for (const element of [...world.childNodes]) if (!wanted.has(element)) element.remove();
    let next = world.firstChild;
    for (const element of elements) {
      if (element === next) next = next.nextSibling;
      else world.insertBefore(element, next);
    }
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

  function drawPart(item, before) {
    const kind = item.part[0];
    const i = numberOf(item.part);
    const node = kind === "g" ? null : data.nodes[i];
    const shape = kind === "g" ? "group" : node.kind;
    Object.assign(item, { kind, i, shape, slots: {}, inOwn: placer.inOwnFrame(item.part) });
    const names = ["node", shape, kind === "s" && "stub", node && !node.requires_grad && "constant",
      node?.dead && "dead", node?.cut && "is-cut"].filter(Boolean).join(" ");
    const [x, y, width, height] = item.box;
    item.outlines = [["body", item.box]];
    if (kind === "n" && data.rings.includes(i)) item.outlines.push(["ring", [x, y, width + 6, height + 6]]);
    item.canOpen = kind === "g" || kind === "n" && data.insides[i] !== undefined;
    if (kind === "g") Object.assign(item, { lines: [groups.names[i], groups.notes[i], null], form: { tiles: {} } });
    else {
      copies[i].push(item);
      item.detail = placer.detailOf(item.part, detail);
      item.form = placer.formOf(i, item.detail);
      item.lines = [data.names[i], null, null];
    }
    item.look = [names, item.outlines.length, item.canOpen, item.detail].join();
    if (before?.look === item.look) {
      takeOver(item, before);
      return item.element;
    }
    item.element = svgElement("g", { class: names, role: "button", tabindex: "-1" });
    if (kind !== "s") item.element.id = item.part;
    item.element.append(...item.outlines.map(([name, box]) => outline(shape, box, name)));
    item.element.addEventListener("click", () => (kind === "g" ? toggle(i) : act.onNode(i, "click")));
    item.element.addEventListener("dblclick", () => { if (kind === "n") act.onNode(i, "enter"); });
    item.element.addEventListener("focus", () => { rove(item.part); if (kind !== "g") act.onNode(i, "focus"); });
    return item.element;
  }

  // Shows what a node has at the moment: its value, what it holds, and its state.
  function paintItem(item) {
    const { i, kind, element } = item;
    item.due = true;
    if (kind === "g") { element.setAttribute("aria-label", groupLabel(i)); return; }
    element.setAttribute("aria-label", labelOf(item, heldText(data, now.holds[i])));
    if (kind !== "n") return;
    element.classList.toggle("done", now.finished.has(i));
    element.classList.toggle("unborn", now.unborn.has(i));
    element.classList.toggle("computing", now.computing === i);
    element.classList.toggle("failed", now.failed === i || data.nodes[i].failed === true);
    element.classList.toggle("selected", now.selected === i);
  }

  // Fills a part with its texts and tiles.
  function fillItem(item) {
    item.due = item.isMoved = false;
    if (!item.texts) {
      item.texts = LINES.map((name) => svgElement("text", { class: name }));
      item.element.append(...item.texts);
      if (item.canOpen) markOpens(item);
    }
    if (item.kind !== "g") fillNode(item);
    writeNode(item, view, camera.room());
  }

  // Of a large drawing, which has thousands of cells, only parts in or near the view are filled.
  function fillNear() {
    const [wide, high] = camera.room();
    const isSmall = items.size <= MOST_TRIED;
    for (const item of items.values()) {
      if (!item.due) continue;
      const [x, y, w, h] = camera.onScreen(item.box);
      if (isSmall || (x + w / 2 > -NEAR && x - w / 2 < wide + NEAR && y + h / 2 > -NEAR && y - h / 2 < high + NEAR)) {
        fillItem(item);
      } else if (item.isMoved) for (const text of item.texts) text.textContent = "";
    }
  }

  function fillNode(item) {
    const { i } = item;
    const holds = now.holds[i];
    const held = heldText(data, holds);
    const { tiles: tileSize } = DETAILS[item.detail];
    const { tiles } = item.form;
    const place = data.nodes[i].value;
    item.lines[0] = data.names[i];
    const font = digitFont(view.scale);
    if (item.form.named) item.lines[1] = item.lines[2] = null;
    else if (tiles.value) {
      item.lines[1] = item.form.bare ? null : valueCaption(data, place);
      item.lines[2] = lastLine(data, i, tiles.gradient && !item.form.bare ? gradientCaption(data, holds) : null);
      const [value, gradient] = [place, holds.place].map((at) => valueAt(data, at));
      fillSlot(item, "value", value && tileWithin(value, tileSize, item.form.room), font);
      if (tiles.gradient) fillSlot(item, "gradient", gradient && tileWithin(gradient, tileSize, item.form.room), font);
    } else {
      item.lines[1] = data.labels[i][1];
      item.lines[2] = lastLine(data, i, data.labels[i][2] === null ? null : held);
    }
    item.texts[2].classList.toggle("odd", /(nan|inf)$/.test(held));
  }

  const groupLabel = (i) => [groups.names[i], groups.notes[i], `closed group of ${groups.counts[i]} nodes`]
    .filter((note) => note !== `${groups.counts[i]} nodes`).join(", ");

  const valueOf = (i) => (now.unborn.has(i) ? "not computed yet" : valueCaption(data, data.nodes[i].value));

  // A number without a name is called by its value, which need not be said twice.
  const labelOf = ({ kind, i }, held) => [...new Set([data.names[i], data.nodes[i].kind,
    kind === "s" ? "drawn again at its use" : "", valueOf(i), held, flowText(data.nodes[i]),
    data.insides[i] === undefined ? "" : "has a walk inside"])].filter(Boolean).join(", ");

  // The width of a line shows the size of its gradient.
  function paintLink(link) {
    const values = link.edges.flatMap((edge) => now.sent[edge]).map((place) => valueAt(data, place));
    const sent = values.map(normOf).filter((norm) => norm !== null);
    const norm = sent.reduce((a, b) => Math.max(a, b), 0);
    link.element.classList.toggle("done", values.length > 0);
    link.element.classList.toggle("odd", sent.some(Number.isNaN));
    // A quiz about a shape has no numbers of arrays that would show it.
    const isKnown = values.length > 0 && sent.length === values.length;
    link.path.style.strokeWidth = isKnown
      ? String(thickness.of(values.map(trueNorm).reduce((a, b) => Math.max(a, b), 0))) : "";
    if (!link.hasNorm) return;
    const size = sent.some(Number.isNaN) ? "nan" : number(Number(norm.toPrecision(4)));
    link.norm = isKnown ? `|${SHORT[act.wordNow()]}| ${size}` : "";
    normsChanged = true;
  }

  // Draws what has changed since the last call.
  function paint() {
    paintChanges();
    fillNear();
  }

  function paintChanges() {
    for (const i of changedNodes) copies[i].forEach(paintItem);
    for (const link of changedLinks) paintLink(link);
    changedNodes.clear();
    changedLinks.clear();
    if (normsChanged) writeNorms();
  }

  const change = (i) => changedNodes.add(i);

  // What happens to nodes and edges; `paint` shows it.
  const happen = {
    hold(i, holds) { now.holds[i] = holds; change(i); },
    value(i, text) { data.labels[i][1] = text; change(i); },
    finish(i, on) { if (on) now.finished.add(i); else now.finished.delete(i); change(i); },
    travelled(edge, on, place) {
      if (on) now.sent[edge].push(place);
      else now.sent[edge].pop();
      if (linkOf[edge]) changedLinks.add(linkOf[edge]);
    },
    // At the start of a walk, all lines are reset.
    forget() {
      now.sent = data.edges.map(() => []);
      for (const link of links) changedLinks.add(link);
    },
    unborn(i, on) { if (on) now.unborn.add(i); else now.unborn.delete(i); change(i); },
    // The node where the walk or the program failed.
    failed({ node }, on) { if (node !== null) { now.failed = on ? node : null; change(node); } },
  };

  // The same graph with the numbers of another moment, at which nothing has happened yet.
  function renew() {
    thickness = thicknessOf(data);
    Object.assign(now, { sent: data.edges.map(() => []), step: null, failed: null, computing: null });
    now.finished.clear();
    now.unborn.clear();
    data.nodes.forEach((_, i) => change(i));
    for (const link of links) changedLinks.add(link);
    light();
  }

  // Another part of the program: what the user opened stays open, and the camera stays as far as it can.
  function replace() {
    const pathOf = (g) => (g > 0 ? [...pathOf(groups.parents[g]), groups.names[g]] : []);
    const opened = new Set([...pinned].map((g) => pathOf(g).join("\n")));
    placesBefore = new Map([...items.values()].filter(({ kind }) => kind === "n").map(({ lines, box }) =>
      [lines[0], camera.onScreen(box)]));
    ({ groups } = data);
    placer = makePlacer(data, details);
    thickness = thicknessOf(data);
    Object.assign(now, nothing());
    [items, links] = [new Map(), []];
    drawn.clear();
    pinned.clear();
    groups?.names.forEach((_, g) => { if (g && opened.has(pathOf(g).join("\n"))) pinned.add(g); });
    buildFirst();
  }

  // A node of the step that both parts have stays where it was, unless the drawing would leave the stage.
  function keepPlaces(step) {
    const parts = step ? [endOf(step, step.to), endOf(step, step.from)] : [];
    const known = parts.map((part) => items.get(part)).find((item) => placesBefore?.has(item.lines[0]));
    if (known) camera.hold(known.box, placesBefore.get(known.lines[0]));
    placesBefore = null;
  }

  // Groups -----------------

  const groupsAround = (i) => {
    const around = [];
    for (let g = groups ? groups.of[i] : 0; g > 0; g = groups.parents[g]) around.push(g);
    return around;
  };

  const isOpenNow = (wanted) => wanted.size === open.size && [...wanted].every((g) => open.has(g));

  // The groups of the nodes at hand open; those that were opened for others close.
  function openFor(nodes) {
    if (!groups) return;
    const wanted = nodes.length && along ? new Set([0, ...pinned, ...nodes.flatMap(groupsAround)])
      : nodes.length ? open : new Set([...groups.open, ...pinned]);
    if (isOpenNow(wanted)) return;
    open = wanted;
    if (nodes.length) build();
    else buildFirst();
  }

  // Opens or closes a group; the walk keeps its position.
  function toggle(g) {
    if (open.has(g)) { open.delete(g); pinned.delete(g); } else { open.add(g); pinned.add(g); }
    build();
    camera.reveal(boxesOf([`g${g}`]));
    fillNear();
    items.get(`g${g}`)?.element.focus();
    act.onView?.();
  }

  function openTo(i) {
    for (const g of groupsAround(i)) pinned.add(g);
    if (groupsAround(i).some((g) => !open.has(g))) {
      for (const g of groupsAround(i)) open.add(g);
      build();
    }
  }

  function rove(part) {
    items.get(roving)?.element.setAttribute("tabindex", "-1");
    roving = part;
    items.get(roving)?.element.setAttribute("tabindex", "0");
  }

  // The step -----------------

  // The part that shows an edge's leaf: the copy beside its user, if there is one.
  const endOf = (step, i) => {
    const link = linkOf[step.edge];
    const [start] = data.edges[step.edge];
    return link && i === start && link.a[0] === "s" ? link.a : partOf(i);
  };
  const boxesOf = (parts) => parts.map((part) => items.get(part)?.box).filter(Boolean);

  // Makes a step the one at hand: its groups open, its nodes and its edge are lit.
  function show(step) {
    now.step = step ?? null;
    openFor(step ? nodesOfStep(data, step) : []);
    paintChanges();
    light();
  }

  function light() {
    for (const each of litNow) {
      each.element.classList.remove("active", "receives", "accumulates");
      Object.assign(each, { isLit: false, due: Boolean(each.kind) });
    }
    litNow = [];
    lit.replaceChildren();
    marks.replaceChildren();
    const { step } = now;
    if (!step) return;
    const add = (each, name) => {
      each.element.classList.add(name);
      litNow.push(Object.assign(each, { isLit: true, due: Boolean(each.kind) }));
    };
    const [from, to] = [endOf(step, step.from), endOf(step, step.to)];
    add(items.get(from), "active");
    const kind = step.accumulates ? "accumulates" : "receives";
    for (const part of new Set([to, partOf(step.to)])) add(items.get(part), kind);
    for (const link of edgesOf(step).map((edge) => linkOf[edge]).filter(Boolean)) {
      add(link, "active");
      lit.append(...litParts(link, step.back));
    }
    if (step.accumulates) marks.append(badgeAt(items.get(to).box, view.scale));
  }

  // Text -----------------

  function writeHeading(item) {
    const text = item.element.querySelector("text");
    const tall = 20 * view.scale >= SMALLEST_TEXT;
    const font = Math.max(12, SMALLEST_TEXT / view.scale);
    text.textContent = tall ? fitText(item.lines[0], 0, item.box[2] - 14 / view.scale, font) : "";
    text.style.fontSize = `${font}px`;
    item.nameWidth = breadthOf(text.textContent, 0, font);
    placeHeading(item);
  }

  // The name of an open group stays in view as long as its heading does.
  function placeHeading(item) {
    const { box: [x, , width], element, nameWidth } = item;
    const [left, last] = [x - width / 2 + 8, x + width / 2 - 8 - nameWidth];
    item.nameAt = Math.max(left, Math.min(last, (8 - view.x) / view.scale));
    element.querySelector("text").setAttribute("x", item.nameAt.toFixed(1));
  }

  const openGroups = () => [...items.values()].filter((item) => item.nameWidth !== undefined);
  // The names of open groups, as boxes.
  const headings = () => openGroups().map(({ nameAt, nameWidth, box: [, y, , height] }) =>
    [nameAt + nameWidth / 2, y - height / 2 + 10, nameWidth, 20]);

  // Norms are placed at the middle of their lines, or beside it to avoid overlaps. If there is no room, they are
  // omitted.
  function writeNorms() {
    normsChanged = false;
    const font = Math.max(11, SMALLEST_TEXT / view.scale);
    const taken = [...items.values()].filter((item) => !item.opened).map(({ box: [x, y, w, h] }) => [x, y, w, h]);
    const free = ([x, y, w, h]) => taken.every(([tx, ty, tw, th]) =>
      Math.abs(x - tx) * 2 >= w + tw || Math.abs(y - ty) * 2 >= h + th);
    norms.replaceChildren();
    for (const link of links.filter(({ norm }) => norm)) {
      const way = alongCurve(link.curve);
      const wide = breadthOf(link.norm, 2, font) + 12;
      for (const part of ALONG_A_LINE) {
        const [x, y] = way.at(part);
        const box = [x, y, wide, font + 2];
        if (!free(box)) continue;
        taken.push(box);
        const text = svgElement("text", { class: "norm" });
        putText(text, link.norm, font, x, y + font * 0.36);
        text.style.strokeWidth = `${font * 0.64}px`;
        norms.append(text);
        break;
      }
    }
  }

  function writeAll() {
    for (const item of items.values()) {
      if (item.kind) item.due = true;
      else writeHeading(item);
    }
    writeNorms();
    const badge = marks?.querySelector(".badge");
    if (badge) sizeBadge(badge, items.get(endOf(now.step, now.step.to)).box, view.scale);
  }

  // The view -----------------

  // `below` is the height of the step's event.
  function follow(step, below) {
    keepPlaces(step);
    if (step) giveRoom(step, below);
    else if (!view.own) camera.whole();
    fillNear();
  }

  // Brings sender and receiver of a step into view above its event, as `small` as they must be.
  const giveRoom = (step, below, small) =>
    camera.reveal(boxesOf([endOf(step, step.from), endOf(step, step.to)]), below, small);

  // Draws the graph the first time, and again if its room has changed much.
  function fit() {
    const { clientWidth, clientHeight } = frame;
    if (!clientWidth) {
      if (!items.size) build();
      return false;
    }
    const { changed, much } = camera.resize(clientWidth, clientHeight);
    if (much || !items.size) buildFirst();
    if (changed && view.own) camera.stay();
    else if (changed) camera.whole();
    return true;
  }

  function mark(name, i) {
    const before = now[name];
    now[name] = i ?? null;
    for (const each of [before, now[name]]) if (each !== null) change(each);
    paint();
  }

  // The node whose value is being computed.
  function compute(i) {
    if (i !== undefined) openFor([i]);
    mark("computing", i);
    if (i !== undefined) camera.reveal(boxesOf([partOf(i)]));
  }

  // The next or previous part in program order.
  function besides(element, by) {
    const parts = [...items.values()].filter((item) => item.kind);
    const next = parts[(parts.findIndex((item) => item.element === element) + by + parts.length) % parts.length];
    camera.reveal(boxesOf([next.part]));
    fillNear();
    next.element.focus();
  }

  // Nodes that belong to a symbol or a card beside the graph.
  function point(nodes) {
    svg.querySelectorAll(".pointed").forEach((part) => part.classList.remove("pointed"));
    for (const i of nodes) items.get(partOf(i))?.element.classList.add("pointed");
  }

  // Points along the lit way of a step, on the screen.
  const wayOf = (step) => edgesOf(step).map((edge) => linkOf[edge]).filter(Boolean).flatMap(({ curve }) => {
    const { length, at: on } = alongCurve(curve);
    const count = Math.ceil(length * view.scale / CELL);
    return Array.from({ length: count }, (_, k) => camera.onScreen([...on((k + 0.5) / count), 0, 0]));
  });
  const countDrawn = () => [...items.values()].filter((item) => !item.opened).length;
  const at = (element) => [...items.values()].find((item) => item.element === element);
  return { frame, svg, ...happen, paint, show, compute, point, fit, follow, giveRoom, besides, at, camera, openTo,
    toggle, partOf, renew, replace, get thickness() { return thickness; }, drawn: countDrawn,
    select: (i) => mark("selected", i),
    whole: () => camera.whole(), zoom: camera.zoom,
    reveal: (parts) => camera.reveal(boxesOf(parts)), itemOf: (step, i) => items.get(endOf(step, i)),
    wayOf, itemOfNode: (i) => items.get(partOf(i)), along: () => { along = !along; return along; },
    isOpen: (g) => open.has(g), isGrouped: () => groups !== null, size: () => size, headings };
}

// The camera: which part of the drawing is visible, how large, and the overview that shows where it is.

const LARGEST = 1.5;
const ROOM_OF_A_LAPTOP = 1050;
const READABLE = 0.62;
// What would be nearly in its own size has it, since smaller digits are left out. Its border may be outside.
const NEARLY_FULL = 0.985;
// How much larger a drawing is on a large screen.
const growthIn = ([width]) => Math.max(1, Math.min(1.5, width / ROOM_OF_A_LAPTOP));
const CORNERS = [[true, true], [false, true], [true, false], [false, false]];
const MARGIN = 24;
// How much of the height of a room an event may need below the nodes of its step.
const MOST_BELOW = 0.72;
const OVERVIEW = [158, 64];

// `scene` has the size of the drawing, the width of its empty border, its boxes, and what is written again as the scale
// changes.
function makeCamera(svg, world, overview, scene) {
  const view = { x: 0, y: 0, scale: 1, own: false };
  // The drawing in which a node keeps its place, at its scale.
  let heldIn = null;
  let room = [0, 0];
  // In a narrow room, and where it would cover them, the event opens below the nodes of its step; it needs this height.
  let below = 0;
  const isNarrow = () => room[0] < NARROW;

  function show(scale, x, y) {
    const changed = scale !== view.scale;
    const size = scene.size();
    const [free, freeBelow] = [0, 1].map((axis) => room[axis] - size[axis] * scale);
    const centred = (at, left) => (left >= -scene.border() ? left / 2 : Math.min(8, Math.max(left - 8, at)));
    Object.assign(view, { scale, x: centred(x, free), y: !isNarrow() && !below ? centred(y, freeBelow)
      : Math.min(MARGIN, Math.max(0, freeBelow / 2), Math.max(freeBelow - below, y)) });
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${scale})`);
    if (changed) scene.write();
    showOverview();
    scene.moved();
  }

  function wholeScale() {
    const scale = Math.min(LARGEST * growthIn(room), ...scene.size().map((side, k) => (room[k] - 4) / side));
    return scale < 1 && scene.size().every((side, k) => side <= room[k] + scene.border()) ? 1 : scale;
  }

  function whole() {
    view.own = false;
    heldIn = null;
    below = 0;
    show(wholeScale(), 0, MARGIN);
  }

  function zoom(factor, at = [room[0] / 2, room[1] / 2]) {
    view.own = true;
    const scale = Math.min(3, Math.max(Math.min(0.05, wholeScale()), view.scale * factor));
    const by = scale / view.scale;
    show(scale, at[0] - (at[0] - view.x) * by, at[1] - (at[1] - view.y) * by);
  }

  // Brings boxes into view at a readable size, above the height of an event; the view stays if they are visible. If
  // the event would still cover them, they are as `small` as they must be.
  function reveal(boxes, height = 0, small = false) {
    if (!boxes.length || !room[0]) return;
    below = Math.min(height, MOST_BELOW * room[1]);
    const fits = wholeScale();
    const isWhole = !view.own && heldIn !== scene.size() && fits >= READABLE * growthIn(room);
    if (isWhole && !isNarrow() && !below) { show(fits, 0, 0); return; }
    const ends = (k) => [Math.min(...boxes.map((box) => box[k] - box[k + 2] / 2)),
      Math.max(...boxes.map((box) => box[k] + box[k + 2] / 2))];
    const [[left, right], [top, bottom]] = [ends(0), ends(1)];
    const high = room[1] - below;
    const close = Math.min((room[0] - MARGIN) / (right - left), (high - MARGIN) / (bottom - top));
    const most = close > NEARLY_FULL && close < 1 ? 1 : close;
    const wanted = view.own ? view.scale : Math.max(fits, growthIn(room));
    const scale = isWhole ? Math.min(fits, small ? most : Math.max(READABLE, most)) : Math.min(wanted, most);
    const isAcross = scale === view.scale && left * scale + view.x >= 4 && right * scale + view.x <= room[0] - 4;
    const isSeen = isAcross && top * scale + view.y >= 4 && bottom * scale + view.y <= high - 4;
    if (!isSeen) {
      const x = isAcross ? view.x : room[0] / 2 - (left + right) / 2 * scale;
      show(scale, x, isNarrow() || below ? Math.max(MARGIN - top * scale, high - 4 - bottom * scale)
        : room[1] / 2 - (top + bottom) / 2 * scale);
    } else showOverview();
  }

  // Moves the drawing so that a box is at a place of the screen. Its scale stays until there is another drawing.
  function hold(box, [x, y]) {
    if (view.scale > wholeScale()) heldIn = scene.size();
    show(view.scale, x - box[0] * view.scale, y - box[1] * view.scale);
  }

  // The overview takes the corner where it covers least. Where it would cover nodes, and in a narrow room, it is shown
  // only to those who move the drawing by hand.
  function showOverview() {
    const [size, [width, height]] = [scene.size(), room.map((side) => side / view.scale)];
    const isPart = width < size[0] - 2 || height < size[1] - 2;
    if (isPart) {
      const boxes = scene.boxes().map(onScreen);
      const covered = CORNERS.map(([right, low]) => boxes.filter(([x, y, w, h]) => (right ? x + w / 2 > room[0]
        - OVERVIEW[0] && x - w / 2 < room[0] : x - w / 2 < OVERVIEW[0] && x + w / 2 > 0) && (low ? y + h / 2 > room[1]
        - OVERVIEW[1] && y - h / 2 < room[1] : y - h / 2 < OVERVIEW[1] && y + h / 2 > 0)).length);
      const least = Math.min(...covered);
      const [right, low] = CORNERS[covered.indexOf(least)];
      overview.classList.toggle("at-left", !right);
      overview.classList.toggle("at-top", !low);
      overview.classList.toggle("shown", view.own || !least && !isNarrow());
    } else overview.classList.remove("shown");
    if (!overview.lastChild) return;
    for (const [name, value] of Object.entries({ x: -view.x / view.scale, y: -view.y / view.scale, width, height })) {
      overview.lastChild.setAttribute(name, value);
    }
  }

  // The overview gives way to an event that opens over it.
  function giveWay(event) {
    const box = event && overviewBox();
    const isCovered = box && edgesOfBox(box).every((edge, k) => (k < 2 ? edge < event[k + 2] : edge > event[k - 2]));
    overview.classList.toggle("covered", Boolean(isCovered));
  }

  // The overview on the screen, as a box; null if it is not shown.
  function overviewBox() {
    if (!overview.classList.contains("shown")) return null;
    const [wide, high] = OVERVIEW;
    return [overview.classList.contains("at-left") ? wide / 2 : room[0] - wide / 2,
      overview.classList.contains("at-top") ? high / 2 : room[1] - high / 2, wide, high];
  }

  // A box of the drawing as it is on the screen.
  const onScreen = ([x, y, w, h]) => [x * view.scale + view.x, y * view.scale + view.y, w * view.scale, h * view.scale];

  function resize(width, height) {
    const changed = width !== room[0] || height !== room[1];
    const much = Math.abs(width - room[0]) > 60 || Math.abs(height - room[1]) > 30;
    room = [width, height];
    return { changed, much };
  }

  function drawOverview() {
    const size = scene.size();
    overview.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const rects = scene.boxes().map(([x, y, w, h]) => `M${x - w / 2},${y - h / 2}h${w}v${h}h${-w}z`);
    overview.replaceChildren(svgElement("path", { d: rects.join("") }), svgElement("rect", { class: "seen" }));
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

  return { view, boxes: scene.boxes, whole, zoom, reveal, resize, onScreen, drawOverview, wholeScale, room: () => room,
    hold, overviewBox, giveWay, isNarrow,
    stay: () => show(view.scale, view.x, view.y) };
}

// Where the parts of a graph are: how much each shows, so that the whole is readable in its room.

const MOST_TRIED = 60;
const FULL_TEXT = 0.92;
const LEAST_FOR_TILES = 0.78;
const LEAST_FOR_BARE = 0.6;
const NAME_ROOM = 130;
const SHORT_ROOM = 50;
const MOST_NAME = 240;
const AIR = 10;
const WORTH_CLOSER = 1.2;
const MOST_WIDENED = 200;
const WAYS = ["stacked", "beside", "smaller", "smaller beside", "bare", "lines", "named", "short"].flatMap((detail) =>
  [[1.5, 1], [0.8, 0.6], [0.5, 0.25]].map(([fold, gap]) => ({ detail, fold, gap })));

// What nodes show during steps, from most to least, and how much of a narrow room is above the event of a step.
const STEPPED = ["stacked", "smaller", "bare", "named"];
const ABOVE_EVENT = 0.6;
// Which share of the links must come near for nodes to show less.
const WORTH_LESS = 0.12;

const numberOf = (part) => Number(part.slice(1).split("@")[0]);

// `details` are the levels of detail to choose from.
function makePlacer(data, details = Object.keys(DETAILS)) {
  const { groups } = data;
  const ways = WAYS.filter(({ detail }) => details.includes(detail));

  // A node keeps its form whatever value it has later.
  const values = data.nodes.map(({ value }) => value);
  const formOf = (i, detail, head = 0) => nodeForm(data, i, detail, head, values[i]);

  const shapeOf = (part, i) => (part[0] === "g" ? "group" : part[0] === "s" ? "stub" : data.nodes[i].kind);
  const titleOf = (part, i) => (part[0] === "g" ? groups.names[i] : data.names[i]);

  // Whether a result has the name of a module, whose frame is around it, so that its operation says more.
  function inOwnFrame(part) {
    const last = (name) => name.split(".").at(-1).replace(/\)$/, "");
    const [, given] = part[0] === "n" ? / \(([^()]+)\)( #\d+)?$/.exec(data.names[numberOf(part)]) ?? [] : [];
    return groups !== null && given !== undefined
      && (given.includes(".") || last(given) === last(groups.names[groups.of[numberOf(part)]]));
  }

  // How much of a name is unreadable: nothing, its words, or all.
  function untoldOf(part, [, , width, height], scale, chosen) {
    const i = numberOf(part);
    if (height * scale + 1 < SMALLEST_TEXT + 2) return 1;
    const title = bestForm(titleOf(part, i), 0, breadthFor(width, shapeOf(part, i), scale),
      Math.max(12, SMALLEST_TEXT / scale), inOwnFrame(part));
    return title === undefined ? 1 : chosen === "bare" || hasWord(title) || !hasWord(titleOf(part, i)) ? 0 : 0.5;
  }

  // The size of a part: with tiles or lines, with its name only, or with the shortest form of its name that has a word.
  function sizeOfPart(part, chosen) {
    const i = numberOf(part);
    const forms = formsOf(titleOf(part, i), 0, inOwnFrame(part));
    const widths = forms.filter((form, k) => k === 0 || hasWord(form)).map((form) => breadthOf(form, 0, 12));
    const name = Math.min(MOST_NAME, chosen === "short" ? Math.min(...widths)
      : widths.find((width) => width < (chosen === "bare" ? SHORT_ROOM : NAME_ROOM)) ?? Math.min(...widths));
    const bare = ["named", "short"].includes(detailOf(part, chosen));
    if (part[0] === "g") return bare ? [name + 20, 24] : [Math.max(90, name + 26), 40];
    if (bare) return [Math.max(34, name + 26) * (data.nodes[i].kind === "output" ? 1.6 : 1), 24];
    const { width, height } = formOf(i, detailOf(part, chosen), name + (chosen === "bare" ? 14 : 0));
    return [width, height];
  }

  // A leaf that is drawn again has smaller tiles, and only its name beside a closed group.
  const detailOf = (part, chosen) => (part[0] !== "s" || !DETAILS[chosen].tiles ? chosen
    : part.includes("@g") ? "named" : chosen === "bare" ? "bare" : "smaller");

  // Boxes grow into the free room beside them as far as their names need.
  function widen({ boxes, width: whole }, parents, scale) {
    const font = Math.max(12, SMALLEST_TEXT / scale);
    const known = [...parents.keys()].filter((part) => part !== "g0" && boxes.has(part) && parents.get(part));
    for (const part of known.filter((each) => !known.some((other) => parents.get(other) === each))) {
      const [x, y, width, height] = boxes.get(part);
      const [at, , frame] = boxes.get(parents.get(part)) ?? [whole / 2, 0, whole];
      const room = known.reduce((least, other) => {
        const [ox, oy, ow, oh] = boxes.get(other);
        return other !== part && parents.get(other) === parents.get(part) && Math.abs(y - oy) < (height + oh) / 2 + 2
          ? Math.min(least, Math.abs(x - ox) - (width + ow) / 2) : least;
      }, frame / 2 - Math.abs(x - at) - width / 2) - AIR;
      const shape = shapeOf(part, numberOf(part));
      const needs = formsOf(titleOf(part, numberOf(part)), 0, inOwnFrame(part)).map((form) => (breadthOf(form, 0, font)
        + 1 - breadthFor(0, shape, scale)) / (breadthFor(1, shape, Infinity)));
      const [fit] = needs.filter((need) => need <= width + 2 * room);
      if (fit > width) boxes.set(part, [x, y, fit, height]);
    }
  }

  // Parts have their tiles, then smaller ones, then lines and only names, until every name is readable in the full
  // drawing. If that is impossible, as many as possible are readable, group names first. Large drawings are looked at
  // in parts, so that their nodes keep their tiles.
  function place(children, parents, links, room, stepping) {
    const there = [Math.max(340, room[0]), Math.max(200, room[1])];
    const ends = links.map(({ a, b }) => [a, b]);
    const parts = [...parents.keys()].filter((part) => part !== "g0");
    const sizeIn = memoized((way) => memoized((part) => sizeOfPart(part, way)));
    const scaleOf = (laid) => Math.min(growthIn(room), (room[0] - 4) / laid.width, (room[1] - 4) / laid.height);
    const lay = ({ detail: chosen, ...way }) => {
      const laid = nestedLayout("g0", children, (part) => parents.get(part), ends, sizeIn(chosen), there, way);
      if (room[0] && !stepping && parts.length <= MOST_WIDENED) widen(laid, parents, scaleOf(laid));
      return { detail: chosen, ...addSides(laid, ends) };
    };
    const wayWith = (detail) => ways.find((way) => way.detail === detail) ?? ways[0];
    const isLong = parts.length > MOST_TRIED;
    if (groups && stepping && room[0] && room[0] < NARROW && parts.length <= MOST_WIDENED) {
      return layForSteps((detail) => lay(wayWith(detail)), isLong, links, room);
    }
    if (!room[0] || isLong) return lay(wayWith("smaller"));
    if (groups && stepping) return lay(wayWith("stacked"));
    let best = null;
    const leastOf = ({ detail: chosen }) => (!DETAILS[chosen].tiles ? 0 : chosen === "bare" ? LEAST_FOR_BARE
      : LEAST_FOR_TILES * (1 + growthIn(room)) / 2);
    for (const way of ways) {
      if (best?.isGood && way.detail !== best.laid.detail) break;
      const laid = lay(way);
      const scale = scaleOf(laid);
      const isSmall = scale < leastOf(way);
      const untold = scale >= FULL_TEXT && !isSmall ? 0 : parts.reduce((sum, part) => sum + (isSmall ? 1
        : untoldOf(part, laid.boxes.get(part), scale, way.detail)) * (part[0] === "g" ? parts.length : 1), 0);
      const isGood = untold <= (way.detail === "bare" ? parts.length / 6 : 0);
      if (!best || (best.isGood ? isGood && scale > WORTH_CLOSER * best.scale : isGood || untold < best.untold)) {
        best = { laid, untold, isGood, scale };
      }
      if (isGood && scale >= growthIn(room)) break;
    }
    return { ...best.laid, untold: best.untold >= parts.length };
  }

  // A drawing that is looked at in parts has its tiles. In a narrow room, nodes show less where many senders would
  // otherwise be too far from their receivers to be read together with them, above the event of the step.
  function layForSteps(layWith, isLong, links, room) {
    const most = [room[0] / READABLE, ABOVE_EVENT * room[1] / READABLE];
    const isFar = (boxes) => ({ a, b }) => {
      const [one, other] = [boxes.get(a), boxes.get(b)];
      return most.some((span, k) => Math.abs(one[k] - other[k]) + (one[k + 2] + other[k + 2]) / 2 > span);
    };
    let best = null;
    for (const detail of STEPPED.slice(isLong ? 1 : 0)) {
      const laid = layWith(detail);
      const far = links.filter(isFar(laid.boxes)).length;
      if (!best || far < best.far - WORTH_LESS * links.length) best = { laid, far };
    }
    return best.laid;
  }

  return { place, inOwnFrame, detailOf, formOf };
}

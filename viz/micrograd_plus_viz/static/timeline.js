// A training loop as one film: the player shows one moment of one round. Its bar leads to the other moments, and curves
// below the program to the other rounds.

const MOST_NEAR = 6;
const MOST_CHANGED = 6;

function mountFilm(host, data, opts = {}) {
  const { film } = data;
  data.values = decodeValues(data.values);
  const sizes = film.rounds.length;
  const length = data.steps.length;
  const line = timeline(film, { go, sizeNow: (leaf) => sizeOnCurve(valueAt(data, player.placeOf(leaf))) });
  const rounds = new Map();
  let player = null;
  let mounted = null;
  let at = { round: 0, moment: -1 };
  let onStep = null;

  // The moments of a round: the changes before its forward, its values, other changes, its walk, and the changes after.
  const momentsOf = (round) => {
    const { before, forward, after } = film.moments[round];
    return [...before.slice(0, forward).map((change) => ({ word: change.word, change, early: true })),
      { word: "forward" }, ...before.slice(forward).map((change) => ({ word: change.word, change })),
      { word: "backward" }, ...after.map((change) => ({ word: change.word, change }))];
  };
  const placeOf = (round, word) => momentsOf(round).findIndex((moment) => moment.word === word && !moment.change);

  function dataOf(round) {
    if (!rounds.has(round)) {
      if (rounds.size > 8) rounds.clear();
      const { film: _, values, ...base } = data;
      const copy = structuredClone(base);
      for (const [path, column] of film.columns) {
        const inner = path.slice(0, -1).reduce((part, key) => part[key], copy);
        inner[path.at(-1)] = structuredClone(column[round]);
      }
      copy.values = values;
      copy.insides = round === 0 ? copy.insides : {};
      copy.early = film.moments[round].early;
      rounds.set(round, copy);
    }
    return rounds.get(round);
  }

  // The data of a round at a change: what leaves have after it, and no gradients elsewhere.
  function dataAt(round, { change, early }) {
    const whole = dataOf(round);
    const walk = { ...whole.walks[0], starts: withoutMissing(change.gradients), ends: {}, values: {} };
    const nodes = whole.nodes.map((node, i) => (change.values[i] ? { ...node, value: change.values[i][0] } : node));
    const labels = whole.labels.map((label, i) => (change.values[i]
      ? [label[0], change.values[i][1], ...label.slice(2)] : label));
    const isOver = film.moments[round].after.includes(change);
    const first = whole.first + (isOver ? length : 0);
    const other = whole.other && { ...whole.other, steps: [], walks: [{ starts: withoutMissing(change.others
      ?? heldAfterWalk(round, true).gradients), ends: {} }] };
    return { ...whole, other, nodes, labels, walks: [walk], steps: [], first, gradients: [],
      insides: {}, error: null, unborn: Boolean(early), isOver };
  }

  // The leaves that a change has changed: each with what it is, and its value or gradient before and after.
  function changesAt(round, change) {
    const { begins, beginValues, before, after } = film.moments[round];
    const earlier = [...before, ...after];
    const last = earlier[earlier.indexOf(change) - 1];
    const held = after.includes(change) && !after.includes(last) ? heldAfterWalk(round) : last ?? { values:
      beginValues, gradients: begins };
    return ["values", "gradients"].flatMap((kind) => Object.entries(change[kind]).map(([node, now]) => {
      const then = held[kind][node] ?? (kind === "values" ? [dataOf(round).nodes[node].value] : null);
      const [was, is] = kind === "values" ? [then[0], now[0]] : [then, now];
      return { node, kind, was, is };
    }).filter(({ was, is }) => was !== is));
  }

  const heldAfterWalk = (round, inOther = false) => {
    const whole = dataOf(round);
    const walk = walkOf(whole);
    const values = walk.valuesIn(whole.walks.length - 1).map(([node, ...now]) => [node, now]);
    const gradients = whole.gradients.map(({ node, value }) => [node, inOther ? walk.held(node, length).other : value]);
    return { values: Object.fromEntries(values), gradients: Object.fromEntries(gradients) };
  };

  function go(round, moment, index = 0, playing = false) {
    const found = momentsOf(round)[moment];
    const isWalk = !found.change;
    const isShown = isWalk && player && at.isWalk && at.round === round;
    at = { round, moment, isWalk };
    if (!isShown) show(round, found, isWalk, playing);
    if (isWalk) {
      player.valuesFirst(found.word === "forward");
      player.seek(found.word !== "forward" ? index : index < 0 ? -1 : player.state().least + index);
      player.setPlay(playing, true);
    }
    tell();
    return true;
  }

  function show(round, found, isWalk, playing) {
    mounted = isWalk ? { ...dataOf(round), unborn: false, isOver: false } : dataAt(round, found);
    const moment = isWalk ? {} : { ...linesOf(found.change), say: found.change.say, panel: () => changePanel(data,
      changesAt(round, found.change)) };
    if (player) player.become(mounted, moment);
    else {
      player = mount(host, mounted, { ...opts, inFilm: true, beyond, toStep, slide: seekStep, onIndex,
        moment, companion: line.element, moments: line.nearby, index: 0, more: true,
        keys: { ...opts.keys, "[": () => line.jump(-1), "]": () => line.jump(1) } });
      line.fit();
    }
    if (!isWalk) player.seek(0);
    player.setPlay(playing, true);
  }

  // The line of a change, and those that called it.
  function linesOf({ lines }) {
    const [site, ...calls] = lines.map((place) => film.sites[place]);
    return { site, calls };
  }

  const toStep = (step) => go(at.round, placeOf(at.round, "backward"), step);

  function onIndex(index) {
    if (at.isWalk && player) {
      at.moment = placeOf(at.round, index < 0 ? "forward" : "backward");
      tell();
    }
    opts.onIndex?.(film.rounds[at.round] * length + (at.isWalk ? Math.max(0, index) : 0));
    onStep?.();
  }

  const tell = () => line.show(at.round, momentsOf(at.round), at.moment);

  // Leads past the ends of what is mounted: to the next moment, to the one before, or to a step of another round.
  function beyond(wanted, playing) {
    const { index, least } = player.state();
    const forward = wanted > index;
    const isNext = wanted === (forward ? (index < 0 ? 0 : mounted.steps.length + 1) : least - 1);
    if (!isNext) return wanted > data.total - mounted.first ? go(sizes - 1, momentsOf(sizes - 1).length - 1)
      : seekStep(mounted.first + wanted);
    const moments = momentsOf(at.round);
    const inValues = forward ? index < 0 : least < 0;
    const from = at.isWalk ? placeOf(at.round, inValues ? "forward" : "backward") : at.moment;
    let next = from + (forward ? 1 : -1);
    let { round } = at;
    if (next < 0 || next >= moments.length) {
      round += forward ? 1 : -1;
      if (round < 0 || round >= sizes) return false;
      next = forward ? 0 : momentsOf(round).length - 1;
    }
    const { word, change } = momentsOf(round)[next];
    go(round, next, change || forward ? 0 : word === "backward" ? length : -1, playing);
    return true;
  }

  // Goes to a step by its number in the whole loop.
  function seekStep(step) {
    const last = film.rounds.length - 1;
    const wanted = Math.floor(Math.max(0, step - 1) / length);
    const round = Math.max(0, film.rounds.findLastIndex((number) => number <= wanted));
    const index = round === last && wanted > film.rounds[last] ? length : Math.min(length, Math.max(0, step
      - film.rounds[round] * length));
    go(round, placeOf(round, "backward"), index);
    return true;
  }

  const start = opts.index ?? data.index ?? 0;
  seekStep(start);
  return { seek: (wanted) => (wanted < 0 ? player.seek(wanted) : seekStep(wanted)), onStep: (f) => { onStep = f; },
    setPlay: (on) =>
    player.setPlay(on), focus: () => player.focus(), destroy: () => player.destroy(), valuesFirst: (on) =>
    player.valuesFirst(on), isOpen: (...part) => player.isOpen?.(...part), state: () => {
    const state = player.state();
    return { ...state, first: 0, index: state.first + Math.max(0, state.index) };
  } };
}

// What a change has changed, before and after.
function changePanel(data, changes) {
  const shown = changes.slice(0, MOST_CHANGED).map(({ node, kind, was, is }) => {
    const name = `${data.names[node]}${kind === "gradients" ? ".grad" : ""}`;
    const [then, now] = [was, is].map((place) => (place === null || place === undefined ? null
      : valueAt(data, place)));
    const largest = largestOf(then, now);
    const part = (word, value) => cardFrame(make("b", "", word), value ? shapeText(value.shape) : null,
      ...value ? brief(value, largest) : [missing("none")]);
    return make("div", "change", make("p", "title", name), make("div", "cards", part("before", then),
      make("span", "", "\u2192"), part("after", now)));
  });
  const rest = changes.length - shown.length;
  return make("div", "column wide scroller", make("section", "numbers", make("div", "changes", ...shown),
    rest > 0 ? make("p", "statistics", `and ${rest} more`) : null));
}

const withoutMissing = (places) => Object.fromEntries(Object.entries(places).filter(([, place]) => place !== null));

// A value as one number to four digits, as the curves have it: the number, or the norm of an array.
function sizeOnCurve(value) {
  const size = value && (isScalar(value) ? value.data[0] : value.statistics?.norm);
  return typeof size === "number" ? Number(size.toPrecision(4)) : null;
}

// The time line: curves over all rounds with a cursor, and the moments of this round between the numbers of the others.
function timeline(film, { go, sizeNow }) {
  const count = film.rounds.length;
  const svg = svgElement("svg", { class: "curves", role: "slider", tabindex: 0, "aria-label": "Round",
    "aria-valuemin": 1, "aria-valuemax": count });
  const choice = make("select", "curve-choice", ...film.curves.map(([name], k) => new Option(name, String(k))));
  choice.setAttribute("aria-label", "Parameter whose values are drawn");
  const readout = make("span", "readout");
  const back = makeButton("tool round-back", () => jump(-1), "\u2039", make("span", "word", " round"));
  const on = makeButton("tool round-on", () => jump(1), make("span", "word", "round "), "\u203a");
  back.setAttribute("aria-label", "\u2039 round");
  on.setAttribute("aria-label", "round \u203a");
  back.title = "The same moment of the round before ([)";
  on.title = "The same moment of the next round (])";
  const cells = make("div", "rounds");
  const head = make("div", "timeline-head", readout, film.curves.length ? choice : null);
  const element = make("div", "timeline companion", head,
    svg, film.note ? make("p", "film-note", film.note) : null);
  const nearby = make("div", "moments", back, cells, on);
  for (const [part, label] of [[element, "Time line"], [nearby, "Moments"]]) {
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", label);
  }
  let round = 0;
  let moment = 0;
  let moments = [];
  let [wide, high, across] = [20, 20, 0];

  const jump = (by) => {
    const wanted = Math.min(count - 1, Math.max(0, round + by));
    if (wanted !== round) go(wanted, sameMoment(wanted));
  };
  // The moment of another round that has the word of this one; otherwise its walk.
  function sameMoment(other) {
    const { before, forward, after } = film.moments[other];
    const words = [...before.slice(0, forward).map(({ word }) => word), "forward", ...before.slice(forward).map(
      ({ word }) => word), "backward", ...after.map(({ word }) => word)];
    const found = words.indexOf(moments[moment]?.word);
    return found >= 0 ? found : words.indexOf("backward");
  }

  const { loss, otherLoss, lossName } = film;
  const losses = [[lossName, loss], ...otherLoss ? [[`${lossName} of the other`, otherLoss]] : []];
  const drawn = () => [...losses, ...film.curves.length ? [film.curves[Number(choice.value)]] : []];
  // What a curve has in this round; a parameter, what it has at this moment.
  const sizeHere = ([, sizes, leaf]) => (leaf === undefined ? sizes[round] : sizeNow(leaf));

  // The sizes of the curves and of the moments, measured when they change: a measurement lays the whole page out.
  function fit() {
    [wide, high] = [svg.clientWidth, svg.clientHeight].map((side) => Math.max(20, side));
    across = cells.clientWidth;
    draw();
    drawCells();
  }

  function draw() {
    const xOf = (k) => 4 + (wide - 8) * (count === 1 ? 0.5 : k / (count - 1));
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const kinds = film.otherLoss ? ["loss", "loss other", "parameter"] : ["loss", "parameter"];
    drawn().forEach((curve, k) => {
      const [, sizes] = curve;
      // Both losses share a scale.
      const all = film.otherLoss && k < 2 ? [...film.loss, ...film.otherLoss] : sizes;
      const known = all.filter((x) => x !== null);
      const [least, most] = [Math.min(...known), Math.max(...known)];
      const y = (x) => high - 5 - (high - 10) * (most > least ? (x - least) / (most - least) : 0.5);
      let pen = "M";
      const d = sizes.map((x, i) => {
        if (x === null) { pen = "M"; return ""; }
        const piece = `${pen}${xOf(i).toFixed(1)},${y(x).toFixed(1)}`;
        pen = "L";
        return piece;
      }).join("");
      svg.append(svgElement("path", { d, class: `curve ${kinds[k]}` }));
      const here = sizeHere(curve);
      if (here !== null && known.length) {
        const cy = y(Math.min(most, Math.max(least, here)));
        svg.append(svgElement("circle", { cx: xOf(round), cy, r: 3.5, class: `dot ${kinds[k]}` }));
      }
    });
    svg.append(svgElement("path", { d: `M${xOf(round)},0v${high}`, class: "cursor-line" }));
  }

  function tellNumbers() {
    const number1 = film.rounds[round] + 1;
    const parts = drawn().map((curve, k) => {
      const kind = k >= losses.length ? "parameter" : k ? "other" : "loss";
      const here = sizeHere(curve);
      return make("span", `key ${kind}`, make("span", "name", curve[0]),
        ` ${here === null ? "not finite" : number(here)}`);
    });
    readout.replaceChildren(make("b", "", `Round ${number1} of ${film.count}`), ...parts);
    svg.setAttribute("aria-valuenow", round + 1);
    svg.setAttribute("aria-valuetext", `Round ${number1} of ${film.count}, ${moments[moment]?.word ?? ""}, `
      + parts.map((part) => part.textContent).join(", "));
    back.disabled = round === 0;
    on.disabled = round === count - 1;
  }

  // The width in which every word of this round is readable.
  const wordsWidth = () => moments.reduce((sum, { word }) => sum + breadthOf(word, 1, 12.5) + 10, 30);

  function drawCells() {
    const each = breadthOf(String(film.rounds.at(-1) + 1), 1, 12.5) + 14;
    const others = Math.max(0, Math.min(MOST_NEAR, count - 1, Math.floor((across - wordsWidth()) / each)));
    const first = Math.min(count - 1 - others, Math.max(0, round - Math.floor(others / 2)));
    const hadFocus = cells.contains(cells.getRootNode().activeElement);
    cells.replaceChildren(...Array.from({ length: others + 1 }, (_, k) => (first + k === round ? cellOf(round)
      : numberOfRound(first + k))));
    if (hadFocus) cells.querySelector("[aria-current]")?.focus({ preventScroll: true });
  }

  // Leads to the same moment of another round.
  function numberOfRound(k) {
    const button = makeButton("tool other-round", () => jump(k - round), String(film.rounds[k] + 1));
    button.setAttribute("aria-label", `Round ${film.rounds[k] + 1}`);
    return button;
  }

  function cellOf(k) {
    const { before, forward, after } = film.moments[k];
    const words = [...before.slice(0, forward).map(({ word }) => word), "forward",
      ...before.slice(forward).map(({ word }) => word), "backward", ...after.map(({ word }) => word)];
    const title = make("span", "round-number", String(film.rounds[k] + 1));
    const cell = make("div", "round", title, ...words.map((word, i) => {
      const button = makeButton(`moment ${["forward", "backward"].includes(word) ? word : "change"}`,
        () => go(k, i), word);
      button.setAttribute("aria-label", `Round ${film.rounds[k] + 1}: ${word}`);
      if (i === moment) button.setAttribute("aria-current", "step");
      return button;
    }));
    return cell;
  }

  function show(toRound, itsMoments, toMoment) {
    [round, moments, moment] = [toRound, itsMoments, toMoment];
    tellNumbers();
    draw();
    drawCells();
  }

  const roundAt = (event) => {
    const box = svg.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.round((count - 1) * (event.clientX - box.x - 4) / (box.width - 8))));
  };
  const scrub = (event) => {
    const wanted = roundAt(event);
    if (wanted !== round) go(wanted, sameMoment(wanted));
  };
  // The pointer may leave the curves while it is held down: the window follows it.
  svg.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    svg.focus({ preventScroll: true });
    scrub(event);
    const stop = () => {
      window.removeEventListener("pointermove", scrub);
      window.removeEventListener("pointerup", stop);
    };
    window.addEventListener("pointermove", scrub);
    window.addEventListener("pointerup", stop);
  });
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10,
      Home: -count, End: count }[event.key];
    if (!by || isForThePage(event)) return;
    event.preventDefault();
    event.stopPropagation();
    jump(by);
  });
  choice.addEventListener("change", () => { tellNumbers(); draw(); });
  choice.addEventListener("keydown", (event) => event.stopPropagation());
  const sizes = new ResizeObserver(fit);
  for (const part of [svg, cells]) sizes.observe(part);
  return { element, nearby, show, jump, fit };
}

// A quiz about a walk. The player shows it up to the question; the right answer unlocks the following steps and the
// next question. quizzes/quiz_page.py makes the data.

const GIVEN_UP = "show me";
const OVER = "The quiz is over.";
const LETTERS = "ABCDEF";
const MOST_TOLD_CELLS = 64;
const ARRIVING = ["contribution", "before", "after", "raw", "local"];

export function mountQuiz(host, given, opts = {}) {
  const { quiz } = given;
  const score = { at_once: 0, later: 0, shown: 0, of: quiz.count };
  const strip = quizStrip();
  let data = null;
  let question = null;
  let player = null;
  let form = null;
  let tries = 0;
  let number = 0;
  let showsFeedback = false;
  let isOpening = false;

  const isFind = quiz.question.form === "step";
  const asks = () => question && !isFind;
  const atQuestion = () => asks() && player?.state().index > data.steps.length;
  const keys = { q: onward, ...isFind ? { m: mark } : {}, Enter: () => { if (atQuestion()) form.focus(); } };
  for (let k = 1; k <= LETTERS.length; k += 1) keys[k] = () => { if (atQuestion()) form.press(k - 1); };

  strip.show.addEventListener("click", giveUp);
  strip.onward.addEventListener("click", () => (question ? onward() : start()));
  strip.mark.addEventListener("click", mark);

  // The input is not modified, so that the quiz can start again.
  function start() {
    data = structuredClone({ ...given, quiz: null });
    Object.assign(score, { at_once: 0, later: 0, shown: 0 });
    [question, tries, number, showsFeedback] = [quiz.question, 0, 0, false];
    strip.feedback.textContent = "";
    show(isFind ? 0 : data.steps.length + 1);
    setState();
  }

  // The page's progress counts a quiz as one card.
  function setState() {
    host.dataset.mgpCard = question ? "open" : score.shown ? "shown" : score.later ? "later" : "at_once";
    document.dispatchEvent(new CustomEvent("mgp-card"));
    opts.onScore?.({ ...score });
  }

  function show(index) {
    const kept = player && viewState(host);
    if (player && data.groups) data.groups.open = data.groups.names.map((_, g) => g).filter(player.isOpen);
    player?.destroy();
    player = null;
    const shown = withoutAnswer(data, question);
    form = asks() ? answerForm(question, data, answer) : null;
    const known = form && knownColumn(shown, question);
    const ask = form && { say: question.say, lit: question.lit, panel: [form.panel, known].filter(Boolean),
      onNode: form.onNode };
    player = mount(host, shown, { index, strip: strip.element, ask, keys, onIndex,
      frame: host });
    kept?.(host);
    onIndex();
  }

  function onIndex() {
    if (!player) return;
    const { index, first } = player.state();
    const here = atQuestion();
    if (here && showsFeedback) { showsFeedback = false; strip.feedback.textContent = ""; }
    strip.at.textContent = !question ? OVER : isFind ? question.say
      : here ? `Question ${number + 1} of ${quiz.count}` : `Next: question ${number + 1} of ${quiz.count}`;
    strip.show.hidden = !question?.shows || !(here || isFind);
    strip.onward.hidden = isFind && question !== null || here;
    strip.onward.textContent = question ? "To the question (q)" : "Again";
    strip.mark.hidden = !isFind || !question;
    strip.mark.disabled = index === 0;
    strip.mark.textContent = index ? `Step ${first + index} is the first wrong one (m)` : "Mark a step (m)";
    strip.score.textContent = scoreText(score);
  }

  function onward() {
    if (!asks()) return;
    player.seek(data.steps.length + 1);
    focusAnswer();
  }

  function focusAnswer() {
    if (atQuestion() && form.types) form.focus();
    else player.focus();
  }

  function mark() {
    const { index, first } = player.state();
    if (question && index > 0) answer(String(first + index));
  }

  async function answer(given) {
    if (!question) return;
    if (given === null) { strip.feedback.textContent = `That is not a valid answer. ${question.note ?? ""}`; return; }
    const name = answerName(question.salt, given);
    const wrap = question.right[name];
    if (wrap) {
      await open(unwrapKey(question.salt, given, wrap), tries ? "later" : "at_once", "\u2713 Right.");
      return;
    }
    tries += 1;
    form?.tried(given);
    const [place, hint] = question.hints[name] ?? [];
    const text = hint ? await unseal(unwrapKey(question.salt, given, hint), question.texts[place]) : question.plain;
    strip.feedback.textContent = "";
    await Promise.resolve();
    strip.feedback.replaceChildren(...richText(`\u2717 Not right${tries > 1 ? `, try ${tries}` : ""}. ${text}`));
  }

  function giveUp() {
    open(unwrapKey(question.salt, GIVEN_UP, question.shows), "shown", "Shown.");
  }

  async function open(key, how, word) {
    if (isOpening) return;
    isOpening = true;
    const opened = await unseal(key, quiz.sealed[number]);
    isOpening = false;
    score[how] += 1;
    const at = isFind ? opened.step : data.steps.length + 1;
    if (isFind) showRule(data, opened);
    else grow(data, opened.part);
    question = opened.question ?? null;
    number += 1;
    [tries, showsFeedback] = [0, true];
    show(at);
    player.focus();
    strip.feedback.replaceChildren(...richText(`${word} ${opened.reveal}`));
    setState();
  }

  start();
  return { focus: focusAnswer, destroy: () => player.destroy(), state: () => ({ ...player.state(), number, score }) };
}

function scoreText({ at_once, later, shown, of }) {
  const counts = [[at_once, "right at once"], [later, "right later"], [shown, "shown"]].filter(([count]) => count)
    .map(([count, word]) => `${count} ${word}`);
  return of > 1 || counts.length ? `${counts.join(", ") || "none answered"}, of ${of}` : "";
}

// While a shape is asked for, nothing shows it: no value or gradient, no factor of an earlier step, no text. Nor
// does the receiver show its own. The page knows the shape only by its hash.
function withoutAnswer(data, question) {
  if (!question?.hides) return data;
  const isRight = memoized((shape) => answerName(question.salt, shape) === question.hides);
  const unlike = data.steps.flatMap((step) => rowsOf(data, step, weighs)[0]).filter((part) => part.rows
    || part.transposed);
  const drawn = unlike.filter((part) => isRight(shownBy(data, part)?.shape.join())).map(({ place }) => place);
  const asked = data.values.map((value, place) => isRight(value.shape.join()) || drawn.includes(place));
  const hidden = data.nodes.map(({ value }, i) => i === question.lit.to || asked[value]);
  const except = (list, change) => list.map((each, i) => (hidden[i] ? change(each) : each));
  const unlabelled = (values) => Object.fromEntries(Object.entries(values).map(([node, [place, text]]) => [node,
    hidden[node] || asked[place] ? [null, "shape?"] : [place, text]]));
  const changes = (list) => list?.map((each) => ({ ...each, values: unlabelled(each.values) }));
  const shape = data.values.map((value) => value.shape).find((each) => isRight(each.join())) ?? [];
  const without = textWithout(shape);
  const places = (step) => [...ARRIVING.map((word) => step[word]), ...Object.values(step.upstreams),
    ...Object.values(step.reads)];
  const steps = data.steps.map((step) => ({ ...step, say: without(step.say), summed: without(step.summed),
    numbers: places(step).some((place) => asked[place]) ? null : step.numbers }));
  const { names, called, terms, groups, program } = data;
  return { ...data, ...without({ names, called, terms, groups, program }),
    values: data.values.map((value, place) => (asked[place] ? null : value)),
    nodes: except(without(data.nodes), (node) => ({ ...node, value: null, withheld: "Its shape is asked for." })),
    labels: without(except(data.labels, ([name, , ...rest]) => [name, "shape?", ...rest])),
    steps, walks: changes(data.walks), early: changes(data.early) };
}

// Hides a shape in all texts of some data, as in `zeros((3, 4))`. Texts keep their length, and so their columns.
function textWithout(shape) {
  if (!shape.length) return (part) => part;
  const lengths = shape.join("\\s*,\\s*") + (shape.length > 1 ? "\\s*,?" : "\\s*,");
  const written = new RegExp(`([([])\\s*${lengths}\\s*([)\\]])`, "g");
  const without = (part) => (typeof part === "string"
    ? part.replace(written, (found, start, end) => `${start}${"?".padEnd(found.length - 2)}${end}`)
    : Array.isArray(part) ? part.map(without) : part && typeof part === "object"
      ? Object.fromEntries(Object.entries(part).map(([name, each]) => [name, without(each)])) : part);
  return without;
}

// The player's size and view options, which the next player takes over.
function viewState(host) {
  const { style, classList } = host.shadowRoot.querySelector(".player");
  const [zoom, hushed] = [style.zoom, classList.contains("hushed")];
  const along = host.shadowRoot.querySelector(".along")?.getAttribute("aria-pressed") === "true";
  return () => {
    const next = host.shadowRoot.querySelector(".player");
    next.style.zoom = zoom;
    next.classList.toggle("hushed", hushed);
    next.querySelector(".hush").setAttribute("aria-pressed", String(hushed));
    if (along) host.shadowRoot.querySelector(".along").click();
  };
}

// Adds the data that an answer unlocked.
function grow(data, part) {
  data.values.push(...part.values);
  data.steps.push(...part.steps);
  Object.assign(data, { walks: part.walks, early: part.early, pending: part.pending });
  Object.assign(data.rules, part.rules);
  Object.assign(data.formulas, part.formulas);
  Object.assign(data.insides, part.insides);
  for (const [i, row] of Object.entries(part.born)) for (const word in row) data[word][i] = row[word];
  const { gradients, error, odd, caught } = part;
  if (gradients) Object.assign(data, { gradients, error, odd, caught });
}

// Shows the formula of the wrong rule after it was found.
function showRule(data, opened) {
  const step = data.steps[opened.step - 1];
  if (!opened.formula) return;
  data.formulas = [opened.formula];
  step.formula = 0;
  data.rules[step.rule].text = "the wrong one";
}

function quizStrip() {
  const at = make("span", "quiz-at");
  const feedback = make("p", "quiz-feedback scroller");
  feedback.setAttribute("role", "status");
  feedback.setAttribute("aria-label", "Feedback on your answer");
  const score = make("span", "quiz-score");
  const [mark, show, onward] = ["quiz-mark", "quiz-show", "quiz-onward"].map((name) => makeButton(`tool ${name}`,
    () => {}));
  show.textContent = "Show me";
  const element = make("div", "quiz", at, feedback, score, mark, show, onward);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", "Quiz");
  return { element, at, feedback, score, mark, show, onward };
}

// The form of an answer: a text box, buttons, or a node of the graph.
function answerForm(question, data, answer) {
  const { names } = data;
  const { form, choices, note, width } = question;
  const types = ["number", "whole", "shape"].includes(form);
  const read = { number: (text) => bestOf(numberTexts(text, width), question),
    whole: (text) => (/^\d+(\.0*)?$/.test(text.trim()) ? String(Number(text)) : null), shape: readShape }[form];
  const buttons = choices.map((choice, k) => choiceButton(choice, k, () => press(k)));
  const text = (k) => (form === "node" ? String(choices[k].node) : String(k));
  const box = make("input", "field answer");
  Object.assign(box, { type: "text", autocomplete: "off", spellcheck: false });
  box.setAttribute("aria-label", question.say.replaceAll(TICK, ""));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); send(); } });
  const send = () => answer(read(box.value));
  const chosen = makeButton("tool chosen", () => answer(chosen.dataset.node), "");
  chosen.hidden = true;

  function press(k) {
    const button = buttons[k];
    if (button && button.getAttribute("aria-disabled") !== "true") answer(text(k));
  }

  // A click selects a node; Enter on it, or the button with its name, submits it.
  function onNode(i, how) {
    chosen.dataset.node = String(i);
    chosen.textContent = `Answer: ${names[i]}`;
    chosen.hidden = false;
    if (how === "enter") answer(String(i));
    return true;
  }

  const value = form === "cell" ? valueAt(data, valueNow(data, question.lit.to)) : null;
  const grid = value && cardPicture({ shape: value.shape, data: entriesOf(value) }, "cell", answer);

  function tried(given) {
    grid?.tried(given);
    buttons.forEach((button, k) => {
      if (text(k) !== given || button.getAttribute("aria-disabled")) return;
      button.setAttribute("aria-disabled", "true");
      button.querySelector("kbd").prepend("\u2717 ");
    });
    if (types) box.select();
  }

  const list = make("div", `choices ${choices[0]?.picture ? "of-pictures" : ""}`, ...buttons);
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "Answers");
  const panel = make("div", `column scroller quiz-panel ${question.knows ? "" : "wide"}`,
    make("p", "title", types ? "Your answer" : grid ? `Press an entry of ${names[question.lit.to]}` : "Choose one",
      make("span", "", types ? "Enter to submit, Escape to return to the walk"
        : grid ? "or move with the arrow keys" : "click, or press its number")),
    types ? make("div", "typed", box, makeButton("tool", send, "Answer")) : grid ? grid.element : list,
    form === "node" ? chosen : null,
    note && make("p", "reason", note));
  return { panel, types, press, tried, onNode: form === "node" ? onNode : null,
    focus: () => (types ? box : grid ? grid.first : buttons[0]).focus({ preventScroll: true }) };
}

// The value of a node in the walk of the question, which is the last one that has begun.
const valueNow = (data, i) => (data.walks.at(-1).values[i] ?? [data.nodes[i].value])[0];

// The known values: the sender's gradient, its inputs, and the receiver's value.
function knownColumn(data, { knows, lit }) {
  if (!knows) return null;
  const arrived = Object.entries(knows.arrived);
  const ends = [...data.edges.filter(([, to]) => to === lit.node).map(([from]) => from), lit.node];
  const shown = [...new Set(ends)].filter((i) => !data.nodes[i].withheld);
  const values = shown.map((i) => [data.names[i], valueAt(data, valueNow(data, i))]);
  const gradients = [...arrived.map(([, place]) => place), knows.before].map((place) => valueAt(data, place));
  const largest = largestOf(...gradients);
  const named = (text) => make("b", "", text);
  const room = [176, 100];
  const secret = (word) => cardFrame(named(word), null, missing("its shape is asked for"));
  const nothing = (word) => cardFrame(named(word), null, missing("nothing yet"));
  const held = (i, word, place) => (place === null ? nothing(word) : data.nodes[i].withheld || !valueAt(data, place)
    ? secret(word) : card(named(word), valueAt(data, place), largest, room));
  const cards = values.map(([name, value]) => card(named(name), value, largestOf(value), room));
  return make("div", "column scroller known", section("numbers", "Known values",
    ...cards.length ? [make("p", "title small", "Values"), make("div", "cards", ...cards)] : [],
    make("p", "title small", `The ${lit.back ? "gradient" : "tangent"} that has arrived`), make("div", "cards",
      ...arrived.map(([name, place]) => held(lit.from, arrived.length > 1 ? name : data.names[lit.from], place)),
      held(lit.to, data.names[lit.to], knows.before))));
}

function choiceButton(choice, k, press) {
  const key = make("kbd", "", String(k + 1));
  if (choice.picture) {
    const button = makeButton("choice", press, key, shades(choice.picture));
    button.setAttribute("aria-label", `${k + 1}: picture ${LETTERS[k]}, ${shadesText(choice.picture)}`);
    return button;
  }
  const shown = make("span", choice.formula ? "formula" : "", choice.formula ? null : choice.text);
  if (choice.formula) writeFormula(shown, choice.formula);
  const button = makeButton("choice", press, key, shown);
  button.setAttribute("aria-label", `${k + 1}: ${choice.text}`);
  return button;
}

const ODD_SHADE = 9;
const shadeName = (level) => (level === ODD_SHADE ? "odd" : level === 0 ? "h0"
  : `${level < 0 ? "n" : "p"}${Math.abs(level)}`);

// A heat map of shades, without readable numbers.
function shades({ rows, columns, levels }) {
  const side = Math.max(2, Math.min(16, Math.floor(104 / columns), Math.floor(120 / rows)));
  const [width, height] = [columns * side, rows * side];
  const svg = svgElement("svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}`,
    "aria-hidden": "true" });
  const gap = side > 5 ? 1 : 0.5;
  let marks = "";
  levels.forEach((level, i) => {
    const [x, y] = [(i % columns) * side, Math.floor(i / columns) * side];
    svg.append(svgElement("rect", { class: shadeName(level), x, y, width: side - gap, height: side - gap }));
    if (level < 0) marks += `M${x + side * 0.25},${y + (side - gap) / 2}h${side * 0.42}`;
  });
  svg.append(svgElement("path", { class: "minus", d: marks }));
  return svg;
}

// The same in words: each cell of a small picture from -4 to 4, or counts of signs.
function shadesText({ rows, columns, levels }) {
  const size = `${rows} by ${columns} cells`;
  if (levels.length <= MOST_TOLD_CELLS) {
    const cell = (x) => (x === ODD_SHADE ? "nan" : minus(String(x)));
    const row = (r) => levels.slice(r * columns, (r + 1) * columns).map(cell).join(", ");
    const rowTexts = Array.from({ length: rows }, (_, r) => `Row ${r}: ${row(r)}`);
    return [`${size}, shades from ${MINUS}4 to 4`, ...rowTexts].join(". ");
  }
  const count = (test) => levels.filter(test).length;
  return `${size}: ${count((x) => x > 0)} positive, ${count((x) => x < 0)} negative, ${count((x) => x === 0)} zero`;
}

const renderQuiz = async ({ model, el }) => {
  const host = el.appendChild(document.createElement("div"));
  const onScore = (score) => { model.set("score", score); model.save_changes(); };
  const mounted = mountQuiz(host, await unpack(model.get("payload")), { onScore });
  return () => mounted.destroy();
};

// A question card without a walk. quizzes/cards.py makes the data.

const CARD_GIVEN_UP = "show me";
const CARD_EVENT = "mgp-card";
const CARD_STATES = { at_once: "right at once", later: "right later", shown: "shown", open: "open" };

export function mountCard(host, data) {
  const root = ownRoot(host);
  keepKeys(host);
  followTheme(host);
  let [tries, done] = [0, false];
  const feedback = make("p", "card-feedback");
  feedback.setAttribute("role", "status");
  feedback.tabIndex = -1;
  const picture = data.picture ? cardPicture(data.picture, data.form, answer) : null;
  const form = cardForm(data, answer, picture);
  const show = makeButton("tool card-show", giveUp, "Show me");
  show.hidden = !data.shows;
  const card = make("div", "player ask", make("p", "card-say", ...richText(data.say)),
    make("div", "card-body", picture?.element, make("div", "card-answer", form.element,
      make("p", "card-note", data.note))), make("div", "card-end", feedback, show));
  card.setAttribute("role", "group");
  card.setAttribute("aria-label", "Question");
  root.replaceChildren(card);
  setState("open");

  function setState(state) {
    host.dataset.mgpCard = state;
    document.dispatchEvent(new CustomEvent(CARD_EVENT));
  }

  async function answer(given) {
    if (done) return;
    if (given === null) { say(`That is not a valid answer. ${data.note}`, "no"); return; }
    const name = answerName(data.salt, given);
    if (data.right[name]) {
      await open(unwrapKey(data.salt, given, data.right[name]), tries ? "later" : "at_once");
      return;
    }
    tries += 1;
    form.tried(given);
    const [place, wrapped] = data.hints[name] ?? [];
    const hint = wrapped ? await unseal(unwrapKey(data.salt, given, wrapped), data.texts[place]) : data.plain;
    say(`\u2717 Not right${tries > 1 ? `, try ${tries}` : ""}. ${hint}`, "no");
  }

  function giveUp() {
    open(unwrapKey(data.salt, CARD_GIVEN_UP, data.shows), "shown");
  }

  async function open(key, how) {
    const { answer: right, why } = await unseal(key, data.sealed);
    if (done) return;
    done = true;
    const focused = root.activeElement;
    show.hidden = true;
    form.close();
    picture?.close();
    if (focused?.hidden || focused?.disabled) feedback.focus({ preventScroll: true });
    say(`${how === "shown" ? "" : "\u2713 Right. "}${right} ${why}`.trim(), "yes");
    setState(how);
  }

  async function say(text, kind) {
    feedback.replaceChildren();
    await Promise.resolve();
    feedback.className = `card-feedback ${kind}`;
    feedback.replaceChildren(...richText(text));
  }

  return { focus: () => (form.first ?? picture?.first ?? card).focus({ preventScroll: true }), destroy: () => {} };
}

function cardForm(data, answer, picture) {
  if (data.form === "cell") return { element: null, tried: picture.tried, close: () => {}, first: null };
  if (data.form === "cells") return cellsForm(picture, answer);
  if (data.form === "one" || data.form === "several") return choiceForm(data, answer);
  return typedForm(data, answer);
}

function typedForm(data, answer) {
  const box = make("input", "field answer");
  Object.assign(box, { type: "text", autocomplete: "off", spellcheck: false });
  box.setAttribute("aria-label", data.say.replaceAll(TICK, ""));
  const send = () => answer(readCard(data, box.value));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); send(); } });
  const button = makeButton("tool", send, "Answer");
  return { element: make("div", "typed", box, button), first: box, tried: () => box.select(),
    close: () => { box.disabled = true; button.hidden = true; } };
}

function readCard(data, text) {
  const { form, width, count } = data;
  if (form === "shape") return readShape(text);
  if (form === "number") return bestOf(numberTexts(text, width), data);
  return bestOf(listTexts(text, count), data);
}

function choiceForm({ choices, form }, answer) {
  const several = form === "several";
  const buttons = choices.map((text, k) => {
    const said = make("span", "", ...richText(text));
    const button = makeButton("choice", () => press(k), make("kbd", "", String(k + 1)), said);
    if (several) button.setAttribute("aria-pressed", "false");
    return button;
  });
  const chosen = () => buttons.map((button, k) => (button.getAttribute("aria-pressed") === "true" ? k : -1))
    .filter((k) => k >= 0);

  function press(k) {
    const button = buttons[k];
    if (several) button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    else if (button.getAttribute("aria-disabled") !== "true") answer(String(k));
  }

  function tried(given) {
    if (several) return;
    buttons[Number(given)].setAttribute("aria-disabled", "true");
    buttons[Number(given)].querySelector("kbd").prepend("\u2717 ");
  }

  const send = several ? makeButton("tool", () => answer(chosen().join(",")), "Answer") : null;
  const list = make("div", "choices", ...buttons);
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "Answers");
  const element = make("div", "", list, send);
  element.addEventListener("keydown", (event) => {
    const k = Number(event.key) - 1;
    if (!isForThePage(event) && buttons[k]) { event.preventDefault(); buttons[k].focus(); press(k); }
  });
  return { element, first: buttons[0], tried, close: () => {
    for (const button of [...buttons, send]) if (button) button.setAttribute("aria-disabled", "true");
    if (send) send.hidden = true;
  } };
}

// Entries are marked in the picture, and sent together.
function cellsForm(picture, answer) {
  const send = makeButton("tool", () => answer(picture.chosen() || null), "Answer");
  return { element: send, tried: () => {}, first: null, close: () => { send.hidden = true; } };
}

// How many cards of the page are answered. It follows them as they change.
export function mountProgress(host) {
  const root = ownRoot(host);
  followTheme(host);
  const bar = make("div", "card-bar");
  const text = make("p", "card-note");
  text.setAttribute("role", "status");
  root.replaceChildren(make("div", "player ask", bar, text));
  const shown = new WeakRef(host);

  function update() {
    if (!shown.deref()?.isConnected) { document.removeEventListener(CARD_EVENT, update); return; }
    const states = [...document.querySelectorAll("[data-mgp-card]")].map((card) => card.dataset.mgpCard);
    const count = (state) => states.filter((each) => each === state).length;
    const parts = ["at_once", "later", "shown"].filter(count).map((state) => `${count(state)} ${CARD_STATES[state]}`);
    text.textContent = `${states.length - count("open")} of ${states.length} questions answered`
      + (parts.length ? `: ${parts.join(", ")}.` : ".");
    bar.replaceChildren(...states.map((state) => make("span", `card-tick ${state}`)));
  }

  document.addEventListener(CARD_EVENT, update);
  update();
  return { focus: () => {}, destroy: () => document.removeEventListener(CARD_EVENT, update) };
}

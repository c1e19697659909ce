// Answers the cards of a page: each card is mounted again, so that the page itself stays as it was.
async (plans) => {
  UNPACKER
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const codes = new Map();
  const place = document.body.appendChild(document.createElement("div"));
  const replies = [];

  async function entryPoints(text) {
    if (!codes.has(text)) codes.set(text, await runPacked(text));
    return codes.get(text);
  }

  // Gives an answer as a reader does, and returns what the card says to it.
  async function answer(root, { type, press, toggle, cell, cells, mark }) {
    const feedback = root.querySelector(".card-feedback, .quiz-feedback");
    feedback.textContent = "waiting";
    if (type !== undefined) {
      const box = root.querySelector(".answer");
      box.value = type;
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    } else if (toggle !== undefined || cells !== undefined) {
      const [places, state] = toggle ? [".choice", "aria-pressed"] : ["[role=gridcell]", "aria-selected"];
      [...root.querySelectorAll(places)].forEach((each, k) => {
        if ((each.getAttribute(state) === "true") !== (toggle ?? cells).includes(k)) each.click();
      });
      [...root.querySelectorAll("button")].find((button) => button.textContent === "Answer").click();
    } else if (mark !== undefined) {
      const player = root.querySelector(".player");
      for (const key of ["Home", ...Array(mark).fill("ArrowRight"), "m"]) {
        player.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      }
    } else {
      root.querySelectorAll(cell === undefined ? ".choice" : "[role=gridcell]")[press ?? cell].click();
    }
    for (let turn = 0; turn < 12000; turn += 1) {
      if (!["waiting", ""].includes(feedback.textContent)) return feedback.textContent;
      await pause(turn < 50 ? 0 : 5);
    }
    throw new Error(`a card says nothing to ${JSON.stringify({ type, press, toggle, cell, mark })}`);
  }

  for (const { id, mount, tries } of plans) {
    const fresh = document.querySelector(`[data-mgp="${id}"]`).cloneNode(true);
    place.replaceChildren(fresh);
    const [code, data] = fresh.querySelectorAll("script");
    const points = await entryPoints(code.textContent);
    const mounted = points[mount](fresh, await points.unpack(data.textContent));
    const said = [];
    for (const each of tries) {
      said.push(await answer(fresh.shadowRoot, each));
      const onward = fresh.shadowRoot.querySelector(".quiz-onward");
      if (onward && !onward.hidden && onward.textContent.startsWith("To the")) onward.click();
    }
    replies.push(said);
    mounted?.destroy?.();
  }
  place.remove();
  return replies;
}

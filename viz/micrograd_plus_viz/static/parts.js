// A long walk in parts, each unpacked when it is first shown.
async function mountParts(place, kept) {
  const ends = kept.map(({ dataset }) => [Number(dataset.first), Number(dataset.stop)]);
  const unpacked = kept.map(() => null);
  let at = -1;
  let player = null;
  let wanted = 0;
  // Keys pressed while a part is unpacked go to its player in order.
  let waiting = null;
  let onStep = null;
  place.addEventListener("keydown", (event) => {
    if (!waiting) return;
    event.preventDefault();
    event.stopPropagation();
    waiting.push(event);
  }, { capture: true });

  // Buttons that lead to the beginning of each part.
  const buttons = kept.length === 1 ? [] : ends.map(([first, stop]) => {
    const button = makeButton("tool part", () => show(first + 1), `${first + 1}\u2013${stop}`);
    button.setAttribute("aria-label", `Steps ${first + 1} to ${stop}`);
    return button;
  });
  const strip = buttons.length ? make("div", "parts", make("span", "", "Steps"), ...buttons) : null;
  strip?.setAttribute("role", "group");
  strip?.setAttribute("aria-label", "Parts of this walk");

  // The part that has a state of the full walk.
  const partOf = (step) => ends.findIndex(([first, stop], k) => step <= stop && (step > first || (k === 0
    && step === first)));

  // An address may name a step beyond the end.
  async function show(step, playing = false) {
    wanted = Math.min(step, ends.at(-1)[1]);
    const part = partOf(wanted);
    if (part === at) { if (!waiting) player.seek(wanted - ends[part][0]); return; }
    at = part;
    waiting ??= [];
    unpacked[part] ??= unpack(kept[part].textContent);
    const data = await unpacked[part];
    if (part !== at) return;
    const index = wanted - ends[part][0];
    const more = part < kept.length - 1;
    if (player) {
      player.turnTo(data, more);
      player.seek(index);
    } else {
      player = mount(place, data, { index, beyond, parts: strip, more,
        onIndex: () => { if (player) onStep?.(); } });
    }
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === part)));
    player.setPlay(playing);
    const pressed = waiting;
    waiting = null;
    for (const event of pressed) place.shadowRoot.activeElement?.dispatchEvent(new KeyboardEvent("keydown", event));
  }

  // Shows another part if it has the step; returns whether it does.
  function beyond(index, playing) {
    if (waiting) return true;
    const step = Math.min(Math.max(ends[at][0] + index, ends[0][0]), ends.at(-1)[1]);
    if (partOf(step) === at) return false;
    show(step, playing);
    return true;
  }

  await show(ends[0][0] + Number(place.dataset.index || 0));
  // Values come before step 0 in the visible part.
  const seek = (index) => index < 0 ? player.seek(index) : show(ends[at][0] + index);
  return { seek, onStep: (f) => { onStep = f; }, state: () => player.state(), focus: () =>
    player.focus(), valuesFirst: (on) => player.valuesFirst(on) };
}

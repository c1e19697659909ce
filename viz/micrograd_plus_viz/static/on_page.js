// What a page of its own adds to a player: addresses of steps, and keys wherever the focus is.

// On a page, the address holds the step: walk.html#step=12, or #value=3 in the forward pass. It follows the walk, a
// moment later, because browsers limit how often an address may change.
const ADDRESS_DELAY = 250;

export function address(player) {
  let timer = 0;
  const go = (hash) => {
    const [, kind, text] = /^#(step|value)=(\d+)$/.exec(hash) ?? [];
    if (kind === "step") player.seek(Number(text) - player.state().first);
    if (kind === "value") { player.valuesFirst(true); player.seek(player.state().least + Number(text)); }
  };
  // The address may have followed an earlier step since it changed, so the event says which one was asked for.
  addEventListener("hashchange", ({ newURL }) => go(new URL(newURL).hash));
  go(location.hash);
  player.onStep(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const { index, least, first } = player.state();
      history.replaceState(null, "", index < 0 ? `#value=${index - least}` : `#step=${first + index}`);
    }, ADDRESS_DELAY);
  });
}

// On a page with one player, keys work wherever the focus is.
export function hearKeys(host) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isForThePage(event) || event.composedPath().includes(host)) return;
    if (event.target.closest?.("input, textarea, select, a, button, [contenteditable]")) return;
    const player = host.shadowRoot.querySelector(".player:not([hidden])");
    const copy = new KeyboardEvent("keydown", { key: event.key, bubbles: true, cancelable: true });
    if (event.key !== "Tab" && !player.dispatchEvent(copy)) event.preventDefault();
  });
}

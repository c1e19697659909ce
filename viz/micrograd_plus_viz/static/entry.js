// Entry points: addresses of steps, several walks together, the live widget.

// On a page, the address holds the step: walk.html#step=12, or #value=3 in the forward pass. It follows the walk, a
// moment later, because browsers limit how often an address may change.
const ADDRESS_DELAY = 250;

export function address(player) {
  let timer = 0;
  const go = () => {
    const [, kind, text] = /^#(step|value)=(\d+)$/.exec(location.hash) ?? [];
    if (kind === "step") player.seek(Number(text) - player.state().first);
    if (kind === "value") { player.valuesFirst(true); player.seek(player.state().least + Number(text)); }
  };
  addEventListener("hashchange", go);
  go();
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

// Several walks side by side, moved together.
export function mountTogether(host, walks, index) {
  let moving = false;
  const players = [];
  const along = (k) => (i) => {
    if (moving || players.length < walks.length) return;
    moving = true;
    players.forEach((player, j) => { if (j !== k) player.seek(i); });
    moving = false;
  };
  for (const [k, data] of walks.entries()) {
    players.push(mount(host.appendChild(make("div", "walk")), data, { index, onIndex: along(k) }));
  }
  players[0].focus();
  return players;
}

export default {
  async render({ model, el }) {
    const host = el.appendChild(document.createElement("div"));
    let player = null;
    // The model may change while the walk is unpacked, so what it says then is what counts.
    const start = async (index) => {
      const data = await unpack(model.get("payload"));
      player?.destroy();
      player = mount(host, data, { index: index ?? model.get("index"), onIndex: (i) => {
        if (player && model.get("synced") && model.get("index") !== i) { model.set("index", i); model.save_changes(); }
      } });
    };
    const onIndex = () => {
      const wanted = model.get("index");
      if (player && player.state().index !== wanted) player.seek(wanted);
    };
    const onPayload = () => start(player?.state().index);
    model.on("change:index", onIndex);
    model.on("change:payload", onPayload);
    await start();
    return () => {
      model.off("change:index", onIndex);
      model.off("change:payload", onPayload);
      player.destroy();
    };
  },
};

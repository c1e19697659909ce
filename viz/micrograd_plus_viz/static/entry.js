// Entry points: addresses of steps, several walks together, the live widget.

// On a page, the address holds the step: walk.html#step=12, or #value=3 in the forward pass.
export function address(player) {
  const go = () => {
    const [, kind, text] = /^#(step|value)=(\d+)$/.exec(location.hash) ?? [];
    if (kind === "step") player.seek(Number(text) - player.state().first);
    if (kind === "value") { player.valuesFirst(true); player.seek(player.state().least + Number(text)); }
  };
  addEventListener("hashchange", go);
  go();
}

export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
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
    const synced = model.get("synced");
    const start = async (index) => mount(host, await unpack(model.get("payload")), { index, onIndex: (i) => {
      if (synced && model.get("index") !== i) { model.set("index", i); model.save_changes(); }
    } });
    let player = await start(model.get("index"));
    const onIndex = () => player.seek(model.get("index"));
    const onPayload = async () => {
      const { index } = player.state();
      player.destroy();
      player = await start(index);
    };
    model.on("change:index", onIndex);
    model.on("change:payload", onPayload);
    return () => {
      model.off("change:index", onIndex);
      model.off("change:payload", onPayload);
      player.destroy();
    };
  },
};

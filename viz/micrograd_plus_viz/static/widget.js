// The live widget: its `index` and the walk follow each other.
export default {
  async render({ model, el }) {
    const host = el.appendChild(document.createElement("div"));
    let player = null;
    // The model may change while the walk is unpacked, so what it says then is what counts. A later walk may be
    // unpacked first.
    const start = async (index) => {
      const packed = model.get("payload");
      const data = await unpack(packed);
      if (packed !== model.get("payload")) return;
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
      player?.destroy();
    };
  },
};

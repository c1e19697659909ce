// Mounts the player of a program, steps to its end by the arrow key, and returns what each position shows: the sentence,
// the place, and the nodes that look different than at the position before. With `back`, it also returns to the
// beginning, and names the positions that look different on the way back. With `early`, the values are computed first.
window.pageStates = (packed, back, early) => {
  const data = JSON.parse(packed);
  const host = document.body.appendChild(document.createElement("div"));
  const player = window.lib.mount(host, data, {});
  host.style.display = "none";
  const root = host.shadowRoot;
  const text = (element) => element?.textContent ?? null;
  const tile = (element) => element && {
    kind: element.getAttribute("class"),
    texts: [...element.querySelectorAll("text")].map(text),
    paths: [...element.querySelectorAll("path:not(.minus)")].map((path) => [path.getAttribute("class"),
      path.getAttribute("d")]),
  };
  const nodeOf = (node) => ({
    unborn: node.classList.contains("unborn"),
    label: node.getAttribute("aria-label"),
    lines: ["name", "value", "gradient"].map((name) => text(node.querySelector(`:scope > text.${name}`))),
    tiles: ["value", "gradient"].map((kind) => tile(node.querySelector(`:scope > .tile.of-${kind}`))),
  });
  const press = (key) => root.querySelector(".player").dispatchEvent(new KeyboardEvent("keydown", { key,
    bubbles: true }));
  const look = () => {
    const moment = root.querySelector(".moment[aria-current]");
    const words = [...root.querySelectorAll(".event .bubble > g")];
    return {
      said: text(root.querySelector(".sentence")),
      counter: text(root.querySelector(".counter")),
      moment: moment && [moment.getAttribute("aria-label"), [...moment.parentNode.querySelectorAll(".moment")]
        .indexOf(moment)],
      readout: text(root.querySelector(".readout")),
      event: words.flatMap((group, k) => (group.classList.contains("tile") && words[k + 1]?.querySelector(".word")
        ? [[text(words[k + 1].querySelector(".word")), tile(group)]] : [])),
      nodes: Object.fromEntries([...root.querySelectorAll(".drawing .node[id^=n]")].map((node) => [node.id.slice(1),
        nodeOf(node)])),
    };
  };
  const positionOf = ({ counter, moment, said }) => JSON.stringify([counter, moment, said]);
  const start = root.querySelector(".round .moment");
  start?.click();
  if (early && !start) press("v");
  const states = [look()];
  for (let last = null; states.length < 4000;) {
    last = positionOf(states.at(-1));
    press("ArrowRight");
    const state = look();
    if (positionOf(state) === last) break;
    states.push(state);
  }
  const otherwise = [];
  for (let k = states.length - 2; back && k >= 0; k -= 1) {
    press("ArrowLeft");
    const state = look();
    const differ = ["said", "counter", "moment", "nodes"].filter((part) => JSON.stringify(state[part])
      !== JSON.stringify(states[k][part]));
    if (differ.length) otherwise.push([k, differ, state.said, states[k].said]);
  }
  player.destroy();
  host.remove();
  let before = {};
  return JSON.stringify({ otherwise, states: states.map((state) => {
    const nodes = Object.fromEntries(Object.entries(state.nodes).map(([id, node]) => [id, JSON.stringify(node)]));
    const changed = Object.keys(nodes).filter((id) => nodes[id] !== before[id]);
    const gone = Object.keys(before).filter((id) => !(id in nodes));
    before = nodes;
    return { ...state, gone, nodes: Object.fromEntries(changed.map((id) => [id, state.nodes[id]])) };
  }) });
};

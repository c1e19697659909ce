// A program recorded for each position of a slider. sliders.py makes the data.

export function mountSlider(host, { name, positions, walks }) {
  const place = make("div", "walk");
  const slider = make("input");
  const middle = Math.floor(positions.length / 2);
  Object.assign(slider, { type: "range", min: "0", max: String(positions.length - 1), step: "1", value: String(middle) });
  slider.style.flex = "1";
  const shown = make("output");
  shown.style.minWidth = "5em";
  const label = make("label", "", `${name} `, slider, shown);
  Object.assign(label.style, { display: "flex", gap: "10px", alignItems: "center", maxWidth: "640px", padding: "4px 12px",
    font: "15px/1.5 system-ui, sans-serif" });
  keepKeys(label);
  host.querySelector("p")?.remove();
  host.append(label, place);
  let player = null;

  function show(at, index) {
    player?.destroy();
    player = mount(place, structuredClone(walks[at]), { index });
    shown.textContent = number(positions[at]);
    slider.setAttribute("aria-valuetext", `${name} = ${number(positions[at])}`);
  }

  slider.addEventListener("input", () => show(Number(slider.value), player.state().index));
  show(middle, walks[middle].steps.length);
  return { focus: () => slider.focus({ preventScroll: true }), destroy: () => player.destroy() };
}

// A program recorded for each position of a slider. sliders.py makes the data.

const CURVE = { width: 300, height: 220, room: 14 };

export function mountSlider(host, { name, positions, walks, curve }) {
  const place = make("div", "walk");
  const slider = make("input");
  const middle = Math.floor(positions.length / 2);
  const most = String(positions.length - 1);
  Object.assign(slider, { type: "range", min: "0", max: most, step: "1", value: String(middle) });
  slider.style.flex = "1";
  const shown = make("output");
  shown.style.minWidth = "5em";
  const label = make("label", "", `${name} `, slider, shown);
  Object.assign(label.style, {
    display: "flex", gap: "10px", alignItems: "center", maxWidth: "640px", padding: "4px 12px",
    font: "15px/1.5 system-ui, sans-serif" });
  keepKeys(label);
  // JupyterLab takes the arrow keys that reach the notebook.
  label.addEventListener("keydown", (pressed) => { if (!isForThePage(pressed)) pressed.stopPropagation(); });
  host.querySelector("p")?.remove();
  const figure = curveFigure(name, positions, curve);
  host.append(label, place);
  let player = null;

  function show(at, index) {
    player?.destroy();
    player = mount(place, structuredClone(walks[at]), { index, companion: figure?.element });
    shown.textContent = number(positions[at]);
    slider.setAttribute("aria-valuetext", figure?.show(at) ?? `${name} = ${number(positions[at])}`);
  }

  slider.addEventListener("input", () => show(Number(slider.value), player.state().index));
  show(middle, walks[middle].steps.length);
  return { focus: () => slider.focus({ preventScroll: true }), destroy: () => player.destroy() };
}

// The results over the slider, and at one position a line whose slope is the gradient. Null without two results.
function curveFigure(name, positions, curve) {
  const known = curve.flatMap((point, k) => (point ? [[positions[k], ...point]] : []));
  if (known.length < 2) return null;
  const { width, height, room } = CURVE;
  const ends = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
  const [left, right] = ends(positions);
  const [low, high] = ends(known.map((each) => each[1]));
  const across = (x) => room + (x - left) / (right - left) * (width - 2 * room);
  const down = (y) => height - room - (y - low) / (high - low || 1) * (height - 2 * room);
  const corner = ([x, y], k) => `${k ? "L" : "M"}${across(x).toFixed(1)} ${down(y).toFixed(1)}`;
  const path = (points) => points.map(corner).join("");
  const line = { fill: "none", stroke: "currentColor" };
  const drawing = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const slope = svgElement("path", { ...line, "stroke-width": 2.5, "stroke-dasharray": "7 4" });
  const dot = svgElement("circle", { r: 5, fill: "currentColor" });
  drawing.append(svgElement("path", { ...line, "stroke-width": 1.5, opacity: 0.6, d: path(known) }), slope, dot);
  Object.assign(drawing.style, { flex: "1 1 120px", minWidth: "0", maxHeight: "112px", overflow: "hidden" });
  const said = make("figcaption");
  const element = make("figure", "companion", drawing, said);
  Object.assign(element.style, { display: "flex", flexWrap: "wrap", gap: "2px 10px", fontSize: "13px" });
  said.style.flex = "1 1 120px";

  function show(at) {
    const point = curve[at];
    for (const part of [slope, dot]) part.style.display = point ? "" : "none";
    const here = `${name} = ${number(positions[at])}`;
    said.textContent = point ? `${here}: the result is ${number(point[0])}, and the dashed line has the slope `
      + `${number(point[1])}, the gradient of ${name}.` : `${here}: no result.`;
    const range = `The results for ${name} from ${number(left)} to ${number(right)}.`;
    drawing.setAttribute("aria-label", `${range} ${said.textContent}`);
    if (!point) return said.textContent;
    const [x, [y, rise]] = [positions[at], point];
    slope.setAttribute("d", path([[left, y + rise * (left - x)], [right, y + rise * (right - x)]]));
    dot.setAttribute("cx", across(x));
    dot.setAttribute("cy", down(y));
    return said.textContent;
  }

  return { element, show };
}

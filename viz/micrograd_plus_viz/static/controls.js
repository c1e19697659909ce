// The bar: buttons, a slider, how far the walk is, its speed. `act` holds what they do.

const ICONS = {
  first: "M3,3V13M13,3L5,8L13,13Z", back: "M11,3L4,8L11,13Z", play: "M4,2.5L13,8L4,13.5Z",
  pause: "M4,3H7V13H4ZM9,3H12V13H9Z", next: "M5,3L12,8L5,13Z", last: "M13,3V13M3,3L11,8L3,13Z",
};
const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 1600;
const QUIET_SPEED = 4;

function controls(count, act) {
  const buttons = Object.fromEntries([["first", "To the start (Home)"], ["back", "One step back (left arrow)"],
    ["play", "Play (space)"], ["next", "One step on (right arrow)"], ["last", "To the end (End)"]]
    .map(([name, label]) => [name, iconButton(name, label, act[name])]));
  const slider = make("input", "slider");
  Object.assign(slider, { type: "range", min: "0", max: String(count), step: "1" });
  slider.setAttribute("aria-label", "Step");
  slider.addEventListener("input", () => act.go(Number(slider.value)));
  const counter = make("span", "counter");
  const speed = make("select", "speed", ...SPEEDS.map((s) => new Option(`${s}\u00d7`, String(s), s === 1, s === 1)));
  speed.setAttribute("aria-label", "Speed");

  function show(index, playing) {
    slider.value = String(index);
    slider.setAttribute("aria-valuetext", `Step ${index} of ${count}`);
    counter.textContent = `${index} / ${count}`;
    setIcon(buttons.play, playing ? "pause" : "play", playing ? "Pause (space)" : "Play (space)");
    buttons.play.disabled = count === 0;
    buttons.first.disabled = buttons.back.disabled = index === 0;
    buttons.next.disabled = buttons.last.disabled = index === count;
  }

  const bar = make("div", "bar", ...Object.values(buttons), slider, counter, speed);
  return { bar, slider, speed, show, stepTime: () => STEP_MS / speed.value, isFast: () => speed.value >= QUIET_SPEED };
}

function iconButton(name, label, press) {
  const button = makeButton(`icon ${name}`, press);
  setIcon(button, name, label);
  return button;
}

function setIcon(button, name, label) {
  const icon = svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  icon.append(svgElement("path", { d: ICONS[name] }));
  button.replaceChildren(icon);
  button.setAttribute("aria-label", label);
  button.title = label;
}

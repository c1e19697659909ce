// The bar with buttons, a slider, the position and the speed, and a second row of tools. `act` has their actions.

const ICONS = {
  first: "M3,3V13M13,3L5,8L13,13Z", back: "M11,3L4,8L11,13Z", play: "M4,2.5L13,8L4,13.5Z",
  pause: "M4,3H7V13H4ZM9,3H12V13H9Z", next: "M5,3L12,8L5,13Z", last: "M13,3V13M3,3L11,8L3,13Z",
  larger: "M7.5,3.5h1v4h4v1h-4v4h-1v-4h-4v-1h4z", smaller: "M3.5,7.5h9v1h-9z",
  whole: "M2.5,6V2.5H6M10,2.5H13.5V6M13.5,10V13.5H10M6,13.5H2.5V10", full: "M3,3H13V13H3ZM3,5.5H13",
  "text-smaller": "M5.5,12L8,5.5L10.5,12M6.4,9.8H9.6", "text-larger": "M3.5,13.5L8,2.5L12.5,13.5M5.2,9.5H10.8",
  hush: "M3,4.5H13M3,8H13M3,11.5H13M2.5,14L13.5,2", menu: "M2.5,4H13.5M2.5,8H13.5M2.5,12H13.5",
};
const OUTLINED = ["menu", "whole", "full", "text-smaller", "text-larger", "hush"];
const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 1600;
const QUIET_SPEED = 4;
const SIZE_STEP = 1.15;

function controls(data, reach, act) {
  let count = reach;
  let least = 0;
  const buttons = Object.fromEntries([["first", "To the start (Home)"], ["back", "One step back (left arrow)"],
    ["play", "Play (space)"], ["next", "One step on (right arrow)"], ["last", "To the end (End)"]]
    .map(([name, label]) => [name, iconButton(name, label, act[name])]));
  setIcon(buttons.next, "next", "One step on (right arrow)", "Step");
  const slider = make("input", "slider");
  Object.assign(slider, { type: "range", min: "0", step: "1" });
  slider.setAttribute("aria-label", "Step");
  slider.addEventListener("input", () => act.slide(Number(slider.value)));
  const counter = make("span", "counter");
  const speed = make("select", "speed", ...SPEEDS.map((s) => new Option(`${s}\u00d7`, String(s), s === 1, s === 1)));
  speed.setAttribute("aria-label", "Speed");
  const goTo = field("go", "go to", "Go to step (g)", (text) => {
    if (!/^\d+$/.test(text)) return;
    act.go(Number(text) - data.first);
    goTo.value = "";
    act.leaveMenu();
  });
  const search = field("search", "find a node", "Find a node by its name (/)", (text) => act.search(text));
  const values = makeButton("tool values", () => act.values(), "Values first");
  values.title = "Play the forward pass before the walk (v)";
  values.setAttribute("aria-pressed", "false");

  // The slider has the numbers of steps; while values come first, those of values below 0.
  function show(index, playing) {
    const total = data.total + (data.error ? 1 : 0);
    const first = least < 0 ? 0 : data.first;
    Object.assign(slider, { min: String(act.isWhole && least === 0 ? 0 : first + least), max: String(act.isWhole
      && least === 0 ? total : first + count), value: String(first + index) });
    const at = index < 0 ? `value ${index - least} of ${-least}` : `${data.first + index} / ${total}`;
    slider.setAttribute("aria-valuetext", index < 0 ? at : `Step ${data.first + index} of ${total}`);
    counter.textContent = at;
    setIcon(buttons.play, playing ? "pause" : "play", playing ? "Pause (space)" : "Play (space)", playing ? "Pause"
      : "Play");
    buttons.play.disabled = count === least && !act.more;
    goTo.disabled = count === 0;
    buttons.first.disabled = buttons.back.disabled = index === least;
    buttons.next.disabled = buttons.last.disabled = index === count && !act.more;
  }

  function fromValues(first) {
    least = first;
    values.setAttribute("aria-pressed", String(least < 0));
  }

  const reachTo = (last) => { count = last; };

  const bar = make("div", "bar", buttons.play, buttons.back, buttons.next, slider, counter);
  const tools = make("div", "tools", buttons.first, buttons.last, goTo, search, values, speed);
  return { bar, tools, slider, speed, goTo, search, show, fromValues, reachTo, stepTime: () => STEP_MS / speed.value,
    isFast: () => speed.value >= QUIET_SPEED };
}

// A text box; Enter submits it.
function field(name, hint, label, enter) {
  const box = make("input", `field ${name}`);
  Object.assign(box, { type: "text", placeholder: hint, title: label, autocomplete: "off", spellcheck: false });
  box.setAttribute("aria-label", label);
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") enter(box.value.trim()); });
  return box;
}

// Buttons for the view, in the menu.
function viewTools(data, graph, act) {
  const pressed = (button, on) => { button.setAttribute("aria-pressed", String(on)); return button; };
  const tool = (name, press, text, title) => Object.assign(makeButton(`tool ${name}`, press, text), { title });
  const along = pressed(tool("along", act.along, "Open as it goes", "Open the groups of each step (o)"), true);
  const adds = tool("adds", act.nextAdding, "Next +=", "The next step that adds to a gradient (a)");
  const details = pressed(tool("details", act.details, "All numbers and code",
    "Show formula, numbers and code (d)"), false);
  return make("div", "tools", details, graph.isGrouped() ? along : null,
    data.steps.some((step) => step.accumulates) ? adds : null,
    iconButton("smaller", "Smaller graph", () => graph.zoom(1 / 1.3)),
    iconButton("larger", "Larger graph", () => graph.zoom(1.3)), iconButton("whole", "The whole graph (0)", () =>
      graph.whole()), iconButton("text-smaller", "Smaller (\u2212)", () => act.size(1 / SIZE_STEP)),
    iconButton("text-larger", "Larger (+)", () => act.size(SIZE_STEP)),
    pressed(iconButton("hush", "The stage alone (h)", act.hush), false),
    iconButton("full", "Full screen (f)", act.full));
}

// Everything but playing and stepping, behind one button.
function moreMenu(rows) {
  const element = make("div", "more", ...rows);
  element.hidden = true;
  const button = iconButton("menu", "More (m)", () => menu.toggle());
  button.setAttribute("aria-expanded", "false");
  const show = (on) => {
    element.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    if (on) menu.onOpen?.();
  };
  const menu = { element, button, toggle: () => show(element.hidden), close: () => show(false),
    open: (field) => { show(true); field.focus(); } };
  return menu;
}

function iconButton(name, label, press) {
  const button = makeButton(`icon ${name}`, press);
  setIcon(button, name, label);
  return button;
}

function setIcon(button, name, label, word = null) {
  const icon = svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  icon.append(svgElement("path", { d: ICONS[name], class: OUTLINED.includes(name) ? "hollow" : "" }));
  button.replaceChildren(icon, ...word ? [make("span", "word", word)] : []);
  button.setAttribute("aria-label", label);
  button.title = label;
}

// Turns the slides of a lesson. Arrow keys belong to a player or a question on the slide; elsewhere they turn it, too.

const slides = [...document.querySelectorAll(".slide")];
const count = document.createElement("output");
const [back, forth] = ["‹", "›"].map((sign, k) => {
  const button = document.createElement("button");
  button.textContent = sign;
  button.setAttribute("aria-label", k ? "Next slide" : "Previous slide");
  button.addEventListener("click", () => turn(k ? 1 : -1));
  return button;
});
let at = Math.min(Math.max(Number(location.hash.slice(1)) - 1 || 0, 0), slides.length - 1);

const nav = document.createElement("nav");
nav.setAttribute("aria-label", "Slides");
nav.append(back, count, forth);
document.body.append(nav);
show();

function turn(by) {
  at = Math.min(Math.max(at + by, 0), slides.length - 1);
  show();
}

function show() {
  slides.forEach((slide, k) => {
    slide.classList.toggle("now", k === at);
    slide.inert = k !== at;
  });
  [back.disabled, forth.disabled] = [at === 0, at === slides.length - 1];
  count.textContent = `${at + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
}

const TURNS = { PageDown: 1, PageUp: -1, ArrowRight: 1, ArrowLeft: -1 };
window.addEventListener("keydown", (event) => {
  const isArrow = event.key.startsWith("Arrow");
  const isTaken = isArrow && slides[at].querySelector("[data-mgp]");
  const isTyping = event.target.closest?.("input, textarea, select") && isArrow;
  if (!TURNS[event.key] || isTaken || isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  turn(TURNS[event.key]);
}, true);

// A document without a browser: as much of it as the drawing of the stage needs, written as SVG.

const WIDE_LETTER = 0.62;
const BOLD = /\b(name|word)\b/;
const letterWidths = { regular: new Map(), bold: new Map() };

// Python measures letters in the fonts that pictures are set in.
function learnLetters(regular, bold) {
  for (const [letter, width] of Object.entries(regular)) letterWidths.regular.set(letter, width);
  for (const [letter, width] of Object.entries(bold)) letterWidths.bold.set(letter, width);
}

function widthOfText(text, isBold) {
  const widths = isBold ? letterWidths.bold : letterWidths.regular;
  let sum = 0;
  for (const letter of text) sum += widths.get(letter) ?? WIDE_LETTER;
  return sum;
}

const namesIn = (text) => text.split(" ").filter(Boolean);

// The classes of an element. Most elements are drawn and written without a question about them.
class StillClasses {
  constructor(element) { this.element = element; }

  contains(name) { return namesIn(this.element.className).includes(name); }

  toggle(name, on = !this.contains(name)) { this[on ? "add" : "remove"](name); return on; }

  add(...more) {
    const names = namesIn(this.element.className);
    this.element.className = [...names, ...more.filter((name) => !names.includes(name))].join(" ");
  }

  remove(...fewer) {
    this.element.className = namesIn(this.element.className).filter((name) => !fewer.includes(name)).join(" ");
  }
}

class StillStyle {
  setProperty() {}
}

class StillElement {
  constructor(tag) {
    this.tag = tag;
    this.parentNode = null;
    this.childNodes = [];
    this.attributes = new Map();
    this.style = new StillStyle();
    this.dataset = {};
    this.clientWidth = 0;
    this.clientHeight = 0;
    this.disabled = false;
  }

  get classList() { return new StillClasses(this); }

  get className() { return this.attributes.get("class") ?? ""; }

  set className(text) { this.attributes.set("class", text); }

  set id(text) { this.attributes.set("id", text); }

  get children() { return this.childNodes.filter((child) => child instanceof StillElement); }

  get lastChild() { return this.childNodes.at(-1) ?? null; }

  get nextSibling() {
    const { childNodes } = this.parentNode;
    return childNodes[childNodes.indexOf(this) + 1] ?? null;
  }

  get firstChild() { return this.childNodes[0] ?? null; }

  get textContent() {
    return this.childNodes.map((child) => (child instanceof StillElement ? child.textContent : child)).join("");
  }

  set textContent(text) { this.replaceChildren(...text === "" ? [] : [String(text)]); }

  setAttribute(name, value) { this.attributes.set(name, String(value)); }

  removeAttribute(name) { this.attributes.delete(name); }

  append(...added) {
    for (const child of added) {
      if (child instanceof StillElement) {
        child.remove();
        child.parentNode = this;
      }
      this.childNodes.push(child instanceof StillElement ? child : String(child));
    }
  }

  appendChild(child) { this.append(child); return child; }

  insertBefore(added, next) {
    added.remove();
    added.parentNode = this;
    const at = this.childNodes.indexOf(next);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, added);
  }

  replaceChildren(...added) {
    for (const child of this.children) child.parentNode = null;
    this.childNodes = [];
    this.append(...added);
  }

  replaceWith(other) {
    const { parentNode } = this;
    parentNode.insertBefore(other, this);
    this.remove();
  }

  remove() {
    if (!this.parentNode) return;
    const { childNodes } = this.parentNode;
    childNodes.splice(childNodes.indexOf(this), 1);
    this.parentNode = null;
  }

  // Elements behind a tag or a class, or behind several of them in each other.
  querySelectorAll(path) {
    const [first, ...rest] = path.split(" ");
    const found = this.all().filter((each) => (first[0] === "." ? each.classList.contains(first.slice(1))
      : each.tag === first));
    return rest.length ? found.flatMap((each) => each.querySelectorAll(rest.join(" "))) : found;
  }

  querySelector(path) { return this.querySelectorAll(path)[0] ?? null; }

  all() { return this.children.flatMap((child) => [child, ...child.all()]); }

  addEventListener() {}
}

const document = {
  createElement: (tag) => (tag === "canvas" ? { getContext: () => ({ font: "", measureText(text) {
    return { width: 100 * widthOfText(text, this.font.startsWith("bold")) };
  } }) } : new StillElement(tag)),
  createElementNS: (_, tag) => new StillElement(tag),
};

// SVG -----------------

const WRITTEN_STYLES = Object.entries({ fontSize: "font-size", strokeWidth: "stroke-width", opacity: "opacity",
  animation: "animation", from: "--from", to: "--to" });
const isOfSvg = (name) => !/^(aria-|role|tabindex|tall)/.test(name);
const LEAST_FIXED = 8;

// What must be written in another way, or not at all.
const UNSAFE = /[&<>"'\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/;

const escapeText = (text) => (!UNSAFE.test(text) ? text : text.toWellFormed()
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  .replaceAll("'", "&#39;"));

// A number with one digit behind its point is as short as it can be, unless that is 0.
const roundIn = (text, digits) => text.replace(/\d+\.(?:\d\d+|0)/g, (digitsOf) => String(Number(Number(digitsOf)
  .toFixed(digits))));

// The width of a text, which a viewer keeps where it has other letters.
function fixedWidth(element) {
  const text = element.textContent;
  if (text.length < LEAST_FIXED) return "";
  const font = parseFloat(element.style.fontSize ?? "11");
  const wide = (font * widthOfText(text, BOLD.test(element.className))).toFixed(1);
  return ` textLength="${wide}" lengthAdjust="spacingAndGlyphs"`;
}

function styleOf({ style }) {
  const written = [];
  for (const [name, css] of WRITTEN_STYLES) {
    if ((style[name] ?? "") === "") continue;
    const text = `${css}:${roundIn(String(style[name]), 2)}`;
    if (text !== "opacity:1") written.push(text);
  }
  return written.length ? ` style="${escapeText(written.join(";"))}"` : "";
}

// An element as SVG; what cannot be seen is left out.
function markupOf(element) {
  if (!(element instanceof StillElement)) return escapeText(element);
  if (element.style.opacity === "0" && !element.style.animation) return "";
  const { tag, childNodes } = element;
  if (tag === "g" && !childNodes.length) return "";
  if (tag === "text" && !element.textContent) return "";
  let start = tag;
  for (const [name, value] of element.attributes) {
    if (value === "" || !isOfSvg(name)) continue;
    start += ` ${name}="${escapeText(roundIn(value, name === "transform" ? 4 : 1))}"`;
  }
  start += styleOf(element) + (tag === "text" ? fixedWidth(element) : "");
  let inner = "";
  for (const child of childNodes) inner += markupOf(child);
  return inner ? `<${start}>${inner}</${tag}>` : `<${start}/>`;
}

// No size changes without a browser.
globalThis.ResizeObserver = class { observe() {} };

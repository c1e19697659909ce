// Texts of drawings whose contrast with what is behind them is too low. axe looks at the text of HTML alone.
() => {
  const LEAST = 4.5;
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const everything = new CSSStyleSheet();
  everything.replaceSync("* { pointer-events: all !important; }");

  function channels(colour) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  }

  const linear = (c) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function fillOf(element) {
    const style = getComputedStyle(element);
    if (["text", "g"].includes(element.tagName)) return "none";
    return element instanceof SVGElement && element.tagName !== "svg" ? style.fill : style.backgroundColor;
  }

  // What is behind the middle of a text: its own halo, or the first opaque shape below it. Null if it is covered.
  function behind(text, root) {
    const style = getComputedStyle(text);
    if (style.paintOrder.startsWith("stroke") && style.stroke !== "none") return channels(style.stroke);
    const { x, y, width, height } = text.getBoundingClientRect();
    const stack = root.elementsFromPoint(x + width / 2, y + height / 2);
    const at = stack.indexOf(text);
    if (at < 0 || stack.slice(0, at).some((above) => above.closest(".event, .tip, .more, .overview"))) return null;
    return stack.slice(at + 1).map(fillOf).filter((fill) => fill !== "none").map(channels)
      .find(([, , , opacity]) => opacity > 127) ?? null;
  }

  function opacityOf(element) {
    return element instanceof Element ? Number(getComputedStyle(element).opacity) * opacityOf(element.parentNode) : 1;
  }

  return [...document.querySelectorAll("*")].map((host) => host.shadowRoot).filter(Boolean).flatMap((root) => {
    root.adoptedStyleSheets.push(everything);
    const found = [...root.querySelectorAll("svg text")].flatMap((text) => {
      const ground = text.textContent.trim() && text.checkVisibility() && opacityOf(text) > 0.9 && behind(text, root);
      const ratio = ground ? contrast(channels(getComputedStyle(text).fill), ground) : LEAST;
      return ratio < LEAST ? [`contrast ${ratio.toFixed(1)}: ${text.getAttribute("class")} ${text.textContent}`] : [];
    });
    root.adoptedStyleSheets.pop();
    return found;
  });
}

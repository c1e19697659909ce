// What a player has to do with the page around it: a place of its own, a number, its theme, its keys.

// A shadow root below an element, in the player's own style.
function ownRoot(host) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PLAYER_CSS);
  root.adoptedStyleSheets = [sheet];
  return root;
}

// Every output of a notebook has a module of its own: walks are counted where all of them are.
function nextNumber() {
  window.walksShown = (window.walksShown ?? 0) + 1;
  return window.walksShown;
}

// With a modifier held a key is the notebook's: Ctrl+S saves it, Shift+Enter runs a cell.
const isForThePage = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

// JupyterLab hears keys before the player does, and leaves them alone below an element that asks for it.
function keepKeys(host) {
  const ask = (event) => {
    if (isForThePage(event)) host.removeAttribute("data-lm-suppress-shortcuts");
    else host.setAttribute("data-lm-suppress-shortcuts", "true");
  };
  for (const happening of ["focusin", "keydown", "keyup"]) host.addEventListener(happening, ask, true);
  host.setAttribute("data-lm-suppress-shortcuts", "true");
}

// Light or dark as the notebook says it, or a site that is made with Bootstrap; elsewhere as the reader's system says.
function takeTheme(host) {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  const { bsTheme } = document.documentElement.dataset;
  const dark = jpThemeLight === "false" || /dark|high-contrast$/.test(vscodeThemeKind ?? bsTheme ?? "");
  const known = [jpThemeLight, vscodeThemeKind, bsTheme].some((theme) => theme !== undefined && theme !== "auto");
  host.style.colorScheme = known ? (dark ? "dark" : "light") : "";
}

// The page outlives the output of a cell that is run again, so what watches the page must not hold the player.
function followTheme(host) {
  const shown = new WeakRef(host);
  const watch = new MutationObserver(() => {
    const alive = shown.deref();
    if (alive) takeTheme(alive);
    else watch.disconnect();
  });
  watch.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  watch.observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
  takeTheme(host);
  return () => watch.disconnect();
}

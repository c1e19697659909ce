// The player's connection to its page: shadow root, number, theme, keys.

// A shadow root below an element, with the player's style sheet.
function ownRoot(host) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PLAYER_CSS);
  root.adoptedStyleSheets = [sheet];
  return root;
}

// Every notebook output has its own module, so walks are counted on the page.
function nextNumber() {
  window.walksShown = (window.walksShown ?? 0) + 1;
  return window.walksShown;
}

// Keys with a modifier belong to the notebook: Ctrl+S saves, Shift+Enter runs a cell.
const isForThePage = (event) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

// JupyterLab receives keys before the player, but ignores them below an element with this attribute.
function keepKeys(host) {
  const ask = (event) => {
    if (isForThePage(event)) host.removeAttribute("data-lm-suppress-shortcuts");
    else host.setAttribute("data-lm-suppress-shortcuts", "true");
  };
  for (const happening of ["focusin", "keydown", "keyup"]) host.addEventListener(happening, ask, true);
  host.setAttribute("data-lm-suppress-shortcuts", "true");
}

// Light or dark theme from the notebook or a Bootstrap site, otherwise from the system.
function takeTheme(host) {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  const { bsTheme } = document.documentElement.dataset;
  const dark = jpThemeLight === "false" || /dark|high-contrast$/.test(vscodeThemeKind ?? bsTheme ?? "");
  const known = [jpThemeLight, vscodeThemeKind, bsTheme].some((theme) => theme !== undefined && theme !== "auto");
  host.style.colorScheme = known ? (dark ? "dark" : "light") : "";
}

// JupyterLab shows a notebook in a part of the window: the player takes the height of that part, as `--view`.
function followRoom(host, player) {
  const around = host.closest(".jp-WindowedPanel-outer");
  if (!around) return () => {};
  const watch = new ResizeObserver(() => player.style.setProperty("--view", `${around.clientHeight}px`));
  watch.observe(around);
  return () => watch.disconnect();
}

// The page outlives an output whose cell runs again, so observers of the page must not reference the player.
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

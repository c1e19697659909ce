// An array as cells. If entries are asked for, each cell is a button: arrow keys move between them, and one is a tab
// stop.
function cardPicture({ shape, data }, form, answer) {
  const several = form === "cells";
  const press = several || form === "cell";
  const [rows, columns] = shape.length > 1 ? shape : [1, shape[0]];
  const largest = data.map((x) => Math.abs(magnitude(x))).filter(Number.isFinite).reduce((a, b) => Math.max(a, b), 0);
  const digits = data.length <= 48 && columns <= 8;
  let at = 0;
  const cells = data.map((x, k) => {
    const name = placeName(shape, k);
    const cell = make(press ? "button" : "span", `cell ${heat(x, largest)}`, digits ? number(x) : null);
    if (!press) return cell;
    cell.type = "button";
    cell.tabIndex = k === 0 ? 0 : -1;
    cell.setAttribute("role", "gridcell");
    cell.setAttribute("aria-label", `${name}: ${number(x)}`);
    cell.title = `${name} = ${number(x)}`;
    if (several) cell.setAttribute("aria-selected", "false");
    cell.addEventListener("click", () => {
      move(k);
      if (cell.getAttribute("aria-disabled") === "true") return;
      if (several) cell.setAttribute("aria-selected", String(cell.getAttribute("aria-selected") !== "true"));
      else answer(place(k));
    });
    return cell;
  });
  const place = (k) => (shape.length > 1 ? `${Math.floor(k / columns)},${k % columns}` : String(k));

  function move(k) {
    cells[at].tabIndex = -1;
    at = k;
    cells[at].tabIndex = 0;
    cells[at].focus({ preventScroll: true });
  }

  const lines = Array.from({ length: rows }, (_, r) => {
    const line = make("div", "cell-row", ...cells.slice(r * columns, (r + 1) * columns));
    if (press) line.setAttribute("role", "row");
    return line;
  });
  const grid = make("div", `cells ${digits ? "with-digits" : ""}`, ...lines);
  grid.style.setProperty("--columns", columns);
  grid.setAttribute("role", press ? "grid" : "img");
  if (several) grid.setAttribute("aria-multiselectable", "true");
  grid.setAttribute("aria-label", `A picture of ${rows} by ${columns} entries, up to ${number(largest)} in size`);
  if (press) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    grid.addEventListener("keydown", (event) => {
      const to = at + (by[event.key] ?? 0);
      const leavesRow = Math.abs(by[event.key]) === 1 && Math.floor(to / columns) !== Math.floor(at / columns);
      if (isForThePage(event) || !by[event.key]) return;
      event.preventDefault();
      if (to >= 0 && to < cells.length && !leavesRow) move(to);
    });
  }
  const isChosen = (cell) => cell.getAttribute("aria-selected") === "true";
  const chosen = () => cells.flatMap((cell, k) => (isChosen(cell) ? [place(k)] : [])).join(";");
  return { element: grid, first: cells[0], chosen, tried: (given) => {
    const k = cells.findIndex((_, i) => place(i) === given);
    cells[k].setAttribute("aria-disabled", "true");
    cells[k].classList.add("tried");
  }, close: () => { if (press) for (const cell of cells) cell.setAttribute("aria-disabled", "true"); } };
}

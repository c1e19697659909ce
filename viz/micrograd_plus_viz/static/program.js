// The student's program beside the stage: the current line is lit, a line leads to its steps, and names show their
// values at the moment.

const MOST_VARIABLES = 12;

// In a comparison, what the other program has in place of a line: other lines, or nothing.
function otherLines(lines, indent) {
  if (!lines) return [];
  if (!lines.length) return [make("div", "program-other", "not in the other program")];
  return lines.map((text) => make("div", "program-other", make("span", "", "other:"), codeLine(0, text.slice(indent))));
}

function makeProgram(data, act, inFilm = false) {
  const files = data.program ?? [];
  const rows = new Map();
  const keyOf = (file, line) => `${file}:${line}`;
  const steps = new Map();
  data.steps.forEach((step, i) => {
    const { site, calls } = data.nodes[step.node];
    const keys = [site, ...calls ?? []].filter(Boolean).map(({ file, line }) => keyOf(file, line));
    for (const key of new Set(keys)) steps.set(key, [...steps.get(key) ?? [], i + 1]);
  });
  const linesOf = (file, range) => (range ? [...Array(range[1] - range[0] + 1).keys()]
    .map((k) => keyOf(file, range[0] + k)) : []);
  for (const { file, steps: ranges } of files) {
    ranges?.forEach((range, i) => {
      for (const key of linesOf(file, range)) steps.set(key, [...steps.get(key) ?? [], i + 1]);
    });
  }
  let lit = [];
  let chosen = null;
  let written = [];
  // Lines that are to come into view, with their lists.
  const unseen = [];

  const sections = files.map(({ file, lines, indents }) => {
    const least = Math.min(...lines.map(([, text]) => text.search(/\S|$/)));
    const elements = lines.flatMap(([number, text, inOther], k) => {
      const indent = indents?.findLast(([first]) => first <= number)?.[1] ?? least;
      const key = keyOf(file, number);
      const row = makeButton("program-line", () => goTo(key), make("span", "number", String(number)),
        codeLine(text.search(/\S|$/) - indent, text.slice(indent)));
      row.disabled = !steps.has(key);
      row.setAttribute("aria-label", `Line ${number}: ${text.trim()}`);
      rows.set(key, { row, text, indent });
      const gap = k && number > lines[k - 1][0] + 1 ? [make("div", "program-gap", "\u22ee")] : [];
      return [...gap, row, ...otherLines(inOther, indent)];
    });
    return make("section", "program-file", make("p", "title", make("span", "", ...breakable(file))), ...elements);
  });
  const ofProgram = (isWritten) => sections.filter((_, i) => Boolean(files[i].steps) === isWritten);
  const list = scroller("program-lines", "Your program", ...ofProgram(false));
  const writtenList = scroller("program-lines written", "The step as a program", ...ofProgram(true));
  const variables = make("dl", "variables");
  const element = files.length ? make("div", "program", list, ...(ofProgram(true).length ? [writtenList] : []),
    variables) : null;

  // The next step of a line, from the first again after the last.
  function goTo(key) {
    const at = act.now();
    const [first, ...others] = steps.get(key);
    act.toStep([first, ...others].find((step) => step > at) ?? first);
  }

  const siteOf = (node) => (node === undefined || node === null ? {} : data.nodes[node]);
  const known = (site) => (site ? rows.get(keyOf(site.file, site.line)) : undefined);

  // Marks the line of a chosen node; of an input, the line that reads it first.
  function choose(node) {
    chosen?.row.classList.remove("chosen");
    chosen = known(siteOf(node).site ?? siteOf(data.edges.find(([start]) => start === node)?.[1]).site);
    chosen?.row.classList.add("chosen");
  }

  // Lights a line, of a node or where the program failed, and more faintly the lines that called it.
  function light({ site, calls }) {
    const here = known(site);
    const was = lit[0];
    for (const { row } of lit) row.classList.remove("current", "calls");
    for (const { row } of lit) row.removeAttribute("aria-current");
    if (lit[0]) lit[0].row.lastChild.replaceWith(plainLine(lit[0]));
    lit = [here, ...(calls ?? []).map(known)].filter(Boolean);
    lit.forEach(({ row }, k) => row.classList.add(k || !here ? "calls" : "current"));
    if (!here) return;
    here.row.setAttribute("aria-current", "step");
    here.row.lastChild.replaceWith(markedLine(here, site));
    if (here !== was) unseen.push([list, here.row]);
  }

  // Lights the lines of the written program that compute a step.
  function lightStep(index) {
    for (const { row } of written) row.classList.remove("current");
    written = files.flatMap(({ file, steps: ranges }) => linesOf(file, ranges?.[index - 1]))
      .map((key) => rows.get(key));
    for (const { row } of written) row.classList.add("current");
    if (written.length) unseen.push([writtenList, written[0].row]);
  }

  function measure() {
    fitVariables();
    for (const [shown, row] of unseen.splice(0)) reveal(shown, row);
  }

  function reveal(shown, row) {
    const [top, height] = [row.offsetTop - shown.offsetTop, row.offsetHeight];
    if (top < shown.scrollTop || top + height > shown.scrollTop + shown.clientHeight) {
      shown.scrollTop = top - shown.clientHeight / 2;
    }
  }

  const plainLine = ({ text, indent }) => codeLine(text.search(/\S|$/) - indent, text.slice(indent));

  // The line with the expression that made the node highlighted; columns count characters, not UTF-16 units.
  function markedLine({ text, indent }, site) {
    if (site.column === null) return plainLine({ text, indent });
    const letters = Array.from(text);
    const stop = site.end_line > site.line || site.end_column === null ? letters.length : site.end_column;
    const part = (from, to) => letters.slice(from, to).join("");
    return codeLine(text.search(/\S|$/) - indent, part(indent, site.column),
      make("mark", "", ...breakable(part(site.column, stop))), part(stop));
  }

  // What the program's variables have at the moment: the last value of each among the first nodes.
  const named = data.called.flatMap((name, i) => (name ? [[name, i]] : []));
  const several = inFilm || named.length > new Set(named.map(([name]) => name)).size || data.walks.length > 1;
  let shownAt = null;
  let terms = [];
  let count = 0;

  // After step `index` of a walk, after a change between walks, or while values are computed, up to node `computed`.
  function showVariables(index, { computed = -1, isChange = false } = {}) {
    variables.dataset.when = isChange ? "now:" : index < 0 ? "so far:" : index ? "in this walk:" : "before the walk:";
    const walk = index < 0 ? -1 : data.walks.findLastIndex(({ at }) => at < Math.max(1, index));
    const upTo = index < 0 ? computed : reach[data.isOver ? reach.length - 1 : Math.max(0, walk)];
    if (!several || shownAt === `${walk} ${upTo}`) return;
    shownAt = `${walk} ${upTo}`;
    const isKnown = (i) => (data.unborn ? data.nodes[i].kind === "leaf" : i <= upTo);
    const latest = new Map();
    for (const [name, i] of named) if (isKnown(i)) latest.set(name, i);
    terms = [...latest].slice(-MOST_VARIABLES).map(([name, i]) => make("div", "", make("dt", "", name),
      make("dd", "", ownValueCaption(data, data.nodes[i].value) || "?")));
    count = latest.size;
    showTerms(terms.length);
  }

  // Shows the first variables, and how many more there are.
  function showTerms(shown) {
    const rest = make("div", "rest", make("dt", "", "\u2026"), make("dd", "", `${count - shown} more`));
    variables.replaceChildren(...terms.slice(0, shown), ...count > shown ? [rest] : []);
  }

  // Shows as many variables as there is room for. Those that are out of view without the others do not fit with them.
  function fitVariables() {
    const low = variables.offsetTop + variables.clientTop + variables.clientHeight + 1;
    const inView = terms.filter(({ offsetTop, offsetHeight }) => offsetTop + offsetHeight <= low).length;
    for (let shown = terms.length; shown && variables.scrollHeight > variables.clientHeight + 1;) {
      shown = Math.min(shown - 1, inView);
      showTerms(shown);
    }
  }

  // The last result that a walk, or one before it, begins with or uses: the program has come as far as this.
  const begunAt = ({ starts }) => Object.keys(starts).map(Number).filter((i) => data.nodes[i].kind !== "leaf");
  const reach = data.walks.map((_, k) => [...data.walks.slice(0, k + 1).flatMap(begunAt),
    ...data.steps.slice(0, data.walks[k + 1]?.at).map(({ node }) => node)].reduce((a, b) => Math.max(a, b), -1));

  const renew = () => { shownAt = null; };
  const fit = () => {
    showTerms(terms.length);
    fitVariables();
    if (lit[0]) reveal(list, lit[0].row);
  };

  return { element, list, fit, measure, light, siteOf, lightStep, choose, showVariables, renew };
}

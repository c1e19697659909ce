// Names and numbers in as much room as a node has.

const SMALLEST_TEXT = 11.02;
const FEWEST_LETTERS = 4;
// An operation with its number, which is never cut.
const COUNTED = /^(\w+) (#\d+)$/;

// The width of a text: names are bold.
const ruler = document.createElement("canvas").getContext("2d");
const breadths = new Map();

function breadthOf(text, k, font) {
  const key = `${k === 0 ? "b" : ""}${text}`;
  let unit = breadths.get(key);
  if (unit === undefined) {
    ruler.font = `${k === 0 ? "bold " : ""}100px Arial, "Liberation Sans", Helvetica, sans-serif`;
    unit = ruler.measureText(text).width / 100;
    breadths.set(key, unit);
  }
  return unit * font;
}

// A shape without its dtype, "nan" for "1 of 3 is nan", or a number with two digits.
const shortenNumber = (line, k) => (k === 1 && line[0] === "(" ? line.replace(/ [a-z]+\d+/, "")
  : / of \d/.test(line) ? line.replace(/\d+ of \d+ (?:is|are) | of \d+/g, "")
  : line.replace(/(\u00b1?)(\u2212?)(\d+\.\d{2,})/, (_, sign, minus, digits) => (sign || "\u2248") + minus
    + Number(Number(digits).toPrecision(2))));

// The scale of a picture behind a shape: "\u00b10.5", "has nan" or "1 of 3 is nan".
const scaleIn = (line, k) => (k === 1 ? /(?:\u00b1|up to |has |\d+ (?:of|nan) ?).*/.exec(line)?.[0] : undefined);

// Forms of a name, the most informative first: its name in the program, the last parts of its path with a word, loop
// round numbers.
function formsOf(line, k, inOwn = false) {
  const scale = scaleIn(line, k);
  if (scale) return [line, scale, scale.replace(/has |\d+ of \d+ (?:is|are) | of \d+/g, ""),
    /^\(.*?\)/.exec(line)?.[0] ?? scale];
  const short = shortenNumber(line, k);
  if (k !== 0) {
    return [line, short, ...short.endsWith("\u2248 0") ? [short.replace(/^\w+ /, "")] : [],
      ...line[0] !== "(" && line.includes(", ") ? [line.replace(/, .*/, " \u2026")] : []];
  }
  const [, rounds, within] = /^((?:rounds?|nodes) [\d\u2013]+) of \d+(\..+)?$/.exec(line) ?? [];
  if (rounds) return [line, ...within ? [`${rounds}${within}`] : [], rounds, rounds.split(" ")[1]];
  const [, word, count] = COUNTED.exec(line) ?? [];
  if (word) return [line, ...word.length > 6 ? [`${word.slice(0, FEWEST_LETTERS)}\u2026 ${count}`] : []];
  const given = /^([\w.]+) \(([^()]+)\)( #\d+)?$/.exec(line);
  // An expression of the program, without the module of its first call.
  if (!given && /[()]| [^#]/.test(line)) return [...new Set([line, line.replace(/^\w+\.(?=\w+\()/, "")])];
  if (given && inOwn) return [line, given[1] + (given[3] ?? ""), given[1]];
  const parts = (given ? given[2] : line).split(".");
  const ends = parts.map((part, k) => (k && /^[^\d]/.test(part) ? `\u2026${parts.slice(k).join(".")}` : null));
  return [line, ...given ? [given[2]] : [], ...ends.filter(Boolean), ...given && parts.length < 2 ? [given[1]] : []];
}

const isNumber = (line) => /^\u2212?\d[\d.e\u2212\u2248 +i]*$/.test(line);
const hasWord = (text) => /[a-z]{4}/i.test(text);
const bestForm = (line, k, breadth, font, inOwn) => formsOf(line, k, inOwn)
  .find((form) => breadthOf(form, k, font) <= breadth);

// If no form fits, as much of a line as is still useful.
function fitText(line, k, breadth, font, inOwn) {
  const form = bestForm(line, k, breadth, font, inOwn);
  if (form !== undefined) return form;
  // A gradient that does not fit is not left out as if there were none; the first digits of a number are another one.
  if (isNumber(line.replace(/^\|?(grad|tangent)\|? \u00b1?/, ""))) {
    return breadthOf("\u2026", k, font) <= breadth ? "\u2026" : "";
  }
  const [, word] = (k === 0 && COUNTED.exec(line)) || [];
  if (word) return fitText(word, k, breadth, font, inOwn);
  if (k === 2 || scaleIn(line, k) || (k === 1 && line[0] === "(")) return "";
  // The last part of a path says most.
  const isPath = k === 0 && /^[\w.]+\.\w+$/.test(line);
  const cut = (kept) => (isPath ? `\u2026${line.slice(-kept)}` : `${line.slice(0, kept)}\u2026`);
  for (let kept = line.length - 1; kept >= Math.max(FEWEST_LETTERS, line.length / 2); kept -= 1) {
    if (breadthOf(cut(kept), k, font) <= breadth) return cut(kept);
  }
  const [, called] = (k === 0 && /(\w+)\([^()]*\)(?: #\d+)?$/.exec(line)) || [];
  return called && breadthOf(`${called}(\u2026)`, k, font) <= breadth ? `${called}(\u2026)` : "";
}

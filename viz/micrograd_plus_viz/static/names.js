// Names and numbers in as much room as a node has.

const SMALLEST_TEXT = 11.02;
const FEWEST_LETTERS = 4;
// A name and its number in the graph, which is never left out: others have the same name.
const COUNTED = /^(.+?)( #\d+)?$/;
// A path with a place in a list, which is never left out: `layers[0].weight` and `layers[1].weight` have the same end.
const IN_LIST = /^[^\s(]+\]\./;
const ROUNDS = /^((?:rounds?|nodes) [\d\u2013]+) of \d+( #\d+)?(\..+)?$/;
// The module of an expression's first call, which a short form leaves out. `x.sum()` is no such call.
const MODULE = /^(?:mg|nn|np|F|functional|micrograd_plus)\.(?=\w+\()/;
const OPERATORS = { add: "+", subtract: "-", multiply: "*", divide: "/", power: "**", matmul: "@", negative: "-" };

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
  : line.replace(/(\u00b1|up to )?(\u2212?)(\d+\.\d{2,})/, (_, sign = "\u2248", minus, digits) => sign + minus
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
  const [, rounds, repeat = "", within] = ROUNDS.exec(line) ?? [];
  if (rounds) {
    const forms = within ? [rounds + repeat + within] : [];
    return [line, ...forms, rounds + repeat, rounds.split(" ")[1] + repeat];
  }
  const [, body, count = ""] = COUNTED.exec(line) ?? [null, line];
  return formsOfName(body, inOwn, count).map((form) => form + count);
}

function formsOfName(name, inOwn, count) {
  const given = /^([\w.]+) \(([^()]+)\)$/.exec(name);
  if (!given && /[()\s]/.test(name)) return [...new Set([name, name.replace(MODULE, "")])];
  if (given && inOwn) return [name, given[1], ...count ? shortWords(given[1]) : []];
  if (!given && count && !name.includes(".")) return [name, ...shortWords(name)];
  const path = given ? given[2] : name;
  const parts = path.split(".");
  const ends = parts.map((part, k) => (k && /^[^\d]/.test(part) && !parts.slice(0, k).some((before) =>
    before.includes("[")) ? `\u2026${parts.slice(k).join(".")}` : null));
  if (IN_LIST.test(path)) ends.push(path.replace(/\b(\w)\w+\[/g, "$1\u2026["));
  return [name, ...given ? [given[2]] : [], ...ends.filter(Boolean), ...given && parts.length < 2 ? [given[1]] : []];
}

// A numbered word with fewer letters, or an operation as the program writes it.
function shortWords(word) {
  const cut = word.length > 6 ? [FEWEST_LETTERS, 2].map((kept) => `${word.slice(0, kept)}\u2026`) : [];
  return [...cut, ...OPERATORS[word] ? [OPERATORS[word]] : []];
}

const isNumber = (line) => /^\u2212?(\d|nan|inf)([\d.e\u2212\u2248 +i]|nan|inf)*$/.test(line);
const hasWord = (text) => /[a-z]{4}/i.test(text);
const bestForm = (line, k, breadth, font, inOwn) => formsOf(line, k, inOwn)
  .find((form) => breadthOf(form, k, font) <= breadth);

// An expression that is a call, without its arguments: `mean(\u2026)` for `(a + b).mean(axis=0)`. A long argument may
// be cut already, with its brackets.
function callIn(line) {
  const [, text, transposed] = /^(.*?)(\u1d40?)$/.exec(line);
  let [called, before] = [text, null];
  while (called !== before) [before, called] = [called, called.replace(/\([^()]*\)|\[[^[\]]*\]/g, "")];
  called = called.replace(/\([^)]*$/, "");
  return text.endsWith(")") && /^[\w.]*\w$/.test(called) ? `${/\w+$/.exec(called)}(\u2026)${transposed}` : null;
}

// If no form fits, as much of a line as is still useful.
function fitText(line, k, breadth, font, inOwn) {
  const form = bestForm(line, k, breadth, font, inOwn);
  if (form !== undefined) return form;
  // A gradient that does not fit is not left out as if there were none; the first digits of a number are another one.
  if (isNumber(line.replace(/^\|?(grad|tangent)\|? \u00b1?/, ""))) {
    return breadthOf("\u2026", k, font) <= breadth ? "\u2026" : "";
  }
  if (k === 2 || scaleIn(line, k) || (k === 1 && line[0] === "(")) return "";
  const [, body, count = ""] = (k === 0 && COUNTED.exec(line)) || [null, line];
  if (k === 0 && IN_LIST.test(body)) return "";
  const call = k === 0 && callIn(body);
  if (call && breadthOf(call + count, k, font) <= breadth) return call + count;
  // The last part of a path says most; what an operation's operands are is at both of its ends.
  const isPath = k === 0 && /^[\w.]+\.\w+$/.test(body);
  const atEnd = (kept) => (isPath ? kept : k === 0 && /\s.*\w$/.test(body) ? Math.floor(kept / 2) : 0);
  const cut = (kept) => `${body.slice(0, kept - atEnd(kept)).trimEnd()}\u2026`
    + body.slice(body.length - atEnd(kept)).trimStart() + count;
  for (let kept = body.length - 1; kept >= Math.max(FEWEST_LETTERS, count ? 0 : body.length / 2); kept -= 1) {
    if (breadthOf(cut(kept), k, font) <= breadth) return cut(kept);
  }
  return "";
}

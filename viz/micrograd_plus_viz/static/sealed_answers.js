// Salted hashes of answers, and data that an answer unlocks. quizzes/sealed_answers.py makes them.

// SHA-256 (FIPS 180-4). The browser's own is only available in secure contexts, and a page on disk is not one.
const ROUND_CONSTANTS = (() => {
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32);
  return { start: primes.slice(0, 8).map((p) => fraction(Math.sqrt(p))), rounds: primes.map((p) =>
    fraction(Math.cbrt(p))) };
})();

function sha256(bytes) {
  const { start, rounds } = ROUND_CONSTANTS;
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = Uint32Array.from(start);
  const words = new Uint32Array(64);
  const turned = (x, by) => (x >>> by) | (x << (32 - by));
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const [w, v] = [words[i - 15], words[i - 2]];
      words[i] = words[i - 16] + words[i - 7] + (turned(w, 7) ^ turned(w, 18) ^ (w >>> 3))
        + (turned(v, 17) ^ turned(v, 19) ^ (v >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      const chosen = (e & f) ^ (~e & g);
      const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + rounds[i] + words[i]) | 0;
      const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] += x; });
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((x, i) => out.setUint32(4 * i, x));
  return new Uint8Array(out.buffer);
}

const hashParts = (...parts) => sha256(new TextEncoder().encode(parts.join("|")));
const hex = (bytes) => Array.from(bytes, (x) => x.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const xorBytes = (bytes, other) => bytes.map((x, i) => x ^ other[i]);

const answerName = (salt, answer) => hex(hashParts(salt, "answer", answer)).slice(0, 32);
const unwrapKey = (salt, answer, wrapped) => xorBytes(unhex(wrapped), hashParts(salt, "opens", answer));

// Decrypts data with a key.
async function unseal(key, text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  for (let at = 0; at < bytes.length; at += 32) {
    const stream = hashParts(hex(key), at / 32);
    for (let i = at; i < Math.min(at + 32, bytes.length); i += 1) bytes[i] ^= stream[i - at];
  }
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const POWER_OF_TEN = /(?:(\d)[x*\u00b7\u00d7])?\b10(?:\^|\*\*)\(?([+-]?\d+)\)?/;

// Reads a typed number: 0.5, -1e-3, 2·10^-3, 1/3, 50 %, a decimal comma, a true minus sign, nan, inf.
function readNumber(text) {
  const plain = text.trim().toLowerCase().replaceAll("\u2212", "-").replace(/^\(([^()]*)\)$/, "$1")
    .replace(/\s*([-+/*^x%\u00b7\u00d7])\s*/g, "$1")
    .replace(POWER_OF_TEN, (_, digit, power) => `${digit ?? 1}e${power}`);
  if (/^nan$/.test(plain)) return NaN;
  if (/^[+-]?(inf(inity)?|\u221e)$/.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  const parts = plain.replace(/%$/, "").split("/").map((part) => part.replace(",", "."));
  const is = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/;
  if (parts.length > 2 || !parts.every((part) => is.test(part))) return null;
  return Number(parts[0]) / Number(parts[1] ?? 1) / (plain.endsWith("%") ? 100 : 1);
}

// Reads a number with its digits in groups of three: 2 048, 2,048, 300_000.
function readGrouped(text) {
  const groups = text.trim().replaceAll("\u2212", "-")
    .match(/^([+-]?[1-9]\d{0,2})((?:[,\s_\u0027\u2019]\d{3})+)(\.\d+)?$/);
  return groups ? Number(groups[1] + groups[2].replace(/\D/g, "") + (groups[3] ?? "")) : null;
}

// The answers that a typed number can mean: 2,048 is two thousand or, with a decimal comma, two; a question may ask for
// percent.
function numberTexts(text, width) {
  return [readGrouped(text), readNumber(text), readNumber(text.replace(/%\s*$/, ""))].filter((x) => x !== null)
    .map((x) => binOf(x, width));
}

// The answers that a typed list can mean: a comma is between two numbers or within one.
function listTexts(text, count) {
  const plain = text.replace(/[[\](){}]/g, " ").trim();
  return [/[\s,;]+/, /;/, /,(?!\S)|;/, /,/, /[\s;]+/].map((border) => plain.split(border).filter((part) => part.trim())
    .map(readNumber)).filter((numbers) => numbers.length === count && numbers.every((x) => x !== null))
    .map((numbers) => numbers.map(threeDigits).join(" "));
}

const threeDigits = (x) => (x === 0 ? "0" : Number.isFinite(x) ? x.toExponential(2)
  : Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf");

// The one of some answers that is right, or else has a hint, or else the first; null if there is none.
function bestOf(given, { salt, right, hints }) {
  const isIn = (named) => (text) => answerName(salt, text) in named;
  return given.find(isIn(right)) ?? given.find(isIn(hints)) ?? given[0] ?? null;
}

function binOf(x, width) {
  if (Number.isNaN(x)) return "nan";
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return x < 0 ? "-inf" : "inf";
  return `${x < 0 ? "-" : "+"}${Math.floor(Math.log(Math.abs(x)) / width)}`;
}

// Reads a typed shape: (3, 4), 3 x 4, 3 by 4, [3,4], torch.Size([3, 4]), () for a number.
function readShape(text) {
  const plain = text.trim().toLowerCase().replace(/^(torch\.size|shape|tuple)?[\s=([]*|[\s)\]]*$/g, "")
    .replace(/\s*,$/, "");
  if (plain === "") return /[([]/.test(text) ? "" : null;
  const parts = plain.split(/\s*(?:[,;x*\u00d7]|by)\s*|\s+/);
  return parts.every((part) => /^\d+$/.test(part)) ? parts.map(Number).join(",") : null;
}

// Bytes from base 85: five letters are four bytes. The letters are those from "(" to "|", with three others instead of
// "<", ">" and the backslash.
const INSTEAD = { 33: 20, 37: 22, 35: 52 };

export function bytesOf(text) {
  const view = new DataView(new ArrayBuffer(Math.ceil(text.length / 5) * 4));
  for (let k = 0; k < text.length; k += 5) {
    let four = 0;
    for (let j = k; j < k + 5; j += 1) {
      const letter = j < text.length ? text.charCodeAt(j) : 124;
      four = four * 85 + (INSTEAD[letter] ?? letter - 40);
    }
    view.setUint32(k * 4 / 5, four);
  }
  return new Uint8Array(view.buffer, 0, Math.floor(text.length * 4 / 5));
}

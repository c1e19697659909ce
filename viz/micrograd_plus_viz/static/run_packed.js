// Packed code, the body of a function, runs as an inline script: hosts that run the script of an output permit another,
// but often no `eval`. A host may mark its scripts with a nonce.
const unzipped = (text) => new Response(new Blob([bytesOf(text)]).stream()
  .pipeThrough(new DecompressionStream("gzip"))).text();

export async function runPacked(packed) {
  const script = document.createElement("script");
  script.nonce = document.querySelector("script[nonce]")?.nonce ?? "";
  script.textContent = `document.currentScript.returned = (() => {${await unzipped(packed)}})();`;
  document.head.append(script);
  script.remove();
  return script.returned;
}

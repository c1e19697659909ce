// Data that Python packed as JSON.
export async function unpack(text) {
  return new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

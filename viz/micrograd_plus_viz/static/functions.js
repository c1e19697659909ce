// What the functions in formulas do, told where they stand. Those of NumPy that every reader has met have no entry.

const FUNCTIONS = {
  broadcast: "Repeated along the axes that the operation had taken away.",
  broadcast_to: "Repeated until it has this shape.",
  reshape: "The same entries in another shape.",
  rows: "The array as a matrix: all axes but the last are one.",
  count: "How many entries are taken together.",
  moveaxis: "The same entries, the axes in another order.",
  axes_to_last: "The named axes moved to the end, and made one.",
  axes_from_last: "The last axis parted again into those that were made one, each put back in its place.",
  take_along_axis: "From each line along the axis the entries that the index names.",
  split: "Cut along the axis into the parts.",
  cumsum: "Sums of all entries up to each; with reverse from each to the end, with exclusive without itself.",
  cumprod: "Products of all entries up to each; with reverse from each to the end, with exclusive without itself.",
  tril: "The part on and below a diagonal; zeros above it.",
  triu: "The part on and above a diagonal; zeros below it.",
  pad: "Entries added round the edges; with \u22a4 the transpose: they send what they receive to where they came from.",
  resample: "Weighted means of neighbours; with \u22a4 the transpose: each mean gives its share back to them.",
  recurrence: "y[t] = decay[t] \u00b7 y[t \u2212 1] + drive[t], from 0; with reverse from the end.",
  gated_recurrence: "y[t] = gate[t] \u00b7 (drive[t] + y[t \u2212 1] @ weight), from 0; with reverse from the end.",
  matrix_recurrence: "y[t] = matrix[t] @ y[t \u2212 1] + drive[t], from 0; with reverse from the end.",
  conv2d: "Each kernel laid over every window: the sum of the products.",
  conv_transpose2d: "The transpose of conv2d: every entry is multiplied by the kernel, and laid where its window was.",
  unfold: "Every window of the images as a column.",
  fold: "Columns laid back where their windows were, overlaps added.",
  split_columns: "The columns of windows, the places in a window on an axis of their own.",
  pixel_shuffle: "Channels spread out as pixels of a larger image.",
  pixel_unshuffle: "Blocks of pixels gathered as channels of a smaller image.",
  one_hot: "A row for each class: 1 at its place, else 0.",
  solve: "solve(A, b) is the x with A @ x = b.",
  solve_sylvester: "solve_sylvester(A, B, Q) is the X with A @ X + X @ B = Q.",
  cofactors: "The determinants of what is left without a row and a column, with their signs.",
  expm: "The exponential of a matrix: I + A + A\u00b2/2 + \u2026",
  I: "The identity matrix.",
  pivots: "One over the pivot of each column, the first of its large entries, at its place; 0 elsewhere.",
  grouped_matmul: "Each row times the matrix of its own expert.",
  expert_products: "For each expert: the rows of one, transposed, times its rows of the other.",
  rope: "Pairs of entries turned by angles.",
  fake_quantize: "Rounded to a whole number of steps, and multiplied out again.",
  dequantize_blocks: "The real numbers that codes stand for, block by block: (codes \u2212 zero_point) \u00b7 scale.",
  cut_or_pad: "The first entries along the axis, or zeros added behind them.",
  frames: "Overlapping pieces of a signal, one below the other.",
  overlap_add: "Pieces laid back where they were in the signal, overlaps added.",
  to_device: "The same, on another device.",
  sigmoid: "1 / (1 + e^(\u2212x)).",
  silu: "x \u00b7 sigmoid(x).",
  softplus: "log(1 + e^x).",
  softmax: "e^x over the sum of all e^x: positive numbers that add up to 1.",
  expm1: "e^x \u2212 1.",
  log1p: "log(1 + x).",
  xlogy: "x \u00b7 log(y), and 0 where x is 0.",
  xlog1py: "x \u00b7 log(1 + y), and 0 where x is 0.",
  erfc: "1 \u2212 erf(x): what lies beyond x under a bell curve.",
  digamma: "The derivative of log \u0393(x).",
  polygamma: "polygamma(n, x): the derivative of digamma(x), taken n times.",
  gammaln: "log |\u0393(x)|.",
  betaln: "log |\u0393(a) \u0393(b) / \u0393(a + b)|.",
};
const BESSEL = { j: "J", y: "Y", i: "I" };

// What a function does; of Bessel functions which one it is.
function meaningOf(name) {
  const [, kind, order, scaled] = /^([ijy])([01vn])(e?)$/.exec(name) ?? [];
  if (!kind) return FUNCTIONS[name];
  const told = /\d/.test(order) ? order : "as its first argument says";
  return `The Bessel function ${BESSEL[kind]}, of order ${told}${scaled ? ", times e^(\u2212|x|)" : ""}.`;
}

// The functions of a formula that have a meaning told, as words that can be pointed at and focused.
function tellFunctions(holder) {
  for (const word of holder.querySelectorAll("mi[mathvariant=normal]:not([data-name])")) {
    const meaning = meaningOf(word.textContent);
    if (!meaning) continue;
    word.dataset.tip = meaning;
    word.classList.add("function");
    word.setAttribute("tabindex", "0");
  }
}

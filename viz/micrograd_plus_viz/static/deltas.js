// Arrays that are stored as a difference to another have its entries, changed by steps of the last digit.
function decodeValues(values) {
  const done = [];
  const entriesOfValue = (value) => value.data ?? value.cells?.data;
  const decode = (i) => {
    if (done[i]) return done[i];
    const value = values[i];
    if (value.delta === undefined) { done[i] = value; return value; }
    const { from, delta, ...rest } = value;
    const like = decode(from);
    const digits = delta.length <= 256 ? 4 : 3;
    const data = entriesOfValue(like).map((x, k) => (delta[k] === 0 ? roundTo(x, digits)
      : numberOfCode(codeOf(x, digits) + delta[k], digits)));
    done[i] = like.data ? { ...rest, data } : { ...rest, data: null, cells: { ...like.cells, data } };
    return done[i];
  };
  return values.map((_, i) => decode(i));
}

const EXPONENTS = 40;
const roundTo = (x, digits) => Number(x.toPrecision(digits));

function codeOf(x, digits) {
  if (x === 0) return 0;
  const [mantissa, exponent] = Math.abs(x).toExponential(digits - 1).split("e");
  const low = 10 ** (digits - 1);
  const code = (Number(exponent) + EXPONENTS) * 9 * low + Number(mantissa.replace(".", "")) - low + 1;
  return x > 0 ? code : -code;
}

function numberOfCode(code, digits) {
  if (code === 0) return 0;
  const low = 10 ** (digits - 1);
  const size = Math.abs(code) - 1;
  const exponent = Math.floor(size / (9 * low)) - EXPONENTS;
  const x = Number(`${(size % (9 * low)) + low}e${exponent - digits + 1}`);
  return code > 0 ? x : -x;
}

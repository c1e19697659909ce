"""Every operation, by subject.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from ..tensor import Tensor

__all__ = [
    "abs", "negative", "positive", "add", "subtract", "multiply", "floor_divide", "divide", "true_divide", "power",
    "square", "reciprocal", "absolute", "copysign", "fmod", "remainder", "mod", "affine", "lerp", "addcmul", "maximum",
    "minimum", "clip", "sqrt", "rsqrt", "cbrt", "exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "erf",
    "erfc", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "sinh", "cosh", "tanh", "arcsinh",
    "arccosh", "arctanh", "floor", "ceil", "trunc", "fix", "round", "around", "sign", "real", "imag", "conj",
    "conjugate", "angle", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "bitwise_not",
    "left_shift", "right_shift", "isnan", "isinf", "isfinite", "isclose", "astype", "stop_gradient", "exp2",
    "logaddexp2", "deg2rad", "rad2deg", "radians", "degrees", "sinc", "fmax", "fmin", "nan_to_num", "fabs",
    "real_if_close", "select", "allclose", "array_equal", "argwhere", "nonzero", "argpartition", "partition", "sigmoid",
    "logsigmoid", "softplus", "relu", "leaky_relu", "elu", "selu", "celu", "relu6", "hardtanh", "hardsigmoid",
    "hardswish", "softsign", "mish", "silu", "gelu", "sum", "mean", "max", "amax", "min", "amin", "prod", "var", "std",
    "std_mean", "var_mean", "norm", "logsumexp", "any", "all", "argmax", "argmin", "count_nonzero", "cumsum",
    "recurrence", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort", "topk", "quantile", "median",
    "reshape", "ravel", "squeeze", "expand_dims", "transpose", "mT", "mH", "swapaxes", "moveaxis", "broadcast_to",
    "repeat", "tile", "concatenate", "cat", "concat", "stack", "unstack", "split", "pad", "flip", "roll", "tril",
    "triu", "diagonal", "diag", "ascontiguousarray", "to_device", "flatten", "atleast_1d", "atleast_2d", "atleast_3d",
    "rollaxis", "vstack", "hstack", "dstack", "column_stack", "append", "array_split", "hsplit", "vsplit", "dsplit",
    "flipud", "fliplr", "rot90", "diff", "gradient", "average", "ptp", "cross", "kron", "matrix_transpose", "where",
    "take", "take_along_axis", "scatter_add", "scatter", "scatter_reduce", "embedding", "one_hot", "searchsorted",
    "matmul", "linear_layer", "outer", "dot", "inner", "tensordot", "einsum", "unfold", "fold", "conv2d", "max_pool2d",
    "avg_pool2d", "conv1d", "conv3d", "conv_transpose2d", "conv_transpose1d", "max_pool1d", "avg_pool1d",
    "adaptive_avg_pool2d", "interpolate", "pixel_shuffle", "pixel_unshuffle", "softmax", "log_softmax", "layer_norm",
    "dropout", "scaled_dot_product_attention", "rms_norm", "batch_norm", "group_norm", "instance_norm",
    "residual_layer_norm", "residual_rms_norm", "rope", "rope_angles", "swiglu", "lora_matmul", "grouped_matmul",
    "soft_capped_attention", "attention", "attention_block", "transformer_layer", "rnn", "gated_recurrence",
    "lstm_cell", "gru_cell", "selective_scan", "gated_delta_net", "mse", "softmax_cross_entropy",
    "binary_cross_entropy_with_logits", "trace",
]

SUBJECTS: dict[str, ModuleType]
APART: dict[ModuleType, str]

def is_public(function: Any) -> bool: """Return whether users call a function of operations."""
def functions_of(subject: ModuleType) -> Iterator[tuple[str, FunctionType]]: ...

# Arithmetic
def abs(x: Any) -> Tensor: """Compute the absolute value of each entry."""
def negative(x: Any) -> Tensor: """Negate each entry."""
def positive(x: Any) -> Tensor: """Return each entry unchanged."""
def add(a: Any, b: Any) -> Tensor: """Add two inputs elementwise."""
def subtract(a: Any, b: Any) -> Tensor: """Subtract the second input from the first, elementwise."""
def multiply(a: Any, b: Any) -> Tensor: """Multiply two inputs elementwise."""
def floor_divide(a: Any, b: Any) -> Tensor: """Divide elementwise and round down to an integer."""
def divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Tensor:
    """Divide the first input by the second, elementwise."""
def true_divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Tensor:
    """Divide the first input by the second, elementwise."""
def power(base: Any, exponent: Any) -> Tensor: """Raise `base` to the power `exponent`, elementwise."""
def square(x: Any) -> Tensor: """Square each entry."""
def reciprocal(x: Any) -> Tensor: """Compute the reciprocal of each entry."""
def absolute(x: Any) -> Tensor: """Compute the absolute value of each entry."""
def copysign(a: Any, b: Any) -> Tensor: """Return the magnitude of `a` with the sign of `b`, elementwise."""
def fmod(a: Any, b: Any) -> Tensor: """Compute the remainder of a division, with the sign of the dividend `a`."""
def remainder(a: Any, b: Any) -> Tensor: """Compute the remainder of a division, with the sign of the divisor `b`."""
def mod(a: Any, b: Any) -> Tensor: """Compute the remainder of a division, with the sign of the divisor `b`."""
def affine(x: Any, scale: Any, shift: Any) -> Tensor: """Compute scale · x + shift elementwise."""
def lerp(start: Any, end: Any, weight: Any) -> Tensor:
    """Interpolate linearly from `start` (weight 0) to `end` (weight 1)."""
def addcmul(x: Any, a: Any, b: Any, value: Any = 1.0) -> Tensor:
    """Add the product of two inputs, times a constant, to x."""
def maximum(a: Any, b: Any) -> Tensor: """Compute the larger of two entries, elementwise."""
def minimum(a: Any, b: Any) -> Tensor: """Compute the smaller of two entries, elementwise."""
def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """Limit each entry to the range from `min` to `max`; to `max` if min > max."""

# Exponentials and logarithms
def sqrt(x: Any) -> Tensor: """Compute the square root of each entry."""
def rsqrt(x: Any) -> Tensor: """Compute the reciprocal of the square root."""
def cbrt(x: Any) -> Tensor: """Compute the real cube root, also of negative numbers."""
def exp(x: Any) -> Tensor: """Compute the exponential of each entry."""
def expm1(x: Any) -> Tensor: """Compute exp(x) - 1, accurately for small x."""
def log(x: Any) -> Tensor: """Compute the natural logarithm."""
def log1p(x: Any) -> Tensor: """Compute log(1 + x), accurately for small x."""
def log2(x: Any) -> Tensor: """Compute the logarithm to base 2."""
def log10(x: Any) -> Tensor: """Compute the logarithm to base 10."""
def logaddexp(a: Any, b: Any) -> Tensor: """Compute the logarithm of the sum of two exponentials, without overflow."""
def erf(x: Any) -> Tensor: """Compute the error function."""
def erfc(x: Any) -> Tensor: """Compute the complementary error function, accurately where it is tiny."""

# Circular and hyperbolic functions
def sin(x: Any) -> Tensor: """Compute the sine of angles in radians."""
def cos(x: Any) -> Tensor: """Compute the cosine of angles in radians."""
def tan(x: Any) -> Tensor: """Compute the tangent of angles in radians."""
def arcsin(x: Any) -> Tensor: """Compute the inverse sine."""
def arccos(x: Any) -> Tensor: """Compute the inverse cosine."""
def arctan(x: Any) -> Tensor: """Compute the inverse tangent."""
def arctan2(a: Any, b: Any) -> Tensor:
    """Compute the angle of the point (b, a) in radians: the inverse tangent of a / b in the right quadrant."""
def hypot(a: Any, b: Any) -> Tensor: """Compute the length of the vector (a, b)."""
def sinh(x: Any) -> Tensor: """Compute the hyperbolic sine."""
def cosh(x: Any) -> Tensor: """Compute the hyperbolic cosine."""
def tanh(x: Any) -> Tensor: """Compute the hyperbolic tangent, a smooth step from -1 to 1."""
def arcsinh(x: Any) -> Tensor: """Compute the inverse hyperbolic sine."""
def arccosh(x: Any) -> Tensor: """Compute the inverse hyperbolic cosine."""
def arctanh(x: Any) -> Tensor: """Compute the inverse hyperbolic tangent."""

# Rounding and sign
def floor(x: Any) -> Tensor: """Round down to the nearest integer."""
def ceil(x: Any) -> Tensor: """Round up to the nearest integer."""
def trunc(x: Any) -> Tensor: """Round towards 0 to the nearest integer."""
def fix(x: Any) -> Tensor: """Round towards 0 to the nearest integer."""
def round(x: Any, decimals: Any = 0) -> Tensor: """Round to the given number of decimals."""
def around(x: Any, decimals: Any = 0) -> Tensor: """Round to the given number of decimals."""
def sign(x: Any) -> Tensor: """Return the sign of each entry: -1, 0 or 1."""

# Complex numbers
def real(x: Any) -> Tensor: """Return the real part."""
def imag(x: Any) -> Tensor: """Return the imaginary part."""
def conj(x: Any) -> Tensor: """Return the complex conjugate."""
def conjugate(x: Any) -> Tensor: """Return the complex conjugate."""
def angle(x: Any) -> Tensor: """Return the angle of complex numbers in radians."""

# Comparisons and logic
def equal(a: Any, b: Any) -> Tensor: """Return whether a == b, elementwise."""
def not_equal(a: Any, b: Any) -> Tensor: """Return whether a != b, elementwise."""
def less(a: Any, b: Any) -> Tensor: """Return whether a < b, elementwise."""
def less_equal(a: Any, b: Any) -> Tensor: """Return whether a <= b, elementwise."""
def greater(a: Any, b: Any) -> Tensor: """Return whether a > b, elementwise."""
def greater_equal(a: Any, b: Any) -> Tensor: """Return whether a >= b, elementwise."""
def logical_and(a: Any, b: Any) -> Tensor: """Return whether both entries are true, elementwise."""
def logical_or(a: Any, b: Any) -> Tensor: """Return whether at least one of two entries is true, elementwise."""
def logical_xor(a: Any, b: Any) -> Tensor: """Return whether exactly one of two entries is true, elementwise."""
def logical_not(x: Any) -> Tensor: """Return whether each entry is false."""
def bitwise_and(a: Any, b: Any) -> Tensor: """Compute the bitwise AND; for booleans the logical AND."""
def bitwise_or(a: Any, b: Any) -> Tensor: """Compute the bitwise OR; for booleans the logical OR."""
def bitwise_xor(a: Any, b: Any) -> Tensor: """Compute the bitwise exclusive OR; for booleans the logical one."""
def invert(x: Any) -> Tensor: """Compute the bitwise NOT; for booleans the logical NOT."""
def bitwise_not(x: Any) -> Tensor: """Compute the bitwise NOT; for booleans the logical NOT."""
def left_shift(a: Any, b: Any) -> Tensor: """Shift the bits of integers to the left."""
def right_shift(a: Any, b: Any) -> Tensor: """Shift the bits of integers to the right."""
def isnan(x: Any) -> Tensor: """Return whether each entry is nan; for a complex number, whether either part is."""
def isinf(x: Any) -> Tensor:
    """Return whether each entry is infinite, with either sign; for a complex number, whether either part is."""
def isfinite(x: Any) -> Tensor: """Return whether each entry is finite: neither infinite nor nan."""
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Return whether two inputs are equal up to rounding, elementwise."""

# Dtypes and new arrays
def astype(x: Any, dtype: Any) -> Tensor: """Convert to another dtype."""
def stop_gradient(x: Any) -> Tensor: """Return the same values as a constant, which passes no gradient."""

# Further functions of entries
def exp2(x: Any) -> Tensor: """Compute 2 to the power of each entry."""
def logaddexp2(a: Any, b: Any) -> Tensor: """Compute the logarithm to base 2 of the sum of two powers of two."""
def deg2rad(x: Any) -> Tensor: """Convert angles from degrees to radians."""
def rad2deg(x: Any) -> Tensor: """Convert angles from radians to degrees."""
def radians(x: Any) -> Tensor: """Convert angles from degrees to radians."""
def degrees(x: Any) -> Tensor: """Convert angles from radians to degrees."""
def sinc(x: Any) -> Tensor: """Compute the normalised sinc function."""
def fmax(a: Any, b: Any) -> Tensor: """Compute the larger of two entries, ignoring nan."""
def fmin(a: Any, b: Any) -> Tensor: """Compute the smaller of two entries, ignoring nan."""
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Replace nan and infinities with finite numbers."""
def fabs(x: Any) -> Tensor: """Compute the absolute value of real numbers, as floats."""
def real_if_close(x: Any, tol: Any = 100.0) -> Tensor:
    """Drop imaginary parts if all of them are as small as rounding errors."""
def select(condlist: Any, choicelist: Any, default: Any = 0.0) -> Tensor:
    """Return entries from the first choice whose condition is true."""
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Return whether two inputs are equal up to rounding, in every entry."""
def array_equal(a1: Any, a2: Any) -> Tensor: """Return whether two inputs have the same shape and the same entries."""
def argwhere(x: Any) -> Tensor: """Return the indices of the entries that are not 0, one row for each."""
def nonzero(x: Any) -> Tensor:
    """Return the indices of the entries that are not 0, as one array for each axis; `x[mg.nonzero(x)]` selects them."""
def argpartition(x: Any, kth: Any, axis: Any = -1) -> Tensor:
    """Return the indices that partition the entries along an axis."""
def partition(x: Any, kth: Any, axis: Any = -1) -> Tensor:
    """Partition the entries along an axis around the one at index `kth` of the sorted order."""

# Activations
def sigmoid(x: Any) -> Tensor: """Compute the logistic sigmoid, a smooth step from 0 to 1."""
def logsigmoid(x: Any) -> Tensor: """Compute the logarithm of the logistic sigmoid."""
def softplus(x: Any) -> Tensor: """Compute the softplus, a smooth version of ReLU whose derivative is the sigmoid."""
def relu(x: Any) -> Tensor: """Compute the rectified linear unit (ReLU): x if positive, else 0."""
def leaky_relu(x: Any, slope: Any = 0.01) -> Tensor:
    """Compute the leaky ReLU: x if positive, else a small multiple of x."""
def elu(x: Any, alpha: Any = 1.0) -> Tensor:
    """Compute the exponential linear unit (ELU): x above 0, an exponential that falls to -alpha below."""
def selu(x: Any) -> Tensor:
    """Compute the scaled exponential linear unit (SELU), which preserves mean 0 and variance 1."""
def celu(x: Any, alpha: Any = 1.0) -> Tensor:
    """Compute the continuously differentiable ELU (CELU), which has no kink for any alpha."""
def relu6(x: Any) -> Tensor: """Compute the ReLU with an upper bound of 6."""
def hardtanh(x: Any, low: Any = -1.0, high: Any = 1.0) -> Tensor:
    """Compute the hard tanh: x limited to the range from `low` to `high`."""
def hardsigmoid(x: Any) -> Tensor: """Compute the hard sigmoid, a piecewise linear approximation of the sigmoid."""
def hardswish(x: Any) -> Tensor: """Compute the hard swish: x times its hard sigmoid."""
def softsign(x: Any) -> Tensor: """Compute the softsign, a smooth step from -1 to 1 with long tails."""
def mish(x: Any) -> Tensor: """Compute the mish: x times the tanh of its softplus."""
def silu(x: Any) -> Tensor: """Compute the sigmoid linear unit (SiLU, or swish): x times its sigmoid."""
def gelu(x: Any, approximate: Any = "none") -> Tensor:
    """Compute the Gaussian error linear unit (GELU): x times the normal distribution function at x."""

# Reductions
def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Sum the entries, all or along axes."""
def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the arithmetic mean of the entries, all or along axes."""
def max(x: Any, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the largest entry, over all or along axes."""
def amax(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the largest entry, over all or along axes: `max` with the axis by position or by name."""
def min(x: Any, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the smallest entry, over all or along axes."""
def amin(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the smallest entry, over all or along axes: `min` with the axis by position or by name."""
def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Multiply the entries, all or along axes."""
def var(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Compute the variance: the mean squared distance from the mean."""
def std(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Compute the standard deviation: the square root of the variance."""
def std_mean(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Compute the standard deviation and the mean, as a pair."""
def var_mean(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Compute the variance and the mean, as a pair."""
def norm(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Compute the Euclidean (L2) norm of a vector."""
def logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the logarithm of the sum of exponentials."""
def any(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Return whether at least one entry is true (not 0), over all or along axes."""
def all(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Return whether every entry is true (not 0), over all or along axes."""
def argmax(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Return the index of the largest entry; the first one at a tie."""
def argmin(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Return the index of the smallest entry; the first one at a tie."""
def count_nonzero(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Count the entries that are not 0, over all or along axes."""

# Along an axis
def cumsum(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Compute the cumulative sum along an axis."""
def recurrence(decay: Any, drive: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """Compute a first-order linear recurrence along an axis."""
def cumprod(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Compute the cumulative product along an axis."""
def cummax(x: Any, *, axis: Any = -1) -> Tensor: """Compute the cumulative maximum along an axis."""
def cummin(x: Any, *, axis: Any = -1) -> Tensor: """Compute the cumulative minimum along an axis."""
def logcumsumexp(x: Any, axis: Any = -1) -> Tensor: """Compute the logarithm of the cumulative sum of exponentials."""
def sort(x: Any, *, axis: Any = -1, descending: Any = False) -> Tensor:
    """Sort the entries in ascending order along an axis."""
def argsort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor:
    """Return the indices that sort the entries along an axis."""
def topk(x: Any, k: Any, axis: Any = -1) -> tuple[Tensor, Tensor]:
    """Return the k largest entries along an axis in descending order, and their indices."""
def quantile(x: Any, q: Any, axis: Any = None, method: Any = "linear", keepdims: Any = False) -> Tensor:
    """Compute quantiles along axes."""
def median(x: Any, *, axis: Any = None, keepdims: Any = False) -> Tensor: """Compute the median along axes."""

# Shape and layout
def reshape(x: Any, shape: Any) -> Tensor: """Change the shape without changing the entries or their order."""
def ravel(x: Any) -> Tensor: """Flatten to one axis."""
def squeeze(x: Any, axis: Any = None) -> Tensor: """Remove axes of length 1."""
def expand_dims(x: Any, axis: Any) -> Tensor: """Insert new axes of length 1 (torch's unsqueeze)."""
def transpose(x: Any, axes: Any = None) -> Tensor: """Permute the axes; for a matrix, exchange rows and columns."""
def mT(x: Any) -> Tensor: """Transpose each matrix: exchange the last two axes."""
def mH(x: Any) -> Tensor: """Compute the conjugate transpose of each matrix; for real matrices the transpose."""
def swapaxes(x: Any, axis1: Any, axis2: Any) -> Tensor: """Exchange two axes."""
def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Move axes to other positions; the others keep their order."""
def broadcast_to(x: Any, shape: Any) -> Tensor:
    """Broadcast to a shape: repeat along new leading axes and along axes of length 1."""
def repeat(x: Any, repeats: Any, axis: Any = None) -> Tensor: """Repeat each entry along an axis."""
def tile(x: Any, reps: Any) -> Tensor: """Repeat the whole array along each axis."""
def concatenate(parts: Any, axis: Any = 0) -> Tensor: """Concatenate arrays along an existing axis (torch's cat)."""
def cat(parts: Any, axis: Any = 0) -> Tensor: """Concatenate arrays along an existing axis (torch's cat)."""
def concat(parts: Any, axis: Any = 0) -> Tensor: """Concatenate arrays along an existing axis (torch's cat)."""
def stack(parts: Any, axis: Any = 0) -> Tensor: """Stack arrays of equal shape along a new axis."""
def unstack(x: Any, axis: Any = 0) -> tuple[Tensor, ...]: """Split into the slices along an axis, as a tuple."""
def split(x: Any, indices_or_sections: Any, axis: Any = 0) -> tuple[Tensor, ...]: """Split into parts along an axis."""
def pad(x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0.0) -> Tensor:
    """Pad with constants, edge values, a reflection or the opposite side."""
def flip(x: Any, axis: Any = None) -> Tensor: """Reverse the order of the entries along an axis."""
def roll(x: Any, shift: Any, axis: Any = None) -> Tensor: """Shift the entries circularly along an axis."""
def tril(x: Any, k: Any = 0) -> Tensor: """Return the lower triangle of each matrix, with zeros above its diagonal."""
def triu(x: Any, k: Any = 0) -> Tensor: """Return the upper triangle of each matrix, with zeros below its diagonal."""
def diagonal(x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Return the diagonal of matrices as the last axis."""
def diag(x: Any, k: Any = 0) -> Tensor: """Build a diagonal matrix from a vector, or return the diagonal of a matrix."""
def ascontiguousarray(x: Any) -> Tensor: """Return the same entries in contiguous memory."""
def to_device(x: Any, device: Any, source: Any) -> Tensor: """Copy to another device; the gradient is copied back."""

# Joining and parting
def flatten(x: Any, start_dim: Any = 0, end_dim: Any = -1) -> Tensor:
    """Merge neighbouring axes into one; by default all of them."""
def atleast_1d(*arrays: Any) -> Tensor: """Convert to at least one dimension."""
def atleast_2d(*arrays: Any) -> Tensor: """Convert to at least two dimensions; a vector becomes a matrix of one row."""
def atleast_3d(*arrays: Any) -> Tensor: """Convert to at least three dimensions; a matrix gets a new last axis."""
def rollaxis(x: Any, axis: Any, start: Any = 0) -> Tensor:
    """Move an axis before another one; `mg.moveaxis` is easier to read."""
def vstack(parts: Any) -> Tensor: """Stack arrays vertically, along the first axis; vectors count as rows."""
def hstack(parts: Any) -> Tensor: """Stack arrays horizontally, along the second axis; vectors along their only one."""
def dstack(parts: Any) -> Tensor: """Stack arrays along the third axis."""
def column_stack(parts: Any) -> Tensor: """Stack vectors as the columns of a matrix; matrices side by side."""
def append(x: Any, values: Any, axis: Any = None) -> Tensor: """Append entries to an array."""
def array_split(x: Any, indices_or_sections: Any, axis: Any = 0) -> Tensor:
    """Split into parts along an axis, possibly of unequal length."""
def hsplit(x: Any, indices_or_sections: Any) -> Tensor:
    """Split horizontally, along the second axis; a vector along its only one."""
def vsplit(x: Any, indices_or_sections: Any) -> Tensor: """Split vertically, along the first axis."""
def dsplit(x: Any, indices_or_sections: Any) -> Tensor: """Split along the third axis."""
def flipud(x: Any) -> Tensor: """Reverse the order of the rows: flip upside down."""
def fliplr(x: Any) -> Tensor: """Reverse the order of the columns: flip left to right."""
def rot90(x: Any, k: Any = 1, axes: Any = (0, 1)) -> Tensor:
    """Rotate by 90 degrees, k times, from the first towards the second of two axes; images turn counterclockwise."""
def diff(x: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute differences of neighbouring entries along an axis."""
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Tensor:
    """Estimate the derivative along each axis by finite differences of values on a grid."""
def average(x: Any, axis: Any = None, weights: Any = None, returned: Any = False, keepdims: Any = False) -> Tensor:
    """Compute the weighted mean of the entries, all or along axes."""
def ptp(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the range ("peak to peak"): the largest entry minus the smallest, over all or along axes."""
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Tensor:
    """Compute the cross product of two vectors."""
def kron(a: Any, b: Any) -> Tensor:
    """Compute the Kronecker product: each entry of a times all of b, arranged in blocks."""
def matrix_transpose(x: Any) -> Tensor: """Transpose each matrix: exchange the last two axes."""

# Indexing
def where(condition: Any, a: Any = None, b: Any = None) -> Tensor:
    """Choose entries from `a` where the condition is true, else from `b`."""
def take(x: Any, indices: Any, axis: Any = None) -> Tensor:
    """Take entries (or slices) by their indices along an axis."""
def take_along_axis(x: Any, indices: Any, axis: Any = -1) -> Tensor:
    """Take, for each position of `indices`, the entry of x at that index along the axis (torch's gather)."""
def scatter_add(x: Any, axis: Any, index: Any, src: Any) -> Tensor:
    """Add entries of another array at their indices along an axis."""
def scatter(x: Any, axis: Any, index: Any, src: Any) -> Tensor:
    """Write entries of another array at their indices along an axis."""
def scatter_reduce(x: Any, axis: Any, index: Any, src: Any, reduce: Any, include_self: Any = True) -> Tensor:
    """Reduce entries of another array at their indices along an axis: by sum, product, mean, maximum or minimum."""
def embedding(indices: Any, weight: Any, padding_idx: Any = None) -> Tensor:
    """Look up rows of a table by index, one vector for each token."""
def one_hot(indices: Any, num_classes: Any) -> Tensor:
    """Encode integers as one-hot vectors: a row of zeros with a single 1."""
def searchsorted(a: Any, v: Any, side: Any = "left") -> Tensor:
    """Return the index at which each value would be inserted into a sorted vector."""

# Products
def matmul(a: Any, b: Any) -> Tensor: """Multiply matrices, over any leading axes."""
def linear_layer(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """Compute a linear (fully connected, dense) layer: x @ weightᵀ + bias."""
def outer(a: Any, b: Any) -> Tensor: """Compute the outer product: every entry of a times every entry of b."""
def dot(a: Any, b: Any) -> Tensor:
    """Compute the dot product of vectors or the matrix product of matrices, as NumPy's dot."""
def inner(a: Any, b: Any) -> Tensor:
    """Compute the inner product: sum the products over the last axis of both inputs."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Contract two tensors: sum the products over several axes of both."""
def einsum(subscripts: Any, *operands: Any) -> Tensor:
    """Sum products of entries by Einstein's convention: over each letter that the result does not have."""

# Convolution and pooling
def unfold(x: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """Extract sliding windows of images as columns (im2col)."""
def fold(
    x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
) -> Tensor:
    """Add columns of windows up into images (col2im): the transpose of `unfold`."""
def conv2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: Any = 1,
) -> Tensor:
    """Compute a 2-D convolution (cross-correlation) of images."""
def max_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """Compute 2-D max pooling: the largest entry of each window."""
def avg_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), count_include_pad: Any = True) -> Tensor:
    """Compute 2-D average pooling: the mean of each window."""

# Windows and sizes
def conv1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1,
) -> Tensor:
    """Compute a 1-D convolution (cross-correlation) of sequences."""
def conv3d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1, 1), padding: Any = (0, 0, 0), dilation: Any = (1, 1, 1),
    groups: Any = 1,
) -> Tensor:
    """Compute a 3-D convolution (cross-correlation) of volumes."""
def conv_transpose2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), output_padding: Any = (0, 0),
    groups: Any = 1, dilation: Any = (1, 1),
) -> Tensor:
    """Compute a 2-D transposed convolution: the gradient of `conv2d`, as a layer."""
def conv_transpose1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1,
    dilation: Any = 1,
) -> Tensor:
    """Compute a 1-D transposed convolution: the gradient of `conv1d`, as a layer."""
def max_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """Compute 1-D max pooling: the largest entry of each window."""
def avg_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, count_include_pad: Any = True) -> Tensor:
    """Compute 1-D average pooling: the mean of each window."""
def adaptive_avg_pool2d(x: Any, output_size: Any) -> Tensor:
    """Compute 2-D adaptive average pooling: means over windows that give the requested output size."""
def interpolate(x: Any, size: Any, mode: Any = "nearest", steps: Any = (None, None)) -> Tensor:
    """Resize images by interpolation, first along the height and then along the width."""
def pixel_shuffle(x: Any, upscale_factor: Any) -> Tensor: """Rearrange channels into space, which enlarges an image."""
def pixel_unshuffle(x: Any, downscale_factor: Any) -> Tensor:
    """Rearrange space into channels: the inverse of `pixel_shuffle`."""

# Networks
def softmax(x: Any, axis: Any = -1) -> Tensor: """Compute the softmax: positive weights that sum to one."""
def log_softmax(x: Any, axis: Any = -1) -> Tensor:
    """Compute the logarithm of the softmax, accurately for large entries."""
def layer_norm(x: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05) -> Tensor:
    """Normalise the last axes to mean 0 and variance 1 (layer normalisation)."""
def dropout(x: Any, mask: Any) -> Tensor: """Apply dropout with a given mask."""
def scaled_dot_product_attention(query: Any, key: Any, value: Any, bias: Any = None, scale: Any = None) -> Tensor:
    """Compute scaled dot-product attention."""

# Normalisation
def rms_norm(x: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """Divide the last axes by their root mean square, then scale (RMS normalisation)."""
def batch_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Normalise each channel of a batch to mean 0 and variance 1, as in training (batch normalisation)."""
def group_norm(x: Any, weight: Any = None, bias: Any = None, num_groups: Any = 1, eps: Any = 1e-05) -> Tensor:
    """Normalise each group of channels to mean 0 and variance 1 (group normalisation)."""
def instance_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Normalise each channel of each example to mean 0 and variance 1 (instance normalisation)."""
def residual_layer_norm(
    x: Any, residual: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05,
) -> Tensor:
    """Normalise the sum of a layer's output and its residual connection with `layer_norm`."""
def residual_rms_norm(x: Any, residual: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """Normalise the sum of a layer's output and its residual connection with `rms_norm`."""

# Transformers
def rope(x: Any, angles: Any, interleaved: Any = False) -> Tensor:
    """Apply rotary position embedding: rotate pairs of features by the angle of their position."""
def rope_angles(x: Any, pairs: Any, base: Any = 10000.0, offset: Any = 0) -> Tensor:
    """Return the angles of rotary position embedding, for each position and pair of features."""
def swiglu(gate: Any, up: Any) -> Tensor: """Compute SwiGLU: silu(gate) * up."""
def lora_matmul(x: Any, weight: Any, a: Any, b: Any, scale: Any = 1.0) -> Tensor:
    """Compute a linear layer with a low-rank update (LoRA)."""
def grouped_matmul(x: Any, weights: Any, experts: Any) -> Tensor: """Multiply each row by the matrix of its expert."""
def soft_capped_attention(
    query: Any, key: Any, value: Any, bias: Any = None, soft_cap: Any = 50.0, scale: Any = None,
) -> Tensor:
    """Compute attention with soft-capped scores, limited smoothly to ± soft_cap."""
def attention(
    query: Any, key: Any, value: Any, bias: Any = None, allowed: Any = None, scale: Any = None, soft_cap: Any = None,
    causal: Any = False, window: Any = None,
) -> Tensor:
    """Compute scaled dot-product attention with masks, windows, soft caps and shared heads."""
def attention_block(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, heads: Any, causal: Any = False,
) -> Tensor:
    """Compute multi-head self-attention, followed by a linear layer."""
def transformer_layer(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, weight1: Any, bias1: Any, weight2: Any,
    bias2: Any, norm1_weight: Any, norm1_bias: Any, norm2_weight: Any, norm2_bias: Any, heads: Any, causal: Any = False,
    norm_first: Any = False, eps: Any = 1e-05,
) -> Tensor:
    """Compute a transformer encoder layer: self-attention, then two linear layers with a relu between."""

# Sequences
def rnn(drive: Any, weight: Any, start: Any = None, nonlinearity: Any = "tanh") -> Tensor:
    """Compute an Elman recurrent network along a sequence."""
def gated_recurrence(gate: Any, drive: Any, weight: Any, reverse: Any = False) -> Tensor:
    """Compute a recurrence through a matrix, with a gate on each state; the backward pass of `rnn` is one."""
def lstm_cell(gates: Any, cell: Any) -> tuple[Tensor, Tensor]:
    """Compute one step of a long short-term memory (LSTM)."""
def gru_cell(drive: Any, recall: Any, hidden: Any) -> Tensor: """Compute one step of a gated recurrent unit (GRU)."""
def selective_scan(x: Any, delta: Any, A: Any, B: Any, C: Any) -> Tensor:
    """Compute a selective state space model (Mamba): a linear recurrence with an input-dependent step."""
def gated_delta_net(query: Any, key: Any, value: Any, decay: Any, rate: Any) -> Tensor:
    """Compute the gated delta rule: linear attention over a memory that decays and is corrected."""

# Losses
def mse(prediction: Any, target: Any) -> Tensor: """Compute the mean squared error."""
def softmax_cross_entropy(logits: Any, target: Any) -> Tensor:
    """Compute the cross-entropy of softmax and target probabilities for each row, in nats."""
def binary_cross_entropy_with_logits(logits: Any, target: Any) -> Tensor:
    """Compute the binary cross-entropy of the sigmoid of scores, elementwise, in nats."""

# Linear algebra
def trace(x: Any, offset: Any = 0) -> Tensor: """Compute the trace of a matrix: the sum along its diagonal."""

# Steps that only rules need
def as_channels(x: Any) -> Tensor: """Reshape one number per channel so that it broadcasts with images."""
def attention_mask(query: Any, key: Any, allowed: Any = None, causal: Any = False, window: Any = None) -> Tensor:
    """Return an attention mask: 0 where a query may look, -inf elsewhere."""
def axes_from_last(x: Any, shape: Any, axis: Any = None) -> Tensor:
    """Split the last axis into the axes that `axes_to_last` merged."""
def axes_to_last(x: Any, axis: Any = None) -> Tensor: """Merge several axes into one, at the end."""
def batch_norm_inference(
    x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05,
) -> Tensor:
    """Normalise each channel with given means and variances, as after training (batch normalisation)."""
def block_triangle(a: Any, b: Any) -> Tensor:
    """Build the block matrix [[a, b], [0, a]], which differentiates functions of matrices."""
def cast(x: Any, dtype: Any) -> Tensor:
    """Convert to another dtype; complex numbers that become real lose their imaginary part."""
def check_independent(x: Any, what: Any = "the columns depend on each other") -> Tensor:
    """Return a square matrix unchanged, if its columns are linearly independent."""
def cofactors(a: Any) -> Tensor: """Compute the cofactor matrix: the gradient of the determinant."""
def conv2d_input(
    weight: Any, sent: Any, size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: Any = 1,
) -> Tensor:
    """Compute the gradient of a convolution with respect to its images."""
def conv2d_weight(
    x: Any, sent: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: Any = 1,
) -> Tensor:
    """Compute the gradient of a convolution with respect to its weight."""
def correlate2d(
    x: Any, weight: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1,
) -> Tensor:
    """Multiply every filter with every window: `conv2d` without a bias."""
def count_mirror_images(x: Any, n: Any, axis: Any = -1) -> Tensor:
    """Multiply each frequency by the number of times it occurs in the spectrum of n real numbers."""
def cummax_with_indices(x: Any, axis: Any = -1) -> tuple[Tensor, Tensor]:
    """Compute the cumulative maximum along an axis, and its indices."""
def cut_or_pad(x: Any, length: Any, axis: Any = -1) -> Tensor: """Truncate an axis to a length, or pad it with zeros."""
def expand_axes(x: Any, shape: Any, axis: Any = None) -> Tensor:
    """Insert with length 1 the axes that a reduction removed."""
def expert_products(a: Any, b: Any, experts: Any, count: Any) -> Tensor:
    """Compute aᵀ @ b over the rows of each expert: the gradient of the matrices of `grouped_matmul`."""
def finite_max(x: Any, axis: Any = -1) -> Tensor:
    """Return the largest entry along axes with length 1, to be subtracted before exponentials."""
def gelu_erf(x: Any) -> Tensor:
    """Compute the Gaussian error linear unit (GELU): x times the normal distribution function at x."""
def gelu_tanh(x: Any) -> Tensor: """Compute the tanh approximation of the Gaussian error linear unit (GELU)."""
def getitem(x: Any, index: Any) -> Tensor: """Index or slice: `x[index]`, with NumPy's indices."""
def group_columns(x: Any, groups: Any = 1) -> Tensor:
    """Arrange the columns of all images side by side, separately for each group of channels."""
def group_images(x: Any, groups: Any = 1) -> Tensor:
    """Arrange the pixels of all images in rows, separately for each group of channels."""
def hermitian_part(x: Any) -> Tensor: """Compute the Hermitian part of a matrix; for a real one the symmetric part."""
def kernel_rows(x: Any, groups: Any = 1) -> Tensor:
    """Reshape the weights of a convolution to matrices, with one row for each output channel."""
def known_ratio(x: Any, y: Any, floor: Any) -> Tensor:
    """Compute x / y, with 0 if x is 0 and nan if y is lost in rounding."""
def masked_softmax(x: Any, axis: Any = -1) -> Tensor:
    """Compute the softmax; a row with only -inf gives 0 everywhere."""
def matrix_recurrence(matrices: Any, drive: Any, reverse: Any = False) -> Tensor:
    """Compute a linear recurrence of matrices along the third axis from the end."""
def mean_class_cross_entropy(logits: Any, classes: Any) -> Tensor:
    """Compute the cross-entropy of softmax and target classes, averaged over the rows, in nats."""
def mean_square(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the mean of the squared entries, all or along axes."""
def new_array(x: Any, numbers: Any) -> Tensor:
    """Return numbers as an array with the device and the dtype of another."""
def new_eye(x: Any, n: Any) -> Tensor: """Return an identity matrix with the device and the dtype of `x`."""
def new_ones(x: Any, shape: Any) -> Tensor: """Return ones of the given shape, with the device and the dtype of `x`."""
def new_zeros(x: Any, shape: Any, dtype: Any = None) -> Tensor:
    """Return zeros of the given shape, with the device and the dtype of `x`."""
def p_norm(x: Any, ord: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the p-norm of a vector, for any exponent except 0 and infinity."""
def pivots(x: Any) -> Tensor:
    """Return the reciprocal of each column's pivot at the pivot's position, and 0 elsewhere."""
def product_of_others(x: Any, axis: Any = None) -> Tensor:
    """Compute, for each entry, the product of all the others: the gradient of `prod`."""
def put_add(x: Any, shape: Any, index: Any) -> Tensor:
    """Add the entries of x into zeros at an index: the transpose of `getitem`."""
def put_along_axis_add(x: Any, indices: Any, shape: Any, axis: Any = -1) -> Tensor:
    """Add entries of x into zeros at their indices: the transpose of `take_along_axis`."""
def put_diagonal(x: Any, shape: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Put x on the diagonal of zero matrices: the transpose of `diagonal`."""
def put_take(x: Any, indices: Any, shape: Any, axis: Any = None) -> Tensor:
    """Add slices of x into zeros at their indices along an axis: the transpose of `take`."""
def reciprocal_beyond(x: Any, floor: Any) -> Tensor:
    """Compute the reciprocal of entries larger than a floor, and 0 for smaller ones."""
def resample(x: Any, length: Any, axis: Any = -1, mode: Any = "nearest", step: Any = None) -> Tensor:
    """Resample an axis to another length: each new entry is a weighted sum of old ones."""
def resolution(x: Any, shape: Any = None, rtol: Any = None) -> Tensor:
    """Return the magnitude below which an entry counts as 0 compared to the largest along the last axis."""
def rows(x: Any) -> Tensor: """Merge all leading axes into one, which gives a matrix of rows."""
def scaled_channels(x: Any, weight: Any = None, bias: Any = None) -> Tensor:
    """Multiply each channel by its weight and add its bias: x * weight + bias."""
def scatter_extreme(
    x: Any, index: Any, src: Any, axis: Any = -1, largest: Any = True, include_self: Any = True,
) -> Tensor:
    """Return the largest or smallest of the entries gathered at each position."""
def setitem(x: Any, values: Any, index: Any) -> Tensor:
    """Return a copy with new values at an index: `x[index] = values` as a function."""
def shift_by_one(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """Move the entries one place along an axis, filling with 0."""
def split_columns(x: Any, kernel_size: Any) -> Tensor:
    """Give the entries of each channel a separate axis in columns of windows."""
def squeeze_axes(x: Any, axis: Any = None) -> Tensor: """Remove the axes that a reduction kept with length 1."""
def sum_outer(a: Any, b: Any) -> Tensor: """Sum the outer products of rows: the gradient of a linear layer's weight."""
def sum_repeats(x: Any, shape: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Add up the copies that `repeat` made of each entry: its transpose."""
def sum_tiles(x: Any, shape: Any, reps: Any) -> Tensor:
    """Add up the copies that `tile` made of an array: its transpose."""
def sum_to_shape(x: Any, shape: Any) -> Tensor:
    """Sum over the axes that broadcasting repeated: the transpose of `broadcast_to`."""
def undiag(x: Any, shape: Any, k: Any = 0) -> Tensor: """Compute the transpose of `diag`."""
def ungroup_columns(x: Any, images: Any) -> Tensor:
    """Separate the columns of the images again, with all groups together: the inverse of `group_columns`."""
def ungroup_images(x: Any, size: Any, images: Any) -> Tensor:
    """Rebuild images from their rows of pixels: the inverse of `group_images`."""
def unpad(x: Any, shape: Any, pad_width: Any, mode: Any = "constant") -> Tensor:
    """Fold a border back onto the entries that it copies: the transpose of `pad`."""
def unreduce(x: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Repeat the results of a sum along the axes that it reduced: the transpose of `sum`."""
def unresample(x: Any, shape: Any, axis: Any = -1, mode: Any = "nearest", step: Any = None) -> Tensor:
    """Compute the transpose of `resample`, with the same weights."""
def window_columns(x: Any, kernel_size: Any) -> Tensor:
    """Repeat each entry as a column for its whole window: the transpose of `window_sums`."""
def window_counts(x: Any, shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: Any) -> Tensor:
    """Count the entries that each window of an image averages."""
def window_sums(x: Any, x_shape: Any, kernel_size: Any, stride: Any, padding: Any) -> Tensor:
    """Sum each window: add up the columns of `unfold`, as images."""
def zero_at(x: Any, index: Any, axis: Any = -1) -> Tensor: """Set the entries at indices along an axis to 0."""

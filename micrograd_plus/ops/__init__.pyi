"""Every operation, by subject.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from types import ModuleType
from typing import Any

from ..tensor import Tensor
from .extras import (
    convolving as convolving, quantisation as quantisation, signal as signal, special as special, splat as splat,
)

SUBJECTS: dict[str, ModuleType]
APART: dict[ModuleType, str]
__all__: list[str]

def is_public(function: Any) -> bool: """Return whether users call a function of operations."""

# Arithmetic
def abs(x: Any) -> Tensor: """Absolute value: the distance from 0."""
def negative(x: Any) -> Tensor: """Negation: the number with the other sign."""
def positive(x: Any) -> Tensor: """Unary plus: the number itself."""
def add(a: Any, b: Any) -> Tensor: """Addition: the sum of two."""
def subtract(a: Any, b: Any) -> Tensor: """Subtraction: the first less the second."""
def multiply(a: Any, b: Any) -> Tensor: """Multiplication: the product of two, entry by entry."""
def floor_divide(a: Any, b: Any) -> Tensor: """Floor division: how often the divisor fits, as a whole number."""
def divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Tensor: """Division: the quotient of two."""
def true_divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Tensor: """Division: the quotient of two."""
def power(base: Any, exponent: Any) -> Tensor: """Power: `base` raised to `exponent`."""
def square(x: Any) -> Tensor: """Square: a number times itself."""
def reciprocal(x: Any) -> Tensor: """Reciprocal: one over a number."""
def absolute(x: Any) -> Tensor: """Absolute value: the distance from 0."""
def copysign(a: Any, b: Any) -> Tensor: """Copied sign: the size of `a` with the sign of `b`."""
def fmod(a: Any, b: Any) -> Tensor: """Remainder of a division, with the sign of the dividend `a`."""
def remainder(a: Any, b: Any) -> Tensor: """Modulo: the remainder of a division, with the sign of the divisor `b`."""
def mod(a: Any, b: Any) -> Tensor: """Modulo: the remainder of a division, with the sign of the divisor `b`."""
def lerp(start: Any, end: Any, weight: Any) -> Tensor:
    """Linear interpolation: the point between `start` (weight 0) and `end` (weight 1)."""
def addcmul(x: Any, a: Any, b: Any, value: Any = 1.0) -> Tensor:
    """Multiply and add: a product, times a fixed factor, added to x."""
def maximum(a: Any, b: Any) -> Tensor: """Maximum of two, entry by entry."""
def minimum(a: Any, b: Any) -> Tensor: """Minimum of two, entry by entry."""
def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """Clipping: the nearest number between `min` and `max`."""
def where(condition: Any, a: Any = None, b: Any = None) -> Tensor:
    """Selection by a condition: `a` where it holds, else `b`."""

# Exponentials and logarithms
def sqrt(x: Any) -> Tensor: """Square root."""
def rsqrt(x: Any) -> Tensor: """Reciprocal square root: one over the square root."""
def cbrt(x: Any) -> Tensor: """Cube root, of negative numbers too."""
def exp(x: Any) -> Tensor: """Exponential: the function that is its own slope."""
def expm1(x: Any) -> Tensor: """Exponential minus one, exact for small x."""
def log(x: Any) -> Tensor: """Natural logarithm: the inverse of the exponential."""
def log1p(x: Any) -> Tensor: """Natural logarithm of one plus x, exact for small x."""
def log2(x: Any) -> Tensor: """Logarithm to base 2."""
def log10(x: Any) -> Tensor: """Logarithm to base 10."""
def logaddexp(a: Any, b: Any) -> Tensor: """Logarithm of the sum of two exponentials."""
def erf(x: Any) -> Tensor: """Error function: the share of a bell curve within √2 · x standard deviations."""
def erfc(x: Any) -> Tensor: """Complementary error function, exact where it is tiny."""

# Circular and hyperbolic functions
def sin(x: Any) -> Tensor: """Sine of an angle in radians."""
def cos(x: Any) -> Tensor: """Cosine of an angle in radians."""
def tan(x: Any) -> Tensor: """Tangent of an angle in radians."""
def arcsin(x: Any) -> Tensor: """Inverse sine: the angle whose sine is x."""
def arccos(x: Any) -> Tensor: """Inverse cosine: the angle whose cosine is x."""
def arctan(x: Any) -> Tensor: """Inverse tangent: the angle whose tangent is x."""
def arctan2(a: Any, b: Any) -> Tensor:
    """Angle of the point (b, a) in radians: the arc tangent of a / b in the right quadrant."""
def hypot(a: Any, b: Any) -> Tensor: """Hypotenuse: the length of the vector (a, b)."""
def sinh(x: Any) -> Tensor: """Hyperbolic sine."""
def cosh(x: Any) -> Tensor: """Hyperbolic cosine: the shape of a hanging chain."""
def tanh(x: Any) -> Tensor: """Hyperbolic tangent: a smooth step from -1 to 1."""
def arcsinh(x: Any) -> Tensor: """Inverse hyperbolic sine: the number whose hyperbolic sine is x."""
def arccosh(x: Any) -> Tensor: """Inverse hyperbolic cosine: the number, at least 0, whose hyperbolic cosine is x."""
def arctanh(x: Any) -> Tensor: """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x."""

# Rounding and sign
def floor(x: Any) -> Tensor: """Floor: the whole number below."""
def ceil(x: Any) -> Tensor: """Ceiling: the whole number above."""
def trunc(x: Any) -> Tensor: """Truncation: the whole number towards 0."""
def fix(x: Any) -> Tensor: """Truncation: the whole number towards 0."""
def round(x: Any, decimals: Any = 0) -> Tensor: """Rounding: the nearest number of so many decimals."""
def around(x: Any, decimals: Any = 0) -> Tensor: """Rounding: the nearest number of so many decimals."""
def sign(x: Any) -> Tensor: """Sign: -1, 0 or 1."""

# Complex numbers
def real(x: Any) -> Tensor: """Real part of a complex number."""
def imag(x: Any) -> Tensor: """Imaginary part of a complex number."""
def conj(x: Any) -> Tensor: """Complex conjugate: the mirror image in the real axis."""
def conjugate(x: Any) -> Tensor: """Complex conjugate: the mirror image in the real axis."""
def angle(x: Any) -> Tensor: """Angle of a complex number in radians."""

# Comparisons and logic
def equal(a: Any, b: Any) -> Tensor: """Equality: whether the two are equal, entry by entry."""
def not_equal(a: Any, b: Any) -> Tensor: """Inequality: whether the two differ, entry by entry."""
def less(a: Any, b: Any) -> Tensor: """Comparison a < b: whether the first is smaller."""
def less_equal(a: Any, b: Any) -> Tensor: """Comparison a <= b: whether the first is smaller or equal."""
def greater(a: Any, b: Any) -> Tensor: """Comparison a > b: whether the first is larger."""
def greater_equal(a: Any, b: Any) -> Tensor: """Comparison a >= b: whether the first is larger or equal."""
def logical_and(a: Any, b: Any) -> Tensor: """Logical and: whether both hold."""
def logical_or(a: Any, b: Any) -> Tensor: """Logical or: whether at least one holds."""
def logical_xor(a: Any, b: Any) -> Tensor: """Logical exclusive or: whether exactly one holds."""
def logical_not(x: Any) -> Tensor: """Logical not: whether it does not hold."""
def bitwise_and(a: Any, b: Any) -> Tensor:
    """And of bits: those that are set in both; of booleans, whether both hold."""
def bitwise_or(a: Any, b: Any) -> Tensor:
    """Or of bits: those that are set in at least one; of booleans, whether at least one holds."""
def bitwise_xor(a: Any, b: Any) -> Tensor:
    """Exclusive or of bits: those that are set in one alone; of booleans, whether exactly one holds."""
def invert(x: Any) -> Tensor: """Not of bits: those that are not set; of booleans, whether it does not hold."""
def bitwise_not(x: Any) -> Tensor: """Not of bits: those that are not set; of booleans, whether it does not hold."""
def left_shift(a: Any, b: Any) -> Tensor: """Shift of bits to the left: times two, so often."""
def right_shift(a: Any, b: Any) -> Tensor: """Shift of bits to the right: halved so often, rounded down."""
def isnan(x: Any) -> Tensor: """Test for nan: whether it is not a number."""
def isinf(x: Any) -> Tensor: """Test for infinity, of either sign."""
def isfinite(x: Any) -> Tensor: """Test for finite numbers: neither infinite nor nan."""
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Equality up to rounding, entry by entry."""

# Dtypes and new arrays
def astype(x: Any, dtype: Any) -> Tensor: """Conversion to another dtype."""
def stop_gradient(x: Any) -> Tensor: """Stopped gradient: the same values, through which nothing goes back."""

# Further functions of entries
def exp2(x: Any) -> Tensor: """Power of two: 2 to the x."""
def logaddexp2(a: Any, b: Any) -> Tensor: """Logarithm to the base 2 of the sum of two powers of two."""
def deg2rad(x: Any) -> Tensor: """Degrees as radians."""
def rad2deg(x: Any) -> Tensor: """Radians as degrees."""
def radians(x: Any) -> Tensor: """Degrees as radians."""
def degrees(x: Any) -> Tensor: """Radians as degrees."""
def sinc(x: Any) -> Tensor: """Normalised sine cardinal: what a sharp cut between frequencies looks like in time."""
def fmax(a: Any, b: Any) -> Tensor: """Maximum of two, entry by entry, in which a number comes before nan."""
def fmin(a: Any, b: Any) -> Tensor: """Minimum of two, entry by entry, in which a number comes before nan."""
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Numbers in the place of nan and of infinities; through these nothing goes back."""
def fabs(x: Any) -> Tensor: """Absolute value of real numbers, as floats."""
def real_if_close(x: Any, tol: Any = 100.0) -> Tensor:
    """Real numbers of complex ones whose imaginary parts are rounding; else the numbers as they are."""
def select(condlist: Any, choicelist: Any, default: Any = 0.0) -> Tensor:
    """The first of several choices whose condition holds, entry by entry."""
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Whether two are equal up to rounding, everywhere."""
def array_equal(a1: Any, a2: Any) -> Tensor: """Whether two have the same shape and the same entries."""
def argwhere(x: Any) -> Tensor: """The places of the entries that are not 0: a row of indices for each."""
def nonzero(x: Any) -> Tensor:
    """The places of the entries that are not 0, as a row of indices for each axis: `x[mg.nonzero(x)]` picks them."""
def argpartition(x: Any, kth: Any, axis: Any = -1) -> Tensor:
    """The order that puts the entry of a rank in its place: smaller ones before it, larger ones behind."""
def partition(x: Any, kth: Any, axis: Any = -1) -> Tensor:
    """The entries with that of a rank in its place: smaller ones before it, larger ones behind, in no order."""

# Activations
def sigmoid(x: Any) -> Tensor: """Logistic sigmoid: a smooth step from 0 to 1."""
def logsigmoid(x: Any) -> Tensor: """Logarithm of the logistic sigmoid."""
def softplus(x: Any) -> Tensor: """Softplus: a relu with its corner rounded off, whose slope is the sigmoid."""
def relu(x: Any) -> Tensor: """Rectified linear unit (ReLU): x where it is positive, else 0."""
def leaky_relu(x: Any, slope: Any = 0.01) -> Tensor: """Leaky ReLU: x where it is positive, else a little of it."""
def elu(x: Any, alpha: Any = 1.0) -> Tensor:
    """Exponential linear unit (ELU): x above 0, an exponential down to -alpha below."""
def selu(x: Any) -> Tensor:
    """Scaled exponential linear unit (SELU): an elu under which mean 0 and variance 1 stay so."""
def celu(x: Any, alpha: Any = 1.0) -> Tensor:
    """Continuously differentiable ELU (CELU): an elu without a corner for any alpha."""
def relu6(x: Any) -> Tensor: """ReLU that stops at 6."""
def hardtanh(x: Any, low: Any = -1.0, high: Any = 1.0) -> Tensor: """Hard tanh: x held between two bounds."""
def hardsigmoid(x: Any) -> Tensor: """Hard sigmoid: the sigmoid in three straight pieces."""
def hardswish(x: Any) -> Tensor: """Hard swish: x times its hard sigmoid."""
def softsign(x: Any) -> Tensor: """Softsign: a smooth step from -1 to 1 with long tails."""
def mish(x: Any) -> Tensor: """Mish: x times the tanh of its softplus."""
def silu(x: Any) -> Tensor: """Sigmoid linear unit (SiLU, also called swish): x times its sigmoid."""
def gelu(x: Any, approximate: Any = "none") -> Tensor:
    """Gaussian error linear unit (GELU): x times the share of a bell curve below x."""

# Reductions
def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Sum of the entries, all or along axes."""
def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Arithmetic mean of the entries, all or along axes."""
def max(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Maximum: the largest entry, of all or along axes."""
def amax(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Maximum: the largest entry, of all or along axes."""
def min(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Minimum: the smallest entry, of all or along axes."""
def amin(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Minimum: the smallest entry, of all or along axes."""
def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Product of the entries, all or along axes."""
def var(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Variance: the mean of squared distances from the mean."""
def std(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Standard deviation: the root of the variance."""
def std_mean(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Standard deviation and mean, as a pair."""
def var_mean(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """Variance and mean, as a pair."""
def norm(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Euclidean norm (L2): the length of a vector."""
def logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Logarithm of the sum of exponentials: a smooth maximum."""
def any(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Whether at least one entry is true (not 0), of all or along axes."""
def all(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Whether every entry is true (not 0), of all or along axes."""
def argmax(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Index of the largest entry; the first of several."""
def argmin(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Index of the smallest entry; the first of several."""
def count_nonzero(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """How many entries are not 0, of all or along axes."""

# Along an axis
def cumsum(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Cumulative sum: running sums along an axis."""
def recurrence(decay: Any, drive: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """First-order linear recurrence: a state carried along an axis."""
def cumprod(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Cumulative product: running products along an axis."""
def cummax(x: Any, axis: Any = -1) -> Tensor: """Cumulative maximum: the largest entry so far along an axis."""
def cummin(x: Any, axis: Any = -1) -> Tensor: """Cumulative minimum: the smallest entry so far along an axis."""
def logcumsumexp(x: Any, axis: Any = -1) -> Tensor: """Running logarithm of a sum of exponentials."""
def sort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor: """The entries in ascending order along an axis."""
def argsort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor:
    """The indices that sort the entries along an axis."""
def topk(x: Any, k: Any, axis: Any = -1) -> tuple[Tensor, Tensor]:
    """The k largest entries along an axis in descending order, and their indices."""
def quantile(x: Any, q: Any, axis: Any = None, method: Any = "linear", keepdims: Any = False) -> Tensor:
    """Quantile: the value below which a share q of the entries lies."""
def median(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Median: the entry in the middle of the order."""

# Shape and layout
def reshape(x: Any, shape: Any) -> Tensor: """The same entries in the same order, in another shape."""
def ravel(x: Any) -> Tensor: """All entries in one row (flattening)."""
def squeeze(x: Any, axis: Any = None) -> Tensor: """Axes of length 1 left out."""
def expand_dims(x: Any, axis: Any) -> Tensor: """New axes of length 1 (torch's unsqueeze)."""
def transpose(x: Any, axes: Any = None) -> Tensor:
    """The axes in another order: of a matrix, rows and columns exchanged."""
def mT(x: Any) -> Tensor: """The transpose of each matrix: the last two axes exchanged."""
def mH(x: Any) -> Tensor: """The adjoint of each matrix (conjugate transpose): of real matrices the transpose."""
def swapaxes(x: Any, axis1: Any, axis2: Any) -> Tensor: """Two axes exchanged."""
def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places; the others keep their order."""
def broadcast_to(x: Any, shape: Any) -> Tensor:
    """Broadcasting: repeated along new axes in front and along axes of length 1."""
def repeat(x: Any, repeats: Any, axis: Any = None) -> Tensor: """Each entry several times in a row."""
def tile(x: Any, reps: Any) -> Tensor: """The whole array several times along each axis."""
def concatenate(parts: Any, axis: Any = 0) -> Tensor:
    """Concatenation: arrays one behind the other along an axis they have (torch's cat)."""
def stack(parts: Any, axis: Any = 0) -> Tensor: """Arrays of one shape side by side along a new axis."""
def unstack(x: Any, axis: Any = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as a tuple: what `for row in x` goes through."""
def split(x: Any, indices_or_sections: Any, axis: Any = 0) -> tuple[Tensor, ...]: """Cut into parts along an axis."""
def pad(x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0.0) -> Tensor:
    """Padding: a border of constants, outermost entries, a mirror image or the other side."""
def flip(x: Any, axis: Any = None) -> Tensor: """The entries in reverse order along an axis."""
def roll(x: Any, shift: Any, axis: Any = None) -> Tensor:
    """A circular shift: the entries moved along; what falls off the end comes in at the start."""
def tril(x: Any, k: Any = 0) -> Tensor: """The lower triangle of each matrix, zeros above its diagonal."""
def triu(x: Any, k: Any = 0) -> Tensor: """The upper triangle of each matrix, zeros below its diagonal."""
def diagonal(x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """The diagonal of the matrices on two axes, as the last axis."""
def diag(x: Any, k: Any = 0) -> Tensor: """A diagonal matrix of a row; of a matrix, its diagonal."""
def ascontiguousarray(x: Any) -> Tensor: """The same entries, next to each other in memory."""
def to_device(x: Any, device: Any, source: Any) -> Tensor:
    """The same entries on another device; the gradient travels back."""

# Joining and parting
def flatten(x: Any, start_dim: Any = 0, end_dim: Any = -1) -> Tensor:
    """Flatten: several neighbouring axes joined in one, by default all of them."""
def atleast_1d(*arrays: Any) -> Tensor: """With one axis or more: a single number becomes a row of one."""
def atleast_2d(*arrays: Any) -> Tensor: """With two axes or more: a row becomes a matrix of one row."""
def atleast_3d(*arrays: Any) -> Tensor:
    """With three axes or more: a row lies along the second, a matrix along the first two."""
def rollaxis(x: Any, axis: Any, start: Any = 0) -> Tensor:
    """One axis moved to before another; `mg.moveaxis` says more plainly where to."""
def vstack(parts: Any) -> Tensor:
    """Arrays one below the other: joined along the first axis, rows as matrices of one row."""
def hstack(parts: Any) -> Tensor: """Arrays side by side: joined along the second axis, rows along their only one."""
def dstack(parts: Any) -> Tensor: """Arrays one behind the other: joined along the third axis."""
def column_stack(parts: Any) -> Tensor: """Rows as the columns of a matrix; matrices side by side."""
def append(x: Any, values: Any, axis: Any = None) -> Tensor: """Entries put behind those of an array."""
def array_split(x: Any, indices_or_sections: Any, axis: Any = 0) -> Tensor:
    """Cut into parts along an axis, which need not be equally long: the first ones get what is left over."""
def hsplit(x: Any, indices_or_sections: Any) -> Tensor:
    """Cut into parts side by side: along the second axis, of a row along its only one."""
def vsplit(x: Any, indices_or_sections: Any) -> Tensor: """Cut into parts one below the other: along the first axis."""
def dsplit(x: Any, indices_or_sections: Any) -> Tensor: """Cut into parts one behind the other: along the third axis."""
def flipud(x: Any) -> Tensor: """The rows in reverse order: upside down."""
def fliplr(x: Any) -> Tensor: """The columns in reverse order: left and right exchanged."""
def rot90(x: Any, k: Any = 1, axes: Any = (0, 1)) -> Tensor:
    """A quarter turn, or several, from the first towards the second of two axes: of an image, counterclockwise."""
def diff(x: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis."""
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Tensor:
    """Slope along each axis, by differences: of a function whose values stand at places of a grid."""
def average(x: Any, axis: Any = None, weights: Any = None, returned: Any = False, keepdims: Any = False) -> Tensor:
    """Weighted mean of the entries, all or along axes."""
def ptp(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Range: the largest entry less the smallest, of all or along axes ("peak to peak")."""
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Tensor:
    """Cross product: the vector that is upright on two others, as long as the area between them."""
def kron(a: Any, b: Any) -> Tensor: """Kronecker product: each entry of a times the whole of b, laid out as blocks."""
def matrix_transpose(x: Any) -> Tensor: """The transpose of each matrix: the last two axes exchanged."""

# Indexing
def take(x: Any, indices: Any, axis: Any = None) -> Tensor:
    """Entries (or slices) looked up by their indices along one axis."""
def take_along_axis(x: Any, indices: Any, axis: Any = -1) -> Tensor:
    """For each place of `indices`, the entry of x at that index along the axis (torch's gather)."""
def scatter_add(x: Any, axis: Any, index: Any, src: Any) -> Tensor:
    """An array with entries of another added at their indices along an axis."""
def scatter(x: Any, axis: Any, index: Any, src: Any) -> Tensor:
    """An array with entries of another written at their indices along an axis."""
def scatter_reduce(x: Any, axis: Any, index: Any, src: Any, reduce: Any, include_self: Any = True) -> Tensor:
    """Entries of another array gathered at their indices along an axis: summed, multiplied, averaged, or the
    extreme."""
def embedding(indices: Any, weight: Any, padding_idx: Any = None) -> Tensor:
    """Embedding: rows of a table looked up by index, one vector for each word."""
def one_hot(indices: Any, num_classes: Any) -> Tensor:
    """One-hot encoding: for each number a row of zeros with a single 1."""
def searchsorted(a: Any, v: Any, side: Any = "left") -> Tensor:
    """Binary search: the index at which each value would be inserted into an ordered row."""

# Products
def matmul(a: Any, b: Any) -> Tensor: """Matrix product, over any leading axes."""
def linear_layer(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """Linear (fully connected, dense) layer: x @ weightᵀ + bias."""
def outer(a: Any, b: Any) -> Tensor: """Outer product: every entry of a times every entry of b, as a matrix."""
def dot(a: Any, b: Any) -> Tensor: """Dot product of vectors, matrix product of matrices: NumPy's dot."""
def inner(a: Any, b: Any) -> Tensor: """Inner product: the sum of products over the last axis of both."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Tensor contraction: the sum of products over several axes of both."""
def einsum(subscripts: Any, *operands: Any) -> Tensor:
    """Einstein summation: products of entries, summed over each letter the result does not name."""

# Convolution and pooling
def unfold(x: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """Sliding windows of images as columns (im2col)."""
def fold(
    x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
) -> Tensor:
    """Columns of windows added up into images (col2im): the transpose of `unfold`."""
def conv2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: Any = 1,
) -> Tensor:
    """2-D convolution (cross-correlation) of images with learned filters."""
def max_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """2-D max pooling: the largest entry of each window."""
def avg_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), count_include_pad: Any = True) -> Tensor:
    """2-D average pooling: the mean of each window."""

# Windows and sizes
def conv1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1,
) -> Tensor:
    """1-D convolution (cross-correlation) of lines with learned filters."""
def conv3d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1, 1), padding: Any = (0, 0, 0), dilation: Any = (1, 1, 1),
    groups: Any = 1,
) -> Tensor:
    """3-D convolution (cross-correlation) of volumes with learned filters."""
def conv_transpose2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), output_padding: Any = (0, 0),
    groups: Any = 1, dilation: Any = (1, 1),
) -> Tensor:
    """2-D transposed convolution: what `conv2d` does to a gradient, as a layer."""
def conv_transpose1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1,
    dilation: Any = 1,
) -> Tensor:
    """1-D transposed convolution: what `conv1d` does to a gradient, as a layer."""
def max_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """1-D max pooling: the largest entry of each window of a line."""
def avg_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, count_include_pad: Any = True) -> Tensor:
    """1-D average pooling: the mean of each window of a line."""
def adaptive_avg_pool2d(x: Any, output_size: Any) -> Tensor:
    """2-D adaptive average pooling: the means of so many rows and columns of windows."""
def interpolate(x: Any, size: Any, mode: Any = "nearest", steps: Any = (None, None)) -> Tensor:
    """Interpolation of images to another size, first along the height and then along the width."""
def pixel_shuffle(x: Any, upscale_factor: Any) -> Tensor:
    """Pixel shuffle: channels laid out as places, which makes an image larger."""
def pixel_unshuffle(x: Any, downscale_factor: Any) -> Tensor:
    """Pixel unshuffle: places laid out as channels, the reverse of `pixel_shuffle`."""

# Networks
def softmax(x: Any, axis: Any = -1) -> Tensor: """Softmax: positive weights that add up to one."""
def log_softmax(x: Any, axis: Any = -1) -> Tensor:
    """Log-softmax: the logarithm of the softmax, safe for large entries."""
def layer_norm(x: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05) -> Tensor:
    """Layer normalisation: the last axes brought to mean 0 and variance 1."""
def dropout(x: Any, mask: Any) -> Tensor:
    """Dropout by a given mask: some entries silenced, the others made up for it."""
def scaled_dot_product_attention(query: Any, key: Any, value: Any, bias: Any = None, scale: Any = None) -> Tensor:
    """Scaled dot-product attention: each query gathers the values whose keys it resembles."""

# Normalisation
def rms_norm(x: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """RMS normalisation: the last axes divided by the root of their mean square, then scaled."""
def batch_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Batch normalisation in training: each channel of a batch brought to mean 0 and variance 1."""
def group_norm(x: Any, weight: Any = None, bias: Any = None, num_groups: Any = 1, eps: Any = 1e-05) -> Tensor:
    """Group normalisation: each group of channels brought to mean 0 and variance 1."""
def instance_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Instance normalisation: each channel of each example brought to mean 0 and variance 1."""
def residual_layer_norm(
    x: Any, residual: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05,
) -> Tensor:
    """Layer normalisation of a sum: a layer's output beside what went past it."""
def residual_rms_norm(x: Any, residual: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """RMS normalisation of a sum: a layer's output beside what went past it."""

# Transformers
def rope(x: Any, angles: Any, interleaved: Any = False) -> Tensor:
    """Rotary position embedding: pairs of features turned by the angle of their position."""
def rope_angles(x: Any, pairs: Any, base: Any = 10000.0, offset: Any = 0) -> Tensor:
    """The angles of rotary position embedding, for each position and pair of features."""
def swiglu(gate: Any, up: Any) -> Tensor:
    """SwiGLU: silu(gate) * up, by which one half of a layer lets the other through."""
def lora_matmul(x: Any, weight: Any, a: Any, b: Any, scale: Any = 1.0) -> Tensor:
    """LoRA: a linear layer and a narrow way round it, of low rank."""
def grouped_matmul(x: Any, weights: Any, experts: Any) -> Tensor:
    """Grouped matrix product: each row times the matrix of its expert."""
def soft_capped_attention(
    query: Any, key: Any, value: Any, bias: Any = None, soft_cap: Any = 50.0, scale: Any = None,
) -> Tensor:
    """Attention with soft-capped scores, which level off at ± soft_cap, so that no query stares."""
def attention(
    query: Any, key: Any, value: Any, bias: Any = None, allowed: Any = None, scale: Any = None, soft_cap: Any = None,
    causal: Any = False, window: Any = None,
) -> Tensor:
    """Scaled dot-product attention with masks, windows, soft caps and shared heads."""
def attention_block(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, heads: Any, causal: Any = False,
) -> Tensor:
    """Multi-head self-attention, and a linear layer over what the heads gathered."""
def transformer_layer(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, weight1: Any, bias1: Any, weight2: Any,
    bias2: Any, norm1_weight: Any, norm1_bias: Any, norm2_weight: Any, norm2_bias: Any, heads: Any, causal: Any = False,
    norm_first: Any = False, eps: Any = 1e-05,
) -> Tensor:
    """Transformer encoder layer: self-attention, then two linear layers with a relu between."""

# Sequences
def rnn(drive: Any, weight: Any, start: Any = None, nonlinearity: Any = "tanh") -> Tensor:
    """Recurrent network (Elman): states carried along a sequence, each made from the one before."""
def gated_recurrence(gate: Any, drive: Any, weight: Any, reverse: Any = False) -> Tensor:
    """A recurrence through a matrix, with a gate on each state; the backward pass of `rnn` is one."""
def lstm_cell(gates: Any, cell: Any) -> tuple[Tensor, Tensor]: """One step of a long short-term memory (LSTM)."""
def gru_cell(drive: Any, recall: Any, hidden: Any) -> Tensor: """One step of a gated recurrent unit (GRU)."""
def selective_scan(x: Any, delta: Any, A: Any, B: Any, C: Any) -> Tensor:
    """Selective state space (Mamba): a linear recurrence whose step depends on what it reads."""
def gated_delta_net(query: Any, key: Any, value: Any, decay: Any, rate: Any) -> Tensor:
    """Gated delta rule: linear attention over a memory that fades and is corrected."""

# Losses
def mse(prediction: Any, target: Any) -> Tensor: """Mean squared error: the mean of squared differences."""
def softmax_cross_entropy(logits: Any, target: Any) -> Tensor:
    """Cross-entropy of softmax and target probabilities, row by row, in nats."""
def binary_cross_entropy_with_logits(logits: Any, target: Any) -> Tensor:
    """Binary cross-entropy of the sigmoid of a score, entry by entry, in nats."""

# Quantisation
def quantize(x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None) -> Tensor:
    """Quantisation: the nearest whole number of steps, from low to high, still as floats."""
def dequantize(q: Any, scale: Any, zero_point: Any = 0, *, axis: Any = None) -> Tensor:
    """Dequantisation: what whole numbers stand for, (q - zero_point) * scale."""
def fake_quantize(
    x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None,
    estimator: Any = "clipped",
) -> Tensor:
    """Fake quantisation: rounded as it would be stored, and brought back."""
def fake_quantize_lsq(
    x: Any, step: Any, *, low: Any = -128, high: Any = 127, axis: Any = None, grad_factor: Any = 1.0,
) -> Tensor:
    """Fake quantisation with a step that is learned (LSQ)."""
def quantized_matmul(
    a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero_point: Any = 0, b_zero_point: Any = 0, *, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """Matrix product of two matrices that are rounded first, and multiplied as whole numbers."""
def quantized_conv2d(
    x: Any, weight: Any, x_scale: Any, weight_scale: Any, x_zero_point: Any = 0, bias: Any = None, *,
    stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """2-D convolution of images and filters that are rounded first, over whole numbers."""
def dequantize_blocks(codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Stored weights as numbers, each block of them with a scale of its own."""
def dequantize_matmul(x: Any, codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Matrix product with stored weights: x @ dequantize_blocks(codes, scale, zero_point)."""
def dequantize_grouped_matmul(
    x: Any, codes: Any, scale: Any, experts: Any, zero_point: Any = None, block: Any = 32,
) -> Tensor:
    """Grouped matrix product with stored weights: each row times that of its expert."""

# Linear algebra
def trace(x: Any, offset: Any = 0) -> Tensor: """Trace of a matrix: the sum along its diagonal."""

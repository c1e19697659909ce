"""Every operation, by subject.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from types import ModuleType
from typing import Any

from ..tensor import Tensor

SUBJECTS: dict[str, ModuleType]
APART: dict[ModuleType, str]
__all__: list[str]

# Entry by entry
def abs(x: Any) -> Tensor: """The distance from 0."""
def negative(x: Any) -> Tensor: """The number with the other sign."""
def positive(x: Any) -> Tensor: """The number itself."""
def add(a: Any, b: Any) -> Tensor: """The sum of two."""
def subtract(a: Any, b: Any) -> Tensor: """The first less the second."""
def multiply(a: Any, b: Any) -> Tensor: """The product of two."""
def divide(a: Any, b: Any) -> Tensor: """The first shared out by the second."""
def power(base: Any, exponent: Any) -> Tensor: """`base` raised to `exponent`."""
def affine(x: Any, scale: Any, shift: Any) -> Tensor: """A straight line: `scale * x + shift`."""
def lerp(start: Any, end: Any, weight: Any) -> Tensor: """The point between `start` (weight 0) and `end` (weight 1)."""
def addcmul(x: Any, a: Any, b: Any, value: Any = 1.0) -> Tensor: """A product added: `x + value * a * b`."""
def maximum(a: Any, b: Any) -> Tensor: """The larger of two."""
def minimum(a: Any, b: Any) -> Tensor: """The smaller of two."""
def where(condition: Any, a: Any, b: Any) -> Tensor: """`a` where the condition holds, else `b`."""
def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """The nearest number between `min` and `max`; it is `max` where the two are the wrong way round."""
def arctan2(a: Any, b: Any) -> Tensor: """The angle of the point (b, a), in radians between -pi and pi."""
def hypot(a: Any, b: Any) -> Tensor: """The length of the vector (a, b)."""
def logaddexp(a: Any, b: Any) -> Tensor: """log(exp(a) + exp(b)), without overflow."""
def copysign(a: Any, b: Any) -> Tensor: """The size of `a` with the sign of `b`."""
def fmod(a: Any, b: Any) -> Tensor: """What is left of `a` after whole multiples of `b`, with the sign of `a`."""
def remainder(a: Any, b: Any) -> Tensor: """What is left of `a` after whole multiples of `b`, with the sign of `b`."""
def absolute(x: Any) -> Tensor: """The distance from 0."""
def square(x: Any) -> Tensor: """A number times itself."""
def sqrt(x: Any) -> Tensor: """The square root."""
def rsqrt(x: Any) -> Tensor: """One over the square root."""
def cbrt(x: Any) -> Tensor: """The cube root, of negative numbers too."""
def reciprocal(x: Any) -> Tensor: """One over a number."""
def exp(x: Any) -> Tensor: """The exponential: the function that is its own slope."""
def expm1(x: Any) -> Tensor: """exp(x) - 1, exact for small x."""
def log(x: Any) -> Tensor: """The natural logarithm."""
def log1p(x: Any) -> Tensor: """log(1 + x), exact for small x."""
def log2(x: Any) -> Tensor: """The logarithm to base 2."""
def log10(x: Any) -> Tensor: """The logarithm to base 10."""
def sin(x: Any) -> Tensor: """The sine of an angle in radians."""
def cos(x: Any) -> Tensor: """The cosine of an angle in radians."""
def tan(x: Any) -> Tensor: """The tangent of an angle in radians."""
def arcsin(x: Any) -> Tensor: """The angle whose sine is x."""
def arccos(x: Any) -> Tensor: """The angle whose cosine is x."""
def arctan(x: Any) -> Tensor: """The angle whose tangent is x."""
def sinh(x: Any) -> Tensor: """The hyperbolic sine."""
def cosh(x: Any) -> Tensor: """The hyperbolic cosine: the shape of a hanging chain."""
def tanh(x: Any) -> Tensor: """The hyperbolic tangent: a smooth step from -1 to 1."""
def arcsinh(x: Any) -> Tensor: """The number whose hyperbolic sine is x."""
def arccosh(x: Any) -> Tensor: """The number, at least 0, whose hyperbolic cosine is x."""
def arctanh(x: Any) -> Tensor: """The number whose hyperbolic tangent is x."""
def erf(x: Any) -> Tensor:
    """The error function: the share of a bell curve within x standard deviations times the root of 2."""
def erfc(x: Any) -> Tensor: """1 - erf(x), exact where that is tiny."""
def floor(x: Any) -> Tensor: """The whole number below."""
def ceil(x: Any) -> Tensor: """The whole number above."""
def trunc(x: Any) -> Tensor: """The whole number towards 0."""
def round(x: Any, decimals: Any = 0) -> Tensor: """The nearest number of so many decimals, halves to the even one."""
def sign(x: Any) -> Tensor: """-1, 0 or 1."""
def real(x: Any) -> Tensor: """The real part."""
def imag(x: Any) -> Tensor: """The imaginary part: a step along i is a step of the result."""
def conj(x: Any) -> Tensor: """The complex conjugate; a real number is its own."""
def angle(x: Any) -> Tensor: """The angle of a complex number in radians."""
def astype(x: Any, dtype: Any) -> Tensor: """The values in another dtype; the gradient is cast back."""
def cast(x: Any, dtype: Any) -> Tensor:
    """The values in another dtype; of complex numbers that become real, the real part."""
def equal(a: Any, b: Any) -> Tensor: """Whether the two are equal."""
def not_equal(a: Any, b: Any) -> Tensor: """Whether the two differ."""
def less(a: Any, b: Any) -> Tensor: """Whether the first is smaller."""
def less_equal(a: Any, b: Any) -> Tensor: """Whether the first is smaller or equal."""
def greater(a: Any, b: Any) -> Tensor: """Whether the first is larger."""
def greater_equal(a: Any, b: Any) -> Tensor: """Whether the first is larger or equal."""
def logical_and(a: Any, b: Any) -> Tensor: """Whether both hold."""
def logical_or(a: Any, b: Any) -> Tensor: """Whether at least one holds."""
def logical_xor(a: Any, b: Any) -> Tensor: """Whether exactly one holds."""
def logical_not(x: Any) -> Tensor: """Whether it does not hold."""
def isnan(x: Any) -> Tensor: """Whether it is not a number."""
def isinf(x: Any) -> Tensor: """Whether it is infinite."""
def isfinite(x: Any) -> Tensor: """Whether it is an ordinary number."""
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """Whether the two are equal up to rounding."""
def stop_gradient(x: Any) -> Tensor: """The same values, through which nothing goes back."""
def zeros_beside(x: Any, shape: Any, dtype: Any = None) -> Tensor:
    """Zeros of a shape, on the device of `x` and of its dtype."""
def ones_beside(x: Any, shape: Any) -> Tensor: """Ones of a shape, on the device of `x` and of its dtype."""
def eye_beside(x: Any, n: Any) -> Tensor: """The identity matrix, on the device of `x` and of its dtype."""

# Activations
def sigmoid(x: Any) -> Tensor: """The logistic function 1 / (1 + exp(-x)): a smooth step from 0 to 1."""
def logsigmoid(x: Any) -> Tensor: """The logarithm of the sigmoid."""
def softplus(x: Any) -> Tensor: """log(1 + exp(x)): a rounded relu, whose slope is the sigmoid."""
def relu(x: Any) -> Tensor: """x where it is positive, else 0."""
def leaky_relu(x: Any, slope: Any = 0.01) -> Tensor: """x where it is positive, else a little of it: `slope * x`."""
def elu(x: Any, alpha: Any = 1.0) -> Tensor:
    """x where it is positive, else an exponential that levels off at -alpha."""
def selu(x: Any) -> Tensor: """elu scaled so that activations of mean 0 and variance 1 stay so (Klambauer et al."""
def celu(x: Any, alpha: Any = 1.0) -> Tensor:
    """elu without a corner for any alpha: the exponential is stretched to meet slope 1 at 0."""
def relu6(x: Any) -> Tensor: """relu that stops at 6."""
def hardtanh(x: Any, low: Any = -1.0, high: Any = 1.0) -> Tensor: """x held between two bounds."""
def hardsigmoid(x: Any) -> Tensor: """The sigmoid in three straight pieces."""
def hardswish(x: Any) -> Tensor: """x times its hard sigmoid."""
def softsign(x: Any) -> Tensor: """x / (1 + |x|): a step from -1 to 1 with long tails."""
def mish(x: Any) -> Tensor: """x times the tanh of its softplus."""
def silu(x: Any) -> Tensor: """x times its sigmoid, also called swish."""
def gelu_erf(x: Any) -> Tensor: """x times the share of a bell curve below x."""
def gelu_tanh(x: Any) -> Tensor: """gelu with its bell curve approximated by a tanh (Hendrycks and Gimpel 2016)."""
def gelu(x: Any, approximate: Any = "none") -> Tensor:
    """x times the share of a bell curve below x: exactly ("none"), or as first published ("tanh")."""

# Reductions
def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Entries added up."""
def spread(x: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The reverse of a sum: the reduced axes are put back, and each result repeated along them."""
def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """The sum, shared out among the entries."""
def mean_square(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """The mean of squares."""
def max(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """The largest entry."""
def min(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """The smallest entry."""
def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Entries multiplied."""
def product_of_others(x: Any, axis: Any = None) -> Tensor:
    """For each entry, the product of all the others along the axes: those before it times those after it."""
def var(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor:
    """The mean of squared distances from the mean; `ddof=1` divides by one less than the number of entries."""
def std(x: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Tensor: """The root of the variance."""
def norm(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The length of a vector: the root of the sum of squares."""
def logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """log(sum(exp(x))), safe for large entries: the largest is taken out first."""
def top(x: Any, axis: Any = -1) -> Tensor:
    """The largest entry, its axes kept with length 1: what is taken out before exponentials, and makes no difference
    after them."""
def any(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Whether at least one entry holds."""
def all(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """Whether every entry holds."""
def argmax(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Where the largest entry stands; the first of several."""
def argmin(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Where the smallest entry stands; the first of several."""
def count_nonzero(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor: """How many entries are not 0."""

# Along an axis
def cumsum(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor: """Running sums."""
def recurrence(decay: Any, drive: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """A state carried along an axis: each is `decay * previous + drive`, starting from 0."""
def shift(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """Every entry moved one place on along an axis, a 0 moving in; `reverse` moves it one place back."""
def cumprod(x: Any, axis: Any = None, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Running products; `exclusive` leaves the entry itself out, `reverse` starts at the end."""
def cummax_with_indices(x: Any, axis: Any = -1) -> tuple[Tensor, Tensor]:
    """The largest entry so far, and where it stands; of several, the latest."""
def cummax(x: Any, axis: Any = -1) -> Tensor: """The largest entry so far along an axis."""
def sort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor: """The entries in order."""
def argsort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor:
    """The places of the entries in order; equal entries keep the order they came in."""
def topk(x: Any, k: Any, axis: Any = -1) -> tuple[Tensor, Tensor]:
    """The `k` largest entries in descending order, and where they stand."""
def quantile(x: Any, q: Any, axis: Any = None, method: Any = "linear", keepdims: Any = False) -> Tensor:
    """The entry below which a share `q` of all lies, on the straight line between its two neighbours in order."""
def median(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The entry in the middle; of an even number, the mean of the two in the middle, which receive half each."""
def numbers_beside(x: Any, numbers: Any) -> Tensor: """Plain numbers as an array where x lives, in its dtype."""

# Shape and layout
def reshape(x: Any, shape: Any) -> Tensor:
    """The same entries in the same order, in another shape; one length may be -1."""
def ravel(x: Any) -> Tensor: """All entries in one row."""
def flatten(x: Any) -> Tensor: """All entries in one row."""
def squeeze(x: Any, axis: Any = None) -> Tensor: """Axes of length 1 left out: those named, or all."""
def squeeze_axes(x: Any, axis: Any = None) -> Tensor:
    """The axes that a reduction kept with length 1, left out: those named; with None all of them."""
def expand_dims(x: Any, axis: Any) -> Tensor: """New axes of length 1, at the places they have in the result."""
def expand_axes(x: Any, shape: Any, axis: Any = None) -> Tensor:
    """The axes that a reduction of an array of `shape` took away, put back with length 1."""
def transpose(x: Any, axes: Any = None) -> Tensor: """The axes in another order, reversed if none is given."""
def mT(x: Any) -> Tensor: """The last two axes exchanged: the transpose of each matrix."""
def mH(x: Any) -> Tensor: """The adjoint of each matrix: its transpose, conjugated."""
def swapaxes(x: Any, axis1: Any, axis2: Any) -> Tensor: """Two axes exchanged."""
def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places; the others keep their order."""
def axes_to_last(x: Any, axis: Any = None) -> Tensor: """The named axes (all with None) joined in one, at the end."""
def axes_from_last(x: Any, shape: Any, axis: Any = None) -> Tensor:
    """The last axis taken apart again into the named axes of `shape`."""
def broadcast_to(x: Any, shape: Any) -> Tensor: """Repeated along new axes and axes of length 1, to a given shape."""
def unbroadcast(x: Any, shape: Any) -> Tensor:
    """Added up over everything that broadcasting had repeated, to the shape from before."""
def repeat(x: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Each entry several times in a row: all equally often, or each as often as its place in `repeats` says."""
def sum_repeats(x: Any, shape: Any, repeats: Any, axis: Any = None) -> Tensor:
    """The copies that `repeat` made of each entry of an array of `shape`, added up."""
def tile(x: Any, reps: Any) -> Tensor: """The whole array several times along each axis."""
def sum_tiles(x: Any, shape: Any, reps: Any) -> Tensor:
    """The tiles that `tile` made of an array of `shape`, added up."""
def getitem(x: Any, index: Any) -> Tensor: """`x[index]`, with NumPy's indices."""
def put_add(x: Any, shape: Any, index: Any) -> Tensor:
    """Zeros of `shape` with `x` added at `index`: the reverse of `getitem`."""
def concatenate(parts: Any, axis: Any = 0) -> Tensor:
    """Arrays one behind the other along an axis; with `axis=None`, all their entries in one row."""
def stack(parts: Any, axis: Any = 0) -> Tensor: """Arrays of equal shape side by side along a new axis."""
def unstack(x: Any, axis: Any = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as a tuple: what `for row in x` goes through."""
def split(x: Any, indices_or_sections: Any, axis: Any = 0) -> tuple[Tensor, ...]:
    """Cut along an axis: into so many equal parts, or at the places given in a tuple."""
def pad(x: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0.0) -> Tensor:
    """A border: of `constant_values` ("constant"), of the outermost entries ("edge"), or of the array's own entries in
    a mirror ("reflect") or from the other side ("wrap")."""
def unpad(x: Any, shape: Any, pad_width: Any, mode: Any = "constant") -> Tensor:
    """The border folded back onto the entries of an array of `shape` that it was made of."""
def flip(x: Any, axis: Any = None) -> Tensor: """The entries in reverse order along the axes named, or all."""
def roll(x: Any, shift: Any, axis: Any = None) -> Tensor:
    """The entries moved along; what falls off the end comes in at the start."""
def tril(x: Any, k: Any = 0) -> Tensor: """The lower triangle of each matrix, zeros above the k-th diagonal."""
def triu(x: Any, k: Any = 0) -> Tensor: """The upper triangle of each matrix, zeros below the k-th diagonal."""
def diagonal(x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """The diagonal of the matrices on two axes, as the last axis."""
def put_diagonal(x: Any, shape: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """Zeros of `shape` with `x` on the diagonal of two axes."""
def diag(x: Any, k: Any = 0) -> Tensor:
    """A row as the k-th diagonal of a matrix of zeros; of a matrix, its k-th diagonal."""
def undiag(x: Any, shape: Any, k: Any = 0) -> Tensor: """The reverse of `diag` of an array of `shape`."""
def ascontiguousarray(x: Any) -> Tensor: """The same entries, next to each other in memory."""
def to_device(x: Any, device: Any, source: Any) -> Tensor:
    """The same entries, brought from the device `source` to another; the gradient travels back."""

# Indexing
def take(x: Any, indices: Any, axis: Any = None) -> Tensor:
    """The entries (or slices) of the given numbers along one axis; with `axis=None`, of all entries in a row."""
def put_take(x: Any, indices: Any, shape: Any, axis: Any = None) -> Tensor:
    """Zeros of `shape` with each slice of `x` added at its number along an axis: the reverse of `take`."""
def take_along_axis(x: Any, indices: Any, axis: Any = -1) -> Tensor:
    """For each place of `indices`, the entry of that number along the axis."""
def put_along_axis_add(x: Any, indices: Any, shape: Any, axis: Any = -1) -> Tensor:
    """Zeros of `shape` with each entry of `x` added at its number along the axis: the reverse of `take_along_axis`."""
def scatter_add(x: Any, axis: Any, index: Any, src: Any) -> Tensor:
    """`x` with each entry of `src` added along `axis` at its number in `index`; numbers may repeat."""
def embedding(indices: Any, weight: Any, padding_idx: Any = None) -> Tensor:
    """Rows of a table, looked up by number: one vector for each word."""
def one_hot(indices: Any, num_classes: Any) -> Tensor:
    """A row of zeros with a single 1, for each number: small whole numbers, beside which any dtype stays as it is."""
def searchsorted(a: Any, v: Any, side: Any = "left") -> Tensor:
    """Where each entry of `v` would be inserted into the ordered row `a`: left or right of those equal to it."""

# Products
def matmul(a: Any, b: Any) -> Tensor: """The matrix product, over any leading axes."""
def rows(x: Any) -> Tensor: """All leading axes joined in one: a plain matrix of rows."""
def sum_outer(a: Any, b: Any) -> Tensor:
    """The outer products of each row of `a` with that of `b`, added up over all leading axes."""
def linear_layer(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """`x @ weightᵀ + bias`: rows of `weight` are compared with the last axis of `x` (PyTorch's layout: out, in)."""
def outer(a: Any, b: Any) -> Tensor: """Every entry of `a` times every entry of `b`, as a matrix."""
def dot(a: Any, b: Any) -> Tensor:
    """NumPy's dot: the inner product of vectors, the matrix product of matrices, and of larger arrays the sum over the
    last axis of `a` and the last but one of `b`."""
def inner(a: Any, b: Any) -> Tensor: """The sum over the last axis of both."""
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum over several axes of both: the last `axes` of `a` and first of `b`, or two lists of axes."""
def einsum(subscripts: Any, *operands: Any) -> Tensor:
    """Products of entries, added up over every letter that the result does not name (Einstein's summation)."""

# Convolution and pooling
def unfold(x: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """Each window's entries as one column: (N, C, H, W) to (N, C * kernel, windows)."""
def fold(
    x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
) -> Tensor:
    """The reverse of `unfold`: columns put back where their windows were; where windows overlap, entries add up."""
def conv2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: Any = 1,
) -> Tensor:
    """A small image of weights compared with every window: (N, C, H, W) and (O, C / groups, kh, kw) to (N, O, H',
    W')."""
def kernel_rows(x: Any, groups: Any = 1) -> Tensor:
    """A kernel's weights as one row for each output channel, apart for each group: (groups, O / groups, entries)."""
def grouped(x: Any, groups: Any = 1) -> Tensor:
    """The columns of all images side by side, apart for each group: (N, entries, windows) to (groups, entries / groups,
    windows * N)."""
def ungrouped(x: Any, images: Any) -> Tensor:
    """The columns of so many images again, all groups together: the reverse of `grouped`."""
def grouped_images(x: Any, groups: Any = 1) -> Tensor:
    """The places of all images in a row, apart for each group: (N, C, H, W) to (groups, C / groups, H * W * N)."""
def as_images(x: Any, size: Any, images: Any) -> Tensor:
    """So many images of `size` again, all groups together: the reverse of `grouped_images`."""
def channels(x: Any) -> Tensor: """One number for each channel, ready to be added to images."""
def max_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), dilation: Any = (1, 1)) -> Tensor:
    """The largest entry of each window; a border of padding never wins."""
def avg_pool2d(x: Any, kernel_size: Any, stride: Any, padding: Any = (0, 0), count_include_pad: Any = True) -> Tensor:
    """The mean of each window; `count_include_pad` says whether a border of padding counts as entries."""
def window_sums(x: Any, x_shape: Any, kernel_size: Any, stride: Any, padding: Any) -> Tensor:
    """Columns of windows added up, as images."""
def window_columns(x: Any, kernel_size: Any) -> Tensor:
    """Each entry of an image repeated as a column for its whole window: the reverse of `window_sums`."""
def split_columns(x: Any, kernel_size: Any) -> Tensor:
    """Columns of windows apart for each channel: (N, C, kernel, windows)."""
def window_counts(x: Any, shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: Any) -> Tensor:
    """How many entries each window of an image of `shape` takes together."""

# Windows and sizes
def conv1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1,
) -> Tensor:
    """A short line of weights compared with every window: (N, C, L) and (O, C / groups, k) to (N, O, L')."""
def conv3d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1, 1), padding: Any = (0, 0, 0), dilation: Any = (1, 1, 1),
    groups: Any = 1,
) -> Tensor:
    """A small volume of weights compared with every window: (N, C, D, H, W) and (O, C / groups, kd, kh, kw) to (N, O,
    D', H', W')."""
def conv_transpose2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), output_padding: Any = (0, 0),
    groups: Any = 1, dilation: Any = (1, 1),
) -> Tensor:
    """What `conv2d` does to a gradient, as a layer: each entry writes the kernel, times itself, where its window
    was."""
def conv_transpose1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: Any = 1,
    dilation: Any = 1,
) -> Tensor:
    """What `conv1d` does to a gradient, as a layer: (N, C, L) and (C, O / groups, k) to (N, O, L')."""
def max_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of a line; a border of padding never wins."""
def avg_pool1d(x: Any, kernel_size: Any, stride: Any, padding: Any = 0, count_include_pad: Any = True) -> Tensor:
    """The mean of each window of a line; `count_include_pad` says whether a border of padding counts as entries."""
def adaptive_avg_pool2d(x: Any, output_size: Any) -> Tensor:
    """Means of windows that part an image into `output_size` (rows, columns): where the lengths do not divide,
    neighbouring windows share an entry."""
def interpolate(x: Any, size: Any, mode: Any = "nearest", steps: Any = (None, None)) -> Tensor:
    """An image of another size, first along its height and then along its width: `mode` and `steps` are those of
    `resample`."""
def resample(x: Any, length: Any, axis: Any = -1, mode: Any = "nearest", step: Any = None) -> Tensor:
    """An axis made longer or shorter: each new entry is a weighted sum of old ones."""
def unresample(x: Any, shape: Any, axis: Any = -1, mode: Any = "nearest", step: Any = None) -> Tensor:
    """The reverse of `resample` of an array of `shape`: each new entry hands itself back to the old ones, by the same
    weights."""
def pixel_shuffle(x: Any, upscale_factor: Any) -> Tensor:
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""
def pixel_unshuffle(x: Any, downscale_factor: Any) -> Tensor:
    """Places laid out as channels, the reverse of `pixel_shuffle`: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""

# Networks
def softmax(x: Any, axis: Any = -1) -> Tensor: """Positive weights that add up to one."""
def log_softmax(x: Any, axis: Any = -1) -> Tensor: """The logarithm of the softmax, safe for large entries."""
def layer_norm(x: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05) -> Tensor:
    """The last `axes` axes brought to mean 0 and variance 1, then scaled by `weight` and moved by `bias`."""
def dropout(x: Any, mask: Any) -> Tensor: """Some entries silenced, the others made up for it."""
def scaled_dot_product_attention(query: Any, key: Any, value: Any, bias: Any = None, scale: Any = None) -> Tensor:
    """Each query gathers the values whose keys it resembles: softmax(query @ keyᵀ * scale + bias) @ value."""

# Normalisation
def rms_norm(x: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """The last `axes` axes divided by the root of their mean square, then scaled by `weight`."""
def scaled_channels(x: Any, weight: Any = None, bias: Any = None) -> Tensor:
    """`x * weight + bias`, with one number of each for each channel (axis 1)."""
def batch_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Each channel brought to mean 0 and variance 1 over the whole batch and all places, as in training."""
def batch_norm_inference(
    x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05,
) -> Tensor:
    """Each channel measured by a mean and a variance that were settled before: no example moves them any more."""
def group_norm(x: Any, weight: Any = None, bias: Any = None, num_groups: Any = 1, eps: Any = 1e-05) -> Tensor:
    """The channels of each example in `num_groups` groups, each brought to mean 0 and variance 1 as one row."""
def instance_norm(x: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-05) -> Tensor:
    """Each channel of each example brought to mean 0 and variance 1: groups of one channel."""
def residual_layer_norm(
    x: Any, residual: Any, weight: Any = None, bias: Any = None, axes: Any = 1, eps: Any = 1e-05,
) -> Tensor:
    """A layer's output beside what went past it, together brought to mean 0 and variance 1."""
def residual_rms_norm(x: Any, residual: Any, weight: Any = None, axes: Any = 1, eps: Any = 1e-06) -> Tensor:
    """A layer's output beside what went past it, together divided by the root of their mean square."""

# Transformers
def rope(x: Any, angles: Any, interleaved: Any = False) -> Tensor:
    """Pairs of features turned by the angle of their position (Su et al."""
def rope_angles(x: Any, pairs: Any, base: Any = 10000.0, offset: Any = 0) -> Tensor:
    """The angles of `rope` for the positions of x (..., T, width), counted from `offset`: pair p of position t turns by
    t / base ** (p / pairs)."""
def swiglu(gate: Any, up: Any) -> Tensor: """silu(gate) * up: one half of a layer lets the other through."""
def lora_matmul(x: Any, weight: Any, a: Any, b: Any, scale: Any = 1.0) -> Tensor:
    """A linear layer, and a narrow way round it: `x @ weightᵀ + scale * (x @ aᵀ) @ bᵀ` (Hu et al."""
def grouped_matmul(x: Any, weights: Any, experts: Any) -> Tensor: """Each row times the matrix of its expert."""
def expert_products(a: Any, b: Any, experts: Any, count: Any) -> Tensor:
    """For each expert aᵀ @ b of its own rows: what its matrix receives."""
def masked_softmax(x: Any, axis: Any = -1) -> Tensor:
    """The softmax, in which a row of nothing but minus infinity weighs nothing: 0 everywhere."""
def attention_mask(query: Any, key: Any, allowed: Any = None, causal: Any = False, window: Any = None) -> Tensor:
    """What is added to scores (..., L, S) so that a query looks only where it may: minus infinity elsewhere."""
def soft_capped_attention(
    query: Any, key: Any, value: Any, bias: Any = None, soft_cap: Any = 50.0, scale: Any = None,
) -> Tensor:
    """`scaled_dot_product_attention` whose scores level off at ± `soft_cap`, so that no query stares: they are soft_cap
    * tanh(query @ keyᵀ * scale / soft_cap)."""
def attention(
    query: Any, key: Any, value: Any, bias: Any = None, allowed: Any = None, scale: Any = None, soft_cap: Any = None,
    causal: Any = False, window: Any = None,
) -> Tensor:
    """Attention with all its options: see `scaled_dot_product_attention`, `soft_capped_attention` and
    `attention_mask`."""
def attention_block(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, heads: Any, causal: Any = False,
) -> Tensor:
    """Self-attention in `heads` smaller spaces at once, and a linear layer over what they gathered."""
def transformer_layer(
    x: Any, in_weight: Any, in_bias: Any, out_weight: Any, out_bias: Any, weight1: Any, bias1: Any, weight2: Any,
    bias2: Any, norm1_weight: Any, norm1_bias: Any, norm2_weight: Any, norm2_bias: Any, heads: Any, causal: Any = False,
    norm_first: Any = False, eps: Any = 1e-05,
) -> Tensor:
    """Attention, then two linear layers with a relu between, each with what went past it; normalised after each sum, or
    with `norm_first` before each part (Vaswani et al."""

# Sequences
def rnn(drive: Any, weight: Any, start: Any = None, nonlinearity: Any = "tanh") -> Tensor:
    """States carried along: each is tanh(drive + previous @ weightᵀ)."""
def gated_recurrence(gate: Any, drive: Any, weight: Any, reverse: Any = False) -> Tensor:
    """States carried along the first axis: each is gate * (drive + previous @ weight), starting from 0."""
def lstm_cell(gates: Any, cell: Any) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory (Hochreiter and Schmidhuber 1997): the cell forgets a part of itself and
    takes a candidate in, and the hidden state shows a part of it."""
def gru_cell(drive: Any, recall: Any, hidden: Any) -> Tensor: """One step of a gated recurrent unit (Cho et al."""
def selective_scan(x: Any, delta: Any, A: Any, B: Any, C: Any) -> Tensor:
    """A state space whose step depends on what it reads (Gu and Dao 2023): each channel carries N numbers along, state
    = exp(delta * A) * previous + delta * B * x, and shows C · state."""
def gated_delta_net(query: Any, key: Any, value: Any, decay: Any, rate: Any) -> Tensor:
    """A memory that is corrected (Yang et al."""
def matrix_recurrence(matrices: Any, drive: Any, reverse: Any = False) -> Tensor:
    """States that are matrices, carried along the axis before them: each is previous @ matrix + drive, starting from
    0."""

# Losses
def mse(prediction: Any, target: Any) -> Tensor: """The mean of squared differences."""
def softmax_cross_entropy(logits: Any, target: Any) -> Tensor:
    """What each row of scores makes of its target, in nats: minus the expected log of the softmax."""
def mean_class_cross_entropy(logits: Any, classes: Any) -> Tensor:
    """What rows of scores make of their classes on average, in nats: minus the log of the softmax there."""
def binary_cross_entropy_with_logits(logits: Any, target: Any) -> Tensor:
    """What a score makes of a yes (1) or no (0), entry by entry, safe for large scores of either sign."""

# Quantisation
def fits(x: Any, scale: Any, zero_point: Any, low: Any, high: Any) -> Tensor:
    """Whether a number is rounded to one between `low` and `high`, so that nothing of it is cut off."""
def quantize(x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None) -> Tensor:
    """The nearest whole number of steps, from `low` to `high`: `round(x / scale + zero_point)`, still as floats."""
def dequantize(q: Any, scale: Any, zero_point: Any = 0, *, axis: Any = None) -> Tensor:
    """What whole numbers stand for: `(q - zero_point) * scale`."""
def fake_quantize(
    x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None,
    estimator: Any = "clipped",
) -> Tensor:
    """Rounded as it would be stored, and brought back: training sees the errors that storing would make."""
def fake_quantize_lsq(
    x: Any, step: Any, *, low: Any = -128, high: Any = 127, axis: Any = None, grad_factor: Any = 1.0,
) -> Tensor:
    """Rounded to whole steps and brought back, with a step that is learned (Esser, McKinstry, Bablani, Appuswamy and
    Modha, "Learned step size quantization", 2020)."""
def quantized_matmul(
    a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero_point: Any = 0, b_zero_point: Any = 0, *, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """The product of two matrices that are rounded first, and multiplied as whole numbers."""
def quantized_conv2d(
    x: Any, weight: Any, x_scale: Any, weight_scale: Any, x_zero_point: Any = 0, bias: Any = None, *,
    stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """`conv2d` of an image and weights that are rounded first, over whole numbers."""
def dequantize_blocks(codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Stored weights as numbers: `codes` (..., K, N), with a `scale` and `zero_point` for each `block` of them along K:
    (..., K / block, N)."""
def dequantize_matmul(x: Any, codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """The product with stored weights, `x @ dequantize_blocks(codes, ...)`: x (..., M, K), codes (K, N)."""
def dequantize_grouped_matmul(
    x: Any, codes: Any, scale: Any, experts: Any, zero_point: Any = None, block: Any = 32,
) -> Tensor:
    """Each row multiplied by the stored matrix of its expert: x (R, K), codes (E, K, N), experts (R,)."""

"""Invalid calls, each with its error message: operation, argument, shape and cure."""

import numpy as np
import pytest

import micrograd_plus as mg
import stand_in
from micrograd_plus import nn, ops
from micrograd_plus.backends import devices
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users know


def leaf(*shape):
    """Return the numbers from 1 in a shape, as a leaf."""
    return mg.tensor(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), requires_grad=True)


def iter_into_two(x):
    """Unpack a tensor as PyTorch's `_, indices = x.max(1)` does."""
    _, indices = x
    return indices


def run_import(line):
    """Run a line that imports."""
    exec(line, {})  # noqa: S102 - a line of the table below


def whole_numbers(*numbers):
    return mg.tensor(numbers)


def there():
    return mg.tensor([1.0, 2.0], device="stand-in")


BROADCAST = "two lengths must be equal or one of them 1"
EXPAND = "mg.expand_dims(x, axis)"
CASES = {
    "shapes that do not broadcast": [
        (lambda: leaf(2, 3) + leaf(4), ValueError, "add", "a: (2, 3)", "b: (4,)", BROADCAST, EXPAND),
        (lambda: leaf(2, 3) * leaf(2), ValueError, "multiply", "(2, 3)", "(2,)", BROADCAST, EXPAND),
        (lambda: leaf(2, 3) - np.ones(2), ValueError, "subtract", "(2, 3)", "(2,)", BROADCAST),
        (lambda: np.ones(2) / leaf(2, 3), ValueError, "divide", "(2, 3)", "(2,)", BROADCAST),
        (lambda: [1, 2, 3] * leaf(2), ValueError, "multiply", "(2,)", "(3,)", BROADCAST),
        (lambda: mg.maximum(leaf(2), leaf(5)), ValueError, "maximum", "(2,)", "(5,)", BROADCAST),
        (lambda: mg.where(leaf(2) > 0, leaf(3), 1.0), ValueError, "where", "condition: (2,)", BROADCAST),
        (lambda: mg.mse(leaf(2), leaf(3)), ValueError, "mse", "prediction: (2,)", "(3,)", BROADCAST),
        (lambda: mg.recurrence(leaf(3), leaf(4)), ValueError, "recurrence", "decay (3,)", "drive (4,)"),
        (lambda: mg.broadcast_to(leaf(2, 3), shape=(4, 3)), ValueError, "broadcast_to", "(2, 3)", "(4, 3)"),
    ],
    "numbers of another kind": [
        (lambda: mg.tensor([2, 3]) ** -1, ValueError, "power", "int64", "negative power", "x.astype(float)"),
        (lambda: mg.floor(mg.tensor([1j])), TypeError, "floor", "complex128", "must be real", "x.real"),
        (lambda: mg.arctan2(mg.tensor([1j]), leaf(1)), TypeError, "arctan2", "a: (1,) complex128", "mg.abs(x)"),
        (lambda: -mg.tensor([True]), TypeError, "negative", "bool", "these are booleans", "x.astype(float)"),
        (lambda: mg.astype(leaf(1), dtype="U3"), TypeError, "astype", "<U3 is no dtype of numbers", "'float32'"),
        (lambda: mg.astype(leaf(1), dtype=object), TypeError, "astype", "object is no dtype of numbers"),
    ],
    "an empty argument where one entry is required": [
        (lambda: mg.max(leaf(0)), ValueError, "max", "x is empty (shape (0,)); the max of an empty array"),
        (lambda: mg.argmin(leaf(0)), ValueError, "argmin", "x is empty (shape (0,)); the argmin of"),
        (lambda: mg.min(leaf(2, 0), axis=1), ValueError, "min", "x is empty (shape (2, 0)); the min of"),
    ],
    "shapes that entries do not fill": [
        (lambda: leaf(2, 3).reshape(4), ValueError, "reshape", "(2, 3)", "6 entries", "(4,)", "-1"),
        (lambda: leaf(2, 3).reshape(-1, -1), ValueError, "reshape", "(-1, -1)", "one of them may be -1"),
        (lambda: leaf(2, 3).reshape(-1, 4), ValueError, "reshape", "(-1, 4)", "whose product is 6"),
        (lambda: leaf(2, 3).reshape("a"), TypeError, "reshape", "whole numbers"),
        (lambda: mg.squeeze(leaf(2, 3), axis=0), ValueError, "squeeze", "(2, 3)", "axes of length 1"),
    ],
    "axes": [
        (lambda: leaf(2, 3).sum(axis=2), IndexError, "sum", "axis 2", "(2, 3)", "from -2 to 1"),
        (lambda: leaf(2, 3).mean(axis=-3), IndexError, "mean", "axis -3", "(2, 3)", "from -2 to 1"),
        (lambda: leaf(2, 3).max(axis=5), IndexError, "max", "axis 5", "from -2 to 1"),
        (lambda: leaf(2, 3).var(axis=(0, 2)), IndexError, "var", "axis 2", "from -2 to 1"),
        (lambda: leaf().sum(axis=1), IndexError, "sum", "axis 1", "a single number has no axes"),
        (lambda: mg.softmax(leaf(2, 3), axis=2), IndexError, "softmax", "axis 2", "from -2 to 1"),
        (lambda: mg.logsumexp(leaf(2, 3), axis=4), IndexError, "logsumexp", "axis 4", "from -2 to 1"),
        (lambda: mg.norm(leaf(2, 3), axis=4), IndexError, "norm", "axis 4", "from -2 to 1"),
        (lambda: mg.cumsum(leaf(2, 3), axis=2), IndexError, "cumsum", "axis 2", "from -2 to 1"),
        (lambda: mg.sort(leaf(2, 3), axis=2), IndexError, "sort", "axis 2", "from -2 to 1"),
        (lambda: mg.topk(leaf(2, 3), k=1, axis=4), IndexError, "topk", "axis 4", "from -2 to 1"),
        (lambda: mg.flip(leaf(2, 3), axis=3), IndexError, "flip", "axis 3", "from -2 to 1"),
        (lambda: mg.swapaxes(leaf(2, 3), 0, 3), IndexError, "swapaxes", "axis 3", "from -2 to 1"),
        (lambda: mg.moveaxis(leaf(2, 3), 0, 3), IndexError, "moveaxis", "axis 3", "from -2 to 1"),
        (lambda: leaf(2, 3).transpose((0, 2)), IndexError, "transpose", "axis 2", "from -2 to 1"),
        (lambda: mg.expand_dims(leaf(2, 3), axis=3), IndexError, "expand_dims", "axis 3", "from -3 to 2"),
        (lambda: mg.stack([leaf(2), leaf(2)], axis=2), IndexError, "stack", "axis 2", "from -2 to 1"),
        (lambda: mg.concatenate([leaf(2)], axis=1), IndexError, "concatenate", "axis 1", "from -1 to 0"),
        (lambda: mg.unstack(leaf(2, 5), axis=4), IndexError, "unstack", "axis 4", "from -2 to 1"),
        (lambda: leaf(2, 3).sum(axis=(0, 0)), ValueError, "sum", "axis=(0, 0) names axis 0 twice", "(2, 3)"),
        (lambda: leaf(2, 3).sum(axis=(0, -2)), ValueError, "sum", "names axis -2 twice", "(2, 3)"),
        (lambda: leaf(2, 3).mean(axis=(1, 1)), ValueError, "mean", "names axis 1 twice"),
        (lambda: leaf(2, 3).transpose((0, 0)), ValueError, "transpose", "names axis 0 twice"),
        (lambda: mg.expand_dims(leaf(2, 3), axis=(0, 0)), ValueError, "expand_dims", "names axis 0 twice"),
        (lambda: leaf(2, 3).transpose(0), ValueError, "transpose", "each of the 2 axes", "exactly once"),
        (lambda: mg.moveaxis(leaf(2, 3), (0, 1), 1), ValueError, "moveaxis", "the same number of axes"),
        (lambda: mg.diagonal(leaf(3, 3), axis1=0, axis2=0), ValueError, "diagonal", "must differ"),
        (lambda: mg.diagonal(leaf(3)), ValueError, "diagonal", "(3,)", "two axes"),
        (lambda: leaf(2, 3).sum(axis="rows"), TypeError, "sum", "axis='rows'", "a whole number"),
        (lambda: leaf(2, 3).sum(axis=1.0), TypeError, "sum", "axis=1.0", "a whole number"),
    ],
    "replaced values with another shape than the selection": [
        (lambda: ops.put_take(leaf(2, 3), [0, 2, 2], shape=(4,), axis=0), ValueError, "put_take", "(2, 3) and (3,)",
         "x as returned by `take`"),
        (lambda: ops.put_take(leaf(1), [0, 2, 2], shape=(4,), axis=0), ValueError, "put_take", "(1,) and (3,)"),
        (lambda: ops.put_add(leaf(1, 3), shape=(4,), index=slice(3)), ValueError, "put_add", "(1, 3) and (3,)",
         "x as returned by `getitem`"),
        (lambda: ops.put_add(leaf(1, 3), shape=(4,), index=([0, 1, 1],)), ValueError, "put_add", "(1, 3) and (3,)"),
        (lambda: ops.put_along_axis_add(leaf(2), [0, 1], shape=(3, 4), axis=1), ValueError, "put_along_axis_add",
         "x as returned by `take_along_axis`"),
        (lambda: ops.unresample(leaf(2, 7), shape=(3, 5)), ValueError, "unresample", "(2, 7) and (3, 7)"),
        (lambda: mg.scatter_add(leaf(3, 4), 0, [0, 1], leaf(2)), ValueError, "scatter_add", "index has shape (2,)",
         "as many axes as x"),
    ],
    "a weight or a bias that would broadcast": [
        (lambda: mg.inner(leaf(3, 2), leaf(1)), ValueError, "inner", "axis 1 of a (3, 2)", "axis 0 of b (1,)"),
        (lambda: mg.dot(leaf(2, 1), leaf(2, 3, 4)), ValueError, "dot", "axis 1 of a (2, 1)", "axis 1 of b (2, 3, 4)"),
        (lambda: mg.tensordot(leaf(2, 1), leaf(3, 4), 1), ValueError, "tensordot", "axis 1 of a (2, 1)"),
        (lambda: F.linear(leaf(4, 3), leaf(1, 2, 3)), ValueError, "linear_layer", "weight (1, 2, 3)", "last axis"),
        (lambda: mg.conv2d(leaf(1, 2, 4, 4), leaf(3, 2, 2, 2), leaf(1, 3)), ValueError, "conv2d", "3 channels",
         "(1, 3)"),
        (lambda: F.conv_transpose1d(leaf(1, 2, 4), leaf(2, 3, 2), leaf(1)), ValueError, "conv_transpose1d",
         "each of 3 channels", "(1,)"),
        (lambda: F.batch_norm(leaf(4, 3), leaf(3), leaf(3), leaf(1, 3)), ValueError, "batch_norm", "3 channels",
         "(1, 3)"),
        (lambda: F.batch_norm(leaf(4, 3), leaf(1), leaf(3)), ValueError, "batch_norm", "each of 3 channels", "(1,)"),
        (lambda: F.batch_norm(leaf(4, 3), None, None, bias=leaf(3, 1), training=True), ValueError, "3 channels",
         "(3, 1)"),
        (lambda: F.group_norm(leaf(2, 4, 3), 2, leaf(1, 4)), ValueError, "group_norm", "each of 4 channels", "(1, 4)"),
        (lambda: F.instance_norm(leaf(2, 4, 3), bias=leaf(4, 1)), ValueError, "instance_norm", "4 channels", "(4, 1)"),
        (lambda: F.layer_norm(leaf(4), 4, leaf(1, 4)), ValueError, "layer_norm", "have the shape (4,)", "got (1, 4)"),
        (lambda: F.layer_norm(leaf(2, 4), 4, bias=leaf(1)), ValueError, "layer_norm", "shape (4,)", "got (1,)"),
        (lambda: F.rms_norm(leaf(2, 4), 4, leaf(2, 4)), ValueError, "rms_norm", "have the shape (4,)", "got (2, 4)"),
    ],
    "parts that do not join": [
        (lambda: mg.stack([leaf(2), leaf(3)]), ValueError, "stack", "(2,)", "(3,)", "mg.concatenate"),
        (lambda: mg.stack([]), ValueError, "stack", "at least one"),
        (lambda: mg.stack(3), TypeError, "stack", "a list or a tuple", "int"),
        (lambda: mg.concatenate([leaf(2, 3), leaf(2, 4)]), ValueError, "concatenate", "(2, 4)", "mg.stack"),
        (lambda: mg.concatenate([leaf(2, 3), leaf(3)]), ValueError, "concatenate", "(3,)", "the same shape"),
        (lambda: mg.concatenate([]), ValueError, "concatenate", "at least one"),
        (lambda: mg.concatenate(leaf(2), leaf(2)), (TypeError, ValueError), "concatenate", "in a list"),
        (lambda: mg.tensor([leaf(1), leaf(1)]), TypeError, "mg.tensor", "mg.stack", "mg.concatenate"),
        (lambda: mg.repeat(leaf(2, 3), -1), ValueError, "repeat", "not negative"),
        (lambda: mg.repeat(leaf(2, 3), (1, 2, 3), axis=0), ValueError, "repeat", "one for each entry"),
        (lambda: mg.tile(leaf(2), -1), ValueError, "tile", "not negative"),
    ],
    "indices": [
        (lambda: leaf(2, 3)[2], IndexError, "getitem", "index 2", "(2, 3)", "-n to n - 1"),
        (lambda: leaf(2, 3)[0, -4], IndexError, "getitem", "index -4", "(2, 3)"),
        (lambda: leaf(2, 3)[0, 0, 0], IndexError, "getitem", "too many indices", "(2, 3)"),
        (lambda: leaf(2, 3)[1.5], IndexError, "getitem", "index=1.5", "integers"),
        (lambda: leaf(2, 3)["a"], IndexError, "getitem", "index='a'", "integers"),
        (lambda: leaf(2, 3)[[True, False, True]], IndexError, "getitem", "boolean", "(2, 3)"),
        (lambda: leaf(2, 3)[mg.tensor([0.5])], IndexError, "getitem", "float64", "integer"),
        (lambda: mg.take(leaf(2, 3), [7], axis=1), IndexError, "take", "index 7", "(2, 3)"),
        (lambda: mg.take(leaf(2, 3), [0.5]), TypeError, "take", "indices: (1,) float64"),
        (lambda: mg.take_along_axis(leaf(2, 3), whole_numbers(0)), ValueError, "take_along_axis", "as many axes"),
        (lambda: mg.scatter_add(leaf(3), 0, whole_numbers(5), leaf(1)), IndexError, "scatter_add", "index 5"),
        (lambda: mg.topk(leaf(2, 3), k=5), ValueError, "topk", "k=5", "length 3"),
        (lambda: F.embedding(whole_numbers(0, 5), leaf(4, 2)), IndexError, "embedding", "5 is out", "0 to 3"),
        (lambda: F.embedding(whole_numbers(-1), leaf(4, 2)), IndexError, "embedding", "-1 is out of range"),
        (lambda: F.embedding(mg.tensor([0.5]), leaf(4, 2)), TypeError, "embedding", "whole", "float64"),
        (lambda: F.one_hot(whole_numbers(3), 2), IndexError, "one_hot", "3 is out of range", "0 to 1"),
    ],
    "products": [
        (lambda: leaf(2, 3) @ leaf(2, 3), ValueError, "matmul", "a (2, 3)", "b (2, 3)", "b.mT"),
        (lambda: leaf(2, 3) @ leaf(4), ValueError, "matmul", "(2, 3)", "(4, 1)"),
        (lambda: leaf(2, 2, 3) @ leaf(3, 3, 2), ValueError, "matmul", "(2, 2, 3)", "must broadcast"),
        (lambda: leaf(2, 3) @ 3, ValueError, "matmul", "(2, 3)", "()"),
        (lambda: mg.einsum("ij,jk", leaf(2, 3), leaf(2, 3)), ValueError, "einsum", "'ij,jk->ik'", "(2, 3)"),
        (lambda: mg.einsum("ij,jk->ik", leaf(2, 3)), ValueError, "einsum", "2 operands", "1 were given"),
        (lambda: mg.einsum("ijk->i", leaf(2, 3)), ValueError, "einsum", "'ijk' names 3 axes", "has 2"),
        (lambda: mg.einsum("ij->ik", leaf(2, 3)), ValueError, "einsum", "'k'", "'ij->ik'"),
        (lambda: mg.einsum("i1->i", leaf(2, 3)), ValueError, "einsum", "'1'", "letter"),
        (lambda: mg.einsum("ii->i", leaf(2, 3)), ValueError, "einsum", "'ii->i'", "one length"),
        (lambda: mg.tensordot(leaf(2), leaf(2), axes=((0,), (5,))), IndexError, "tensordot", "axis 5"),
        (lambda: F.linear(leaf(2, 3), leaf(4, 5)), ValueError, "linear", "(2, 3)", "(4, 5)", "last axis"),
        (lambda: F.linear(leaf(2, 3), leaf(4, 3), leaf(3)), ValueError, "linear", "bias: (3,)", "row of"),
    ],
    "images": [
        (lambda: F.conv2d(leaf(1, 3, 4, 4), leaf(2, 4, 2, 2)), ValueError, "conv2d", "(2, 4, 2, 2)"),
        (lambda: F.conv2d(leaf(4, 4), leaf(2, 3, 2, 2)), ValueError, "conv2d", "(4, 4)", "images"),
        (lambda: F.conv2d(leaf(1, 3, 4, 4), leaf(2, 3, 5, 5)), ValueError, "conv2d", "(5, 5)", "larger"),
        (lambda: F.conv2d(leaf(1, 3, 4, 4), leaf(2, 3, 2, 2), leaf(3)), ValueError, "conv2d", "bias", "(3,)"),
        (lambda: F.conv2d(leaf(1, 4, 4, 4), leaf(3, 2, 2, 2), groups=2), ValueError, "conv2d", "groups=2"),
        (lambda: mg.conv2d(leaf(3, 4, 4), leaf(2, 3, 2, 2)), ValueError, "conv2d", "x: (3, 4, 4)", "images"),
        (lambda: mg.conv2d(leaf(1, 3, 4, 4), leaf(2, 4, 2, 2)), ValueError, "conv2d", "channels / groups"),
        (lambda: F.max_pool2d(leaf(1, 1, 3, 3), 5), ValueError, "max_pool2d", "(5, 5)", "larger", "(3, 3)"),
        (lambda: F.max_pool2d(leaf(1, 1, 3, 3), 2, padding=2), ValueError, "max_pool2d", "(2, 2)", "half"),
        (lambda: F.max_pool2d(leaf(3, 3), 2), ValueError, "max_pool2d", "(3, 3)", "images"),
        (lambda: F.avg_pool2d(leaf(1, 1, 3, 3), 5), ValueError, "avg_pool2d", "(5, 5)", "(3, 3)"),
        (lambda: F.unfold(leaf(3, 3), 2), ValueError, "unfold", "(3, 3)", "images"),
        (lambda: F.fold(leaf(1, 5, 4), (3, 3), (2, 2)), ValueError, "fold", "(1, 5, 4)", "windows"),
    ],
    "loops and branches": [
        (lambda: mg.scan(3, 0.0, leaf(2)), TypeError, "scan expects a function"),
        (lambda: mg.scan(lambda c, x: c, 0.0, leaf(2)), TypeError, "scan", "(carry, y)", "Tensor"),
        (lambda: mg.scan(lambda c, x: (c, c), 0.0, length=-1), ValueError, "scan: length", "at least 0", "-1"),
        (lambda: mg.scan(lambda c, x: (c + 1, None if c.item() else x), 0.0, leaf(2)), ValueError, "scan", "None in"),
        (lambda: mg.scan(lambda c, x: (c + 1, [x] * (1 + int(c.item()))), 0.0, leaf(2)), ValueError, "each y", "of 1"),
        (lambda: mg.cond(True, 3, 4), TypeError, "cond expects a function"),
        (lambda: mg.cond(None, mg.sin, mg.cos, leaf(2)), TypeError, "cond", "a single boolean", "NoneType"),
        (lambda: mg.while_loop(lambda x: None, mg.sin, leaf(), 3), TypeError, "while_loop", "single boolean", "None"),
        (lambda: mg.while_loop(3, mg.sin, leaf(), 3), TypeError, "while_loop expects a function"),
        (lambda: mg.while_loop(lambda x: x < 0, mg.sin, leaf(), -1), ValueError, "max_iterations", "at least 0"),
    ],
    "definitions": [
        (lambda: mg.op(3), TypeError, "an operation needs a function forward(xp, ", "3"),
        (lambda: mg.elementwise(lambda xp, x: x), TypeError, "elementwise() takes 0 positional arguments"),
        (lambda: mg.tanh.rule("x")(3), TypeError, "the rule tanh.x must be a function", "3"),
        (lambda: mg.tanh.rule("y")(lambda upstream: upstream), TypeError, "tanh has no input 'y'", "it has x"),
        (lambda: mg.tanh.rule("x")(lambda uptream: uptream), TypeError, "tanh.x reads 'uptream'", "upstream"),
    ],
    "a layer called without a tensor": [
        (lambda: nn.Unflatten(1, (1, 2))([[1.0, 2.0]]), TypeError, "Unflatten: expected a tensor, got list",
         "mg.tensor(...)"),
        (lambda: nn.BatchNorm1d(2)([[1.0, 2.0]]), TypeError, "BatchNorm1d: expected a tensor, got list"),
        (lambda: nn.Sequential(nn.LSTM(2, 3))(None), TypeError, "LSTM: expected a tensor, got None", "return"),
        (lambda: nn.Flatten()(None), TypeError, "flatten: x: expected a tensor, got None", "return its result?"),
        (lambda: nn.Linear(2, 3)(None), TypeError, "linear_layer: x: expected numbers, got None", "return its result?"),
        (lambda: nn.MultiheadAttention(2, 1)("a", "b", "c"), TypeError, "expected a tensor, got str"),
        (lambda: nn.GRUCell(2, 3)((1.0, 2.0)), TypeError, "GRUCell: expected a tensor, got tuple", "mg.tensor(...)"),
        (lambda: F.conv2d([[[[1.0]]]], leaf(1, 1, 1, 1)), TypeError, "conv2d: expected a tensor, got list"),
        (lambda: F.max_pool1d(2.0, 1), TypeError, "max_pool1d: expected a tensor, got float"),
    ],
    "names of another library": [
        (lambda: mg.where(leaf(2), leaf(2) > 0, 1.0), TypeError, "boolean", "where(condition, x, y)", "(2,) float64"),
        (lambda: mg.where([1, 0], leaf(2), 1.0), TypeError, "condition must be boolean", "write condition != 0"),
        (lambda: mg.where(2.0, leaf(2), 1.0), TypeError, "condition must be boolean", "got 2.0"),
        (lambda: leaf(2).where(leaf(2) > 0, 1.0), AttributeError, "no 'where'", "mg.where(condition, x, y)"),
        (lambda: leaf(2).tile(2), AttributeError, "a tensor has no 'tile': write mg.tile(x, ...)"),
        (lambda: leaf(2).sin_(), AttributeError, "no 'sin_': nothing is overwritten; write y = mg.sin(x, ...)"),
        (lambda: mg.Tensor.split, AttributeError, "mg.split(x, range(n, x.shape[axis], n), axis)"),
        (lambda: leaf(2).view(float), TypeError, "x.view takes a shape", "x.astype(dtype)"),
        (lambda: leaf(2, 3, 4).t(), ValueError, "x.t()", "(2, 3, 4)", "x.mT"),
        (lambda: leaf(2, 3).gather(1, whole_numbers(0)), ValueError, "x.gather", "(1,)", "(2, 3)"),
        (lambda: leaf(2).chunk(0), ValueError, "x.chunk", "at least 1", "0"),
        (lambda: iter_into_two(leaf(3)), ValueError, "2 names", "length 3", "x.max(axis=1) and x.argmax(1)"),
        (lambda: mg.load("x.npz", weights_only=False), ValueError, "load", "weights_only"),
        (lambda: (leaf(2) * 1).data.clone(1), AttributeError, "an array of NumPy's", "'clone'", "y.clone"),
        (lambda: mg.autograd.grad(leaf(2).sum(), leaf(2)), RuntimeError, "grad", "no part", "allow_unused=True"),
        (lambda: mg.autograd.grad(leaf(2).sum(), mg.ones(2)), RuntimeError, "grad", "requires_grad=True"),
        (lambda: mg.multinomial([-1.0, 2.0], 1), ValueError, "multinomial", "at least 0"),
        (lambda: run_import("from micrograd_plus.utils.data import Dataset"), ImportError, "no 'utils'", "x[i:i + n]"),
        (lambda: run_import("from micrograd_plus.special import erf"), ImportError, "write from micrograd_plus import"),
        (lambda: run_import("from micrograd_plus.nn.parameter import Parameter"), ImportError, "nn import Parameter"),
        (lambda: leaf(2).clamp_min_(0.0), AttributeError, "no 'clamp_min_'", "write y = mg.maximum(x, low)"),
        (lambda: leaf(2).index_put_(0, 1.0), AttributeError, "no 'index_put_': write x[index] = values"),
        (lambda: run_import("from micrograd_plus import Dataset"), ImportError, "no 'Dataset'", "index it"),
        (lambda: run_import("from micrograd_plus.nn.utils.rnn import pad_sequence"), ImportError, "no 'rnn'", "mask"),
        (lambda: run_import("from micrograd_plus.autograd import Variable"), ImportError, "requires_grad=True"),
        (lambda: run_import("import micrograd_plus.func"), ImportError, "no 'func'", "mg.vjp"),
    ],
    "networks and losses": [
        (lambda: F.cross_entropy(leaf(3, 4), whole_numbers(0, 1, 4)), IndexError, "cross_entropy", "class 4", "0 to"),
        (lambda: F.cross_entropy(leaf(3, 4), whole_numbers(0, 1, -1)), IndexError, "cross_entropy", "class -1"),
        (lambda: F.cross_entropy(leaf(3, 4), whole_numbers(0, 1)), ValueError, "cross_entropy", "(3, 4)", "(2,)"),
        (lambda: F.cross_entropy(leaf(3, 4), leaf(3)), ValueError, "cross_entropy", "integers"),
        (lambda: F.cross_entropy(leaf(3, 4), leaf(3, 5)), ValueError, "cross_entropy", "(3, 4)", "(3, 5)"),
        (lambda: F.nll_loss(leaf(1, 4), whole_numbers(0), reduction="avg"), ValueError, "'avg'", "'mean'"),
        (lambda: F.mse_loss(leaf(3, 1), leaf(3)), ValueError, "mse_loss", "(3, 1)", "(3,)", "reshape"),
        (lambda: F.binary_cross_entropy_with_logits(leaf(3, 1), leaf(3)), ValueError, "(3, 1)", "(3,)"),
        (lambda: F.binary_cross_entropy(leaf(3), leaf(3)), ValueError, "between 0 and 1", "with_logits"),
        (lambda: F.layer_norm(leaf(2, 3), 4), ValueError, "layer_norm", "(2, 3)", "(4,)"),
        (lambda: F.layer_norm(leaf(2, 3), 3, leaf(4)), ValueError, "layer_norm", "weight and bias", "(3,), got (4,)"),
        (lambda: F.dropout(leaf(3), 1.5), ValueError, "dropout", "between 0 and 1", "1.5"),
        (lambda: F.scaled_dot_product_attention(leaf(2, 3), leaf(2, 4), leaf(2, 4)), ValueError, "(2, 3)"),
        (lambda: F.scaled_dot_product_attention(leaf(2, 3), leaf(4, 3), leaf(4, 3), attn_mask=leaf(3, 3)),
         ValueError, "attention", "(3, 3)", "(..., L, S)"),
    ],
    "data that are no numbers": [
        (lambda: mg.tensor([[1, 2], [3]]), ValueError, "mg.tensor", "same length"),
        (lambda: mg.tensor([[1, 2], 3]), ValueError, "mg.tensor", "same length"),
        (lambda: mg.tensor(["a", "b"]), TypeError, "mg.tensor", "text", "float()"),
        (lambda: mg.tensor(b"abc"), TypeError, "mg.tensor", "bytes"),
        (lambda: mg.tensor([None, 1]), TypeError, "mg.tensor", "objects"),
        (lambda: mg.tensor({"a": 1}), TypeError, "mg.tensor", "objects"),
        (lambda: mg.tensor(np.datetime64("2020-01-01")), TypeError, "mg.tensor", "dates"),
        (lambda: mg.tensor([1.0], dtype="float99"), TypeError, "no dtype 'float99'", "'float32'"),
        (lambda: mg.tensor([1.0], dtype=object), TypeError, "mg.tensor", "objects"),
        (lambda: mg.tensor([1j], dtype=float), TypeError, "complex128", "imaginary", "x.real"),
        (lambda: leaf(2).astype("abc"), TypeError, "astype", "'abc'"),
        (lambda: mg.tanh("abc"), TypeError, "tanh", "x", "text"),
        (lambda: mg.tanh(None), TypeError, "tanh", "x", "got None", "return its result?"),
        (lambda: mg.tanh([[1, 2], [3]]), ValueError, "tanh", "same length"),
        (lambda: leaf(2) + "a", TypeError, "add", "b", "text"),
        (lambda: leaf(2) + None, TypeError, "add", "b", "got None"),
        (lambda: "a" * leaf(2), TypeError, "multiply", "text"),
        (lambda: leaf(2) ** {}, TypeError, "power", "exponent", "objects"),
    ],
    "arguments": [
        (mg.tanh, TypeError, "tanh", "'x'"),
        (lambda: mg.tanh(leaf(2), axis=1), TypeError, "tanh", "'axis'"),
        (lambda: mg.max(leaf(2), dim=0), TypeError, "max", "'dim'", "axis="),
        (lambda: mg.matmul(leaf(2, 2)), TypeError, "matmul", "'b'"),
        (lambda: mg.reshape(leaf(2)), TypeError, "reshape", "'shape'"),
        (lambda: mg.tanh(leaf(2), x=leaf(2)), TypeError, "tanh", "'x'"),
        (lambda: mg.tanh(leaf(2), 3), TypeError, "tanh"),
        (lambda: mg.tensor([1.0], grad=True), TypeError, "tensor", "'grad'"),
        (lambda: mg.no_such_thing, AttributeError, "micrograd_plus", "no_such_thing"),
    ],
    "gradients that cannot be": [
        (lambda: mg.tensor([1, 2], requires_grad=True), TypeError, "int64", "floats", "dtype=float"),
        (lambda: mg.tensor([True], requires_grad=True), TypeError, "bool", "dtype=float"),
        (whole_numbers(1, 2).requires_grad_, TypeError, "int64", "floats"),
        (lambda: leaf(2).backward(), RuntimeError, "(2,)", ".sum()", "backward(gradient)"),
        ((leaf(2, 3) * 2).backward, RuntimeError, "(2, 3)", ".mean()"),
        (lambda: (leaf(2) * 2).backward([1.0, 2.0, 3.0]), ValueError, "(3,)", "(2,)", "equal"),
        (lambda: (leaf(2) * 2).backward(1.0), ValueError, "()", "(2,)"),
        (lambda: (leaf(2) * 2).backward("ab"), TypeError, "gradient", "text"),
        (lambda: (leaf(2) * 2).backward([1j, 2.0]), TypeError, "complex128", "float64"),
        (lambda: mg.tensor(2.0).backward(), RuntimeError, "requires_grad=True", "no graph", "no_grad"),
        (lambda: mg.argmax(leaf(2)).backward(), RuntimeError, "requires_grad=True"),
        (lambda: (leaf(2) * 2).astype(int).sum().backward(), RuntimeError, "no graph"),
        (lambda: leaf(2).register_hook(3), TypeError, "register_hook", "a function", "3"),
        (lambda: leaf(2).register_post_accumulate_grad_hook(3), TypeError, "register_post", "a function", "3"),
        (lambda: (leaf(2) * 2).register_post_accumulate_grad_hook(print), RuntimeError, "leaves", "register_hook"),
        (lambda: mg.tensor([1.0]).register_hook(print), RuntimeError, "register_hook", "requires_grad=True"),
        (mg.tensor([1.0]).retain_grad, RuntimeError, "retain_grad", "requires_grad=True"),
        (lambda: setattr(leaf(2), "grad", leaf(3)), ValueError, "(2,)", "(3,)"),
        (lambda: setattr(leaf(2), "grad", [1j, 2.0]), TypeError, "complex128", "float64", "real part"),
        (lambda: setattr(mg.tensor(1.0), "grad", 1.0), RuntimeError, "requires_grad=True"),
        (lambda: setattr(leaf(2) * 2, "requires_grad", False), RuntimeError, "x.detach()"),
    ],
    "writes": [
        (lambda: leaf(2).__iadd__(1), RuntimeError, "x += ...", "with mg.no_grad(): x += ...", "x = x + ..."),
        (lambda: leaf(2).__itruediv__(1), RuntimeError, "x /= ...", "x = x / ..."),
        (lambda: leaf(2).__setitem__(0, 1), RuntimeError, "with mg.no_grad(): x[...] = ...", "mg.where"),
        (lambda: mg.tensor([1.0, 2.0]).__setitem__(5, 1), IndexError, "x[5] = 1", "(2,)"),
        (lambda: mg.tensor([1.0, 2.0]).__setitem__(0, "a"), TypeError, "x[0] = 'a'", "(2,)", "text"),
        (lambda: mg.tensor([1.0, 2.0]).__setitem__(0, None), TypeError, "x[0] = None", "(2,)", "got None"),
        (lambda: mg.tensor([1.0, 2.0]).__setitem__(0, 1j), TypeError, "x[0] = 1j", "imaginary parts"),
        (lambda: mg.tensor([1.0, 2.0]).assign([1j, 2]), TypeError, "assign", "imaginary parts", "x.real"),
        (lambda: leaf(2).assign([1, 2, 3]), ValueError, "(3,)", "(2,)"),
        (lambda: leaf(2).assign("ab"), TypeError, "assign", "text"),
        (lambda: (leaf(2) * 2).assign([1, 2]), RuntimeError, "a result cannot be assigned to", "x.detach()"),
        (lambda: setattr(leaf(2) * 2, "data", [1, 2]), RuntimeError, "a result cannot be assigned to"),
    ],
    "one number where there are several": [
        (lambda: bool(leaf(2)), ValueError, "(2,)", "mg.any(x)", "mg.where"),
        (lambda: float(leaf(2)), ValueError, "float(x) needs a tensor of one entry", "(2,)"),
        (lambda: leaf(2, 3).item(), ValueError, "one entry", "(2, 3)"),
        (lambda: len(leaf()), TypeError, "shape ()", "no length"),
        (lambda: list(leaf()), TypeError, "shape ()", "iterated"),
        (lambda: [1, 2][leaf()], TypeError, "index", "float64"),
    ],
    "NumPy's functions": [
        (lambda: np.concatenate([leaf(2), leaf(2)]), TypeError, "lose the graph", "mg function", "x.numpy()"),
        (lambda: np.asarray(leaf(2)), TypeError, "lose the graph", "x.numpy()"),
        (lambda: np.sum(leaf(2)), TypeError, "np.sum", "lose the graph", "mg function", "x.numpy()"),
        (lambda: np.linalg.norm(leaf(2)), TypeError, "np.linalg.norm would lose the graph", "x.numpy()"),
        (lambda: np.modf(leaf(2)), TypeError, "np.modf", "mg function", "x.numpy()"),
        (lambda: np.add.reduce(leaf(2)), TypeError, "np.add", "mg function"),
        (lambda: np.ones(2).__iadd__(leaf(2)), TypeError, "np.add", "not in place", "x.numpy()"),
    ],
    "devices": [
        (lambda: mg.tensor([1.0], device="gpu"), ValueError, "'gpu'", "cpu, cuda"),
        (lambda: leaf(2).to("gpu"), ValueError, "'gpu'", "cpu, cuda"),
        (lambda: leaf(2) + there(), RuntimeError, "add", "x.to('cpu')"),
        (lambda: leaf(2, 2) @ there(), RuntimeError, "matmul", "x.to("),
        (lambda: leaf(2).backward(there()), RuntimeError, "upstream", ".to('cpu')"),
    ],
    "transforms": [
        (lambda: mg.grad(lambda x: x)(leaf(2)), ValueError, "<lambda>", "(2,)", ".sum()", "mg.jacobian"),
        (lambda: mg.grad(lambda x: 3.0)(leaf(2)), TypeError, "<lambda>", "float"),
        (lambda: mg.grad(lambda x: None)(leaf(2)), TypeError, "must return a tensor, got None; does <lambda> return"),
        (lambda: mg.grad(lambda x: x.sum())(whole_numbers(1, 2)), TypeError, "argument 0", "int64", "astype(float)"),
        (lambda: mg.grad(lambda x: x.sum(), argnums=3)(leaf(2)), TypeError, "argument 3", "1 positional argument"),
        (lambda: mg.jvp(lambda x: x, (leaf(2),), (leaf(3),)), ValueError, "jvp", "(3,)", "(2,)"),
        (lambda: mg.jvp(lambda x: x, (leaf(2),), ()), ValueError, "jvp", "1 inputs", "0 tangents"),
        (lambda: mg.vjp(lambda x: x * 1, leaf(2))[1](leaf(3)), ValueError, "(3,)", "(2,)"),
        (lambda: mg.jacobian(lambda x: 3.0)(leaf(2)), TypeError, "jacobian", "float"),
        (lambda: mg.gradcheck(lambda x: 3.0, (leaf(2),)), TypeError, "gradcheck", "float"),
        (lambda: mg.grad(leaf(2).sum()), TypeError, "grad expects a function", "() float64", "f itself, not f(x)"),
        (lambda: mg.value_and_grad(3), TypeError, "value_and_grad expects a function"),
        (lambda: mg.jacobian(3), TypeError, "jacobian expects a function"),
        (lambda: mg.hessian(3), TypeError, "hessian expects a function"),
        (lambda: mg.vjp(3, leaf(2)), TypeError, "vjp expects a function"),
        (lambda: mg.jvp(3, (leaf(2),), (leaf(2),)), TypeError, "jvp expects a function"),
        (lambda: mg.checkpoint(3), TypeError, "checkpoint expects a function"),
        (lambda: mg.checkpoint_sequential([3], 1, leaf(2)), TypeError, "checkpoint_sequential expects a function"),
        (lambda: mg.checkpoint_sequential([mg.sin], "x", leaf(2)), TypeError, "segments must be a whole number", "'x'"),
        (lambda: mg.custom_vjp(3), TypeError, "expects a function"),
        (lambda: mg.grad(lambda x: x.sum(), argnums=(0, 0)), TypeError, "argnums", "different ones", "(0, 0)"),
        (lambda: mg.grad(lambda x: x.sum(), argnums="x"), TypeError, "argnums", "number of an argument", "'x'"),
        (lambda: mg.jacobian(lambda x: x, argnums=(0, 1)), TypeError, "jacobian", "one argument", "(0, 1)"),
        (lambda: mg.jacobian(lambda x: x, argnums=5)(leaf(2)), TypeError, "argument 5", "1 positional argument"),
        (lambda: mg.jacobian(lambda x: mg.exp(1j * x))(leaf(2)), TypeError, "jacobian: <lambda>", "complex128", "jvp"),
        (lambda: mg.jacobian(lambda x: x)(mg.tensor([1, 2])), TypeError, "argument 0 of <lambda>", "floats"),
        (lambda: mg.hvp(lambda x: x.sum(), leaf(2), leaf(3)), ValueError, "hvp: a tangent of shape (3,)", "(2,)"),
        (lambda: mg.jacobian(lambda x: 3.0)(leaf(2)), TypeError, "jacobian", "return a tensor", "float"),
        (lambda: mg.hvp(lambda x: x.sum(), (leaf(2),), (leaf(2),)), TypeError, "hvp", "mg.hvp(f, x, v)", "not tuples"),
        (lambda: mg.grad(lambda x: x, argnum=1), TypeError, "grad has no argument 'argnum': write argnums="),
        (lambda: mg.hessian(lambda x: x, numargs=1), TypeError, "hessian has no argument 'numargs'", "has f, argnums"),
        (lambda: mg.grad(lambda p: p["w"])({"w": 1.0, "b": [None]}), TypeError, "<lambda>['b'][0] is None", "apart"),
        (lambda: mg.grad(lambda x: 1j * x)(2.0), TypeError, "return a real number", "complex128", "mg.abs(out)"),
        (lambda: mg.grad(lambda x: x.sum(), has_aux=True)(leaf(2)), TypeError, "has_aux", "(value, anything else)"),
        (lambda: mg.grad(lambda x: x)("a"), TypeError, "argument 0 of <lambda>", "text"),
        (lambda: mg.jvp(lambda x: x, leaf(2), leaf(2)), TypeError, "jvp: primals must be a tuple", "(x,)", "Tensor"),
        (lambda: mg.jvp(lambda x: x, (leaf(2),), ([1j, 2.0],)), TypeError, "jvp", "complex128", "real part"),
        (lambda: mg.gradcheck(lambda x: x, leaf(2)), TypeError, "gradcheck: inputs must be a tuple", "(x,)"),
        (lambda: mg.gradcheck(lambda x: x, (leaf(2),), step=0), ValueError, "gradcheck", "step must be positive"),
        (lambda: mg.gradcheck(lambda: leaf(2), ()), ValueError, "gradcheck", "0 inputs"),
        (lambda: mg.check_op(3), TypeError, "an operation", "mg.tanh"),
        (lambda: mg.samples.sample(3), TypeError, "an operation", "@mg.op"),
    ],
}  # fmt: skip
TABLE = [
    pytest.param(call, kind, words, id=f"{group} {number}")
    for group, cases in CASES.items()
    for number, (call, kind, *words) in enumerate(cases, start=1)
]


@pytest.fixture(autouse=True, scope="module")
def device():
    """Return a second device, for errors about mixed devices."""
    yield devices.add_device("stand-in", stand_in.library)
    del devices._devices["stand-in"]


@pytest.mark.parametrize(("call", "kind", "words"), TABLE)
def test_an_error_names_the_operation_and_a_cure(call, kind, words):
    with pytest.raises(kind) as raised:
        call()
    missing = [word for word in words if word not in str(raised.value)]
    assert not missing, f"{missing} not in: {raised.value}"


@pytest.mark.parametrize(("call", "kind", "words"), TABLE)
def test_no_message_comes_from_the_array_library_alone(call, kind, words):
    with pytest.raises(kind) as raised:
        call()
    assert not isinstance(raised.value, AssertionError)
    if raised.value.__cause__ is not None:
        assert str(raised.value) != str(raised.value.__cause__)
        assert raised.value.args != raised.value.__cause__.args


@pytest.mark.parametrize(("call", "kind", "words"), TABLE)
def test_everything_works_after_an_error(call, kind, words):
    with pytest.raises(kind):
        call()
    x = leaf(2)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_trace_file_that_is_not_json_is_named(tmp_path):
    path = tmp_path / "walk.json"
    path.write_text("steps: none", encoding="utf-8")
    with pytest.raises(ValueError, match=r"walk\.json is not JSON"):
        mg.load_trace(path)

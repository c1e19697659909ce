"""Names of operations and parameters: NumPy's, and PyTorch's for networks."""

import ast
import copy
import inspect
import pickle
import re
from contextlib import suppress
from functools import reduce

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from foreign_names import (
    DRAWS,
    FUNCTIONS,
    MATRICES,
    NETWORKS,
    NOWHERE,
    OF_NETWORKS_TOO,
    OPTIMISERS,
    SCHEDULES,
    TENSOR,
)
from micrograd_plus import engine, linalg, nn, optim
from micrograd_plus.core.messages.foreign_names import FOREIGN_NAMES
from micrograd_plus.core.rule import KINDS

F = nn.functional
MODULES = (
    engine, linalg, mg.fft, mg.random, mg.signal, mg.special, mg.stats, nn, nn.functional, nn.init, nn.utils, optim,
    optim.lr_scheduler, viz,
)  # fmt: skip

NAMES = (
    "negative", "positive", "abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt",
    "cbrt", "square", "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "sigmoid", "logsigmoid", "softplus", "relu", "leaky_relu",
    "elu", "selu", "celu", "relu6", "hardtanh", "hardsigmoid", "hardswish", "softsign", "mish", "gelu",
    "silu", "erf", "erfc", "floor", "ceil", "round", "trunc", "sign", "clip", "astype", "add", "subtract",
    "multiply", "divide", "power", "affine", "maximum", "minimum", "where", "arctan2", "hypot",
    "logaddexp", "copysign", "fmod", "remainder", "lerp", "addcmul", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
    "isnan", "isinf", "isfinite", "isclose", "sum", "mean", "max", "min", "prod", "var", "std", "norm",
    "logsumexp", "cumsum", "cumprod", "cummax", "argmax", "argmin", "topk", "sort", "argsort", "median",
    "quantile", "reshape", "ravel", "flatten", "squeeze", "expand_dims", "transpose", "swapaxes",
    "moveaxis", "mT", "broadcast_to", "concatenate", "stack", "split", "unstack", "pad", "flip", "roll",
    "tile", "repeat", "tril", "triu", "diagonal", "diag", "ascontiguousarray", "stop_gradient", "take",
    "take_along_axis", "scatter_add", "matmul", "dot", "inner", "outer", "tensordot", "einsum", "unfold",
    "fold", "conv2d", "max_pool2d", "avg_pool2d", "layer_norm", "softmax", "log_softmax", "dropout",
    "embedding", "scaled_dot_product_attention", "real", "imag", "conj", "angle",
)  # fmt: skip
OF_NETWORKS = (
    "relu", "leaky_relu", "elu", "selu", "celu", "relu6", "hardtanh", "hardsigmoid", "hardswish",
    "softsign", "mish", "gelu", "silu", "sigmoid", "logsigmoid", "softplus", "softmax", "log_softmax",
    "gumbel_softmax", "linear", "conv2d", "unfold", "fold", "max_pool2d", "avg_pool2d", "layer_norm",
    "dropout", "embedding", "one_hot", "scaled_dot_product_attention", "cross_entropy", "nll_loss",
    "mse_loss", "binary_cross_entropy_with_logits",
)  # fmt: skip
BEYOND_NUMPY = {
    "cumsum": {"exclusive", "reverse"},
    "cumprod": {"exclusive", "reverse"},
    "sort": {"descending"},
    "argsort": {"descending"},
    "pad": {"constant_values"},
}
"""Parameters that NumPy's function of the same name lacks, or has only as keywords for other modes."""
NAMED_OTHERWISE = {"where": "NumPy takes the three by their places alone", "einsum": "NumPy takes anything"}
NUMPYS = [name for name in sorted(mg.ops.__all__) if inspect.isroutine(getattr(np, name, None))]


def test_an_operation_has_a_docstring_and_mg_has_the_public_ones():
    for name in NAMES:
        function = getattr(mg.ops, name)
        assert (name in mg.__all__) == hasattr(mg, name) == mg.ops.is_public(function), name
        assert function.__doc__, name


def test_every_public_name_is_documented():
    assert [name for name in mg.__all__ if not getattr(mg, name).__doc__] == []


@pytest.mark.parametrize("kind", ["elementwise", "linear", "multilinear", "variadic"])
def test_each_kind_has_a_decorator_that_documents_its_promise(kind):
    decorator = getattr(mg, kind)
    assert decorator.__name__ == kind
    assert KINDS[kind] in decorator.__doc__


def test_functions_of_networks_are_public_and_documented():
    assert {*OF_NETWORKS} - {*F.__all__} == set()
    assert [name for name in OF_NETWORKS if not getattr(F, name).__doc__] == []


def test_parameters_have_numpy_names_in_numpy_order():
    for name in sorted(set(NUMPYS) - NAMED_OTHERWISE.keys()):
        ours = list(inspect.signature(getattr(mg, name)).parameters)[1:]
        theirs = list(inspect.signature(getattr(np, name)).parameters)[1:]
        shared = [each for each in ours if each not in BEYOND_NUMPY.get(name, ())]
        assert [each for each in theirs if each in shared] == shared, name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_module_lists_only_its_public_names(module):
    wanted = {*module.__all__, *getattr(module, "ON_VALUES", ())}
    assert dir(module) == sorted(wanted)
    assert all(hasattr(module, name) for name in wanted)
    held = vars(module).items()
    made_here = {name: each for name, each in held if getattr(each, "__module__", "") == module.__name__}
    assert {name for name, each in made_here.items() if ">>>" in (each.__doc__ or "")} <= wanted


def test_star_import_of_the_scalar_engine_gives_only_value():
    names = {}
    exec("from micrograd_plus.engine import *", names)  # noqa: S102 - as a program of micrograd's may begin
    assert names.keys() - {"__builtins__"} == {"Value"}


@pytest.mark.parametrize("name", ["values", "where", "_repr_html_", "no_such_name"])
def test_hasattr_of_a_missing_tensor_name_is_false(name):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert not hasattr(x, name)
    assert name not in dir(x)
    assert not hasattr(mg.Tensor, "__getattr__"), "it would make every attribute slower"
    assert copy.deepcopy(x).tolist() == pickle.loads(pickle.dumps(x)).tolist() == [1.0, 2.0]  # noqa: S301 - of our own


X = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
OWNERS = {
    X: TENSOR, mg: FUNCTIONS, nn: NETWORKS, optim: OPTIMISERS, optim.lr_scheduler: SCHEDULES, nn.utils: OF_NETWORKS_TOO,
    mg.random: DRAWS, mg.linalg: MATRICES,
}  # fmt: skip
FOREIGN = [(owner, name) for owner, names in OWNERS.items() for name in names.split()]


def message_about(owner, name):
    """Return the message for a name of another library; None if the owner has it."""
    try:
        getattr(owner, name)
    except AttributeError as error:
        return str(error)
    return None


def test_a_foreign_name_exists_here_or_has_a_hint():
    assert len(FOREIGN) >= 400
    messages = {name: message for owner, name in FOREIGN if (message := message_about(owner, name)) is not None}
    without_hint = {name for name, message in messages.items() if not re.search(r": write |\. .*\.$", message)}
    assert without_hint <= NOWHERE.keys()
    assert len(NOWHERE) <= len(FOREIGN) / 20


HINTED = {
    "tensor": X, "mg": mg, "module": nn.Linear(2, 2), "linalg": mg.linalg, "random": mg.random, "nn": nn,
    "autograd": mg.autograd, "cuda": mg.cuda,
    "nn.functional": nn.functional, "nn.utils": nn.utils, "optim": optim, "optim.lr_scheduler": optim.lr_scheduler,
}  # fmt: skip
HINTS = {(owner, name): hint for owner, hints in FOREIGN_NAMES.items() for name, hint in hints.items()}


def test_no_hint_is_for_a_name_that_exists():
    assert FOREIGN_NAMES.keys() == HINTED.keys()
    assert not [(owner, name) for owner, name in HINTS if message_about(HINTED[owner], name) is None]


def test_every_hint_is_code_or_a_sentence():
    for place, hint in HINTS.items():
        if hint.endswith("."):
            assert re.match(r"[A-Z]|\w+\(|micrograd_plus|x\.|mg\.|np\.", hint), place
            assert len(hint.split()) >= 2, place
        else:
            for code in hint.split(" or "):
                ast.parse(code)


def test_every_message_names_its_owner_and_ends_with_the_hint():
    called = {"tensor": "a tensor", "module": "a module", "mg": "micrograd_plus"}
    for (owner, name), hint in HINTS.items():
        beginning = f"{called.get(owner, f'micrograd_plus.{owner}')} has no {name!r}"
        assert message_about(HINTED[owner], name) == beginning + (f". {hint}" if hint[-1] == "." else f": write {hint}")


def test_a_hint_recommends_only_names_that_exist():
    roots = {"mg": mg, "nn": nn, "np": np, "x": X, "p": nn.Parameter(X), "net": nn.Linear(2, 2)}
    for hint in set(HINTS.values()):
        for root, path in re.findall(r"\b(mg|nn|np|x|p|net)\.(\w+(?:\.\w+)*)", hint):
            reduce(getattr, path.split("."), roots[root])


VALUES = {
    "a": X, "b": X, "batch": X, "c": X, "buffer": b"12345678", "dtype": float, "edges": mg.tensor([1.0, 2.0]),
    "axes": (1, 0), "axis": 0, "dx": 1.0, "high": 2, "i": 0, "im": X, "index": np.zeros((2, 2), int), "j": 1,
    "indices": np.zeros((1, 2), int),
    "k": 1, "keys": X.numpy(), "length": 1, "limit": 1.0, "logits": X, "loss": X.sum(), "low": 0, "margin": 1.0,
    "mask": X > 2, "matrix": X, "mean": 0.0, "n": 2, "number": 7, "other": X, "p": 0.5, "parts": [X, X], "points": X,
    "q": 0.5, "r": X, "re": X, "repeats": 2, "same": X, "scale": 2.0, "sections": 2, "shape": (2, 2), "src": X,
    "start": 0, "state": mg.random.state(), "std": 1.0, "step": 1, "stop": 2, "threshold": 0.5, "v": X, "value": 0.0,
    "values": [[1.0, 2.0], [3.0, 4.0]], "w": X, "weight": 0.5, "x": X, "y": X, "z": 1j, "angle": X, "bins": 2,
    "destination": 1, "source": 0, "f": mg.sum, "rows": [[X, X]], "mg": mg, "np": np, "nn": nn,
}  # fmt: skip
"""Values for the names that hints use."""
NOT_RUN = (
    "scipy.", "backward", "register_hook", "nn.init", "random.set_state", "seterr", "state", "mg.save", "mg.load",
    "cuda", "carry", "weights", "file", "hook", "parameters", "net.", "rng", "list(", "assert_",
)  # fmt: skip
"""Parts of hints that cannot be evaluated with these values."""


def test_a_hint_that_is_an_expression_can_be_evaluated():
    count = 0
    for hint in set(HINTS.values()):
        for code in [] if hint.endswith(".") or any(each in hint for each in NOT_RUN) else hint.split(" or "):
            if isinstance(ast.parse(code).body[0], ast.Expr) and "..." not in code:
                with suppress(ValueError, IndexError, RuntimeError):  # shapes that a 2 by 2 matrix does not have
                    eval(code, dict(VALUES))  # noqa: S307 - a line of our own table
                count += 1
    assert count > 200


WORDS = {
    "x.max(keepdim=True)": "max has no argument 'keepdim': write keepdims=",
    "x.std(unbiased=False)": "std has no argument 'unbiased': write ddof=",
    "mg.triu(x, diagonal=1)": "triu has no argument 'diagonal': write k=",
    "mg.roll(x, shifts=1, dims=0)": "roll has no argument 'shifts': write shift=",
    "mg.softmax(input=x, dim=0)": "softmax has no argument 'input': write x=",
    "mg.stack(tensors=[x, x])": "stack has no argument 'tensors': write parts=",
    "mg.where(x > 1)": "it needs a and b; for the places where a condition holds write mg.nonzero(condition)",
    "mg.where(x > 1, x)": "it needs a and b; for the places where a condition holds write mg.nonzero(condition)",
    "mg.roll(x)": "roll needs 'shift'",
    "mg.sum()": "sum needs 'x'",
    "mg.linspace(0, 1, steps=3)": "linspace has no argument 'steps': write num=",
    "mg.arange(0, end=3)": "arange has no argument 'end': write stop=",
    "mg.zeros(size=(2, 2))": "zeros has no argument 'size'; it has *shape, dtype, device, requires_grad",
    "mg.cummax(x, dim=0)": "cummax has no argument 'dim': write axis=",
    "mg.cummin(x, dim=0)": "cummin has no argument 'dim': write axis=",
    "mg.std_mean(x, dim=0)": "std_mean has no argument 'dim': write axis=",
    "mg.var_mean(x, unbiased=True)": "var_mean has no argument 'unbiased': write ddof=",
    "x.max(1)": "max takes its axis by name: write axis=1. It returns entries alone, PyTorch's also their places",
    "mg.min(x, -1, keepdims=True)": "min takes its axis by name: write axis=-1.",
    "mg.median(x, 0)": "median takes its axis by name: write axis=0.",
    "mg.sort(x, 1)": "sort takes its axis by name: write axis=1. It returns the sorted entries alone",
    "mg.cummax(x, 0)": "cummax takes its axis by name: write axis=0.",
    "mg.cummin(x, 0)": "cummin takes its axis by name: write axis=0.",
    "mg.transpose(x, 0, 1)": "transpose: the order of all axes must be one tuple; for two axes write mg.swapaxes(x, 0",
    "mg.Tensor([1.0, 2.0])": "Tensor(...) makes no tensor: write mg.tensor(values), with requires_grad=True for a leaf",
    "mg.Tensor(2, 3)": "for a shape, mg.zeros(shape) or mg.empty(shape)",
    "mg.min(x, x)": "min: axis must be a whole number; for two tensors write mg.minimum(a, b)",
    "mg.sum(x, along=1)": "sum has no argument 'along'; it has x, axis, keepdims",
    "nn.functional.dropout(x, q=1)": "dropout has no argument 'q'; it has input, p, training",
    "mg.grad(mg.sin, argnum=0)": "grad has no argument 'argnum': write argnums=",
    "x.flatten(axis=1)": "flatten has no argument 'axis'; it has x, start_dim, end_dim",
    "x.max(dim=1)": "write axis=. It returns entries alone, PyTorch's also their places: mg.argmax(x, axis)",
    "x.min(1, keepdim=True)": "write keepdims=. It returns entries alone, PyTorch's also their places: mg.argmin",
    "x.std(dim=0)": "write axis=. It divides by n, PyTorch's by n - 1: add ddof=1",
    "mg.median(x, dim=0)": "write axis=. It returns the median alone, and PyTorch's is the lower one",
    "mg.sort(x, dim=0)": "write axis=. It returns the sorted entries alone, PyTorch's also their order",
    "mg.split(x, 1, dim=0)": "write axis=. It makes n parts, PyTorch's makes parts of length n: mg.split(x, range(n",
    "mg.sum(x, 1, dim=0)": "sum got 'axis' twice",
    "nn.functional.softmax(x, dim=0, axis=1)": "softmax got one argument under two names: dim, axis",
}


WORDS_OF_BOTH = {
    "mg.tile(x, dims=(2, 1))": "mg.tile(x, (2, 1))",
    "x.flip(dims=[0])": "x.flip(0)",
    "x.permute(dims=(1, 0))": "x.permute(1, 0)",
    "mg.sum(x, dim=1)": "mg.sum(x, axis=1)",
    "x.sum(dim=1)": "x.sum(axis=1)",
    "x.mean(dim=(0, 1))": "x.mean(axis=(0, 1))",
    "x.argmax(dim=1)": "x.argmax(axis=1)",
    "mg.concatenate([x, x], dim=0)": "mg.concatenate([x, x], axis=0)",
    "mg.stack([x, x], dim=0)": "mg.stack([x, x], axis=0)",
    "mg.flip(x, dims=(0,))": "mg.flip(x, axis=(0,))",
    "mg.cumsum(x, dim=0)": "mg.cumsum(x, axis=0)",
    "mg.quantile(x, 0.5, dim=0)": "mg.quantile(x, 0.5, axis=0)",
    "nn.functional.normalize(x, axis=1)": "nn.functional.normalize(x, dim=1)",
    "mg.expand_dims(x, dim=0)": "mg.expand_dims(x, axis=0)",
    "mg.ptp(x, dim=0)": "mg.ptp(x, axis=0)",
    "mg.fft.rfft2(x, dim=(0, 1))": "mg.fft.rfft2(x, axes=(0, 1))",
    "mg.special.logsumexp(x, dim=0)": "mg.special.logsumexp(x, axis=0)",
    "x.sum(1, keepdim=True)": "x.sum(1, keepdims=True)",
    "mg.roll(x, 1, dims=0)": "mg.roll(x, 1, axis=0)",
    "mg.softmax(x, dim=1)": "mg.softmax(x, axis=1)",
    "nn.functional.softmax(x, axis=1)": "nn.functional.softmax(x, dim=1)",
    "mg.randn(2, generator=np.random.default_rng(0))": "mg.randn(2, rng=np.random.default_rng(0))",
    "mg.linalg.norm(x, dim=1, keepdim=True)": "mg.linalg.norm(x, axis=1, keepdims=True)",
    "mg.logsumexp(x, dim=(0, 1))": "mg.logsumexp(x, axis=(0, 1))",
    "mg.cat([x, x], dim=1)": "mg.concatenate([x, x], axis=1)",
    "x.size()": "x.shape",
    "x.size(0)": "x.shape[0]",
}


@pytest.mark.parametrize("call", WORDS_OF_BOTH)
def test_every_function_takes_the_words_of_both_libraries(call):
    names = {"mg": mg, "nn": nn, "x": X, "np": np}
    for _ in range(2):  # the second call of an operation is by its own code
        found, expected = (eval(each, names) for each in (call, WORDS_OF_BOTH[call]))  # noqa: S307 - lines above
        np.testing.assert_array_equal(getattr(found, "_data", found), getattr(expected, "_data", expected))


@pytest.mark.parametrize("call", WORDS)
def test_a_foreign_keyword_raises_an_error_with_the_right_one(call):
    for _ in range(2):  # the second call of an operation is by its own code
        with pytest.raises((TypeError, ValueError), match=re.escape(WORDS[call])):
            eval(call, {"mg": mg, "nn": nn, "x": X})  # noqa: S307 - a line above


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        (mg, "sofmax", r"micrograd_plus has no 'sofmax'; did you mean softmax\?$"),
        (nn, "Linea", r"micrograd_plus.nn has no 'Linea'; did you mean Linear\?$"),
        (mg, "quaternion", r"micrograd_plus has no 'quaternion'$"),
        (mg, "_no_such_name", r"micrograd_plus has no '_no_such_name'$"),
    ],
)
def test_an_unknown_name_raises_an_error_with_similar_names(module, name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(module, name)

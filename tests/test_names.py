"""The names that operations and their parameters go by: NumPy's, and PyTorch's for networks."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus import engine, linalg, nn, optim
from micrograd_plus.hints import ELSEWHERE, FUNCTIONS_HERE
from micrograd_plus.rule import KINDS

F = nn.functional
ROOMS = (
    engine, linalg, mg.fft, mg.random, mg.signal, nn, nn.functional, nn.init, nn.utils, optim, optim.lr_scheduler, viz,
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
"""Parameters that NumPy's function of the same name has not, or has among its keywords for other modes."""
NAMED_OTHERWISE = {"where": "NumPy takes the three by their places alone", "einsum": "NumPy takes anything"}
NUMPYS = [name for name in sorted(mg.ops.__all__) if inspect.isroutine(getattr(np, name, None))]


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_public_and_says_what_it_is(name):
    assert name in mg.__all__
    assert getattr(mg, name).__doc__


@pytest.mark.parametrize("name", mg.__all__)
def test_whatever_is_public_says_what_it_is(name):
    assert getattr(mg, name).__doc__


@pytest.mark.parametrize("kind", ["elementwise", "linear", "multilinear", "joining"])
def test_the_decorator_of_a_kind_goes_by_its_name_and_says_what_the_kind_promises(kind):
    decorator = getattr(mg, kind)
    assert decorator.__name__ == kind
    assert KINDS[kind] in decorator.__doc__


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_a_function_of_networks_has_pytorchs_name_and_says_what_it_is(name):
    assert name in F.__all__
    assert getattr(F, name).__doc__


@pytest.mark.parametrize("name", sorted(set(NUMPYS) - NAMED_OTHERWISE.keys()))
def test_parameters_have_the_names_and_the_order_that_numpy_gives_them(name):
    ours = list(inspect.signature(getattr(mg, name)).parameters)[1:]
    theirs = list(inspect.signature(getattr(np, name)).parameters)[1:]
    shared = [each for each in ours if each not in BEYOND_NUMPY.get(name, ())]
    assert [each for each in theirs if each in shared] == shared


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_a_room_offers_its_public_names_and_nothing_that_it_only_uses(room):
    wanted = {*room.__all__, *getattr(room, "ON_VALUES", ())}
    assert dir(room) == sorted(wanted)
    assert all(hasattr(room, name) for name in wanted)
    made_here = {name: held for name, held in vars(room).items() if getattr(held, "__module__", "") == room.__name__}
    assert {name for name, held in made_here.items() if ">>>" in (held.__doc__ or "")} <= wanted


def test_a_program_that_takes_all_of_the_scalar_engine_gets_the_value_alone():
    names = {}
    exec("from micrograd_plus.engine import *", names)  # noqa: S102 - as a program of micrograd's may begin
    assert names.keys() - {"__builtins__"} == {"Value"}


@pytest.mark.parametrize("name", ["view", "topk", "_repr_html_", "no_such_name"])
def test_who_asks_whether_a_tensor_has_a_name_is_told_no(name):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert not hasattr(x, name)
    assert name not in dir(x)
    assert not hasattr(mg.Tensor, "__getattr__"), "it would make every attribute slower"
    assert copy.deepcopy(x).tolist() == pickle.loads(pickle.dumps(x)).tolist() == [1.0, 2.0]  # noqa: S301 - of our own


def test_the_methods_that_are_functions_here_are_here():
    assert all(callable(getattr(mg, name)) for name in FUNCTIONS_HERE)
    assert not {*ELSEWHERE, *FUNCTIONS_HERE} & {*dir(mg.tensor(1.0))}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_for_a_name_of_another_library_the_error_says_what_to_write_here(name):
    with pytest.raises(AttributeError, match=re.escape(f"micrograd_plus has no {name!r}: write {ELSEWHERE[name]}")):
        getattr(mg, name)
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    given = {
        "x": x, "a": x, "b": x, "parts": [x, x], "values": [1.0], "number": 7, "axes": (1, 0), "axis": 0, "low": 0.0,
        "high": 1.0, "indices": np.zeros((1, 2), int), "shape": (2, 2), "mask": x > 2, "value": 0.0, "sections": 2,
        "mg": mg, "np": np,
    }  # fmt: skip
    size = {"full": "2, 1.0", "linspace": "0, 1"}.get(name, "2")
    eval(ELSEWHERE[name].replace("...", size), given)  # noqa: S307 - a line of our own


@pytest.mark.parametrize(
    ("room", "name", "said"),
    [
        (mg, "sofmax", "micrograd_plus has no 'sofmax'; did you mean softmax or "),
        (nn, "Linea", "micrograd_plus.nn has no 'Linea'; did you mean Linear"),
        (mg, "_no_such_name", r"micrograd_plus has no '_no_such_name'$"),
    ],
)
def test_for_a_name_that_is_nowhere_the_error_says_which_are_near(room, name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(room, name)

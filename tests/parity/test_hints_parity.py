"""Every hint for a method of PyTorch's tensors, followed to the letter: the same numbers, or an error."""

import ast
import inspect
import math

import numpy as np
import pytest
import torch

import micrograd_plus as mg
from micrograd_plus.core.messages import MissingName
from micrograd_plus.core.messages.foreign_names import FOREIGN_NAMES

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

HINTS = {name: hint for name, hint in FOREIGN_NAMES["tensor"].items() if hasattr(torch.Tensor, name)}
RNG = np.random.default_rng(7)
X, Y = RNG.uniform(0.3, 0.9, (3, 3)), RNG.uniform(0.3, 0.9, (3, 3))
CUBE = RNG.uniform(0.3, 0.9, (3, 3, 3))
SQUARE = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
ARRAYS = {
    "x": X, "y": Y, "a": X, "b": Y, "v": X[0], "src": Y, "values": Y, "index": SQUARE, "indices": np.array([2, 0, 1]),
    "mask": X > 0.6, "cube": CUBE, "rows": Y[:2], "spd": X @ X.T + np.eye(3), "counts": np.array([0, 2, 2, 1]),
    "square": SQUARE, "z": X + 1j * Y, "hot": np.array([[True, False, False]] * 3),
}  # fmt: skip
NUMBERS = {
    "axis": 1, "k": 2, "n": 2, "p": 3, "value": 0.25, "weight": 0.5, "low": 0.4, "high": 0.7, "sections": 2, "bins": 3,
    "repeats": 2, "shape": (3, 3), "start": 1, "length": 2, "step": 1, "q": 0.3, "i": 0, "j": 1, "source": 0,
    "destination": 1, "condition": None, "axes": (1, 0), "math": math,
}  # fmt: skip

CALLS = {
    "addmm": "x.addmm(a, b)", "addmv": "x.addmv(a, b)", "addbmm": "x.addbmm(a, b)", "baddbmm": "x.baddbmm(a, b)",
    "addr": "x.addr(a, b)", "addcdiv": "x.addcdiv(a, b, value=value)", "ger": "a.ger(b)", "vdot": "a.vdot(b)",
    "float_power": "a.float_power(b)", "ldexp": "a.ldexp(b)", "frexp": "x.frexp()", "frac": "x.frac()",
    "clamp_min": "x.clamp_min(low)", "clamp_max": "x.clamp_max(high)", "atan2": "a.atan2(b)", "logit": "x.logit()",
    "xlogy": "x.xlogy(y)", "signbit": "x.signbit()", "sgn": "x.sgn()", "heaviside": "x.heaviside(y)",
    "isreal": "x.isreal()", "is_complex": "x.is_complex()", "is_floating_point": "x.is_floating_point()",
    "aminmax": "x.aminmax()", "nansum": "x.nansum()", "nanmean": "x.nanmean()", "nanmedian": "x.nanmedian()",
    "nanquantile": "x.nanquantile(q)", "dist": "a.dist(b)", "unique": "x.unique()",
    "bincount": "x.bincount()", "histc": "x.histc(bins, x.min().item(), x.max().item())",
    "histogram": "x.histogram(bins)",
    "kthvalue": "x.kthvalue(k, axis)[0]", "msort": "x.msort()", "tensor_split": "x.tensor_split(sections, axis)",
    "unbind": "x.unbind(axis)", "movedim": "x.movedim(source, destination)", "swapdims": "x.swapdims(i, j)",
    "take_along_dim": "x.take_along_dim(indices, axis)", "index_select": "x.index_select(axis, indices)",
    "masked_select": "x.masked_select(mask)", "repeat_interleave": "x.repeat_interleave(repeats, axis)",
    "diag_embed": "x.diag_embed()", "inverse": "x.inverse()", "det": "x.det()", "logdet": "x.logdet()",
    "slogdet": "x.slogdet()", "solve": "torch.linalg.solve(a, b)", "lstsq": "torch.linalg.lstsq(a, b)[0]",
    "qr": "x.qr()", "cholesky": "x.cholesky()", "symeig": "torch.linalg.eigh(x)",
    "pinverse": "x.pinverse()", "matrix_exp": "x.matrix_exp()", "matrix_power": "x.matrix_power(n)",
    "set_": "x.copy_(values)", "pow_": "x.pow_(y)", "addcmul_": "x.addcmul_(a, b, value=value)",
    "addcdiv_": "x.addcdiv_(a, b, value=value)", "lerp_": "x.lerp_(y, weight)", "clip_": "x.clip_(low, high)",
    "masked_fill_": "x.masked_fill_(mask, value)", "index_put_": "x.index_put_((indices,), values)",
    "put_": "x.index_put_((indices,), values)", "masked_scatter_": "x.masked_scatter_(mask, values)",
    "scatter_": "x.scatter_(axis, index, src)", "scatter_add_": "x.scatter_add_(axis, index, src)",
    "fill_diagonal_": "x.fill_diagonal_(value)", "squeeze_": "x.squeeze_()", "unsqueeze_": "x.unsqueeze_(axis)",
    "transpose_": "x.transpose_(i, j)", "resize_": "x.resize_(shape)", "map_": "x.copy_(values)",
    "apply_": "x.copy_(values)", "ndimension": "x.ndimension()", "element_size": "x.element_size()",
    "reshape_as": "x.reshape_as(y)", "bfloat16": "x.float()", "short": "x.short()",
    "byte": "x.byte()", "char": "x.char()", "cfloat": "x.cfloat()", "cdouble": "x.cdouble()",
    "is_contiguous": "x.is_contiguous()", "resize": "x.reshape(shape)", "unflatten": "x.reshape(shape)",
    "norm": "x.norm(p, dim=axis)", "count_nonzero": "x.count_nonzero(axis)", "cross": "x.cross(y, dim=axis)",
    "scatter": "x.scatter(axis, index, src)", "diagonal": "x.diagonal(1, 0, 1)",

    "index_put": "x.index_put((indices,), values)", "put": "x.index_put((indices,), values)",
    "masked_scatter": "x.masked_scatter(mask, values)", "narrow": "x.narrow(axis, start, length)",
    "select": "x.select(axis, index)", "new_zeros": "x.new_zeros(shape)", "new_ones": "x.new_ones(shape)",
    "new_full": "x.new_full(shape, value)", "new_tensor": "x.new_tensor(values.tolist())",
    "new_empty": "torch.zeros_like(x)", "detach_": "x.detach_()",
}  # fmt: skip
"""The call of PyTorch that a hint replaces; methods without arguments need none."""
OTHER_VALUES = {
    **{name: {"index": "indices"} for name in ("index_put", "put", "index_put_", "put_")},
    "logdet": {"x": "spd"}, "cholesky": {"x": "spd"},
    "symeig": {"x": "spd"}, "select": {"index": 1}, "take_along_dim": {"indices": np.array([[2, 0, 1]])},
    "bincount": {"x": "counts"}, "addmv": {"x": "v", "b": "v"},
    "addr": {"a": "v", "b": "v"},
    "ger": {"a": "v", "b": "v"}, "vdot": {"a": "v", "b": "v"}, "addbmm": {"a": "cube", "b": "cube"},
    "baddbmm": {"x": "cube", "a": "cube", "b": "cube"}, "diagonal": {"k": 1},
    "solve": {"a": "spd"}, "lstsq": {"a": "spd"}, "fill_diagonal_": {"n": 3}, "diag_embed": {"n": 3},
}  # fmt: skip
"""Values that some calls need, by the name of an array or themselves."""
NOT_COMPARED = {
    **dict.fromkeys(("normal_", "uniform_", "bernoulli_", "random_", "exponential_"), "random numbers"),
    **dict.fromkeys(("nbytes", "itemsize", "stride", "storage", "data_ptr", "share_memory_"), "memory"),
    **dict.fromkeys(("cuda", "is_cuda", "get_device"), "devices"),
    **dict.fromkeys(("grad_fn", "retains_grad"), "the graph"),
    **dict.fromkeys(("cov", "corrcoef", "istft", "resolve_conj", "to_sparse", "to_dense"), "a sentence"),
    **dict.fromkeys(("values", "mode", "svd"), "a sentence"),
    "stft": "PyTorch asks for a window, which is Hann's here",
}
INDEX_ADD = "mg.scatter_add(x, 0, mg.broadcast_to(indices[:, None], src.shape), src)"
SENTENCES = {
    "where": ("x.where(mask, y)", "mg.where(mask, x, y)"),
    "equal": ("x.equal(x)", "mg.array_equal(x, x)"),
    "nonzero": ("mask.nonzero()", "mg.argwhere(mask)"),
    "cummax": ("x.cummax(axis)[0]", "mg.cummax(x, axis=axis)"),
    "cummin": ("x.cummin(axis)[0]", "mg.cummin(x, axis=axis)"),
    "sort": ("x.sort(axis)[0]", "mg.sort(x, axis=axis)"),
    "median": ("x.median(axis)[0]", "mg.median(x, axis=axis)"),
    "split": ("x.split(n, axis)", "mg.split(x, range(n, x.shape[axis], n), axis)"),
    "indices": ("x.max(axis).indices", "mg.argmax(x, axis)"),
    "index_add": ("x.index_add(0, indices, src)", INDEX_ADD),
    "index_add_": ("x.index_add_(0, indices, src)", INDEX_ADD),
    "index_copy_": ("x.index_copy_(1, indices, values)", "x[:, indices] = values"),
    "index_fill_": ("x.index_fill_(0, indices[:2], value)", "x[indices] = value"),
    "type": ("x.type(torch.float32)", 'x.astype("float32")'),
    "unfold": (
        "x.unfold(0, length, step).transpose(1, 2)",
        "mg.stack([x[i:i + length] for i in range(0, len(x) - length + 1, step)])",
    ),
}
"""Hints that are sentences with code in them: PyTorch's call, and the code."""


def values_for(library, name=""):
    """Return the names that calls and hints use, on one side."""
    others = OTHER_VALUES.get(name, {}).items()
    chosen = {other: ARRAYS[value] if isinstance(value, str) else value for other, value in others}
    arrays = {**ARRAYS, **{other: value for other, value in chosen.items() if isinstance(value, np.ndarray)}}
    numbers = {**NUMBERS, **{other: value for other, value in chosen.items() if not isinstance(value, np.ndarray)}}
    tensors = {each: library.tensor(value) for each, value in arrays.items()}
    return {**tensors, **numbers, "torch": torch, "mg": mg, "np": np}


def result_of(code, names):
    """Return what a line leaves: its value, or else `y` if the line assigns it, or else `x`."""
    body = ast.parse(code).body
    if isinstance(body[-1], ast.Expr):
        return eval(code, names)  # noqa: S307 - a line of our own table
    exec(code, names)  # noqa: S102 - the same
    last = body[-1].targets[0] if isinstance(body[-1], ast.Assign) else None
    assigns_y = any(isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "y" for each in body)
    return names["y" if assigns_y or ast.unparse(last or ast.parse("x")) == "y" else "x"]


def plain(value):
    """Return a result as arrays in a list."""
    if isinstance(value, (tuple, list)) and not all(isinstance(each, (int, float)) for each in value):
        return [part for each in value for part in plain(each)]
    return [np.asarray(value.detach().numpy() if isinstance(value, (torch.Tensor, mg.Tensor)) else value)]


def agree(one, other):
    """Return True for the same numbers in the same shapes."""
    one, other = plain(one), plain(other)
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-3 if a.dtype == "float16" else 1e-6, atol=1e-6, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def test_every_hint_of_a_method_is_executed_or_has_a_reason():
    sentences = {name for name, hint in HINTS.items() if hint.endswith(".")}
    assert sentences <= SENTENCES.keys() | NOT_COMPARED.keys()
    assert all(code in HINTS[name] or name in ("where", "equal", "nonzero") for name, (_, code) in SENTENCES.items())
    assert not CALLS.keys() & NOT_COMPARED.keys()


@pytest.mark.parametrize("name", sorted(HINTS.keys() - NOT_COMPARED.keys() - SENTENCES.keys()))
def test_a_hint_followed_to_the_letter_gives_pytorchs_numbers(name):
    names = values_for(torch, name)
    call = CALLS.get(name)
    expected = eval(call, names) if call else getattr(names["x"], name)  # noqa: S307 - a line of the table above
    expected = expected() if callable(expected) else expected
    for code in HINTS[name].split(" or "):
        try:
            found = result_of(code, values_for(mg, name))
        except (IndexError, TypeError, ValueError):
            continue
        assert agree(found, expected), code


@pytest.mark.parametrize("name", SENTENCES)
def test_code_in_a_sentence_gives_pytorchs_numbers(name):
    call, code = SENTENCES[name]
    names = values_for(mg)
    names["indices"] = names["indices"][:2] if name == "index_fill_" else names["indices"]
    assert agree(result_of(code, names), eval(call, values_for(torch)))  # noqa: S307 - lines of the table above


GENERIC = [
    name for name in mg.ops.__all__
    if isinstance(inspect.getattr_static(mg.Tensor, name, None), MissingName)
    and name not in FOREIGN_NAMES["tensor"] and hasattr(torch.Tensor, name)
]  # fmt: skip
ARGUMENTS = [
    "", "1", "0", "1, 1", "2", "y", "mask, y", "1, 2, 1", "0.5", "(0, 1)", "-1", "mask", "square", "1, square",
    "1, square, y", "y, 0.5", "0, 1", "square, 1", "[1, 2]", "v", "1, square, y, 'sum'", "0, 0, 1", "(3, 3)", "(2, 2)",
    "1, (0, 1)", "cube",
]  # fmt: skip


@pytest.mark.parametrize("name", GENERIC)
def test_a_generic_hint_is_given_only_where_the_arguments_agree(name):
    """`x.NAME(...)` of PyTorch and `mg.NAME(x, ...)`, with 26 lists of arguments on tensors of two and three axes."""
    compared = 0
    for x in ("x", "cube", "square", "mask"):
        for arguments in ARGUMENTS:
            try:
                expected = eval(f"{x}.{name}({arguments})", values_for(torch))  # noqa: S307 - a line that we write
            except Exception:  # noqa: BLE001, S112 - PyTorch does not take these arguments
                continue
            try:
                found = eval(f"mg.{name}({x}, {arguments})", values_for(mg))  # noqa: S307 - the same
            except (AttributeError, IndexError, TypeError, ValueError):
                continue
            assert agree(found, expected), f"{x}.{name}({arguments})"
            compared += 1
    assert compared


# Hints of other owners ---------------------------------------------------------------------------------------------

V, U = np.array([0.5, 1.5, 1.0]), np.array([0.25, 2.0])
OTHER_ARRAYS = ARRAYS | {
    "c": Y, "r": X, "angle": Y, "re": X, "im": Y, "v": V, "u": U, "other": X[::-1].copy(), "same": Y, "points": X,
    "matrix": Y, "batch": X, "pairs": CUBE[..., :2].copy(), "edges": np.array([0.3, 0.5, 0.9]), "tied": V,
    "chosen": np.array([[2, 0, 1]]), "keys": SQUARE, "variance": Y, "signs": np.sign(X - 0.6),
}  # fmt: skip
OTHER_NUMBERS = NUMBERS | {
    "margin": 0.1, "dx": 0.5, "threshold": 0.6, "stop": 2.0, "dtype": float, "buffer": X.tobytes(), "f": None,
}  # fmt: skip
OTHER_HINTS = {
    (owner, name): hint for owner, hints in FOREIGN_NAMES.items() for name, hint in hints.items()
    if owner != "tensor" and not (owner in ("mg", "linalg") and name in HINTS and HINTS[name] == hint)
}  # fmt: skip
"""Hints for functions, layers and tools; those that methods have as well are executed above."""
OTHER_CALLS = {
    "chain_matmul": "torch.linalg.multi_dot([a, b, c])", "vecdot": "torch.linalg.vecdot(a, b)",
    "rsub": "torch.rsub(a, b)", "divmod": "np.divmod(a.numpy(), b.numpy())", "modf": "np.modf(x.numpy())",
    "rint": "np.rint(x.numpy())", "threshold": "torch.nn.functional.threshold(x, threshold, value)",
    "expit": "torch.special.expit(x)", "entr": "torch.special.entr(x)",
    "log_sigmoid": "torch.nn.functional.logsigmoid(x)", "is_tensor": "torch.is_tensor(x)",
    "polar": "torch.polar(r, angle)", "complex": "torch.complex(re, im)", "view_as_real": "torch.view_as_real(z)",
    "view_as_complex": "torch.view_as_complex(pairs)", "cdist": "torch.cdist(a, b)",
    "digitize": "np.digitize(tied.numpy(), edges.numpy())", "bucketize": "torch.bucketize(tied, edges)",
    "cumulative_sum": "np.cumsum(v.numpy())", "cumulative_trapezoid": "torch.cumulative_trapezoid(v, dx=dx)",
    "trapezoid": "torch.trapezoid(v, dx=dx)", "trapz": "torch.trapz(v, dx=dx)", "ediff1d": "np.ediff1d(v.numpy())",
    "convolve": "np.convolve(v.numpy(), u.numpy())", "lexsort": "np.lexsort(keys.numpy())",
    "percentile": "np.percentile(x.numpy(), 30)", "row_stack": "np.vstack([x.numpy(), y.numpy()])",
    "block": "np.block([[x.numpy(), y.numpy()]])", "insert": "np.insert(v.numpy(), i, u.numpy())",
    "delete": "np.delete(v.numpy(), i)", "broadcast_tensors": "torch.broadcast_tensors(v, x)[0]",
    "broadcast_arrays": "torch.broadcast_tensors(v, x)[0]", "cartesian_prod": "torch.cartesian_prod(v, u)",
    "compress": "np.compress(mask.numpy().ravel(), x.numpy())", "extract": "np.extract(mask.numpy(), x.numpy())",
    "piecewise": "np.where(mask.numpy(), value, x.numpy())", "choose": "np.choose(chosen.numpy(), x.numpy())",
    "flatnonzero": "np.flatnonzero(square.numpy())", "tril_indices": "tuple(torch.tril_indices(n, n))",
    "triu_indices": "tuple(torch.triu_indices(n, n))", "vander": "torch.vander(v, n)", "inv": "torch.linalg.inv(x)",
    "eigh": "torch.linalg.eigh(spd)[0]", "matrix_rank": "torch.linalg.matrix_rank(x)", "mm": "torch.mm(a, b)",
    "lgamma": "torch.lgamma(x)", "isin": "torch.isin(x, values)", "prelu": "torch.nn.functional.prelu(x, v)",
    "cholesky_solve": "torch.cholesky_solve(b, torch.tril(spd))",
    "bmm": "torch.bmm(cube, cube)", "mv": "torch.mv(a, v)", "sub": "torch.sub(a, b)", "mul": "torch.mul(a, b)",
    "div": "torch.div(a, b)", "neg": "torch.neg(x)", "pow": "torch.pow(a, b)", "eq": "torch.eq(a, b)",
    "ne": "torch.ne(a, b)", "lt": "torch.lt(a, b)", "le": "torch.le(a, b)", "gt": "torch.gt(a, b)",
    "ge": "torch.ge(a, b)", "clamp": "torch.clamp(x, low, high)", "chunk": "torch.chunk(x, sections, axis)",
    "permute": "torch.permute(x, axes)", "unsqueeze": "torch.unsqueeze(x, axis)",
    "gather": "torch.gather(x, axis, square)", "masked_fill": "torch.masked_fill(x, mask, value)",
    "t": "torch.t(x)", "numel": "torch.numel(x)", "logspace": "torch.logspace(start, stop, n, dtype=torch.float64)",
    "geomspace": "np.geomspace(start, stop, n)", "frombuffer": "np.frombuffer(buffer)",
    "hamming_window": "torch.hamming_window(n, periodic=False, dtype=torch.float64)",
    "fromfunction": "np.fromfunction(np.add, shape)", "fromiter": "np.array(v.tolist())",
    "as_tensor": "torch.as_tensor(values)", "FloatTensor": "torch.FloatTensor(values.tolist())",
    "LongTensor": "torch.LongTensor(square.tolist())", "DoubleTensor": "torch.DoubleTensor(values.tolist())",
    "BoolTensor": "torch.BoolTensor(mask.tolist())", "scalar_tensor": "torch.tensor(value)",
    "egrad": "torch.cos(x)", "elementwise_grad": "torch.cos(x)", "jacrev": "torch.func.jacrev(torch.sin)(x)",
    "jacfwd": "torch.func.jacfwd(torch.sin)(x)", "make_jvp": "torch.func.jvp(torch.sin, (x,), (y,))",
    "linearize": "torch.func.jvp(torch.sin, (x,), (y,))", "forward_ad": "torch.func.jvp(torch.sin, (x,), (y,))",
    "remat": "torch.sin(x)", "eval_shape": "torch.sin(x).shape", "map": "torch.sin(batch)",
    **dict.fromkeys(("hessian_vector_product", "hessian_tensor_product", "make_hvp", "vhp"),
                    "torch.autograd.functional.hvp(lambda x: torch.sin(x).sum(), x, y)[1]"),
    "detach": "x.detach()", "item": "v[0].item()", "tolist": "x.tolist()", "clone": "torch.clone(x)",
    "requires_grad": "values", "Variable": "torch.autograd.Variable(values)",
    **dict.fromkeys(("amp", "autocast"), "x.float()"),
    "triplet_margin_loss": "torch.nn.functional.triplet_margin_loss(a, same, other, margin=margin, eps=0)",
    "margin_ranking_loss": "torch.nn.functional.margin_ranking_loss(a, b, signs, margin=margin)",
    "gaussian_nll_loss": "torch.nn.functional.gaussian_nll_loss(x, y, variance)",
    "poisson_nll_loss": "torch.nn.functional.poisson_nll_loss(x, y)",
    "soft_margin_loss": "torch.nn.functional.soft_margin_loss(x, signs)",
    "pairwise_distance": "torch.nn.functional.pairwise_distance(a, b, eps=0)", "affine_grid": "points @ matrix.T",
    "CosineSimilarity": "torch.nn.CosineSimilarity(dim=1)(a, b)", "cond": "torch.linalg.cond(x)",
    **dict.fromkeys(("ZeroPad1d", "ConstantPad1d", "ZeroPad2d", "ConstantPad2d"), "torch.nn.functional.pad(x, (i, j))"),
    **dict.fromkeys(("ReflectionPad1d", "ReflectionPad2d"), "torch.nn.functional.pad(x, (i, j), mode='reflect')"),
    **dict.fromkeys(("ReplicationPad1d", "ReplicationPad2d"), "torch.nn.functional.pad(x, (i, j), mode='replicate')"),
    "pad_sequence": "torch.nn.utils.rnn.pad_sequence([rows, x], batch_first=True)",
}  # fmt: skip
"""The call of PyTorch or NumPy that a hint replaces, by the hint's name."""
GRADIENTS = ("elementwise_grad", "egrad", "jacrev", "jacfwd")
LOSSES_AS_LAYERS = {
    "TripletMarginLoss": "triplet_margin_loss", "MarginRankingLoss": "margin_ranking_loss",
    "GaussianNLLLoss": "gaussian_nll_loss", "PoissonNLLLoss": "poisson_nll_loss", "multi_dot": "chain_matmul",
    "SoftMarginLoss": "soft_margin_loss", "PairwiseDistance": "pairwise_distance",
}  # fmt: skip
MEANT = {
    "prelu": {"w": "v"}, "cholesky_solve": {"a": "mg.tril(spd)"},
    "mv": {"b": "v"}, "bmm": {"a": "cube", "b": "cube"}, "view_as_real": {"x": "z"}, "view_as_complex": {"x": "pairs"},
    "eigh": {"x": "spd"}, "choose": {"indices": "chosen", "axis": 0}, "insert": {"x": "v", "y": "u"},
    "delete": {"x": "v"}, "ediff1d": {"x": "v"}, "cumulative_sum": {"x": "v"}, "convolve": {"a": "v", "b": "u"},
    "cartesian_prod": {"a": "v", "b": "u"}, "vander": {"x": "v"}, "percentile": {"q": 30},
    **{name: {"y": "v"} for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
    "digitize": {"x": "tied"}, "bucketize": {"x": "tied"}, "flatnonzero": {"x": "square"},
    "broadcast_tensors": {"x": "v"}, "broadcast_arrays": {"x": "v"}, "LongTensor": {"values": "square"},
    "BoolTensor": {"values": "mask"}, "fromiter": {"values": "v.tolist()"}, "item": {"x": "v[0]"},
    "gather": {"indices": "square"}, "gaussian_nll_loss": {"v": "variance"}, "fromfunction": {"f": np.add},
    "margin_ranking_loss": {"y": "signs"}, "soft_margin_loss": {"y": "signs"}, "row_stack": {"parts": "[x, y]"},
    "block": {"rows": "[[x, y]]"}, "pad_sequence": {"parts": "[rows, x]", "n": 3},
    **{name: {"f": lambda x: mg.sin(x).sum(), "v": "y"}
       for name in ("hessian_vector_product", "hessian_tensor_product", "make_hvp", "vhp")},
    **{name: {"v": "y"} for name in ("make_jvp", "linearize", "forward_ad")},
}  # fmt: skip
"""What a name in a hint is, where it is something else than in other hints: another array's name, or a value."""
NOT_EXECUTED = {
    **dict.fromkeys(("bfloat16", "short", "cfloat", "cdouble", "Size"), "a dtype or a type"),
    **dict.fromkeys(("parameter", "modules"), "an import"),
    **dict.fromkeys(("normal", "randint_like", "bernoulli", "poisson", "exponential", "shuffle", "multinomial",
                     "randperm"), "random numbers"),
    **dict.fromkeys(("Generator", "PRNGKey", "key", "fold_in", "initial_seed", "get_rng_state", "set_rng_state",
                     "RandomState", "manual_seed", "manual_seed_all"), "the state of a random generator"),
    **dict.fromkeys(("is_available", "device_count", "get_device_name", "is_initialized", "device_put", "device_get",
                     "devices"), "devices"),
    **dict.fromkeys(("finfo", "iinfo", "promote_types", "result_type", "can_cast", "errstate", "seterr",
                     "set_printoptions", "testing", "ndarray"), "NumPy's own function or a class"),
    **dict.fromkeys(("LBFGS", "Adadelta", "Adamax", "NAdam", "RAdam", "Adafactor", "SparseAdam", "Rprop", "ASGD"),
                    "another algorithm, named as such"),
    **dict.fromkeys(("optimizers", "optax", "flax", "linen", "stax", "haiku"), "the name of a package"),
    **dict.fromkeys(("make_jaxpr", "set_detect_anomaly", "detect_anomaly", "inference_mode", "export", "fx", "graph"),
                    "a block"),
    **dict.fromkeys(("onnx", "hub", "pickle"), "files"), "backward": "a walk", "register_hook": "a hook",
    **dict.fromkeys(("grad_and_aux", "multigrad", "holomorphic_grad", "make_vjp", "tensor_jacobian_product",
                     "vector_jacobian_product", "linear_transpose", "check_grads", "check_vjp", "fori_loop"),
                    "a transform with other results, whose own tests compare it"),
    **dict.fromkeys(("flatten_util", "ravel_pytree", "tree_util", "tree_map", "tree", "parameters_to_vector",
                     "clip_grad_norm", "clip_grad_value"), "parameters of a program"),
    "hann_window": "PyTorch's makes the window alone",
}  # fmt: skip
"""Hints that are code and not compared, and why."""


def test_every_hint_of_another_owner_is_executed_or_has_a_reason():
    names = {name for (_, name), hint in OTHER_HINTS.items() if not hint.endswith(".")}
    executed = OTHER_CALLS.keys() | LOSSES_AS_LAYERS.keys()
    assert not names - executed - NOT_EXECUTED.keys() - CALLS.keys()
    assert not executed & NOT_EXECUTED.keys()
    assert all(NOT_EXECUTED.values())


def names_for_other_hints(library, meant):
    """Return the names that calls and hints of other owners use, on one side."""
    tensors = {name: library.tensor(value) for name, value in OTHER_ARRAYS.items()}
    names = {**tensors, **OTHER_NUMBERS, "mg": mg, "nn": mg.nn, "np": np, "torch": torch, "f": mg.sin}
    values = {name: eval(other, names) if isinstance(other, str) else other for name, other in meant.items()}  # noqa: S307 - a name of the table
    return names | values


@pytest.mark.parametrize(("owner", "name"), [
    (owner, name) for (owner, name), hint in OTHER_HINTS.items()
    if not hint.endswith(".") and LOSSES_AS_LAYERS.get(name, name) in OTHER_CALLS
])  # fmt: skip
def test_a_hint_of_another_owner_gives_the_same_numbers(owner, name):
    key = LOSSES_AS_LAYERS.get(name, name)
    expected = eval(OTHER_CALLS[key], names_for_other_hints(torch, {}))  # noqa: S307 - a line of the table above
    *lines, last = OTHER_HINTS[owner, name].split("; ")
    names = names_for_other_hints(mg, MEANT.get(key, {}))
    for line in lines:
        exec(line, names)  # noqa: S102 - a line of our own table
    found = eval(last, names)  # noqa: S307 - the same
    found = found(names["x"]) if key in GRADIENTS else found[0] if key == "eigh" else found
    assert agree(found, expected), last


SPELLINGS = [
    (mg, torch), (mg, np), (mg.nn, torch.nn), (mg.nn.functional, torch.nn.functional), (mg.nn.utils, torch.nn.utils),
    (mg.optim, torch.optim), (mg.optim.lr_scheduler, torch.optim.lr_scheduler), (mg.linalg, torch.linalg),
    (mg.linalg, np.linalg), (mg.fft, torch.fft), (mg.random, np.random), (mg.special, torch.special),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs"), SPELLINGS, ids=[f"{a.__name__} {b.__name__}" for a, b in SPELLINGS])
def test_a_name_of_another_library_is_no_misspelling_of_ours(ours, theirs):
    """`RReLU` is not `ReLU`: no name that PyTorch or NumPy has gets a neighbour that computes something else."""
    suggested = {}
    for name in dir(theirs):
        try:
            getattr(ours, name)
        except AttributeError as error:
            if "did you mean" in str(error):
                suggested[name] = str(error)
    assert not suggested

"""Each name in `mg` is a name that users know from NumPy, PyTorch or JAX, or has a reason in a table."""

import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core.define import operations

PYTORCH = {
    "torch": "addcmul autograd avg_pool1d batch_norm cat celu compile conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d cuda cummax cummin dequantize device dropout embedding enable_grad erf erfc "
    "flatten from_numpy group_norm gru_cell instance_norm is_grad_enabled layer_norm lerp "
    "log_softmax logcumsumexp logsumexp lstm_cell manual_seed max_pool1d max_pool2d multinomial nn "
    "no_grad norm optim pixel_shuffle pixel_unshuffle rand rand_like randint randn randn_like "
    "randperm relu rms_norm rsqrt scatter scatter_add scatter_reduce selu set_grad_enabled sigmoid "
    "softmax special std_mean Tensor tensor topk var_mean",
    "torch.nn.functional": "adaptive_avg_pool2d avg_pool2d binary_cross_entropy_with_logits elu fold gelu hardsigmoid "
    "hardswish hardtanh interpolate leaky_relu logsigmoid mish one_hot relu6 scaled_dot_product_attention silu "
    "softplus softsign unfold",
    "torch.Tensor": "mH",
    "torch.autograd": "grad gradcheck",
    "torch.autograd.functional": "hvp jacobian",
    "torch.func": "hessian jvp vjp",
    "torch.utils.checkpoint": "checkpoint checkpoint_sequential",
}
"""Names that NumPy does not have, by the module of PyTorch that has them. The parity run looks each of them up."""

JAX = {
    "jax": "custom_jvp custom_vjp numpy value_and_grad",
    "jax.lax": "cond scan stop_gradient while_loop",
    "jax.scipy": "signal stats",
}
"""Names that only JAX has, as its documentation lists them; JAX is not installed for tests."""

OWN_NAMES = {
    # Defining operations.
    "op": "decorator that defines an operation",
    "elementwise": "decorator for one kind of operation",
    "linear": "decorator for one kind of operation; the layer is `nn.functional.linear`",
    "multilinear": "decorator for one kind of operation",
    "nondifferentiable": "decorator for one kind of operation",
    "variadic": "decorator for one kind of operation",
    "composite": "decorator that defines an operation by other operations",
    "check_op": "checks an operation that a user defines",
    "checks": "module of the checks that every operation passes",
    "samples": "small calls of every operation, for checks and exercises",
    # Recording and stepping.
    "written_out": "writes a call out as a NumPy program",
    "record": "records a program and its backward pass; `numpy.record` is a scalar type",
    "Trace": "the record",
    "load_trace": "reads a record from a file",
    "tracing": "module of records",
    "orders": "compares the orders in which a graph can be walked",
    "scope": "groups steps of a record under a name",
    "unfuse": "runs an operation as the operations that it is made of",
    # Parts of the toolkit.
    "engine": "micrograd's own interface",
    "exercises": "module of exercises",
    "extras": "module of subjects with helpers of their own, such as `extras.quantisation.is_unclipped`",
    "grading": "module of the grader",
    "transforms": "module of `grad` and the other transforms",
    "splat": "module that renders Gaussian splats",
    "FileError": "raised for a file that cannot be read",
    "is_checkpointing": "tells a function whether `checkpoint` calls it",
    "is_recomputing": "tells a function whether `checkpoint` calls it for the second time",
    # Layers and losses as one operation, under the names of papers or of longer functions elsewhere.
    "affine": "x * scale + shift in one operation",
    "linear_layer": "`torch.nn.functional.linear`; `mg.linear` is a decorator",
    "mse": "`torch.nn.functional.mse_loss`",
    "softmax_cross_entropy": "`torch.nn.functional.cross_entropy` for each row, with targets as probabilities",
    "attention": "attention with several heads, between the projections",
    "attention_block": "`torch.nn.MultiheadAttention` as one operation",
    "soft_capped_attention": "attention of Gemma 2",
    "transformer_layer": "`torch.nn.TransformerEncoderLayer` as one operation",
    "residual_layer_norm": "sum and layer norm in one operation",
    "residual_rms_norm": "sum and RMS norm in one operation",
    "rope": "rotary position embedding, Su et al. 2021",
    "rope_angles": "the angles of `rope`",
    "swiglu": "gated unit of Shazeer 2020",
    "lora_matmul": "low-rank adapter, Hu et al. 2021",
    "grouped_matmul": "matrix product of a mixture of experts",
    "rnn": "`torch.nn.RNN` as one operation",
    "recurrence": "first-order linear recurrence, as in Martin and Cundy 2018",
    "gated_recurrence": "recurrence through a matrix",
    "selective_scan": "state space model of Mamba, Gu and Dao 2023",
    "gated_delta_net": "linear attention of Yang et al. 2024",
    # Quantisation; PyTorch's functions have longer names, by tensor and by channel.
    "quantize": "`torch.quantize_per_tensor` and `per_channel` in one",
    "fake_quantize": "`torch.fake_quantize_per_tensor_affine` and `per_channel` in one",
    "fake_quantize_lsq": "fake quantisation with a learned step, Esser et al. 2020",
    "quantized_matmul": "matrix product of quantised numbers",
    "quantized_conv2d": "convolution of quantised numbers",
    "dequantize_blocks": "weights stored with a scale for each block",
    "dequantize_matmul": "matrix product with such weights",
    "dequantize_grouped_matmul": "grouped matrix product with such weights",
}
"""Names that no other library has with this meaning, and why they are public."""

HOMONYMS = {"record", "linear"}
"""Names of the table that another library uses for something else."""


def names_of(table):
    """Return the names in a table of modules."""
    return {name for names in table.values() for name in names.split()}


def is_numpys(name):
    """Return whether NumPy has a name."""
    return hasattr(np, name) or hasattr(np.ndarray, name)


def test_each_public_name_has_a_counterpart_or_a_reason():
    extra = {name for name in mg.__all__ if not is_numpys(name)} - names_of(PYTORCH) - names_of(JAX) - OWN_NAMES.keys()
    assert not extra, "keep them in mg.ops with public=False, or say in OWN_NAMES why they are public"


def test_the_tables_list_only_public_names_and_each_once():
    rows = [*OWN_NAMES, *(name for table in (PYTORCH, JAX) for names in table.values() for name in names.split())]
    assert set(rows) <= set(mg.__all__)
    assert len(rows) == len(set(rows))


def test_no_name_of_ours_is_numpys_or_pytorchs():
    assert {name for name in OWN_NAMES if hasattr(np, name)} <= HOMONYMS
    assert not {name for name in names_of(PYTORCH) | names_of(JAX) if hasattr(np, name)}


@pytest.mark.parity
def test_pytorch_has_the_names_listed_as_pytorchs():
    pytest.importorskip("torch")
    modules = {path: pkgutil.resolve_name(path) for path in PYTORCH}
    missing = [name for path in PYTORCH for name in PYTORCH[path].split() if not hasattr(modules[path], name)]
    assert not missing
    found = {name for name in OWN_NAMES for module in modules.values() if hasattr(module, name)}
    assert found <= HOMONYMS, "these are PyTorch's as well: move them to PYTORCH"


def test_steps_that_only_rules_need_are_not_in_mg():
    internal = {op.name for op in operations.values() if not mg.ops.is_public(op.call)}
    assert {"unpad", "unreduce", "finite_max", "window_sums"} <= internal
    assert not internal & {*mg.__all__, *dir(mg), *mg.linalg.__all__, *mg.fft.__all__, *mg.signal.__all__}
    with pytest.raises(AttributeError, match="unpad"):
        _ = mg.unpad
    assert mg.ops.unpad.op.name == "unpad"


def test_a_star_import_takes_no_internal_name():
    names: dict[str, object] = {}
    exec("from micrograd_plus import *", names)  # noqa: S102 - a star import must be at the top level of a module
    assert "tanh" in names
    assert not {"unpad", "cast", "new_zeros", "is_public"} & names.keys()


def test_subjects_that_few_programs_use_are_imported_later():
    program = (
        "import sys, micrograd_plus as mg; late = ['special', 'quantisation', 'derived_sections']\n"
        "print([name for name in late if any(name in module for module in sys.modules)])\n"
        "@mg.elementwise(x=lambda xp, x: xp.digamma(x))\n"
        "def log_gamma(xp, x): return xp.gammaln(x)\n"
        "print(mg.grad(log_gamma)(2.0).item().__round__(4), mg.quantize.__name__)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "0.4228 quantize"]


def test_names_of_quantisation_are_those_of_its_module():
    names = {name for name, place in mg._WHEN_ASKED_FOR.items() if place.startswith("extras.quantisation:")}
    assert names == {*mg.extras.quantisation.__all__}

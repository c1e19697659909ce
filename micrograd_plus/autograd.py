"""PyTorch's `torch.autograd.grad`: gradients of results that have been computed already."""

from __future__ import annotations

from typing import Any, NoReturn

from .core import backward
from .core.messages import missing_name, prefixes_errors
from .tensor import Tensor, upstream_of

__all__ = ["grad"]
__path__: list[str] = []  # a package to importers, so that `import torch.autograd.functional` is answered by its hint


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


@prefixes_errors
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """Compute the gradients of computed results by some tensors; no `.grad` changes.

    The gradient of one output L by an input x is ∂L/∂x. For several outputs the gradients are added. `mg.grad` takes a
    function instead of its result.

    Args:
        outputs: a tensor with a graph, or several.
        inputs: a tensor from which the outputs were computed, or several: leaves or results.
        grad_outputs: the upstream gradient of each output; default None, 1 for outputs of one entry.
        retain_graph: accepted as in PyTorch; the graph is kept unless it is False.
        create_graph: whether the gradients have a graph, to be differentiated again; default False.
        only_inputs: accepted as in PyTorch, where it must be True.
        allow_unused: whether an input may have no part in the outputs; its gradient is then None.
    Returns: a tuple with a gradient for each input.
    Raises: RuntimeError if an output has no graph, or an input has no part in the outputs and allow_unused is False.
        ValueError for a gradient of another shape.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x ** 3).sum()
        >>> (first,) = mg.autograd.grad(y, x, create_graph=True)
        >>> first.tolist(), mg.autograd.grad(first.sum(), x)[0].tolist()
        ([3.0, 12.0], [6.0, 12.0])

    See: torch.autograd.grad; mg.grad.
    """
    outputs, inputs = _as_list(outputs), _as_list(inputs)
    upstreams = _as_list(grad_outputs) if grad_outputs is not None else [None] * len(outputs)
    if len(upstreams) != len(outputs):
        raise ValueError(f"grad_outputs must be one for each output, got {len(upstreams)} for {len(outputs)}")
    nodes = [x.node for x in inputs]
    if None in nodes:
        raise RuntimeError(f"input {nodes.index(None)} requires no gradient; make it with requires_grad=True")
    totals: list[Any] = [None] * len(inputs)
    for output, given in zip(outputs, upstreams, strict=True):
        upstream = upstream_of(output, given, create_graph)
        found = backward.gradients(
            output, upstream, create_graph=create_graph, retain_graph=retain_graph is not False, through=nodes
        )
        for i, node in enumerate(nodes):
            if node in found:
                part = Tensor.of(found[node])
                totals[i] = part if totals[i] is None else totals[i] + part
    unused = [i for i, total in enumerate(totals) if total is None]
    if unused and not allow_unused:
        raise RuntimeError(f"input {unused[0]} has no part in the outputs; pass allow_unused=True to get None for it")
    return tuple(totals)


def _as_list(values: Any) -> list[Any]:
    """Return one tensor or several as a list."""
    return [values] if isinstance(values, Tensor) else list(values)

"""Hooks: user functions that see the gradient of a variable once it is complete, and may replace it.

Hooks are stored on the node itself, so they are freed with it, even if they refer to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from ..messages import hook_error
from ..modes import recording
from ..variable import Gradient, Node, Variable, namespace_of
from .listening import notify_change

nodes_with_hooks: set[ref[Node]] = set()
"""The nodes that have a hook. While it is empty, walks do not look for hooks."""


class Handle:
    """Handle of a registered hook. `remove()`, a call, or the end of a `with` block removes the hook."""

    def __init__(self, hooks: dict[Handle, Callable[..., Any]], hook: Callable[..., Any], *, runs_last: bool = False):
        self._hooks, self.runs_last = hooks, runs_last
        hooks[self] = hook

    def remove(self) -> None:
        """Remove the hook; removing it twice does nothing."""
        self._hooks.pop(self, None)

    def __call__(self) -> None:
        """Remove the hook."""
        self.remove()

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def add_hook(node: Node, kind: str, hook: Callable[..., Any], *, runs_last: bool = False) -> Handle:
    """Register a hook of a kind: "hooks" see the gradient, "after_accumulation" run once `.grad` has grown. One that
    `runs_last` sees the gradient that the others leave, whenever they are registered."""
    if not hasattr(node, kind):
        setattr(node, kind, {})
    nodes_with_hooks.add(ref(node, nodes_with_hooks.discard))
    return Handle(getattr(node, kind), hook, runs_last=runs_last)


def hooks_of(node: Node, kind: str = "hooks") -> list[Callable[..., Any]]:
    """Return the hooks of a node in the order in which they run, which is that of registration."""
    hooks: dict[Handle, Callable[..., Any]] | None = getattr(node, kind, None)
    if not hooks:  # as for nearly all leaves of a walk
        return []
    return [hooks[handle] for handle in sorted(hooks, key=lambda handle: handle.runs_last)]


def run_hooks(node: Node, gradient: Gradient) -> Any:
    """Call the hooks of a node, and return the gradient that they leave.

    A hook may keep the gradient it was shown. The walk writes into its gradients, so it goes on with a copy.
    """
    public = Variable.public
    on_tensors = isinstance(gradient, Variable)
    for hook in hooks_of(node):
        try:
            changed = hook(public.of(gradient))
        except Exception as error:
            raise hook_error(node.op, error) from error
        if changed is None:
            continue
        if not isinstance(changed, public):
            got = type(changed).__name__
            raise TypeError(f"a hook must return a tensor, or None to leave the gradient as it is; got {got}")
        if changed.shape != gradient.shape:
            raise RuntimeError(f"a hook returned shape {changed.shape} for a gradient of shape {gradient.shape}")
        if changed.dtype.kind != gradient.dtype.kind:
            raise TypeError(
                f"a hook returned {changed.dtype} for a gradient of {gradient.dtype}; return numbers of that kind, "
                f"such as g.real of complex numbers, or g.astype(float) of whole ones"
            )
        changed = changed if on_tensors else changed._data
        same_dtype = changed.dtype == gradient.dtype
        before, gradient = gradient, changed if same_dtype else namespace_of(gradient).cast(changed, gradient.dtype)
        if recording.open:
            notify_change("hook", node, before, gradient, hook)
    return gradient if on_tensors else gradient.copy("K")

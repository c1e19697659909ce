"""Hooks: functions of the user's that see the gradient of a variable when it is complete, and may replace it.

They lie on the node itself, so that they go when it goes, even if they speak of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from .operation import fitted
from .values import namespace_of
from .variable import Gradient, Node, Variable

hooked: set[ref[Node]] = set()
"""The nodes that have a hook. While there is none, no walk looks for any."""


class Handle:
    """A hook in its place. `remove()` takes it away again; so does a call, or the end of a `with` block."""

    def __init__(self, hooks: dict[Handle, Callable[..., Any]], hook: Callable[..., Any]):
        self._hooks = hooks
        hooks[self] = hook

    def remove(self) -> None:
        """Take the hook away; once it is gone, nothing happens."""
        self._hooks.pop(self, None)

    def __call__(self) -> None:
        """The same as `remove()`."""
        self.remove()

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def add_hook(node: Node, kind: str, hook: Callable[..., Any]) -> Handle:
    """Give a node a hook: of "hooks", which see its gradient, or of "after_accumulation", once `.grad` has grown."""
    if not hasattr(node, kind):
        setattr(node, kind, {})
    hooked.add(ref(node, hooked.discard))
    return Handle(getattr(node, kind), hook)


def hooks_of(node: Node, kind: str = "hooks") -> list[Callable[..., Any]]:
    """The hooks of a node, in the order in which they came."""
    return list(getattr(node, kind, {}).values())


def after_hooks(node: Node, gradient: Gradient) -> Any:
    """The gradient after the hooks of a node have seen it; a hook may return another. It may keep what it was shown, so
    the walk, which adds into what it holds, goes on with a copy."""
    public = Variable.public
    on_tensors = isinstance(gradient, Variable)
    for hook in hooks_of(node):
        changed = hook(public.of(gradient))
        if changed is None:
            continue
        if not isinstance(changed, public):
            got = type(changed).__name__
            raise TypeError(f"a hook must return a tensor, or None to leave the gradient as it is; got {got}")
        if changed.shape != gradient.shape:
            raise RuntimeError(f"a hook returned shape {changed.shape} for a gradient of shape {gradient.shape}")
        changed = changed if on_tensors else changed._data
        gradient = fitted(namespace_of(gradient), changed, (gradient.shape, gradient.dtype))
    return gradient if on_tensors else gradient.copy("K")

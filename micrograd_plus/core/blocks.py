"""Blocks: `with no_grad(): ...`, or above a function `@no_grad()`, which holds while its body runs, of functions,
generators and coroutines alike."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Generator
from functools import wraps
from types import CodeType, FrameType
from typing import Any

from .modes import Mode, Opened, gradients_wanted, recording, unfused

entering: set[CodeType] = set()
"""The code of the methods by which a module is called: what is applied in such a call belongs to the module."""


def enters(method: Any) -> Any:
    """Mark the method by which modules of a class are called, so that a record can say what was applied in which."""
    entering.add(method.__code__)
    return method


scopes = Mode("scopes", None)
"""The name that a part of the program goes by in records."""
transforming = Mode("transforming", None)
"""What each transform that is running differentiates by: a list of nodes."""


def no_grad() -> Block:
    """A block (or a decorator) in which nothing wants a gradient.

    It holds for this thread and task alone. Results that are computed in it have no graph, and leaves may be written
    into: `p -= rate * p.grad`. A generator under the decorator is in the block while it runs, and its caller is not.

    Returns: a context manager, which decorates functions, generators and coroutines too.
    Raises: TypeError for an asynchronous generator under the decorator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.no_grad():
        ...     (x * 2).requires_grad
        False

    See: torch.no_grad.
    """
    return Block(gradients_wanted, False)


def enable_grad() -> Block:
    """A block (or a decorator) in which gradients are wanted again, inside `no_grad`.

    Returns: a context manager, which decorates functions, generators and coroutines too.
    Raises: TypeError for an asynchronous generator under the decorator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.no_grad(), mg.enable_grad():
        ...     (x * 2).requires_grad
        True

    See: torch.enable_grad.
    """
    return Block(gradients_wanted, True)


def is_grad_enabled() -> bool:
    """Whether gradients are wanted here and now: in this thread and task.

    Returns: False inside `no_grad`, else True.
    Raises: nothing.
    Example:
        >>> with mg.no_grad():
        ...     mg.is_grad_enabled()
        False

    See: torch.is_grad_enabled.
    """
    return gradients_wanted()


def set_grad_enabled(mode: bool) -> Block:
    """A block (or a decorator) in which gradients are wanted, or not: `enable_grad` or `no_grad`, as `mode` says.

    It is a block and no switch: called as a statement it changes nothing, and warns.

    Args:
        mode: whether gradients are wanted.
    Returns: a context manager, which decorates functions, generators and coroutines too.
    Raises: TypeError for an asynchronous generator under the decorator.
    Example:
        >>> training = False
        >>> with mg.set_grad_enabled(training):
        ...     mg.is_grad_enabled()
        False

    See: torch.set_grad_enabled, whose call alone is a switch.
    """
    return UsedBlock(gradients_wanted, bool(mode))


def unfuse() -> Block:
    """A block (or a decorator) in which composites are decomposed into the operations they are made of.

    `softmax`, say, then runs as its own forward, step by step, in the place of one closed-form rule; its gradient is
    the same.

    Returns: a context manager, which decorates functions, generators and coroutines too.
    Raises: TypeError for an asynchronous generator under the decorator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.record() as trace, mg.unfuse():
        ...     mg.softmax(x)[0].backward()
        >>> [node.op for node in trace.nodes if node.op]
        ['max', 'subtract', 'exp', 'sum', 'divide', 'getitem']

    See: "decompositions" in the documentation of torch.export.
    """
    return Block(unfused, True)


def scope(name: str) -> Scope:
    """A block (or a decorator) that gives a name to what is computed in it, for records: `with mg.scope("encoder"):`.

    Pictures of a walk show what was applied in it as one group, which can be opened. Scopes stand in one another, and
    in modules and functions. Where nobody records, a scope does nothing.

    Args:
        name: what the group is called.
    Returns: a context manager, which decorates functions, generators and coroutines too.
    Raises: TypeError where the name is no text.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.record() as trace:
        ...     with mg.scope("encoder"):
        ...         y = mg.tanh(x)
        ...     y.sum().backward()
        >>> [group.path for group in trace.groups]
        ['encoder']

    See: jax.named_scope.
    """
    if not isinstance(name, str):
        raise TypeError(f"scope: the name of a group must be a string, got {type(name).__name__}")
    return Scope(name)


class Block:
    """A block in which a mode has a value: `with no_grad(): ...`, or above a function, `@no_grad()`."""

    __slots__ = ("_opened", "mode", "value")

    def __init__(self, mode: Mode, value: Any):
        self.mode, self.value = mode, value
        self._opened: list[Opened] = []

    def __enter__(self) -> None:
        self._opened.append(self.mode.begin(self.value))

    def __exit__(self, *error: object) -> None:
        self._opened.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, or generator, or coroutine, with its body in such a block."""
        return decorated(function, lambda: Block(self.mode, self.value))


class UsedBlock(Block):
    """A block that must be used as one; who writes it as a statement is warned."""

    __slots__ = ("used",)

    def __init__(self, mode: Mode, value: Any):
        super().__init__(mode, value)
        self.used = False

    def __enter__(self) -> None:
        self.used = True
        super().__enter__()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its body in such a block."""
        self.used = True
        return super().__call__(function)

    def __del__(self) -> None:
        if not self.used:
            said = f"mg.set_grad_enabled({self.value}) is a block, and changes nothing by itself"
            warnings.warn(f"{said}: write `with mg.set_grad_enabled({self.value}):`", stacklevel=2)


class Scope(Block):
    """A block with a name, of which records take note."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        super().__init__(scopes, None)
        self.name = name

    def __enter__(self) -> None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - whose block it is
        opened = scopes.begin(Named(self.name, frame)) if recording.open else Opened(None)
        self._opened.append(opened)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, or generator, or coroutine, with its body in such a scope."""
        return decorated(function, lambda: Scope(self.name))


class Named:
    """A scope that is open: its name, and the frame that opened it, with the instruction that did."""

    __slots__ = ("frame", "instruction", "name")

    def __init__(self, name: str, frame: FrameType):
        self.name, self.frame, self.instruction = name, frame, frame.f_lasti


def decorated(function: Callable[..., Any], block: Callable[[], Block]) -> Callable[..., Any]:
    """The function, or generator, or coroutine, with its body in a block of its own."""
    if inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__name__} is an asynchronous generator, whose caller would run in the block as well; "
            f"open the block inside it, between two yields"
        )
    if inspect.isgeneratorfunction(function):
        return wraps(function)(lambda *args, **options: _stepped(function(*args, **options), block))

    @wraps(function)
    def inside(*args: Any, **options: Any) -> Any:
        with block():
            return function(*args, **options)

    @wraps(function)
    async def awaited(*args: Any, **options: Any) -> Any:
        with block():
            return await function(*args, **options)

    return awaited if inspect.iscoroutinefunction(function) else inside


def _stepped(steps: Generator[Any, Any, Any], block: Callable[[], Block]) -> Generator[Any, Any, Any]:
    """A generator whose own steps run in the block, and its caller's do not."""
    step: Any = steps.send
    received: Any = None
    while True:
        try:
            with block():
                given = step(received)
        except StopIteration as end:
            return end.value
        try:
            step, received = steps.send, (yield given)
        except GeneratorExit:
            with block():
                steps.close()
            raise
        except BaseException as error:  # noqa: BLE001 - whatever was thrown in is handed on
            step, received = steps.throw, error

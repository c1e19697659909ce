"""Blocks that users open: `no_grad`, `enable_grad`, `unfuse`, `scope`. Each is a context manager and a decorator."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Generator
from functools import wraps
from types import CodeType, FrameType
from typing import Any

from ..modes import Block, Mode, grad_enabled, recording, unfused

module_calls: set[CodeType] = set()
"""The code of the methods that call a module. Operations applied in such a call belong to the module."""


def module_call(method: Any) -> Any:
    """Mark the method that calls a module, so that records can group what it applies."""
    module_calls.add(method.__code__)
    return method


scopes = Mode("scopes", None)
"""The innermost open scope."""
transforming = Mode("transforming", None)
"""The list of nodes that the innermost running transform differentiates by."""


def no_grad(function: Any = None) -> Any:
    """Disable gradients in a block or in a function.

    Only this thread and task are affected. Results computed in the block have no graph, and leaves may be written
    into: `p -= rate * p.grad`. A decorated generator runs in the block, its caller does not.

    Args:
        function: a function to decorate: `@mg.no_grad` is the same as `@mg.no_grad()`.
    Returns: a context manager, which also decorates functions, generators and coroutines; the function, if one is
        given.
    Raises: TypeError for a decorated class or asynchronous generator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.no_grad():
        ...     (x * 2).requires_grad
        False

    See: torch.no_grad.
    """
    block = UserBlock(grad_enabled, False)
    return block if function is None else block(function)


def enable_grad(function: Any = None) -> Any:
    """Enable gradients again in a block inside `no_grad`.

    Args:
        function: a function to decorate: `@mg.enable_grad` is the same as `@mg.enable_grad()`.
    Returns: a context manager, which also decorates functions, generators and coroutines; the function, if one is
        given.
    Raises: TypeError for a decorated class or asynchronous generator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.no_grad(), mg.enable_grad():
        ...     (x * 2).requires_grad
        True

    See: torch.enable_grad.
    """
    block = UserBlock(grad_enabled, True)
    return block if function is None else block(function)


def is_grad_enabled() -> bool:
    """Return True if gradients are enabled in this thread and task.

    Returns: False inside `no_grad`, otherwise True.
    Raises: nothing.
    Example:
        >>> with mg.no_grad():
        ...     mg.is_grad_enabled()
        False

    See: torch.is_grad_enabled.
    """
    return grad_enabled()


def set_grad_enabled(mode: bool) -> UserBlock:
    """Enable or disable gradients in a block, as `mode` says.

    It is a block, not a switch: called as a statement it changes nothing, and warns.

    Args:
        mode: whether gradients are enabled.
    Returns: a context manager, which also decorates functions, generators and coroutines.
    Raises: TypeError if `mode` is a function, and for a decorated class or asynchronous generator.
    Example:
        >>> training = False
        >>> with mg.set_grad_enabled(training):
        ...     mg.is_grad_enabled()
        False

    See: torch.set_grad_enabled, which is a switch even without `with`.
    """
    if callable(mode):
        raise TypeError("set_grad_enabled: mode must be True or False; to decorate a function write @mg.no_grad()")
    return WarningBlock(grad_enabled, bool(mode))


def unfuse(function: Any = None) -> Any:
    """Run composites as the operations they are made of, in a block or in a function.

    `softmax`, for example, then runs as its own forward, step by step, instead of one closed-form rule. Its gradient is
    the same.

    Args:
        function: a function to decorate: `@mg.unfuse` is the same as `@mg.unfuse()`.
    Returns: a context manager, which also decorates functions, generators and coroutines; the function, if one is
        given.
    Raises: TypeError for a decorated class or asynchronous generator.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.record() as trace, mg.unfuse():
        ...     mg.softmax(x)[0].backward()
        >>> [node.op for node in trace.nodes if node.op]
        ['max', 'subtract', 'exp', 'sum', 'divide', 'getitem']

    See: "decompositions" in the documentation of torch.export.
    """
    block = UserBlock(unfused, True)
    return block if function is None else block(function)


def scope(name: str) -> Scope:
    """Name a part of the program for records: `with mg.scope("encoder"):`.

    Pictures of a walk show the operations of a scope as one group, which can be opened. Scopes can be nested, also in
    modules and functions. Without a recorder, a scope does nothing.

    Args:
        name: the name of the group.
    Returns: a context manager, which also decorates functions, generators and coroutines.
    Raises: TypeError if the name is not a string, and for a decorated class or asynchronous generator.
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


class UserBlock(Block):
    """Block that also decorates functions: `with no_grad(): ...`, or `@no_grad()`."""

    __slots__ = ()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, generator function or coroutine function with its body in such a block."""
        return decorate(function, lambda: UserBlock(self.mode, self.value))


class WarningBlock(UserBlock):
    """Block that warns if it is never entered."""

    __slots__ = ("is_used",)

    def __init__(self, mode: Mode, value: Any):
        super().__init__(mode, value)
        self.is_used = False

    def __enter__(self) -> None:
        self.is_used = True
        super().__enter__()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its body in such a block."""
        self.is_used = True
        return super().__call__(function)

    def __del__(self) -> None:
        if not self.is_used:
            call = f"mg.set_grad_enabled({self.value})"
            warnings.warn(f"{call} is a block, and changes nothing by itself: write `with {call}:`", stacklevel=2)


class Scope(UserBlock):
    """Block with a name, which records show as a group."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        super().__init__(scopes, None)
        self.name = name

    def __enter__(self) -> None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - the frame that opens the block
        self._tokens.append(scopes.begin(OpenScope(self.name, frame) if recording.open else None))

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, generator function or coroutine function with its body in such a scope."""
        return decorate(function, lambda: Scope(self.name))


class OpenScope:
    """A scope that is open: its name, the frame that opened it, and the instruction there."""

    __slots__ = ("frame", "instruction", "name")

    def __init__(self, name: str, frame: FrameType):
        self.name, self.frame, self.instruction = name, frame, frame.f_lasti


def decorate(function: Callable[..., Any], block: Callable[[], UserBlock]) -> Callable[..., Any]:
    """Return a function, generator function or coroutine function whose body runs in a new block."""
    if inspect.isclass(function) or not callable(function):
        got = f"the class {function.__name__}" if inspect.isclass(function) else type(function).__name__
        raise TypeError(
            f"a block such as mg.no_grad() decorates a function or method, got {got}; decorate the methods of a class "
            f"that should run in it, such as forward"
        )
    if inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__name__} is an asynchronous generator, whose caller would run in the block as well; "
            f"open the block inside it, between two yields"
        )
    if inspect.isgeneratorfunction(function):
        return wraps(function)(lambda *args, **options: _run_generator(function(*args, **options), block))

    @wraps(function)
    def inside(*args: Any, **options: Any) -> Any:
        with block():
            return function(*args, **options)

    @wraps(function)
    async def run_coroutine(*args: Any, **options: Any) -> Any:
        with block():
            return await function(*args, **options)

    return run_coroutine if inspect.iscoroutinefunction(function) else inside


def _run_generator(steps: Generator[Any, Any, Any], block: Callable[[], UserBlock]) -> Generator[Any, Any, Any]:
    """Run a generator whose own steps are in the block, while its caller's code is not."""
    step: Any = steps.send
    received: Any = None
    while True:
        try:
            with block():
                item = step(received)
        except StopIteration as end:
            return end.value
        try:
            step, received = steps.send, (yield item)
        except GeneratorExit:
            with block():
                steps.close()
            raise
        except BaseException as error:  # noqa: BLE001 - whatever was thrown in is passed on
            step, received = steps.throw, error

"""Events that a recorder notes: applications of operations, applied rules, and calls in the user's program."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ..backends.shapes import is_sequence
from ..core.apply import Op
from ..core.backward import Part
from ..core.rule import Contribution
from ..core.runtime.blocks import OpenScope
from ..core.runtime.recorders import Push
from ..core.variable import Leaf, Node, Variable
from .sites import USER, kind_of


class ValueRef:
    """Reference to a variable as it was: `x += y` gives the same object another node and another array."""

    __slots__ = ("_data", "node", "variable")

    def __init__(self, variable: Any):
        self.variable, self.node, self._data = variable, variable.node, variable._data


def reference_to(value: Any) -> Any:
    """Return a `ValueRef` to a variable, and any other value unchanged."""
    return ValueRef(value) if isinstance(value, Variable) else value


class CallToken:
    """Identity of one call from the user's program into the engine. Two applications that share a token were made in
    the same call. It has the code of the engine's function that the program called."""

    __slots__ = ("function",)

    function: CodeType


class Application(NamedTuple):
    """One application of an operation: what it was given, what it returned, and where in the program it was made."""

    op: Op
    inputs: Sequence[Any]
    node: Node | None
    """The node of the result; None for several results, and for a result without a graph."""
    arrays: Sequence[Any]
    """The arrays of the inputs."""
    params: dict[str, Any]
    result: Any
    """The array of the result if `node` identifies it, otherwise the result itself."""
    call: int
    """The number of the call in which it was made."""
    instruction: int
    """The instruction in that call's code."""
    token: CallToken | None = None
    """Which call into the engine it belongs to; None if the program called the operation itself."""
    function: CodeType | None = None
    """The code of the engine's function that the program called, if it did not call the operation itself."""

    @property
    def results(self) -> tuple[Any, ...]:
        """The results: one, or as many as the operation has outputs."""
        return tuple(self.result) if self.op.outputs and is_sequence(self.result) else (self.result,)

    @property
    def graph_node(self) -> Any:
        """The node in the graph, which several results share; None if there is no graph."""
        if not is_sequence(self.result):
            return self.node
        parts = (result.node for result in self.results)
        return next((part.parents[0] for part in parts if part is not None), None)

    @property
    def output_keys(self) -> list[Any]:
        """The keys of the results: their nodes, or the results themselves if they have no graph."""
        if self.node is not None:
            return [self.node]
        return [getattr(result, "node", None) or result for result in self.results]


def name_of_input(op: Op, index: int) -> str:
    """Return the name of one input. Naming all parts of a list, for each part, would take quadratic time."""
    return f"{op.inputs[0]}[{index}]" if op.kind == "variadic" else op.inputs[index]


class FailedResult:
    """Key of an application that raised an error and so has no result."""

    __slots__ = ()


class AppliedRule(NamedTuple):
    """One rule applied to one input in a walk, with the accumulator before and after."""

    node: Any
    contribution: Contribution
    upstream: Any
    before: Any
    after: Any

    @property
    def receiver(self) -> Any:
        """The node that receives the contribution: an input of the application, or in a forward walk a result."""
        node, contribution = self.node, self.contribution
        if isinstance(contribution, Push):
            return contribution.receiver
        parents = node.parents if isinstance(node, Node) else (node.first, node.second)
        return parents[contribution.index]


class FrameSnapshot:
    """Copy of a frame: its code, and the values of its variables when the recording ended."""

    __slots__ = ("f_code", "f_globals", "f_locals")

    def __init__(self, frame: FrameType):
        self.f_code: CodeType = frame.f_code
        self.f_globals: dict[str, Any] = frame.f_globals
        self.f_locals: dict[str, Any] = dict(frame.f_locals)


@dataclass(slots=True, eq=False)
class Call:
    """A call of a module or of one of the user's functions, or a scope that was entered."""

    frame: FrameType | FrameSnapshot
    parent: int
    """The number of the call in which it was made; 0 for the outermost."""
    instruction: int
    """The instruction that made it, in the code of `parent`."""
    position: int
    """How many applications were made before it."""
    token: CallToken | None = None
    """If the engine made the call, the call into the engine that led to it."""
    scope: OpenScope | str | None = None

    @property
    def code(self) -> CodeType:
        """The code of the frame."""
        return self.frame.f_code

    @property
    def runs_users(self) -> bool:
        """Whether it runs the user's own code."""
        return kind_of(self.code) == USER

    @property
    def kind(self) -> str:
        """`scope`, or the kind of code it runs: `module`, `function` or `engine`."""
        return "scope" if self.scope is not None else kind_of(self.code)


def is_leaf(key: Any) -> bool:
    """Return whether a node or a value was made by no operation."""
    return type(key) is Leaf or getattr(key, "made_by", 0) is None


def maker_of(key: Any) -> Any:
    """Return the key of the application that made a result: for one of several outputs, their common node."""
    return key.parents[0] if type(key) is Part else key

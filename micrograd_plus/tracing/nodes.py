"""Nodes of a trace, and the traces inside composite applications."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..backends import tensors
from ..core.apply import Op
from ..core.backward import Part
from ..core.runtime.blocks import enable_grad
from ..core.runtime.recorders import Push, record_to
from ..core.variable import Variable
from .events import Application, FailedResult, ValueRef
from .groups import Groups
from .history import History
from .journal import Journal
from .names import NodeNames
from .outline import Outline, requires_grad
from .parts import LazyList, TraceNode
from .recorder import InsideRecorder, Recorder
from .trace import Trace
from .values import is_per_output, mute_warnings, param_text


class Nodes:
    """The nodes of a record, each made when someone looks at it."""

    def __init__(
        self, history: History, outline: Outline, groups: Groups, names: NodeNames, journal: Journal,
        build: Callable[[Recorder], Trace],
    ):  # fmt: skip
        self.history, self.outline, self.groups, self.names, self._build = history, outline, groups, names, build
        self.journal = journal

    @cached_property
    def nodes(self) -> Sequence[TraceNode]:
        """The nodes, in the order in which their values were made."""
        return LazyList(len(self.outline.keys), self._node)

    def _node(self, node: int) -> TraceNode:
        key = self.outline.keys[node]
        application = self.outline.application(key)
        op: Op | None = application.op if application else getattr(key, "op", None)
        kind = "output" if isinstance(key, Part) else "leaf" if op is None else "application"
        trace_node = TraceNode(
            id=node,
            kind=kind,
            name=self.names.name(node),
            label=self.names.labels[node],
            title=self.names.titles[node],
            inputs=[(name, self.outline.ids[id(parent)]) for name, parent in self.outline.inputs(key)],
            requires_grad=requires_grad(key),
            value=self.journal.first_values.get(node, self.outline.value(key)),
            lines=self.groups.lines(application.call, application.instruction) if application else [],
            group=self.groups.of_nodes[node],
            failed=isinstance(key, FailedResult),
        )
        if kind == "application" and op is not None:
            trace_node.op = op.name
            expression = self.names.expressions[node]
            trace_node.expression = None if expression is None else expression.text
            trace_node.cut = self._cut(key, op)
            trace_node.called = self.names.called_function(node)
            trace_node.summary = (op.forward.__doc__ or "").strip().partition("\n")[0] or None
        if kind == "application" and application is not None:
            trace_node.params = {name: param_text(value) for name, value in application.params.items()}
            trace_node.inside = self._inside(application, key) if application.op.composite else None
        return trace_node

    def _cut(self, key: Any, op: Op) -> str | None:
        """Return why no gradient can go on from a result to its inputs, although one of them requires it."""
        has_graph = requires_grad(key) and getattr(key, "made_by", key) is not None  # a `Value` receives one anyway
        if has_graph or not any(requires_grad(parent) for _, parent in self.outline.inputs(key)):
            return None
        return "detach" if op.name == "stop_gradient" else "no rule" if op.kind == "non-differentiable" else "no_grad"

    @cached_property
    def _upstreams(self) -> dict[int, Any]:
        """The upstream that arrived at each application, by the id of its key."""
        steps = self.history.steps
        return {id(step.node): step.upstream for step in steps if not isinstance(step.contribution, Push)}

    def _inside(self, application: Application, key: Any) -> Callable[[], Trace | None] | None:
        """Return a function that records a composite application as a smaller program; None if no gradient arrived
        there, or if its inputs are unknown."""
        upstream, kinds = self._upstreams.get(id(key)), (ValueRef, Variable, int, float, complex)
        are_known = all(value is None or isinstance(value, kinds) for value in application.inputs)
        if upstream is None or not are_known:
            return None

        def record_inside() -> Trace:
            recorder = InsideRecorder(application.op.forward.__code__)
            with enable_grad(), mute_warnings(), record_to(recorder):
                result = application.op.forward(tensors, *_copy_inputs(application), **application.params)
                if application.op.residuals:
                    result, *_ = result
                root, seed = _join_outputs(result, upstream)
                root.gradients(seed)
            trace = self._build(recorder)
            recorder.close(trace)
            return trace

        return record_inside


def _copy_inputs(application: Application) -> list[Any]:
    """Return new leaves with the arrays of an application's inputs, labelled by the operation's names for them."""
    inputs, arrays, node = application.inputs, application.arrays, application.node
    names = application.op.input_names(len(inputs))
    parents = [None] * len(inputs) if node is None else node.parents
    return [
        _new_leaf(array, name, requires_grad=(parent or value.node) is not None)
        if isinstance(value, (ValueRef, Variable)) else value
        for value, parent, array, name in zip(inputs, parents, arrays, names, strict=True)
    ]  # fmt: skip


def _new_leaf(array: Any, label: str, *, requires_grad: bool) -> Any:
    leaf = Variable.public.of(array)
    leaf.requires_grad = requires_grad
    leaf.label = label
    return leaf


def _join_outputs(result: Any, upstream: Any) -> tuple[Any, Any]:
    """Return the root and seed of the walk inside: several outputs are joined end to end, and so are their
    gradients."""
    if not is_per_output(upstream):
        return result, upstream
    used = [index for index, part in enumerate(upstream) if part is not None]
    if len(used) == 1:
        return result[used[0]], upstream[used[0]]
    seeds = [tensors.ravel(Variable.public.of(upstream[index])) for index in used]
    return tensors.concatenate([tensors.ravel(result[index]) for index in used]), tensors.concatenate(seeds)

"""The claims of docs/how-it-works.md, executed: where gradients wait, are added, and lose their broadcasting."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core import backward
from micrograd_plus.core.define import operations
from micrograd_plus.core.fast import callers

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")


def leaf(*shape):
    return mg.tensor(np.ones(shape), requires_grad=True)


def walk_on_arrays():
    x, b = leaf(3, 4), leaf(4)
    ((x * b) + b).sum().backward()


def walk_interpreted():
    with callers.interpret_all(list(operations.values())):
        walk_on_arrays()


def walk_on_tensors():
    x, b = leaf(3, 4), leaf(4)
    ((x * b) + b).sum().gradients(create_graph=True)


def walk_of_a_user_rule():
    @mg.op
    def shift(xp, x, b):
        return x + b

    @shift.rule("x")
    def _(upstream):
        return upstream

    @shift.rule("b")
    def _(upstream):
        return upstream

    x, b = leaf(3, 4), leaf(4)
    shift(shift(x, b), b).sum().backward()


def walk_of_a_custom_function():
    @mg.custom_vjp
    def shift(x, b):
        return x + b

    @shift.rule("x", "b")
    def _(upstream):
        return upstream, upstream

    x, b = leaf(3, 4), leaf(4)
    shift(shift(x, b), b).sum().backward()


WALKS = [walk_on_arrays, walk_interpreted, walk_on_tensors, walk_of_a_user_rule, walk_of_a_custom_function]


def called_functions(program):
    """Return the code of every Python function that a program calls."""
    called = []
    program()  # compiles what it uses
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code) if event == "call" else None)
    try:
        program()
    finally:
        sys.setprofile(None)
    return called


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("program", WALKS)
def test_a_profiler_sees_one_function_undo_broadcasting(program):
    codes = {code for code in called_functions(program) if re.search("broadcast(?!_to$)|unbroadcast|fit", code.co_name)}
    assert codes == {backward.unbroadcast_to.__code__}


def fail(*_, **__):
    raise LookupError("this function was called")


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("program", WALKS)
@pytest.mark.parametrize("function", [backward.unbroadcast_to, backward.add_gradient])
def test_every_walk_adds_and_unbroadcasts_in_one_place(program, function, monkeypatch):
    program()
    code, defaults = function.__code__, function.__defaults__
    monkeypatch.setattr(function, "__code__", fail.__code__)
    try:
        with pytest.raises(LookupError, match="this function was called"):
            program()
    finally:
        function.__code__, function.__defaults__ = code, defaults


def test_several_outputs_wait_in_one_list():
    x = leaf(3)
    a, b, c = mg.unstack(x)
    node = a.node.parents[0]
    waiting = {}
    for part, upstream in ((a, 2.0), (c, 3.0), (a, 4.0)):
        part.node.vjp(None, np.array(upstream), part.node, waiting)
    assert [None if each is None else each.item() for each in waiting[node]] == [6.0, None, 3.0]
    assert b.node.parents == (node,)


def test_gradients_wait_in_the_dictionary_of_one_walk():
    x = leaf(2)
    y = x * 2
    arrived = {y.node: np.ones(2)}
    backward.walk(backward.topological_order([y.node]), arrived, mg.backends.arrays)
    assert list(arrived) == [x.node]
    assert arrived[x.node].tolist() == [2.0, 2.0]
    assert x.grad is None


@pytest.mark.usefixtures("own_operations")
def test_the_walk_copies_gradients_that_it_does_not_own(monkeypatch):
    copies = []
    monkeypatch.setattr(backward.arrays, "owned_copy", lambda x, upstream=None: copies.append(x) or x.copy())

    @mg.op
    def join_parts(xp, a, b):
        return a + b

    @join_parts.rule("a")
    def _(upstream):
        return upstream

    @join_parts.rule("b")
    def _(upstream):
        return upstream

    a, b = leaf(2), leaf(2)
    join_parts(a, b).backward(np.ones(2))
    assert len(copies) == 1
    a.grad.assign([5.0, 5.0])
    assert b.grad.tolist() == [1.0, 1.0]


def modules():
    """Return every module of the engine as the guide names it: its package, and its name in it."""
    engine = ROOT / "micrograd_plus"
    for path in sorted(engine.rglob("*.py")):
        parts = path.relative_to(engine).with_suffix("").parts
        if not parts[-1].startswith("__"):
            yield "/".join(parts)


def named_modules():
    """Return the modules that the guide's tables name: `| `package/` | `module`, `module` … |`."""
    for line in GUIDE.splitlines():
        row = re.match(r"\| `([\w/]+)/` \| (.*) \|$", line)
        if row:
            yield from (f"{row[1]}/{name}" for name in re.findall(r"`([\w/]+)`", row[2]))
        elif line.startswith("| at the root |"):
            yield from re.findall(r"`(\w+)`", line)


def test_the_guide_names_every_module():
    named = list(named_modules())
    assert sorted(set(modules()) - set(named)) == []
    assert sorted(set(named) - set(modules())) == []


def test_the_guide_gives_the_length_of_each_module_of_the_core():
    for name, lines in re.findall(r"^\| `core/(\w+)\.py` \| (\d+) \|", GUIDE, flags=re.MULTILINE):
        path = ROOT / "micrograd_plus" / "core" / f"{name}.py"
        assert len(path.read_text(encoding="utf-8").splitlines()) == int(lines), name

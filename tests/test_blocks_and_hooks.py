"""Blocks shared by threads and tasks, decorators without brackets, and errors and results of hooks and rules."""

import asyncio
import threading

import numpy as np
import pytest

import micrograd_plus as mg
from open_modes import open_modes
from walked import leaf

# Blocks -----------------------------------------------------------------------------------------------------


def records():
    """Return True if results have a graph."""
    return (leaf([1.0]) * 2).requires_grad


def test_two_threads_may_share_a_block():
    block, entered, left = mg.no_grad(), threading.Event(), threading.Event()
    seen = []

    def other():
        with block:
            entered.set()
            left.wait()
            seen.append(records())
        seen.append(records())

    thread = threading.Thread(target=other)
    with block:
        thread.start()
        entered.wait()
    seen.append(records())
    left.set()
    thread.join()
    assert seen == [True, False, True]
    assert open_modes() == []


def is_unfused():
    """Return True if softmax runs as its own steps."""
    return mg.softmax(leaf([1.0, 2.0])).node.op.name != "softmax"


@pytest.mark.parametrize(("make", "inside"), [
    (mg.no_grad, lambda: not records()), (lambda: mg.set_grad_enabled(False), lambda: not records()),
    (mg.unfuse, is_unfused),
])  # fmt: skip
def test_tasks_may_share_a_block(make, inside):
    block, seen = make(), []

    async def task(steps):
        with block:
            for _ in range(steps):
                await asyncio.sleep(0)
            seen.append(inside())
        seen.append(not inside())

    async def all_tasks():
        await asyncio.gather(*(task(n) for n in (3, 1, 4, 2, 0)))

    thread = threading.Thread(target=lambda: asyncio.run(all_tasks()))  # this one may have a loop that runs
    thread.start()
    thread.join()
    assert seen == [True] * 10
    assert open_modes() == []


def test_threads_may_share_a_record():
    block, entered, left, traces = mg.record(), threading.Event(), threading.Event(), []

    def other():
        with block as trace:
            entered.set()
            left.wait()
            leaf([3.0]).sum().backward()
        traces.append(trace)

    thread = threading.Thread(target=other)
    with block as trace:
        thread.start()
        entered.wait()
        mg.sin(leaf([1.0])).backward()
    left.set()
    thread.join()
    assert [node.op for node in trace.nodes if node.op] == ["sin"]
    assert [node.op for node in traces[0].nodes if node.op] == ["sum"]


@pytest.mark.parametrize("block", [mg.no_grad, mg.record])
def test_a_block_that_was_not_entered_cannot_be_left(block):
    with pytest.raises(RuntimeError, match="was left, but it had not been entered"):
        block().__exit__(None, None, None)


@pytest.mark.parametrize("brackets", [False, True])
def test_a_block_decorates_a_function_with_and_without_brackets(brackets):
    def is_on():
        return records()

    def steps():
        yield records()

    blocks = (mg.no_grad, mg.enable_grad, mg.unfuse)
    no_grad, enable_grad, unfuse = [block() if brackets else block for block in blocks]
    assert no_grad(is_on)() is False
    assert no_grad(enable_grad(is_on))() is True
    assert unfuse(is_unfused)()
    assert [no_grad(function).__name__ for function in (is_on, steps)] == ["is_on", "steps"]


@pytest.mark.parametrize("decorate", [mg.no_grad, mg.no_grad(), mg.enable_grad(), mg.unfuse(), mg.scope("part")])
def test_a_block_does_not_decorate_a_class(decorate):
    class Model:
        pass

    with pytest.raises(TypeError, match=r"decorates a function or method, got the class Model; decorate the methods"):
        decorate(Model)
    with pytest.raises(TypeError, match="decorates a function or method, got int; decorate the methods"):
        mg.no_grad()(5)


def test_set_grad_enabled_without_brackets_is_an_error():
    with pytest.raises(TypeError, match=r"set_grad_enabled: mode must be True or False; .*@mg\.no_grad\(\)"):
        mg.set_grad_enabled(records)


# Hooks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_leaf", [False, True])
@pytest.mark.parametrize(("hook", "message"), [
    (lambda g: g * 1j, "a hook returned complex128 for a gradient of float64"),
    (lambda g: (g > 0).astype(int), "a hook returned int64 for a gradient of float64"),
    (lambda g: g > 0, "a hook returned bool for a gradient of float64"),
    (lambda g: 3, "a hook must return a tensor"),
    (lambda g: g[:1], r"a hook returned shape \(1,\) for a gradient of shape \(2,\)"),
])  # fmt: skip
def test_a_hook_must_return_a_gradient_of_the_same_kind(hook, message, at_leaf):
    x = leaf([1.0, 2.0])
    middle = x * 1.5
    (x if at_leaf else middle).register_hook(hook)
    with pytest.raises((TypeError, RuntimeError), match=message):
        mg.sin(middle).sum().backward()
    assert x.grad is None


def test_a_hook_may_return_another_precision():
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: 2 * g.astype("float32"))
    x.sum().backward()
    assert (x.grad.tolist(), x.grad.dtype) == ([2.0, 2.0], np.float64)


def test_a_hook_runs_once_although_its_gradient_is_returned():
    middle, calls = leaf([1.0, 2.0]) * 1.5, []
    middle.register_hook(calls.append)
    assert middle.node in mg.sin(middle).sum().gradients(through=[middle.node])
    assert len(calls) == 1


def test_steps_of_a_record_call_no_hook_that_was_added_later():
    x, calls = leaf([1.0, 2.0]), []
    with mg.record() as trace:
        middle = x * 1.5
        mg.sin(middle).sum().backward()
    middle.register_hook(calls.append)
    assert len(trace.steps) == 3
    assert calls == []


# Errors -----------------------------------------------------------------------------------------------------


class CodedError(RuntimeError):
    """Error of a user whose constructor takes other arguments."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def make_errors():
    """Return errors of several classes."""
    return [
        np.linalg.LinAlgError("Singular matrix"), ZeroDivisionError("by zero"), KeyError("name"),
        CodedError(7, "seven"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), OverflowError("large"),
        AttributeError("none"), AssertionError("not so"), NotImplementedError("not yet"),
    ]  # fmt: skip


def text_of(error):
    """Return the message of an error with its notes, as a traceback shows them."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("error", make_errors(), ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("decorate", ["op", "custom_vjp"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_error_of_a_rule_keeps_its_class(error, decorate, create_graph):
    if decorate == "op":
        def mine(xp, x):
            return 2 * x
    else:
        def mine(x):
            return 2 * x
    call = getattr(mg, decorate)(mine)

    @call.rule("x")
    def _(upstream):
        raise error

    with pytest.raises(type(error)) as caught:
        call(leaf([1.0])).sum().gradients(create_graph=create_graph)
    assert type(caught.value) is type(error)
    assert "backward through mine: " in text_of(caught.value)
    assert "(in the rule mine.x)" in text_of(caught.value)
    assert caught.value.__cause__ is error
    assert getattr(caught.value, "code", 7) == 7


@pytest.mark.parametrize("error", make_errors(), ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("at_leaf", "whose"), [(False, "the result of sin"), (True, "a leaf")])
def test_an_error_of_a_hook_keeps_its_class(error, at_leaf, whose):
    def hook(gradient):
        raise error

    x = leaf([1.0])
    y = mg.sin(x)
    (x if at_leaf else y).register_hook(hook)
    with pytest.raises(type(error)) as caught:
        (2 * y).backward()
    assert type(caught.value) is type(error)
    assert f"hook on the gradient of {whose}: " in text_of(caught.value)
    assert "backward through" not in text_of(caught.value)


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("error", [np.linalg.LinAlgError("Singular matrix"), CodedError(7, "seven")])
def test_an_error_of_a_forward_keeps_a_class_that_is_not_built_in(error):
    @mg.op
    def solve_it(xp, x):
        raise error

    with pytest.raises(type(error), match=r"solve_it\(x: \(1,\) float64\): (Singular matrix|seven)"):
        solve_it([1.0])

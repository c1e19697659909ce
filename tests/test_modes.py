"""Modes end with their blocks: in any order, after any exit, and in a forked child."""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import micrograd_plus as mg
from open_modes import open_modes


def leaf(values):
    return mg.tensor(values, requires_grad=True)


def records(x):
    """Return True if results have a graph."""
    return (x * 2).requires_grad


# Blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_generators_with_open_blocks_can_close_in_any_order(order):
    def hold_block(block):
        with block():
            yield

    x = leaf([1.0])
    held = [hold_block(mg.no_grad) for _ in range(3)]
    for each in held:
        next(each)
    assert not records(x)
    for place in order[:-1]:
        held[place].close()
        assert not records(x)
    held[order[-1]].close()
    assert records(x)
    assert open_modes() == []


def test_the_innermost_open_block_sets_the_mode():
    def hold_block(block):
        with block():
            yield

    x = leaf([1.0])
    outer, inner = hold_block(mg.no_grad), hold_block(mg.enable_grad)
    next(outer)
    next(inner)
    assert records(x)
    outer.close()
    assert records(x)
    inner.close()
    assert records(x)
    assert open_modes() == []


def test_one_block_can_be_entered_again_and_inside_itself():
    x, quiet = leaf([1.0]), mg.no_grad()
    with quiet:
        with quiet:
            assert not records(x)
        assert not records(x)
    assert records(x)
    with quiet:
        assert not records(x)
    assert open_modes() == []


def test_a_block_that_was_never_left_ends_with_its_object():
    x = leaf([1.0])
    block = mg.no_grad()
    block.__enter__()
    assert not records(x)
    del block
    assert records(x)
    assert open_modes() == []


# Decorators -------------------------------------------------------------------------------------------------


def test_a_decorated_generator_is_in_the_block_only_while_it_runs():
    x = leaf([1.0])

    @mg.no_grad()
    def steps(first):
        seen = [records(x)]
        sent = yield first
        seen.append((sent, records(x)))
        try:
            yield "again"
        except KeyError:
            seen.append(("caught", records(x)))
        return seen

    running = steps(1)
    assert next(running) == 1
    assert records(x)
    assert running.send("hello") == "again"
    assert records(x)
    with pytest.raises(StopIteration) as end:
        running.throw(KeyError("here"))
    assert end.value.value == [False, ("hello", False), ("caught", False)]
    assert records(x)
    assert open_modes() == []


def test_a_decorated_generator_can_be_closed_early():
    seen = []

    @mg.no_grad()
    def steps(x):
        try:
            yield 1
        finally:
            seen.append(records(x))

    running = steps(leaf([1.0]))
    next(running)
    running.close()
    assert seen == [False]
    assert open_modes() == []


def test_a_decorated_coroutine_does_not_affect_other_tasks():
    x, seen = leaf([1.0]), {}

    @mg.no_grad()
    async def quiet():
        seen["before"] = records(x)
        await asyncio.sleep(0.01)
        seen["after"] = records(x)
        return "done"

    async def other():
        await asyncio.sleep(0.005)
        seen["other"] = records(x)

    async def both():
        return await asyncio.gather(quiet(), other())

    with ThreadPoolExecutor(1) as alone:  # this thread may have a loop already, where a browser was tested in it
        assert alone.submit(asyncio.run, both()).result()[0] == "done"
    assert seen == {"before": False, "after": False, "other": True}
    assert open_modes() == []


def test_decorating_an_asynchronous_generator_is_an_error():
    with pytest.raises(TypeError, match="steps is an asynchronous generator, whose caller would run in the block as"):

        @mg.no_grad()
        async def steps():
            yield 1


# Interrupts -------------------------------------------------------------------------------------------------


class Network:
    """A small training step under every mode."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.x = mg.tensor(rng.normal(size=(4, 3)))
        self.w = leaf(rng.normal(size=(3, 2)))

    def gradient(self):
        """Return the gradient of a new graph."""
        found = (mg.tanh(self.x @ self.w) ** 2).sum().gradients()
        return found[self.w.node].tobytes()

    def busy(self):
        """Use every mode, so that a signal can interrupt each."""
        with mg.record():
            loss = (mg.softmax(self.x @ self.w) ** 2).sum()
            loss.backward()
        with mg.no_grad():
            self.w.grad = None
            mg.tanh(self.x @ self.w)
            with mg.enable_grad(), mg.unfuse():
                mg.softmax(self.x @ self.w).sum().gradients()
        mg.grad(lambda w: (self.x @ w).sum())(self.w.detach())
        mg.jvp(mg.tanh, (self.x,), (self.x,))
        mg.checkpoint(lambda w: mg.exp(w * 0.1), self.w).sum().gradients()


def shortest(function):
    """Return the shortest CPU time of twenty calls, in seconds."""

    def measure_time():
        start = time.process_time()
        function()
        return time.process_time() - start

    return min(measure_time() for _ in range(20))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer that sends a signal")
def test_no_mode_stays_active_after_any_of_6000_interrupts():
    network, choose = Network(), random.Random(0)  # noqa: S311 - moments, not secrets
    expected = network.gradient()
    before, met = signal.getsignal(signal.SIGALRM), 0
    undisturbed = shortest(network.busy)

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    # An interrupt in another tool's callback is only reported, and a stored report would keep the frames alive.
    hook, sys.unraisablehook = sys.unraisablehook, lambda report: None
    try:
        while met < 6000:
            try:
                signal.setitimer(signal.ITIMER_REAL, choose.uniform(1e-5, undisturbed))
                network.busy()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                met += 1
            network.w.grad = None
            assert open_modes() == []
            assert network.gradient() == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
    assert shortest(network.busy) < 3 * undisturbed, "and none is slower for it"


# Child processes --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows starts no child by forking")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_child_forked_during_a_walk_of_a_thread_can_walk(checkpointed):
    network, stop = Network(), threading.Event()
    expected = network.gradient()

    def train():
        w = leaf(np.ones((4, 3)))
        while not stop.is_set():
            with mg.no_grad(), mg.enable_grad():
                f = lambda w: mg.tanh(network.x * w).sum()  # no matrix product: a fork loses the locks of BLAS
                (mg.checkpoint(f, w) if checkpointed else f(w)).backward()
            with mg.no_grad():
                w -= 0.01 * w.grad
            w.grad = None

    thread = threading.Thread(target=train)
    thread.start()
    children = []
    try:
        for _ in range(30):
            child = os.fork()
            if not child:
                status = 1
                try:
                    signal.alarm(20)
                    network.busy()
                    (network.x @ network.w).sum().backward()
                    status = 0 if network.gradient() == expected and open_modes() == [] else 2
                finally:
                    os._exit(status)
            children.append(child)
            time.sleep(0.002)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    finally:
        stop.set()
        thread.join()
    assert codes == [0] * 30
    assert open_modes() == []


def test_threads_see_only_their_own_modes():
    x, inside, done = leaf([1.0]), threading.Event(), threading.Event()

    def hold():
        with mg.no_grad():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    assert records(x)
    assert open_modes() == ["gradients"]
    done.set()
    thread.join()
    assert open_modes() == []
    assert sys.getrefcount(x) < 10

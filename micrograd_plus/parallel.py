"""A walk whose independent rules run on several threads, and gives the very bytes of the walk on one.

An application may go as soon as everything that used its result has gone. What each one sends is kept apart, and added
up in the order in which the walk on one thread would have added: sums of floats depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

from .apart import added, sent
from .backward import freed, walk
from .variable import Node

ENOUGH = 2**17
"""Bytes that an application's rules must read on average before threads are worth their keep: handing one over costs
some 30 µs, in which one thread goes through about so much."""


def walk_on(workers: int) -> Callable[[Sequence[Node]], None]:
    """A walk on so many threads; a small graph, or one in which every application waits for the one before, stays on
    this one."""

    def on_threads(order: Sequence[Node]) -> None:
        if workers > 1 and worth_threads(order):
            ThreadedWalk(order).run(workers)
        else:
            walk(None, order)

    return on_threads


def worth_threads(order: Sequence[Node]) -> bool:
    """True when there is enough to do at each application, and not all of them wait for one another."""
    if len(order) < 3 or all(sum(parent is not None for parent in node.parents) < 2 for node in order):
        return False
    read = sum(getattr(value, "nbytes", 0) for node in order for value in node.saved or ())
    return read / len(order) >= ENOUGH


class ThreadedWalk:
    """One walk: who waits for whom, and what has been sent to whom."""

    def __init__(self, order: Sequence[Node]):
        self.places = {id(node): place for place, node in enumerate(order)}
        self.order = order
        self.waiting_for: dict[int, int] = {}
        self.sent_to: dict[int, dict[int, list[Any]]] = {}
        for node in order:
            for parent in node.parents:
                if parent is not None:
                    self.waiting_for[id(parent)] = self.waiting_for.get(id(parent), 0) + 1

    def run(self, workers: int) -> None:
        """Walk. In the end each leaf's accumulator holds what it received, as after any walk."""
        with ThreadPoolExecutor(workers, thread_name_prefix="backward") as pool:
            running: set[Future[Any]] = {self._start(pool, self.order[0])}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for ready in [node for future in done for node in self._arrived(*future.result())]:
                        running.add(self._start(pool, ready))
            finally:
                for future in running:
                    future.cancel()

    def _start(self, pool: ThreadPoolExecutor, node: Node) -> Future[Any]:
        """Let a thread go on with a node, in the modes of this one."""
        return pool.submit(copy_context().run, self._visit, node)

    def _visit(self, node: Node) -> tuple[Node, list[tuple[Node, Any]]]:
        """Add up what a node received, and run its rules."""
        total = node.accumulator
        for _, contributions in sorted(self.sent_to.pop(id(node), {}).items()):
            for contribution in contributions:
                total = added(total, contribution)
        if node.pull is None:
            node.accumulator = total
            return node, []
        node.accumulator = None
        if node.saved is None:
            raise freed(node)
        return node, list(sent(node, total))

    def _arrived(self, node: Node, contributions: list[tuple[Node, Any]]) -> Iterator[Node]:
        """Note what a node has sent; give the nodes that wait for nobody any more."""
        for parent, contribution in contributions:
            at_parent = self.sent_to.setdefault(id(parent), {})
            at_parent.setdefault(self.places[id(node)], []).append(contribution)
        for parent in node.parents:
            if parent is not None:
                self.waiting_for[id(parent)] -= 1
                if not self.waiting_for[id(parent)]:
                    yield parent

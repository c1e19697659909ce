"""Growth of time and memory: scans with more steps, attention over longer sequences, and the backward of operations
along an axis relative to their forward.

Memory is the peak of allocations during a run, above the level before it, as NumPy reports them to tracemalloc.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from .harness import Effort, settle_allocator
from .report import Outcome, Row

FEW, MANY = 256, 4096
"""Steps of a short scan and of a long one."""

LENGTH, WIDTH = 1024, 64
"""Size of a sequence, and of each query, key and value."""

SIDE = 1000
"""Of the square matrix that operations along an axis are given."""


def peak(run: Callable[[], object]) -> int:
    """Return the peak of allocated bytes while a function runs for the second time."""
    run()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run()
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest - before


def quickest(run: Callable[[], object], times: int) -> float:
    """Return the CPU seconds of the quickest run, because other processes only add time."""
    seconds = []
    for _ in range(times + 1):
        gc.collect()
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds[1:])


def run_scan(steps: int, carried: int, checkpoint_every: int | None = None) -> Callable[[], None]:
    """Return a run of a scan, forward and backward.

    It carries `carried` numbers; each state is tanh of the one before, times a weight.
    """
    import micrograd_plus as mg

    random = np.random.default_rng(0)
    weight = mg.tensor(random.normal(size=carried), requires_grad=True)
    start = mg.tensor(random.normal(size=carried))

    def step(state: Any, _: Any) -> tuple[Any, None]:
        return mg.tanh(state * weight), None

    def run() -> None:
        weight.grad = None
        state, _ = mg.scan(step, start, length=steps, outputs="last", checkpoint_every=checkpoint_every)
        state.sum().backward()

    return run


def attention_by_hand(query: np.ndarray, key: np.ndarray, value: np.ndarray, upstream: np.ndarray) -> list[np.ndarray]:
    """Return the gradients of attention, with at most two matrices of all pairs in memory."""
    scale = query.shape[-1] ** -0.5
    weights = query @ key.T
    weights *= scale
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    to_value = weights.T @ upstream
    to_scores = upstream @ value.T
    to_scores -= np.einsum("ij,ij->i", to_scores, weights)[:, None]
    to_scores *= weights
    to_scores *= scale
    return [to_scores @ key, to_scores.T @ query, to_value]


def attention_memory() -> tuple[int, int]:
    """Return the peak bytes, ours and by hand, after checking that the gradients agree."""
    import micrograd_plus as mg

    random = np.random.default_rng(0)
    arrays = [random.normal(size=(LENGTH, WIDTH)).astype(np.float32) for _ in range(4)]
    inputs = [mg.tensor(each, requires_grad=True) for each in arrays[:3]]

    def ours() -> None:
        for each in inputs:
            each.grad = None
        mg.nn.functional.scaled_dot_product_attention(*inputs).backward(arrays[3])

    highest = peak(ours), peak(lambda: attention_by_hand(*arrays))
    for each, expected in zip(inputs, attention_by_hand(*arrays), strict=True):
        np.testing.assert_allclose(each.grad.numpy(), expected, rtol=1e-3, atol=1e-5)
    return highest


def along_an_axis() -> dict[str, Callable[[Any, Any], Any]]:
    """Yield operations whose backward could cost too much. Each gets two matrices; most use one."""
    import micrograd_plus as mg

    return {
        "cumsum": lambda x, _: mg.cumsum(x, axis=1),
        "cumsum, first axis": lambda x, _: mg.cumsum(x, axis=0),
        "sort": lambda x, _: mg.sort(x, axis=1),
        "prod": lambda x, _: mg.prod(x, axis=1),
        "einsum, row by row": lambda x, y: mg.einsum("ij,ij->i", x, y),
        "einsum, of matrices": lambda x, y: mg.einsum("ij,jk->ik", x, y),
    }


def back_over_forward(operation: Callable[[Any, Any], Any], times: int) -> float:
    """Return the time of the backward pass, relative to twice the forward pass plus one pass for each gradient."""
    import micrograd_plus as mg

    array = np.random.default_rng(0).uniform(0.5, 1.5, size=(SIDE, SIDE))
    inputs = [mg.tensor(array, requires_grad=True) for _ in range(2)]
    result = operation(*inputs)
    upstream = np.ones(result.shape)

    def back() -> None:
        for each in inputs:
            each.grad = None
        result.backward(upstream)

    back()
    written = sum(each.grad is not None for each in inputs)
    passes = written * quickest(lambda: array * 2.0, times)
    return quickest(back, times) / (2 * quickest(lambda: operation(*inputs), times) + passes)


def splat() -> Callable[[], None]:
    """Return a run that draws 500 Gaussians on 64 x 64 pixels, forward and backward."""
    import micrograd_plus as mg

    random = np.random.default_rng(0)
    many = 500
    positions = random.uniform((-1, -1, 3), (1, 1, 5), size=(many, 3))
    parts = [positions, random.uniform(0.02, 0.1, size=(many, 3)), random.normal(size=(many, 4)),
             random.uniform(0.2, 0.9, size=many), random.uniform(size=(many, 3))]
    parts = [mg.tensor(each, requires_grad=True) for each in parts]
    camera = mg.splat.Camera(width=64, height=64, focal=(70.0, 70.0))

    def run() -> None:
        for each in parts:
            each.grad = None
        mg.splat.render(*parts, camera=camera).sum().backward()

    return run


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Measure, and check the goals."""
    settle_allocator()
    times = 3 if effort.quick else 9
    more = MANY // FEW
    slower = quickest(run_scan(MANY, 64), times) / quickest(run_scan(FEW, 64), times)
    kept = peak(run_scan(MANY, 4096)) / peak(run_scan(FEW, 4096))
    checkpointed = [run_scan(steps, 4096, isqrt(steps)) for steps in (FEW, MANY)]
    larger = peak(checkpointed[1]) / peak(checkpointed[0])
    ours, by_hand = attention_memory()
    back = {name: back_over_forward(operation, times) for name, operation in along_an_axis().items()}
    rows = [
        Row("scan", f"time of {more} times the steps, over {more} times the time", slower / more, at_most=1.25),
        Row("scan", f"memory of {more} times the steps", kept),
        Row("scan", f"the same, a checkpoint every √steps (√{more} = {isqrt(more)})", larger,
            at_most=1.25 * isqrt(more)),
        Row("attention", "peak memory over by hand", ours / by_hand, at_most=1.2),
        *(
            Row(name, "back, over twice the forward and a pass for each gradient", ratio, at_most=1)
            for name, ratio in back.items()
        ),
        Row("splat", "500 Gaussians on 64 x 64, forward and backward", quickest(splat(), times), "s", at_most=1),
    ]
    return [Outcome("growth of time and memory", "MB", rows, {"micrograd_plus, attention": ours / 1e6,
                                                             "numpy_by_hand, attention": by_hand / 1e6})]

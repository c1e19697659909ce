"""Sliders for the inputs of a program, which is recorded again when they move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from .live_widgets import widget
from .payload import compress, payload
from .window import load_window

STEPS = 100
"""Number of positions on a slider."""


def explore(program: Callable[..., Any], **inputs: Any) -> Any:
    """Return a box with the sliders and the walk, also as attributes `sliders` (by name) and `walk`."""
    try:
        import ipywidgets
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError('sliders need ipywidgets: pip install "micrograd_plus[lab]"') from missing
    sliders = {name: _slider(ipywidgets, name, value) for name, value in inputs.items()}
    walk = widget(record_program(program, {name: slider.value for name, slider in sliders.items()}))

    def move(_: Any) -> None:
        trace = record_program(program, {name: slider.value for name, slider in sliders.items()}, failing=True)
        walk.payload = compress(payload(*load_window(trace)))[0]

    for slider in sliders.values():
        slider.observe(move, "value")
    box: Any = ipywidgets.VBox([*sliders.values(), walk])
    box.sliders, box.walk = sliders, walk
    return box


def record_program(program: Callable[..., Any], values: dict[str, float], failing: bool = False) -> Any:
    """Record a program and the backward walk from its result.

    With `failing`, errors are suppressed: the recording ends with the error and describes it.
    """
    import micrograd_plus as mg

    with suppress(Exception) if failing else nullcontext(), mg.record() as trace:
        leaves = {name: mg.tensor(float(value), requires_grad=True) for name, value in values.items()}
        for name, leaf in leaves.items():
            leaf.label = name
        program(**leaves).backward()
    return trace


def _slider(ipywidgets: Any, name: str, value: Any) -> Any:
    """Return a slider between two ends, or a text box for a single number."""
    if isinstance(value, (tuple, list)):
        low, high = value
        step = (high - low) / STEPS
        return ipywidgets.FloatSlider((low + high) / 2, min=low, max=high, step=step, description=name)
    return ipywidgets.FloatText(value, description=name)

"""A program with sliders for its inputs: it is run and recorded anew as they move, and the walk stays at its step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .live import widget
from .payload import packed, payload
from .window import shown

STEPS = 100
"""How many places a slider has between its ends."""


def explore(program: Callable[..., Any], **inputs: Any) -> Any:
    """A box with the sliders and the walk. `walk` is its player, `sliders` has the sliders by name."""
    try:
        import ipywidgets
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError('sliders need ipywidgets: pip install "micrograd_plus[lab]"') from missing
    sliders = {name: _slider(ipywidgets, name, value) for name, value in inputs.items()}
    walk = widget(recorded(program, {name: slider.value for name, slider in sliders.items()}))

    def move(_: Any) -> None:
        trace = recorded(program, {name: slider.value for name, slider in sliders.items()}, failing=True)
        walk.payload = packed(payload(*shown(trace)))[0]

    for slider in sliders.values():
        slider.observe(move, "value")
    box: Any = ipywidgets.VBox([*sliders.values(), walk])
    box.sliders, box.walk = sliders, walk
    return box


def recorded(program: Callable[..., Any], values: dict[str, float], failing: bool = False) -> Any:
    """The record of a program run with these numbers, and of the walk back from what it gives; one that is known to run
    may be `failing` here: its record ends with the error, and says so."""
    import micrograd_plus as mg

    with suppress(Exception if failing else ()), mg.record() as trace:
        leaves = {name: mg.tensor(float(value), requires_grad=True) for name, value in values.items()}
        for name, leaf in leaves.items():
            leaf.label = name
        program(**leaves).backward()
    return trace


def _slider(ipywidgets: Any, name: str, value: Any) -> Any:
    """A slider between two ends, in their middle; a box to type in for a single number."""
    if isinstance(value, (tuple, list)):
        low, high = value
        step = (high - low) / STEPS
        return ipywidgets.FloatSlider((low + high) / 2, min=low, max=high, step=step, description=name)
    return ipywidgets.FloatText(value, description=name)

"""Sliders for the inputs of a program, which is recorded again when they move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from math import isfinite
from typing import Any

from .digits import number
from .live_widgets import widget
from .payload import compress, payload
from .player import compressed_slider, one_line, player_source
from .quizzes.output import SealedOutput
from .static_files import text
from .window import load_window

STEPS = 100
"""Number of positions on a slider."""
MOST_PLACES = 201
"""Maximum number of recorded positions."""


def explore(program: Callable[..., Any], places: int | None, inputs: dict[str, Any]) -> Any:
    """Return a box with the sliders and the walk, also as attributes `sliders` (by name) and `walk`.

    With `places`, return walks for as many positions of one slider, for a page without a kernel.
    """
    if not callable(program):
        raise TypeError(f"explore needs a function of the inputs, such as lambda a: a * a, got {program!r}")
    for name, value in inputs.items():
        _check_input(name, value)
    if places is not None:
        return record_places(program, places, inputs)
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


class RecordedWalks(SealedOutput):
    """Walks of one program for the positions of a slider. They play in a notebook or on a page without a kernel.

    A curve beside the walk shows the results, and a line through the result of the position with its gradient as slope.
    """

    mount = "mountSlider"

    def __init__(self, name: str, positions: list[float], traces: list[Any]) -> None:
        packed = [payload(*load_window(trace)) for trace in traces]
        data = {"name": name, "positions": positions, "walks": packed,
                "curve": [point_of(trace, name) for trace in traces]}  # fmt: skip
        summary = f"{len(traces)} walks, for {name} from {number(positions[0])} to {number(positions[-1])}"
        super().__init__(data, summary, f"{summary}.")

    def code(self) -> str:
        """Return the code of a page as one line."""
        return one_line("\n".join([player_source(), text("slider.js")]))

    def packed_code(self) -> str:
        """Return the code as a packed function body that returns its entry points."""
        return compressed_slider()


def record_places(program: Callable[..., Any], places: int, inputs: dict[str, Any]) -> RecordedWalks:
    """Record a program for positions of its slider, or raise ValueError."""
    moving = [name for name, value in inputs.items() if isinstance(value, (tuple, list))]
    if len(moving) != 1:
        raise ValueError(f"with places, one input must be a pair (low, high) and all others numbers; got {inputs!r}")
    if not hasattr(places, "__index__") or not 2 <= places <= MOST_PLACES:
        raise ValueError(f"places must be a whole number between 2 and {MOST_PLACES}, got {places!r}")
    (name,), fixed = moving, {each: value for each, value in inputs.items() if each not in moving}
    low, high = map(float, inputs[name])
    positions = [float(f"{low + (high - low) * k / (places - 1):.6g}") for k in range(places)]
    traces = [record_program(program, {**fixed, name: at}, failing=True) for at in positions]
    if not any(trace.steps for trace in traces):
        record_program(program, {**fixed, name: positions[0]})  # it raises the program's error
    return RecordedWalks(name, positions, traces)


def point_of(trace: Any, name: str) -> list[float] | None:
    """Return the result of a walk and the gradient of an input; None unless both are finite real numbers."""
    moved = next((node.id for node in trace.nodes if node.label == name), None)
    if not trace.steps or moved not in trace.gradients:
        return None
    point = [trace.nodes[trace.steps[0].node].value, trace.gradients[moved]]
    if any(getattr(each, "shape", ()) != () or isinstance(each, complex) for each in point):
        return None
    numbers = [float(each) for each in point]
    return numbers if all(map(isfinite, numbers)) else None


def record_program(program: Callable[..., Any], values: dict[str, float], failing: bool = False) -> Any:
    """Record a program and the backward walk from its result.

    With `failing`, errors are suppressed: the recording ends with the error and describes it.
    """
    import micrograd_plus as mg

    with suppress(Exception) if failing else nullcontext(), mg.record() as trace:
        leaves = {name: mg.tensor(float(value), requires_grad=True) for name, value in values.items()}
        for name, leaf in leaves.items():
            leaf.label = name
        result = program(**leaves)
        if not hasattr(result, "backward"):
            raise TypeError(f"the program must return the result that its walk begins at, a tensor; got {result!r}")
        result.backward()
    return trace


def _check_input(name: str, value: Any) -> None:
    """Raise an error unless an input is a number, or a pair of numbers with the lower one first."""
    is_pair = isinstance(value, (tuple, list))
    ends = list(value) if is_pair else [value]
    if not all(isinstance(end, (int, float)) or hasattr(end, "__float__") for end in ends) or len(ends) != 1 + is_pair:
        raise TypeError(f"{name} must be a number, or a pair of numbers (low, high) for a slider; got {value!r}")
    if not all(isfinite(end) for end in ends):
        raise ValueError(f"{name} must be finite, got {value!r}")
    if is_pair and not ends[0] < ends[1]:
        raise ValueError(f"the slider of {name} needs a lower end first, as (-1, 1); got {value!r}")


def _slider(ipywidgets: Any, name: str, value: Any) -> Any:
    """Return a slider between two ends, or a text box for a single number."""
    if isinstance(value, (tuple, list)):
        low, high = value
        step = (high - low) / STEPS
        return ipywidgets.FloatSlider((low + high) / 2, min=low, max=high, step=step, description=name)
    return ipywidgets.FloatText(value, description=name)

"""Walks and quizzes as anywidget widgets, for control from Python and for marimo. They need a running kernel."""

from __future__ import annotations

from typing import Any

from . import words
from .payload import compress, payload
from .player import player_source
from .timeline import load_film
from .window import load_window

NEEDS_A_KERNEL = "A live widget: run its cell to see it."


def widget(trace: Any, index: int = 0, synced: bool = True) -> Any:
    """Return a widget that shows a trace; setting its `index` moves the walk, and stepping sets its `index`.

    With `synced=False`, the player does not write its step to `index`. Raises ModuleNotFoundError if anywidget is
    missing.
    """
    anywidget, traitlets = _modules()

    class WalkWidget(anywidget.AnyWidget):
        """Widget of one walk; `index` is the current step."""

        _esm = player_source()
        payload = traitlets.Unicode().tag(sync=True)
        index = traitlets.Int(0).tag(sync=True)
        synced = traitlets.Bool(True).tag(sync=True)

        def __repr__(self) -> str:
            return f"{summary}. {NEEDS_A_KERNEL}"

    loop = load_film(trace)
    data, note = (loop, None) if loop else load_window(trace)
    summary = words.summary(data)
    return WalkWidget(payload=compress(payload(data, note))[0], index=index, synced=synced)


def quiz_widget(packed_payload: str) -> Any:
    """Return a widget that shows a quiz; the page writes the results to its `score`."""
    anywidget, traitlets = _modules()

    class QuizWidget(anywidget.AnyWidget):
        """Widget of one quiz; `score` counts answers right at once, right later, and shown."""

        _esm = player_source(with_quiz=True).replace("export default", "const ofWalks =") + QUIZ_BOOT
        payload = traitlets.Unicode().tag(sync=True)
        score = traitlets.Dict({}).tag(sync=True)

        def __repr__(self) -> str:
            return f"Quiz about a walk. {NEEDS_A_KERNEL}"

    return QuizWidget(payload=packed_payload)


QUIZ_BOOT = """
export default { render: renderQuiz };
"""


def _modules() -> tuple[Any, Any]:
    """Import anywidget and traitlets, or raise ModuleNotFoundError with the command that installs them."""
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError('a live widget needs anywidget: pip install "micrograd_plus[lab]"') from missing
    return anywidget, traitlets

"""The walk as an anywidget, for two-way work from Python and for marimo; it needs a running kernel."""

from __future__ import annotations

from typing import Any

from .payload import packed, payload
from .player import player_source
from .window import shown


def widget(trace: Any, index: int = 0, synced: bool = False) -> Any:
    """A widget that shows a trace; setting its `index` moves the walk.

    With `synced` the player writes its step back to `index`. ModuleNotFoundError with what to install where
    anywidget is missing.
    """
    anywidget, traitlets = _modules()

    class WalkWidget(anywidget.AnyWidget):
        """One recorded walk; `index` is the number of steps taken."""

        _esm = player_source()
        payload = traitlets.Unicode().tag(sync=True)
        index = traitlets.Int(0).tag(sync=True)
        synced = traitlets.Bool(False).tag(sync=True)

    data, note = shown(trace)
    return WalkWidget(payload=packed(payload(data, note))[0], index=index, synced=synced)


def quiz_widget(packed_payload: str) -> Any:
    """A widget that shows a quiz; the page writes to its `score` what was answered."""
    anywidget, traitlets = _modules()

    class QuizWidget(anywidget.AnyWidget):
        """One quiz; `score` counts the answers that were right at once, and later, and those that were shown."""

        _esm = player_source(with_quiz=True).replace("export default", "const ofWalks =") + QUIZ_BOOT
        payload = traitlets.Unicode().tag(sync=True)
        score = traitlets.Dict({}).tag(sync=True)

    return QuizWidget(payload=packed_payload)


QUIZ_BOOT = """
export default { render: renderQuiz };
"""


def _modules() -> tuple[Any, Any]:
    """What a live widget is made with; ModuleNotFoundError with what to install."""
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError('a live widget needs anywidget: pip install "micrograd_plus[lab]"') from missing
    return anywidget, traitlets

"""What is said while a long record is looked at for the first time."""

import io
import sys
from types import ModuleType, SimpleNamespace

import pytest

import micrograd_plus as mg
from micrograd_plus.engine import Value
from micrograd_plus.tracing import progress


class Stream(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def looked_at(monkeypatch, stream, many):
    """What is written while a record of three operations is looked at."""
    monkeypatch.setattr(progress, "MANY", many)
    a = Value(2.0)
    with mg.record() as trace:
        (a * 3 + a).backward()
    monkeypatch.setattr(sys, "stderr", stream)
    names = [node.name for node in trace.nodes]
    assert len(names) == 4
    return stream.getvalue() if stream else ""


def seen(text):
    """What a terminal shows at last of text whose lines are written over."""
    shown = ""
    for part in text.split("\r"):
        shown = part + shown[len(part) :]
    return shown.strip()


def test_in_a_terminal_one_line_says_what_is_found_and_is_taken_away(monkeypatch):
    text = looked_at(monkeypatch, Stream(True), 2)
    assert "A record of 2 operations is looked at for the first time: the nodes in their order ..." in text
    assert "the names of the nodes ..." in text
    assert "\n" not in text
    assert seen(text) == ""


@pytest.mark.parametrize(("stream", "many"), [(Stream(True), 3), (Stream(False), 2), (None, 2)])
def test_nothing_is_said_of_a_short_record_or_where_nobody_watches(monkeypatch, stream, many):
    assert looked_at(monkeypatch, stream, many) == ""


def test_a_notebook_is_told(monkeypatch):
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert "the nodes in their order" in looked_at(monkeypatch, Stream(False), 2)
    ipython.get_ipython = SimpleNamespace
    assert looked_at(monkeypatch, Stream(False), 2) == ""


def test_the_line_is_taken_away_where_looking_is_broken_off(monkeypatch):
    stream = Stream(True)
    monkeypatch.setattr(progress, "MANY", 2)
    monkeypatch.setattr(sys, "stderr", stream)
    shown = []

    def looks():
        with progress.report_progress(2, "something"):
            shown.append(seen(stream.getvalue()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        looks()
    assert shown[0].endswith("first time: something ...")
    assert seen(stream.getvalue()) == ""

"""Progress while a long record is read for the first time."""

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


def look(monkeypatch, stream, many):
    """Return the output while a record of three operations is read."""
    monkeypatch.setattr(progress, "MANY", many)
    a = Value(2.0)
    with mg.record() as trace:
        (a * 3 + a).backward()
    monkeypatch.setattr(sys, "stderr", stream)
    names = [node.name for node in trace.nodes]
    assert len(names) == 4
    return stream.getvalue() if stream else ""


def visible_text(text):
    """Return the text that a terminal finally shows when lines are overwritten."""
    shown = ""
    for part in text.split("\r"):
        shown = part + shown[len(part) :]
    return shown.strip()


def test_a_terminal_shows_one_line_that_disappears(monkeypatch):
    text = look(monkeypatch, Stream(True), 2)
    assert "A record of 2 operations is looked at for the first time: the nodes in their order ..." in text
    assert "the names of the nodes ..." in text
    assert "\n" not in text
    assert visible_text(text) == ""


@pytest.mark.parametrize(("stream", "many"), [(Stream(True), 3), (Stream(False), 2), (None, 2)])
def test_short_records_and_files_show_no_progress(monkeypatch, stream, many):
    assert look(monkeypatch, stream, many) == ""


def test_a_notebook_shows_progress(monkeypatch):
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert "the nodes in their order" in look(monkeypatch, Stream(False), 2)
    ipython.get_ipython = SimpleNamespace
    assert look(monkeypatch, Stream(False), 2) == ""


def test_an_interrupt_removes_the_line(monkeypatch):
    stream = Stream(True)
    monkeypatch.setattr(progress, "MANY", 2)
    monkeypatch.setattr(sys, "stderr", stream)
    shown = []

    def look_and_interrupt():
        with progress.report_progress(2, "something"):
            shown.append(visible_text(stream.getvalue()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look_and_interrupt()
    assert shown[0].endswith("first time: something ...")
    assert visible_text(stream.getvalue()) == ""

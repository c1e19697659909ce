"""Notebooks that tests run: once, in a fresh kernel and an empty folder. What their cells print and show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from warm_kernels import CAN_FORK, WarmProcess

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
NOT_TEXT = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
"""Code, and where a link leads."""
PROGRESS = re.compile(r"\r[^\r\n]*")


def run_notebook(book: Any, folder: Path, kernels: WarmProcess | None = None) -> Any:
    """Run a notebook in a folder, and return it with its outputs. An error in a cell fails the test.

    Its kernel is forked from a warm process, if one is given and this system can fork it; else it is a new program.
    """
    manager = {"kernel_manager_class": kernels.manager_class} if kernels and CAN_FORK else {}
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}}, **manager).execute()
    return book


def read_notebook(text: str) -> Any:
    """Return the notebook of a file's text."""
    return nbformat.reads(text, as_version=4)


def sections_of(cells: list[Any]) -> list[list[Any]]:
    """Return the cells from each heading to the next."""
    parts: list[list[Any]] = []
    for cell in cells:
        if not parts or (cell.cell_type == "markdown" and cell.source.startswith("#")):
            parts.append([])
        parts[-1].append(cell)
    return parts


def outputs_of(cell: Any) -> list[Any]:
    """Return the outputs of a cell; text cells have none."""
    return cell.get("outputs", [])


def html_of(cell: Any) -> list[str]:
    """Return the HTML outputs of a cell."""
    return [output.data["text/html"] for output in outputs_of(cell) if "text/html" in output.get("data", {})]


def output_text(cells: list[Any]) -> str:
    """Return the text output of some cells. Parts of one stream are joined unchanged."""
    shown = [output for cell in cells for output in outputs_of(cell)]
    return "".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "") + "\n"
        for output in shown
    )


def figures(text: str) -> list[float]:
    """Return the numbers written in digits, except in progress bars, which show the time."""
    return [float(number) for number in NUMBER.findall(PROGRESS.sub(" ", text))]


def figures_in_text(cells: list[Any]) -> list[float]:
    """Return the numbers written in digits in text cells, without their code."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return figures(NOT_TEXT.sub(" ", text))

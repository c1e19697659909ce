"""Slides of a lesson: one offline page from the cells of a notebook that have the tag `slide`.

Questions are polls: their choices are the right answer and what named mistakes give.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from .quizzes.cards import Card
from .quizzes.output import SealedOutput
from .static_files import text

TAG = "slide"
PREPARE = "from micrograd_plus_viz.slides import show_polls\nshow_polls(get_ipython())"
MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.DOTALL)
HEADING = re.compile(r"<h[1-3].*?</h[1-3]>", re.DOTALL)
LEAD_IN = re.compile(r"</(?:p|ul|ol)>\s*(<p>([^<>]{1,60}):</p>)\s*\Z")
"""A short last line of a text that announces what follows."""
PLAYER = "data-mgp="
"""What the HTML of players and questions has, and no other."""
CODE = '<pre class="code">'
MOST_LINES = 5
"""The lines of code that fit beside a picture."""
ANCHOR = re.compile(r'<a class="anchor-link".*?</a>', re.DOTALL)


def show_polls(shell: Any) -> None:
    """Let a notebook's kernel display each question as a poll."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type(SealedOutput, lambda output, **_: output.poll()._repr_mimebundle_())


def write_slides(notebook: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Run a notebook and write its slides as a page; return the path of the page.

    Raises ValueError if no cell has the tag `slide`, and nbclient's CellExecutionError if a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    from micrograd_plus.files import write_file

    notebook, path = Path(notebook), Path(path)
    book = nbformat.read(notebook, as_version=4)
    if not any(TAG in cell.metadata.get("tags", []) for cell in book.cells):
        raise ValueError(f"{notebook.name} has no slides: no cell has the tag {TAG!r}")
    book.cells.insert(0, nbformat.v4.new_code_cell(PREPARE))
    quiet = ["--log-level=ERROR"]            # a kernel of this machine needs no warning about its network
    where = {"metadata": {"path": str(notebook.parent)}}
    NotebookClient(book, timeout=300, extra_arguments=quiet, resources=where).execute()
    slides = group_cells(cell for cell in book.cells if TAG in cell.metadata.get("tags", []))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, slide_page(slides, notebook.stem))
    return path


def group_cells(cells: Iterable[Any]) -> list[list[str]]:
    """Return the slides, each as a list of HTML texts.

    A heading begins a slide. A player or a question has one to itself, with a heading: what follows a question can
    answer it. Other slides have room for one large part: a picture, a table or long code. A text's last line that ends
    in a colon belongs to what follows: if that begins a slide, the line is its heading, and that of the slides after.
    """
    slides: list[list[str]] = []
    heading = ""
    for part in (part for cell in cells for part in render_cell(cell)):
        found = HEADING.match(part)
        if found:
            heading = found[0]
            slides.append([part])
        elif not slides or (slides[-1] != [heading] and is_full(slides[-1], part)):
            if slides and (lead := LEAD_IN.search(slides[-1][-1])):
                slides[-1][-1] = slides[-1][-1][: lead.start(1)]
                heading = f"<h2>{lead[2]}</h2>"
            slides.append([heading, part])
        else:
            slides[-1].append(part)
    return slides


def is_full(slide: list[str], part: str) -> bool:
    """Return whether a slide has no room for one more part."""
    is_alone = any(PLAYER in each for each in [slide[-1], part])
    return is_alone or (is_large(part) and any(map(is_large, slide)))


def is_large(part: str) -> bool:
    """Return whether a part of a slide is a picture, a table, or code of many lines."""
    is_long_code = part.startswith(CODE) and part.count("\n") > MOST_LINES
    return part.lstrip().startswith(("<img", "<table", "<svg")) or is_long_code


def render_cell(cell: Any) -> Iterator[str]:
    """Yield the parts of a cell as HTML: its text, or its code and its outputs.

    Left out is the code of a question, and of a picture or a table if it is long, or if it is one expression, which
    says no more than what it draws.
    """
    if cell.cell_type == "markdown":
        yield render_markdown(cell.source).strip()
        return
    draws = any({"text/html", "image/png"} & {*output.get("data", {})} for output in cell.outputs)
    is_shown = not draws or (len(cell.source.splitlines()) <= MOST_LINES and not is_expression(cell.source))
    if is_shown and "ask" not in cell.metadata.get("tags", []):
        yield f"{CODE}{escape(cell.source)}</pre>"
    for output in cell.outputs:
        if output.output_type == "stream":
            yield f"<pre>{escape(output.text)}</pre>"
        elif "text/html" in output.get("data", {}):
            page = output.data["text/html"]
            yield f'<div class="question">{page}</div>' if f"{Card.mount}(" in page else page
        elif "image/png" in output.get("data", {}):
            yield f'<img alt="" src="data:image/png;base64,{output.data["image/png"].strip()}">'
        elif "text/plain" in output.get("data", {}):
            yield f"<pre>{escape(output.data['text/plain'])}</pre>"


def is_expression(source: str) -> bool:
    """Return whether code is one expression, such as the name of a record. IPython's own commands are none."""
    try:
        lines = ast.parse(source).body
    except SyntaxError:
        return False
    return [type(line) for line in lines] == [ast.Expr]


def render_markdown(source: str) -> str:
    """Return Markdown as HTML, with formulas as MathML."""
    from latex2mathml.converter import convert
    from nbconvert.filters.markdown import markdown2html

    formulas = []

    def keep(found: re.Match[str]) -> str:
        block = found[1] is not None
        formulas.append(convert(found[1] or found[2], display="block" if block else "inline"))
        return f"FORMULA{len(formulas) - 1}END"

    page = ANCHOR.sub("", str(markdown2html(MATH.sub(keep, source))))
    return re.sub(r"FORMULA(\d+)END", lambda found: formulas[int(found[1])], page)


def slide_page(slides: list[list[str]], title: str) -> str:
    """Return the page of all slides."""
    sections = "\n".join(
        f'<section class="slide" aria-label="Slide {number} of {len(slides)}">{"".join(parts)}</section>'
        for number, parts in enumerate(slides, start=1)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'unsafe-inline\'; '
        f"style-src 'unsafe-inline'; img-src data:\">\n"
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{text('slides.css')}</style>\n</head>\n<body>\n<main>\n{sections}\n</main>\n"
        f'<script type="module">{text("slides.js")}</script>\n</body>\n</html>\n'
    )


__all__ = ["show_polls", "write_slides"]

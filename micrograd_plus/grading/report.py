"""Reports for the teacher: one page for the class, and tables as CSV. They contain student IDs and no names.

The page is plain HTML. It loads nothing and runs no script. Everything that a student wrote is escaped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from ..exercises.reply import opening_step
from ..files import write_file
from .assignment import Assignment
from .formats import table
from .reasons import escape_invisible
from .sandbox.isolation import PROMISES
from .store import Store

CATALOGUE = re.compile(r"M\d+")
"""ID in the catalogue of mistakes. Mistakes that belong to one exercise have none."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
body { color: CanvasText; background: Canvas; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.4rem; margin: 2.5rem 0 .5rem; padding-bottom: .2rem; border-bottom: 2px solid CanvasText; }
h3 { font-size: 1.1rem; margin: 2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid GrayText; }
th, td { vertical-align: top; overflow-wrap: break-word; }
thead th { border-bottom: 2px solid GrayText; }
tbody th { font-weight: 600; }
.number { text-align: right; padding-right: 0; padding-left: .8rem; white-space: nowrap; }
.wide { overflow-x: auto; }
ul { padding-left: 1.2rem; margin: .3rem 0; }
li { margin: .4rem 0; }
"""
UNNAMED = {
    "entries": "different numbers, unknown mistake", "ratio": "a constant factor, unknown mistake",
    "transpose": "a transpose, unknown mistake", "shape": "a different shape, unknown mistake",
    "raised": "stopped with an error", "refused": "returned something that is not an answer", "nan": "returned NaN",
    "ties": "tied entries get too much or too little", "complex": "complex numbers instead of real ones",
}  # fmt: skip
"""Descriptions of unknown mistakes, by the kind of difference."""


def points_and_reasons(marks: dict[str, Any]) -> dict[str, Any]:
    """Return the points and the reason for each exercise, to compare when it is graded again."""
    return {each["exercise"]: (each["points"], each["reason"]) for each in marks["exercises"]}


def write_report(
    store: Store, assignment: Assignment, columns: dict[str, str] | None = None, draw: bool = False
) -> None:
    """Write `report.html`, `marks.csv`, `mistakes.csv` and `tampering.csv`."""
    write_file(store.folder / "marks.csv", table.marks_table(store.all(), columns), private=True)
    mistakes = count_mistakes(store.all())
    write_file(store.folder / "mistakes.csv", table.csv_text(
        ("exercise", "row", "mistake", "students"), [(*what, count) for what, count in mistakes]),
        private=True)  # fmt: skip
    write_file(store.folder / "tampering.csv", table.csv_text(
        ("student", "where", "line", "what"),
        ((marks["student"], each.get("where", ""), each["line"], escape_invisible(each["what"]))
         for marks in store.all() for each in marks["tampering"])), private=True)  # fmt: skip
    if draw:
        draw_walks(store)
    write_file(store.folder / "report.html", page(store, assignment, mistakes), private=True)


def count_mistakes(all_marks: Iterable[dict[str, Any]]) -> list[tuple[tuple[str, str, str], int]]:
    """Return the mistakes of the class and their numbers, most frequent first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for marks in all_marks:
        for each in marks["exercises"] if marks["gradable"] else ():
            if each["mistake"]:
                number = each["mistake"]["id"]
                number = number if CATALOGUE.fullmatch(number) else ""
                counts[each["exercise"], number, each["mistake"]["title"]] += 1
            elif each["first_wrong"]:
                kind = str(each["first_wrong"]["kind"])
                counts[each["exercise"], "", UNNAMED.get(kind, kind)] += 1
            elif not each["right"]:
                counts[each["exercise"], "", each["reason"]] += 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def page(store: Store, assignment: Assignment, mistakes: list[Any]) -> str:
    """Return the page as HTML."""
    title = as_html(assignment.title or assignment.id)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>',
        f"<h1>{title}</h1>", *overview(store), "<h2>Exercises</h2>", exercise_table(store),
        "<h2>Mistakes of the class</h2>", mistake_table(mistakes),
        "<h2>Suspicious code</h2>", tampering_table(store), "<h2>Students</h2>",
    ]  # fmt: skip
    parts += [student_section(marks, store) for marks in store.all()]
    return "\n".join([*parts, "</main></body></html>"]) + "\n"


def draw_walks(store: Store) -> None:
    """Write a page that plays each walk."""
    import micrograd_plus_viz

    from ..tracing import load_trace

    for path in sorted((store.folder / "walks").glob("*.json")):
        drawn = path.with_suffix(".html")
        if not drawn.exists() or drawn.stat().st_mtime < path.stat().st_mtime:
            trace, inputs = load_trace(path), path.stem.partition("--")[2].split(".")[1:2]
            index = opening_step(trace, "+".join(inputs).split("+"))
            micrograd_plus_viz.save(trace, drawn, title=path.stem, index=index)
    for drawn in (store.folder / "walks").glob("*.html"):
        if not drawn.with_suffix(".json").exists():
            drawn.unlink()


def walk_link(store: Store, student: str, exercise: str) -> str:
    """Return a link to the walk through the first wrong call; empty if there is none."""
    for ending in (".html", ".json"):
        name = f"{student}--{exercise}{ending}"
        if (store.folder / "walks" / name).exists():
            label = f"Walk of {exercise} for {student}"
            return f' <a href="walks/{quote(name)}">{as_html(label)}</a>.'
    return ""


def as_html(value: object) -> str:
    """Return a value as escaped HTML text."""
    return html.escape(escape_invisible(value))


def as_sentence(text: str) -> str:
    """Return text with a capital letter at the start and a punctuation mark at the end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def overview(store: Store) -> list[str]:
    """Return the number of submissions, the mean, and the isolation."""
    count, provisional, unread, total, of = 0, 0, 0, 0.0, 0.0
    levels: set[str] = set()
    for marks in store.all():
        count, provisional, unread = count + 1, provisional + marks["provisional"], unread + (not marks["gradable"])
        total, of = total + marks["score"], max(of, marks["max_score"])
        levels.add(str(marks["isolation"]))
    mean = f"{total / count:.2f}" if count else "none"
    parts = [f"<p>{count} submissions; {unread} could not be read; mean {mean} of {of:g} points.</p>"]
    parts += [f"<p>Isolation {as_html(level)}: {as_html(PROMISES.get(level, ''))}.</p>" for level in sorted(levels)]
    if provisional:
        parts.append(f"<p><strong>{provisional} of these marks are provisional</strong>: "
                     f"the assignment requires stronger isolation.</p>")  # fmt: skip
    return parts


def html_table(label: str, heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table. Its first column holds row headings; numbers are aligned to the right."""
    columns = list(heads)

    def cell(name: str, place: int, value: Any, column: bool) -> str:
        number = name in NUMBERS
        kind = ' class="number"' if number else ""
        if column or not place:
            return f'<th scope="{"col" if column else "row"}"{kind}>{as_html(value)}</th>'
        return f"<td{kind}>{as_html(f'{value:g}' if number and isinstance(value, float) else value)}</td>"

    head = "".join(cell(name, 0, name, True) for name in columns)
    cells = ([cell(name, place, value, False) for place, (name, value) in enumerate(zip(columns, row, strict=True))]
             for row in rows)  # fmt: skip
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return (f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")  # fmt: skip


NUMBERS = {"Points", "Mean", "Right", "Students"}
"""The columns of numbers."""


def exercise_table(store: Store) -> str:
    """Return the results of the class by exercise, without submissions that could not be read."""
    totals: dict[str, list[Any]] = {}
    for marks in store.all():
        for each in marks["exercises"] if marks["gradable"] else ():
            row = totals.setdefault(each["exercise"], [each["title"], each["of"], 0.0, 0, 0])
            row[2], row[3], row[4] = row[2] + each["points"], row[3] + bool(each["right"]), row[4] + 1
    if not totals:
        return "<p>None.</p>"
    rows = [(name, "" if title == name else title, of, round(total / count, 2), f"{right} of {count}")
            for name, (title, of, total, right, count) in totals.items()]  # fmt: skip
    return html_table("Exercises", ("Exercise", "Title", "Points", "Mean", "Right"), rows)


def mistake_table(mistakes: list[Any]) -> str:
    """Return the mistakes by frequency."""
    if not mistakes:
        return "<p>None.</p>"
    rows = [(exercise, title, number, count) for (exercise, number, title), count in mistakes]
    return html_table("Mistakes", ("Exercise", "Mistake", "In the catalogue", "Students"), rows)


def tampering_table(store: Store) -> str:
    """Return the suspicious code of the class."""
    rows = [(marks["student"], each.get("where") or "", each["line"] or "", each["what"])
            for marks in store.all() for each in marks["tampering"]]  # fmt: skip
    if not rows:
        return "<p>None.</p>"
    return ("<p>Code that does more than an exercise needs. It cost no marks and may be harmless.</p>"
            + html_table("Suspicious code", ("Student", "Cell", "Line", "Code"), rows))  # fmt: skip


def student_section(marks: dict[str, Any], store: Store) -> str:
    """Return the points and reasons of one student."""
    state = " (provisional)" if marks["provisional"] else ""
    parts = [f"<section><h3>{as_html(marks['student'])}: {marks['score']:g} of {marks['max_score']:g}{state}</h3>"]
    if marks["problem"]:
        parts.append(f"<p>{as_html(as_sentence(marks['problem']))}</p>")
    parts.append("<ul>")
    for each in marks["exercises"]:
        mistake = f" Known mistake: {each['mistake']['title']}." if each["mistake"] else ""
        flags = f" Flags: {', '.join(each['flags'])}." if each["flags"] else ""
        head = as_html(f"{each['exercise']}: {each['points']:g} of {each['of']:g}.")
        why = as_sentence(each["reason"])
        walk = walk_link(store, marks["student"], each["exercise"])
        parts.append(f"<li><strong>{head}</strong> {as_html(why)}{as_html(mistake + flags)}{walk}</li>")
    parts.append("</ul>")
    parts += [f"<p>{as_html(as_sentence(remark))}</p>" for remark in marks["remarks"]]
    return "".join(parts) + "</section>"


# Graded again -------------------------------------------------------------------------------------------------------


def write_changes(store: Store, before: dict[str, dict[str, Any]], again: list[str]) -> str:
    """Write the marks that changed when an exercise was graded again to `moved.csv`, and return them as text."""
    changes = []
    for marks in store.all():
        old = before.get(marks["student"], {})
        for each in marks["exercises"]:
            name = each["exercise"]
            points, why = old.get(name, (None, ""))
            if name in again and points != each["points"]:
                changes.append((marks["student"], name, points, each["points"], escape_invisible(why),
                                escape_invisible(each["reason"])))  # fmt: skip
    write_file(store.folder / "moved.csv", table.csv_text(
        ("student", "exercise", "before", "after", "reason before", "reason after"), changes),
        private=True)  # fmt: skip
    lines = [f"{student}: {name}: {'none' if old is None else f'{old:g}'} -> {new:g}: {was} -> {now}"
             for student, name, old, new, was, now in changes]  # fmt: skip
    return "\n".join([f"{len(changes)} marks changed.", *lines]) + "\n"

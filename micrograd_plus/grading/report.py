"""What a teacher reads: one page for the class and tables beside it, text first, ids and no names.

The page is plain HTML that asks for nothing from anywhere and runs no script. All that a student wrote is shown as
text.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from ..exercises.reply import opening_step
from .assignment import Assignment
from .formats import table
from .reasons import plain
from .sandbox.isolation import PROMISES
from .store import Store, write_whole

CATALOGUE = re.compile(r"M\d+")
"""A row of the catalogue of mistakes; those that were made for one exercise have none."""
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
    "entries": "other numbers, by no known mistake", "ratio": "a constant factor, by no known mistake",
    "transpose": "a transpose, by no known mistake", "shape": "another shape, by no known mistake",
    "raised": "it stopped with an error", "refused": "what came is no answer", "nan": "entries that are no numbers",
    "ties": "entries that tie get too much or too little", "complex": "complex numbers in the place of real ones",
}  # fmt: skip
"""What a difference without a name is called, by its kind."""


def brief(marks: dict[str, Any]) -> dict[str, Any]:
    """What is compared when an exercise is marked again."""
    return {each["exercise"]: (each["points"], each["reason"]) for each in marks["exercises"]}


def write(store: Store, assignment: Assignment, columns: dict[str, str] | None = None, draw: bool = False) -> None:
    """The page `report.html`, and `marks.csv`, `mistakes.csv` and `tampering.csv` beside it."""
    write_whole(store.folder / "marks.csv", table.rows(store.all(), columns))
    mistakes = mistakes_of(store.all())
    write_whole(store.folder / "mistakes.csv", table.sheet(
        ("exercise", "row", "mistake", "students"), [(*what, count) for what, count in mistakes]))  # fmt: skip
    write_whole(store.folder / "tampering.csv", table.sheet(
        ("student", "where", "line", "what"),
        ((marks["student"], each.get("where", ""), each["line"], plain(each["what"]))
         for marks in store.all() for each in marks["tampering"])))  # fmt: skip
    if draw:
        draw_walks(store)
    write_whole(store.folder / "report.html", page(store, assignment, mistakes))


def mistakes_of(all_marks: Iterable[dict[str, Any]]) -> list[tuple[tuple[str, str, str], int]]:
    """The mistakes that were named, the most frequent first; what has no name is counted by what it looks like."""
    met: Counter[tuple[str, str, str]] = Counter()
    for marks in all_marks:
        for each in marks["exercises"] if marks["gradable"] else ():
            if each["mistake"]:
                row = each["mistake"]["id"]
                met[each["exercise"], row if CATALOGUE.fullmatch(row) else "", each["mistake"]["title"]] += 1
            elif each["first_wrong"]:
                kind = str(each["first_wrong"]["kind"])
                met[each["exercise"], "", UNNAMED.get(kind, kind)] += 1
            elif not each["right"]:
                met[each["exercise"], "", each["reason"]] += 1
    return sorted(met.items(), key=lambda item: (-item[1], item[0]))


def page(store: Store, assignment: Assignment, mistakes: list[Any]) -> str:
    """The whole page."""
    title = text(assignment.title or assignment.id)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>',
        f"<h1>{title}</h1>", *overview(store), "<h2>Exercises</h2>", of_exercises(store),
        "<h2>Mistakes of the class</h2>", of_mistakes(mistakes),
        "<h2>To look at</h2>", of_tampering(store), "<h2>Students</h2>",
    ]  # fmt: skip
    parts += [of_student(marks, store) for marks in store.all()]
    return "\n".join([*parts, "</main></body></html>"]) + "\n"


def draw_walks(store: Store) -> None:
    """A page that plays each walk; the walks' data are there without it."""
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
    """Where the walk through a first wrong call is to be seen, if there is one."""
    for ending in (".html", ".json"):
        name = f"{student}--{exercise}{ending}"
        if (store.folder / "walks" / name).exists():
            told = f"Walk of {exercise} for {student}"
            return f' <a href="walks/{quote(name)}">{text(told)}</a>.'
    return ""


def text(value: object) -> str:
    """Anything as text of a page."""
    return html.escape(plain(value))


def overview(store: Store) -> list[str]:
    """How many, how well, and under which isolation."""
    count, provisional, unread, total, of = 0, 0, 0, 0.0, 0.0
    levels: set[str] = set()
    for marks in store.all():
        count, provisional, unread = count + 1, provisional + marks["provisional"], unread + (not marks["gradable"])
        total, of = total + marks["score"], max(of, marks["max_score"])
        levels.add(str(marks["isolation"]))
    mean = f"{total / count:.2f}" if count else "none"
    parts = [f"<p>{count} submissions; {unread} could not be read; mean {mean} of {of:g} points.</p>"]
    parts += [f"<p>Isolation {text(level)}: {text(PROMISES.get(level, ''))}.</p>" for level in sorted(levels)]
    if provisional:
        told = f"<strong>{provisional} of these marks are provisional</strong>"
        parts.append(f"<p>{told}: the assignment asks for stronger isolation.</p>")
    return parts


def sheet(label: str, heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table whose first column says what a row is about; columns of numbers stand right."""
    columns = list(heads)

    def cell(name: str, place: int, value: Any, column: bool) -> str:
        number = name in NUMBERS
        kind = ' class="number"' if number else ""
        if column or not place:
            return f'<th scope="{"col" if column else "row"}"{kind}>{text(value)}</th>'
        return f"<td{kind}>{text(f'{value:g}' if number and isinstance(value, float) else value)}</td>"

    head = "".join(cell(name, 0, name, True) for name in columns)
    cells = ([cell(name, place, value, False) for place, (name, value) in enumerate(zip(columns, row, strict=True))]
             for row in rows)  # fmt: skip
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return (f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")  # fmt: skip


NUMBERS = {"Points", "Mean", "Right", "Students"}
"""The columns of numbers."""


def of_exercises(store: Store) -> str:
    """How a class did in each exercise; submissions that could not be read are not counted."""
    met: dict[str, list[Any]] = {}
    for marks in store.all():
        for each in marks["exercises"] if marks["gradable"] else ():
            row = met.setdefault(each["exercise"], [each["title"], each["of"], 0.0, 0, 0])
            row[2], row[3], row[4] = row[2] + each["points"], row[3] + bool(each["right"]), row[4] + 1
    if not met:
        return "<p>None.</p>"
    rows = [(name, "" if title == name else title, of, round(total / count, 2), f"{right} of {count}")
            for name, (title, of, total, right, count) in met.items()]  # fmt: skip
    return sheet("Exercises", ("Exercise", "Title", "Points", "Mean", "Right"), rows)


def of_mistakes(mistakes: list[Any]) -> str:
    """The mistakes by frequency."""
    if not mistakes:
        return "<p>None.</p>"
    rows = [(exercise, title, row, count) for (exercise, row, title), count in mistakes]
    return sheet("Mistakes", ("Exercise", "Mistake", "In the catalogue", "Students"), rows)


def of_tampering(store: Store) -> str:
    """What was read off the sources; it accuses nobody."""
    rows = [(marks["student"], each.get("where") or "", each["line"] or "", each["what"])
            for marks in store.all() for each in marks["tampering"]]  # fmt: skip
    if not rows:
        return "<p>Nothing.</p>"
    return ("<p>Code that reaches for more than an exercise needs. It cost no marks, and may be harmless.</p>"
            + sheet("To look at", ("Student", "Cell", "Line", "The code"), rows))  # fmt: skip


def of_student(marks: dict[str, Any], store: Store) -> str:
    """One student: the points, the reason for each exercise, and the first wrong step."""
    state = " (provisional)" if marks["provisional"] else ""
    parts = [f"<section><h3>{text(marks['student'])}: {marks['score']:g} of {marks['max_score']:g}{state}</h3>"]
    if marks["problem"]:
        parts.append(f"<p>{text(marks['problem'])}</p>")
    parts.append("<ul>")
    for each in marks["exercises"]:
        named = f" Known mistake: {each['mistake']['title']}." if each["mistake"] else ""
        flags = f" Flags: {', '.join(each['flags'])}." if each["flags"] else ""
        head = text(f"{each['exercise']}: {each['points']:g} of {each['of']:g}.")
        said = each["reason"][:1].upper() + each["reason"][1:].rstrip(".") + "."
        walk = walk_link(store, marks["student"], each["exercise"])
        parts.append(f"<li><strong>{head}</strong> {text(said)}{text(named + flags)}{walk}</li>")
    parts.append("</ul>")
    parts += [f"<p>{text(remark)}</p>" for remark in marks["remarks"]]
    return "".join(parts) + "</section>"


# Marked again -------------------------------------------------------------------------------------------------------


def write_moved(store: Store, before: dict[str, dict[str, Any]], again: list[str]) -> str:
    """`moved.csv`: whose marks are others after an exercise was mended, and why; the same in words."""
    moved = []
    for marks in store.all():
        old = before.get(marks["student"], {})
        for each in marks["exercises"]:
            name = each["exercise"]
            points, reason = old.get(name, (None, ""))
            if name in again and points != each["points"]:
                moved.append((marks["student"], name, points, each["points"], plain(reason), plain(each["reason"])))
    write_whole(store.folder / "moved.csv", table.sheet(
        ("student", "exercise", "before", "after", "reason before", "reason after"), moved))  # fmt: skip
    lines = [f"{student}: {name}: {'none' if old is None else f'{old:g}'} -> {new:g}: {was} -> {now}"
             for student, name, old, new, was, now in moved]  # fmt: skip
    return "\n".join([f"{len(moved)} marks moved.", *lines]) + "\n"

"""Reports for the teacher: one page for the class, and tables as CSV. They contain student IDs and no names.

The page is plain HTML. It loads nothing and runs no script. Everything that a student wrote is escaped.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ..files import write_file
from .assignment import Assignment
from .formats import table
from .reasons import escape_invisible, reason
from .sandbox.isolation import PROMISES
from .store import BESIDE, Store

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
.number + :not(.number) { padding-left: 1.6rem; }
.wide { overflow-x: auto; }
.wide td:not(.number) { min-width: 9rem; }
ul { padding-left: 1.2rem; margin: .3rem 0; }
li { margin: .4rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
summary h3 { display: inline; margin: 0; }
pre { overflow-x: auto; padding: .6rem .8rem; border-left: 3px solid GrayText; margin: .4rem 0; }
.comment { border-left: 3px solid CanvasText; padding-left: .8rem; }
body:has(#only-wrong:checked) .all-right { display: none; }
body:has(#only-unknown:checked) .known { display: none; }
@media print { .filter { display: none; } details::details-content { content-visibility: visible; display: block; } }
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
    mistakes = group_mistakes(store.all())
    write_file(store.folder / "mistakes.csv", table.csv_text(
        ("exercise", "mistake", "students", "ids"),
        [(exercise, title, len(ids), " ".join(ids)) for exercise, title, ids in mistakes]), private=True)  # fmt: skip
    write_file(store.folder / "tampering.csv", table.csv_text(
        ("student", "where", "line", "what"),
        ((marks["student"], each.get("where", ""), each["line"], escape_invisible(each["what"]))
         for marks in store.all() for each in marks["tampering"])), private=True)  # fmt: skip
    if draw:
        draw_walks(store)
    write_file(store.folder / "report.html", page(store, assignment, mistakes), private=True)
    write_student_pages(store, assignment)


def group_mistakes(all_marks: Iterable[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    """Return each mistake of the class with its exercise and the students that made it, most frequent first.

    Unknown mistakes are one if the answers return equal values on shared inputs. They are numbered in each exercise.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for marks in all_marks:
        for each in marks["exercises"] if marks["gradable"] else ():
            if not each["right"] and each["exercise"] not in marks.get("failed", ()):
                key = each["exercise"], title_of_mistake(each), (each.get("group") or "")
                groups.setdefault(key, []).append(marks["student"])
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0][:2], item[1]))
    numbers: Counter[tuple[str, str]] = Counter()
    mistakes = []
    for (exercise, title, group), ids in ordered:
        numbers[exercise, title] += bool(group)
        mistakes.append((exercise, f"{title} no. {numbers[exercise, title]}" if group else title, ids))
    return mistakes


def title_of_mistake(exercise: dict[str, Any]) -> str:
    """Return the name of the mistake in an exercise that is not right."""
    if exercise["mistake"]:
        return str(exercise["mistake"]["title"])
    if exercise["first_wrong"]:
        kind = str(exercise["first_wrong"]["kind"])
        return UNNAMED.get(kind, kind)
    return str(exercise["reason"])


def page(store: Store, assignment: Assignment, mistakes: list[Any]) -> str:
    """Return the page as HTML."""
    title = as_html(assignment.title or assignment.id)
    parts = [
        *head_of_page(title), f"<h1>{title}</h1>", *overview(store), "<h2>Exercises</h2>", exercise_table(store),
        "<h2>Mistakes of the class</h2>", mistake_table(mistakes),
        "<h2>Suspicious code</h2>", tampering_table(store), "<h2>Students</h2>", FILTER,
    ]  # fmt: skip
    parts += [student_section(marks, store) for marks in store.all()]
    return "\n".join([*parts, "</main></body></html>"]) + "\n"


def head_of_page(title: str) -> list[str]:
    """Return the beginning of a page, up to its main part."""
    return [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>',
    ]


def draw_walks(store: Store) -> None:
    """Write a page that plays each walk beside the right one, with the wrong entries outlined."""
    import micrograd_plus_viz as viz

    for path in sorted((store.folder / "walks").glob("*.json")):
        drawn = path.with_suffix(".html")
        is_old = not drawn.exists() or drawn.stat().st_mtime < path.stat().st_mtime
        if is_old and not path.stem.endswith(BESIDE):
            trace, right = load_walks(path)
            if right is None:
                viz.save(trace, drawn, title=path.stem, index=trace.opens_at)
            else:
                viz.save(viz.compare(right, trace), drawn, title=f"{path.stem}: the right walk, and this one")
    for drawn in (store.folder / "walks").glob("*.html"):
        if not drawn.with_suffix(".json").exists():
            drawn.unlink()


def load_walks(path: Path) -> tuple[Any, Any]:
    """Return the walk in a file with its marks, and the right walk beside it; None if there is none."""
    from ..tracing import load_trace

    trace = load_trace(path, check=False)  # a student's numbers need not add up
    try:
        beside = json.loads(path.with_name(f"{path.stem}{BESIDE}.json").read_text(encoding="utf-8"))
    except OSError:
        return trace, None
    trace.opens_at = beside["opens_at"]
    trace.marks = {int(index): {**mark, "right": None if mark["right"] is None else np.array(mark["right"], float)}
                   for index, mark in beside["marks"].items()}  # fmt: skip
    return trace, None if beside["right"] is None else load_trace(beside["right"])


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


def with_code(value: object) -> str:
    """Return a value as escaped HTML text in which words between backticks are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", as_html(value))


def as_sentence(text: str) -> str:
    """Return text with a capital letter at the start and a punctuation mark at the end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def overview(store: Store) -> list[str]:
    """Return the number of submissions, the mean, and the isolation."""
    count, provisional, unread, failed, total, of = 0, 0, 0, 0, 0.0, 0.0
    levels: set[str] = set()
    for marks in store.all():
        count, provisional, unread = count + 1, provisional + marks["provisional"], unread + (not marks["gradable"])
        failed += bool(marks.get("failed"))
        total, of = total + marks["score"], max(of, marks["max_score"])
        levels.add(str(marks["isolation"]))
    mean = f"{total / (count - failed):.2f}" if count > failed else "none"
    parts = [f"<p>{count} submissions; {unread} could not be read; mean {mean} of {of:g} points.</p>"]
    parts += [f"<p>Isolation {as_html(level)}: {as_html(PROMISES.get(level, ''))}.</p>" for level in sorted(levels)]
    if failed:
        parts.append(f"<p><strong>{failed} submissions are not graded</strong>, because the grader failed on them. Run "
                     f"the same command again.</p>")  # fmt: skip
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
        if isinstance(value, Links):
            return f"<td>{value.as_html()}</td>"
        text = as_html(f"{value:g}" if number and isinstance(value, float) else value)
        return f"<td{kind}>{with_code(value) if name == 'Mistake' else text}</td>"

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
    """Return the mistakes by frequency, with a link to each student that made them."""
    if not mistakes:
        return "<p>None.</p>"
    heads = ("Exercise", "Mistake", "Students", "IDs")
    rows = [(exercise, title, len(ids), Links(ids)) for exercise, title, ids in join_rows_without_answer(mistakes)]
    return html_table("Mistakes", heads, rows)


def join_rows_without_answer(mistakes: list[Any]) -> list[tuple[str, str, list[str]]]:
    """Return the mistakes, and after them one row for all exercises that the same students did not answer."""
    answered, exercises = [], {}
    for exercise, title, ids in mistakes:
        if re.fullmatch(NOT_ANSWERED, title):
            exercises.setdefault(tuple(ids), []).append(exercise)
        else:
            answered.append((exercise, title, ids))
    return [*answered, *((", ".join(names), "not answered", list(ids)) for ids, names in exercises.items())]


NOT_ANSWERED = rf"{reason('unchanged')}|{reason('missing', name='XX').replace('XX', '.+')}"
"""A pattern of the reasons that say that there is no answer."""


class Links(list[str]):
    """IDs of students, shown as links to their sections."""

    def as_html(self) -> str:
        """Return the links as HTML."""
        return ", ".join(f'<a href="#{anchor(each)}">{as_html(each)}</a>' for each in self)


def anchor(student: str) -> str:
    """Return the anchor of a student's section."""
    return "student-" + quote(student, safe="").replace("%", "_")


def tampering_table(store: Store) -> str:
    """Return the suspicious code of the class."""
    rows = [(marks["student"], each.get("where") or "", each["line"] or "", each["what"])
            for marks in store.all() for each in marks["tampering"]]  # fmt: skip
    if not rows:
        return "<p>None.</p>"
    return ("<p>Code that does more than an exercise needs. It cost no marks and may be harmless.</p>"
            + html_table("Suspicious code", ("Student", "Cell", "Line", "Code"), rows))  # fmt: skip


FILTER = (
    '<p class="filter"><label><input type="checkbox" id="only-wrong"> Hide students with all points</label> '
    '<label><input type="checkbox" id="only-unknown"> Hide answers with a known mistake</label></p>'
)


def student_section(marks: dict[str, Any], store: Store) -> str:
    """Return the points, reasons and code of one student, folded."""
    kind = "all-right" if all(each["right"] for each in marks["exercises"]) and marks["exercises"] else "not-right"
    return (f'<section id="{anchor(marks["student"])}" class="{kind}"><details><summary>'
            f"<h3>{as_html(heading(marks))}</h3></summary>"
            f"{student_body(marks, store)}</details></section>")  # fmt: skip


def heading(marks: dict[str, Any]) -> str:
    """Return a student's ID and points."""
    if marks.get("failed"):
        return f"{marks['student']}: not graded"
    return f"{marks['student']}: {marks['score']:g} of {marks['max_score']:g}" + (
        " (provisional)" if marks["provisional"] else "")  # fmt: skip


def student_body(marks: dict[str, Any], store: Store, with_walks: bool = True) -> str:
    """Return a student's problem, right answers, wrong answers with their code, and remarks."""
    right = ", ".join(each["exercise"] for each in marks["exercises"] if each["right"])
    answers = store.answers(marks["student"])
    items = [exercise_item(each, answers.get(each["exercise"]),
                           walk_link(store, marks["student"], each["exercise"]) if with_walks else "")
             for each in marks["exercises"] if not each["right"]]  # fmt: skip
    return "".join([
        f"<p>{as_html(as_sentence(marks['problem']))}</p>" if marks["problem"] else "",
        f"<p>Right: {as_html(right)}.</p>" if right else "",
        f"<ul>{''.join(items)}</ul>" if items else "",
        *[f"<p>{as_html(as_sentence(remark))}</p>" for remark in marks["remarks"]],
    ])  # fmt: skip


def exercise_item(each: dict[str, Any], answer: dict[str, Any] | None, link: str) -> str:
    """Return one wrong answer: points, reason, mistake, and the student's lines."""
    mistake = f" Known mistake: {each['mistake']['title']}." if each["mistake"] else ""
    flags = f" Flags: {', '.join(each['flags'])}." if each["flags"] else ""
    head = as_html(f"{each['exercise']}: {each['points']:g} of {each['of']:g}.")
    code = ""
    if answer:
        lines = str(answer["source"]).split("\n")
        text = "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines, start=int(answer["line"])))
        code = (f'<pre tabindex="0"><code>'
                f"{html.escape(escape_invisible(text, most=8000))}</code></pre>")  # fmt: skip
    kind = "known" if each["mistake"] else "unknown"
    return (f'<li class="{kind}"><strong>{head}</strong> {with_code(as_sentence(each["reason"]))}'
            f"{with_code(mistake + flags)}{link}{code}</li>")  # fmt: skip


# Pages to hand back ---------------------------------------------------------------------------------------------------


def write_student_pages(store: Store, assignment: Assignment) -> None:
    """Write a page for each student with marks, reasons, their code, and the comments from `comments.csv`."""
    folder, comments = store.folder / "students", read_comments(store.folder / "comments.csv")
    folder.mkdir(exist_ok=True)
    title, kept = as_html(assignment.title or assignment.id), set()
    for marks in store.all():
        kept.add(f"{marks['student']}.html")
        notes = "".join(f'<p class="comment">{as_html(f"{where}: {text}" if where else text)}</p>'
                        for where, text in comments.get(marks["student"], []))  # fmt: skip
        write_file(folder / f"{marks['student']}.html", "\n".join([
            *head_of_page(f"{title}: {as_html(marks['student'])}"), f"<h1>{title}</h1>",
            f"<h2>{as_html(heading(marks))}</h2>", notes, student_body(marks, store, with_walks=False),
            "</main></body></html>\n",
        ]), private=True)  # fmt: skip
    for page_of_student in folder.glob("*.html"):
        if page_of_student.name not in kept:
            page_of_student.unlink()


def read_comments(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the teacher's comments by student: rows of student, exercise or nothing, and comment."""
    comments: dict[str, list[tuple[str, str]]] = {}
    if path.exists():
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                if len(row) >= 3:
                    comments.setdefault(row[0].strip(), []).append((row[1].strip(), row[2].strip()))
    return comments


# Graded again -------------------------------------------------------------------------------------------------------


def write_changes(store: Store, before: dict[str, dict[str, Any]], again: list[str]) -> str:
    """Write the marks that changed when an exercise was graded again to `moved.csv`, and return them as text."""
    changes = []
    for marks in store.all():
        old = before.get(marks["student"], {})
        for each in marks["exercises"]:
            name = each["exercise"]
            points, why = old.get(name, (None, ""))
            if name in again and old and points != each["points"]:
                changes.append((marks["student"], name, points, each["points"], escape_invisible(why),
                                escape_invisible(each["reason"])))  # fmt: skip
    if not changes:
        return "0 marks changed.\n"
    write_file(store.folder / "moved.csv", table.csv_text(
        ("student", "exercise", "before", "after", "reason before", "reason after"), changes),
        private=True)  # fmt: skip
    lines = [f"{student}: {name}: {'none' if old is None else f'{old:g}'} -> {new:g}: "
             f"{'for the same reason' if was == now else f'{was} -> {now}'}"
             for student, name, old, new, was, now in changes]  # fmt: skip
    return "\n".join([f"{len(changes)} marks changed.", *lines]) + "\n"

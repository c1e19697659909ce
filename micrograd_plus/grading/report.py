"""What a teacher reads: one page for the class and tables beside it, text first, ids and no names.

The page is plain HTML that asks for nothing from anywhere and runs no script. All that a student wrote is shown as
text.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from .assignment import Assignment
from .formats import table
from .levels import PROMISES
from .sentences import plain
from .store import Store, write_whole

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
body { color: CanvasText; background: Canvas; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border: 1px solid GrayText; }
th, td { vertical-align: top; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
h3 { margin-bottom: .2rem; }
"""


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
        for each in marks["exercises"]:
            if each["mistake"]:
                met[each["exercise"], each["mistake"]["row"], each["mistake"]["title"]] += 1
            elif each["first_wrong"]:
                met[each["exercise"], "", f"no known mistake: {each['first_wrong']['kind']}"] += 1
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
        f"<h1>{title}</h1>", *overview(store), "<h2>Mistakes of the class</h2>", of_mistakes(mistakes),
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
            micrograd_plus_viz.save(load_trace(path), drawn, title=path.stem)
    for drawn in (store.folder / "walks").glob("*.html"):
        if not drawn.with_suffix(".json").exists():
            drawn.unlink()


def walk_link(store: Store, student: str, exercise: str) -> str:
    """Where the walk through a first wrong call is to be seen, if there is one."""
    for ending in (".html", ".json"):
        name = f"{student}--{exercise}{ending}"
        if (store.folder / "walks" / name).exists():
            told = f"The walk of {exercise} for {student}, at the first wrong step"
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


def of_mistakes(mistakes: list[Any]) -> str:
    """The mistakes by frequency."""
    if not mistakes:
        return "<p>None.</p>"
    rows = "".join(
        f'<tr><th scope="row">{text(exercise)}</th><td>{text(row)}</td><td>{text(title)}</td><td>{count}</td></tr>'
        for (exercise, row, title), count in mistakes
    )
    head = "".join(f'<th scope="col">{each}</th>' for each in ("Exercise", "Row", "Mistake", "Students"))
    return (f'<div class="wide" tabindex="0" role="region" aria-label="Mistakes"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")  # fmt: skip


def of_tampering(store: Store) -> str:
    """What was read off the sources; it accuses nobody."""
    rows = [
        f'<tr><th scope="row">{text(marks["student"])}</th><td>{text(each.get("where") or "")}</td>'
        f"<td>{text(each['line'] or '')}</td><td>{text(each['what'])}</td></tr>"
        for marks in store.all() for each in marks["tampering"]
    ]  # fmt: skip
    if not rows:
        return "<p>Nothing.</p>"
    head = "".join(f'<th scope="col">{each}</th>' for each in ("Student", "Cell", "Line", "The code"))
    return ("<p>Code that reaches for more than an exercise needs. It cost no marks, and may be harmless.</p>"
            '<div class="wide" tabindex="0" role="region" aria-label="To look at"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>")  # fmt: skip


def of_student(marks: dict[str, Any], store: Store) -> str:
    """One student: the points, the reason for each exercise, and the first wrong step."""
    state = " (provisional)" if marks["provisional"] else ""
    parts = [f"<section><h3>{text(marks['student'])}: {marks['score']:g} of {marks['max_score']:g}{state}</h3>"]
    if marks["problem"]:
        parts.append(f"<p>{text(marks['problem'])}</p>")
    parts.append("<ul>")
    for each in marks["exercises"]:
        named = f" Mistake {each['mistake']['row']}: {each['mistake']['title']}." if each["mistake"] else ""
        flags = f" Flags: {', '.join(each['flags'])}." if each["flags"] else ""
        points = text(f"{each['title']}: {each['points']:g} of {each['of']:g}. ")
        walk = walk_link(store, marks["student"], each["exercise"])
        parts.append(f"<li>{points}{text(each['reason'])}{text(named + flags)}{walk}</li>")
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

"""One submission's marks: each exercise run in a box of its own, compared here, with a reason for every point.

Marks are plain data and depend on nothing but the submission, the assignment and the level of isolation: no times, no
paths, no addresses of memory. So they are the same to the byte on every run.
"""

from __future__ import annotations
import __future__ as future_features

import hashlib
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..exercises.reply import walk_with_answer
from . import tampering
from .assignment import Assignment
from .cells import Unit, chosen, needed, owners, same_as_starter, statements, unit
from .reasons import plain, say
from .sandbox.boxes import Job, Limits, Ran, Sandbox, SandboxError
from .sandbox.isolation import at_least
from .submissions import Cell, Submission

SCHEMA = "micrograd_plus/marks/1"
ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
NOTHING_CAME = {"values": None, "error": None, "wrote": []}
OF_ANSWERS = ("f8", "f4", "c16", "c8")
PATIENCE, WORKING = 3.0, 0.25
"""How many times its processor time an answer may take by the clock; and from which share of that time on it is taken
for slow, not idle, and tried once more: a loaded machine is no student's fault."""


def marked(submission: Submission, assignment: Assignment, sandbox: Sandbox, attempt: int = 1,
           limits: Callable[[Any], Limits] | None = None,
           walks: dict[str, str] | None = None) -> dict[str, Any]:  # fmt: skip
    """The marks of one submission. Into `walks` goes, for each wrong exercise that has one, the walk through its first
    wrong call."""
    level = sandbox.level
    made: dict[str, Any] = {
        "schema": SCHEMA, "assignment": assignment.id, "student": submission.student, "attempt": attempt,
        "isolation": level, "provisional": not at_least(level, assignment.isolation),
        "gradable": submission.problem is None, "problem": submission.problem, "score": 0.0,
        "max_score": assignment.total(), "exercises": [], "remarks": list(submission.remarks), "tampering": [],
    }  # fmt: skip
    if submission.problem is not None:
        reason = say("not_gradable", problem=submission.problem)
        made["exercises"] = [zero(assignment, name, reason) for name in assignment.exercises]
        made["tampering"] = submission.tampering
        return made
    work = Work(submission, assignment, sandbox, attempt, limits or limits_of)
    try:
        made["exercises"] = [work.whatever(name) for name in assignment.exercises]
    finally:
        sandbox.leave()
    if walks is not None:
        walks.update(work.walks)
    made["score"] = round(sum(each["points"] for each in made["exercises"]), 6)
    made["remarks"] += work.remarks
    made["tampering"] = submission.tampering + work.tampering()
    return made


def limits_of(exercise: Any) -> Limits:
    """What an exercise allows."""
    seconds, megabytes = float(exercise.limits["seconds"]), int(exercise.limits["megabytes"])
    return Limits(cpu=seconds, wall=PATIENCE * seconds, memory=megabytes << 20)


class Work:
    """What is learned of a submission while its exercises are marked one after the other."""

    def __init__(self, submission: Submission, assignment: Assignment, sandbox: Sandbox, attempt: int,
                 limits: Callable[[Any], Limits]) -> None:  # fmt: skip
        self.submission, self.assignment, self.sandbox, self.attempt = submission, assignment, sandbox, attempt
        self.limits = limits
        names = {name: exercise.function_name for name, exercise in assignment.found.items()}
        given = [each for cell in submission.cells if not cell.ours for each in apart(cell, set(names.values()))]
        self.cells, self.units = [cell for cell, _ in given], [told for _, told in given]
        self.owned = owners(self.units, names)
        self.deadly: dict[int, str] = {}
        self.remarks: list[str] = []
        self.walks: dict[str, str] = {}

    def whatever(self, name: str) -> dict[str, Any]:
        """The marks of one exercise, whatever happens while they are made; the machine's own faults are passed on."""
        try:
            return self.exercise(name)
        except (SandboxError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - a fault of an exercise must not cost the other exercises
            self.remarks.append(f"{name}: {type(error).__name__}: {steady(str(error))[:300]}")
            return zero(self.assignment, name, say("failed"))

    def exercise(self, name: str) -> dict[str, Any]:
        """The marks of one exercise."""
        exercise = self.assignment.found[name]
        own = "\n".join(self.cells[place].source for place in range(len(self.cells)) if name in self.owned[place])
        if own and same_as_starter(own, exercise.starter):
            return zero(self.assignment, name, say("unchanged"))
        cases = exercise.cases(self.assignment.seed(self.submission.student, name, self.attempt))
        ran, places = self.run(name, exercise, [case.request for case in cases])
        if ran.end != "done":
            return zero(self.assignment, name, self.reason(exercise, ran, places))
        return self.compared(name, exercise, cases, ran)

    # Running ----------------------------------------------------------------------------------------------------------

    def run(self, name: str, exercise: Any, requests: list[Any]) -> tuple[Ran, list[int]]:
        """The answer on all requests. A cell that ends the program, or never ends, is left out where this exercise does
        not read from it: one exercise's trouble is not another's."""
        own = [place for place in range(len(self.units)) if name in self.owned[place]]
        if self.deadly and not own:
            return Ran(end=next(iter(self.deadly.values()))), []
        while True:
            places = chosen(self.units, self.owned, name, set(self.deadly))
            ran = self.tried(self.job(name, exercise, requests, places))
            if ran.end in ("done", "missing") or ran.loaded or not 0 <= ran.unit < len(places):
                return ran, places
            blamed = places[ran.unit]
            if blamed in needed(self.units, self.owned, name) or name in self.owned[blamed]:
                return ran, places
            self.deadly[blamed] = ran.end
            if not own:
                return ran, places
            self.remarks.append(say("worked_around", where=self.cells[blamed].where, what=short(ran)))

    def job(self, name: str, exercise: Any, requests: list[Any], places: list[int]) -> Job:
        """What goes to the box."""
        units = [(f"<your {cell.where}>", cell.source, cell.line) for cell in map(self.cells.__getitem__, places)]
        dice = hashlib.sha256(f"{self.submission.student}\0{name}".encode()).digest()[:4]
        features = "from __future__ import annotations" in "\n".join(cell.source for cell in self.cells)
        return Job(
            units, [name], [exercise.function_name], requests, self.limits(exercise), int.from_bytes(dice, "little"),
            "__main__" if self.submission.notebook else "submission",
            future_features.annotations.compiler_flag if features else 0,
        )  # fmt: skip

    def tried(self, job: Job) -> Ran:
        """A run; once more, with more patience, where the machine and not the answer was slow."""
        ran = self.sandbox.run(job)
        if ran.end == "time" and job.limits.cpu * WORKING <= ran.cpu < job.limits.cpu:
            patient = Limits(**{**vars(job.limits), "wall": 2 * job.limits.wall})
            ran = self.sandbox.run(Job(**{**vars(job), "limits": patient}))
        return ran

    # Comparing --------------------------------------------------------------------------------------------------------

    def compared(self, name: str, exercise: Any, cases: list[Any], ran: Ran) -> dict[str, Any]:
        """The marks for what came back."""
        outcomes = [outcome_of(ran, place, cases[place].request) for place in range(len(cases))]
        with np.errstate(all="ignore"):
            marked_here = exercise.mark(cases, outcomes)
            self.keep_walk(name, exercise, cases, outcomes, marked_here.first_wrong)
        result = marked_here.to_dict()
        worth, of = self.assignment.worth(name), float(exercise.points) or 1.0
        for part in result["parts"]:
            part.update(points=round(part["points"] * worth / of, 6), of=round(part["of"] * worth / of, 6),
                        reason=steady(part["reason"]))  # fmt: skip
        wrong = result["first_wrong"]
        if wrong:
            wrong["sentence"] = steady(wrong["sentence"])
        result.update(points=round(result["points"] * worth / of, 6), of=worth, title=exercise.title,
                      reason=self.why(result))  # fmt: skip
        return result

    def keep_walk(self, name: str, exercise: Any, cases: list[Any], outcomes: list[Any], wrong: Any) -> None:
        """The walk through the first wrong call: the values that came back take the place of the rule, so nothing of
        the student's is run for it."""
        if wrong is None or outcomes[cases.index(wrong.case)]["values"] is None:
            return
        sent = list(outcomes[cases.index(wrong.case)]["values"].values())

        def handed_in() -> Any:
            return sent[0] if len(sent) == 1 else tuple(sent)

        trace = walk_with_answer(exercise, wrong, handed_in)
        if trace is not None:
            self.walks[name] = trace.to_json()

    @staticmethod
    def why(result: dict[str, Any]) -> str:
        """The reason for an exercise's marks in a sentence."""
        if result["right"]:
            return say("right")
        wrong, mistake = result["first_wrong"], result["mistake"]
        flaws = dict.fromkeys(part["reason"].removeprefix("right; ") for part in result["parts"])
        first = f"{wrong['part']}, {wrong['case']}: {wrong['sentence']}" if wrong else "; ".join(
            each for each in flaws if each != "right")  # fmt: skip
        return steady(f"{first}. {mistake['hints'][0]}" if mistake else first)

    # Reasons ----------------------------------------------------------------------------------------------------------

    def reason(self, exercise: Any, ran: Ran, places: list[int]) -> str:
        """Why nothing could be compared, in words for the student."""
        if ran.end == "missing":
            return self.missing(exercise, ran, places)
        limits = self.limits(exercise)
        seconds = f"{limits.cpu:g}"
        return say(ran.end, seconds=seconds, megabytes=limits.memory >> 20, disk=limits.disk >> 20,
                   signal=ran.detail.get("signal", ""))  # fmt: skip

    def missing(self, exercise: Any, ran: Ran, places: list[int]) -> str:
        """Why there is no answer: the cell that would have defined it, or a name that is nearly its own."""
        name = exercise.function_name
        for place, error in ran.broken.items():
            cell = places[place] if place < len(places) else None
            if cell is not None and (exercise.id in self.owned[cell] or name in self.units[cell].gives):
                problem = self.units[cell].problem
                if problem:
                    return say("broken_syntax", name=name, where=self.cells[cell].where, problem=problem)
                return say("broken_cell", name=name, where=self.cells[cell].where, kind=error["kind"],
                           message=steady(f": {error['message']}" if error["told"] else ""))  # fmt: skip
        if any(re.search(r"__name__\s*==\s*['\"]__main__", self.cells[place].source) and name in self.units[place].gives
               for place in places):  # fmt: skip
            return say("only_as_program", name=name)
        other = next((each for each in ran.detail["names"] if letters(each) == letters(name)), None)
        if other:
            return say("look_alike", name=name, other=other)
        similar = get_close_matches(name, ran.detail["names"], 1, 0.75)
        return say("similar", name=name, other=similar[0]) if similar else say("missing", name=name)

    def tampering(self) -> list[dict[str, Any]]:
        """What a teacher may want to look at."""
        pairs = zip(self.cells, self.units, strict=True)
        return tampering.scanned([(cell.where, cell.line, each.tree) for cell, each in pairs if each.tree is not None])


def apart(cell: Cell, answers: set[str]) -> list[tuple[Cell, Unit]]:
    """A cell and what can be told of it; one that hands something in, statement by statement: what stands beside an
    answer, such as imports, is there for the other answers too."""
    told = unit(cell.source)
    if told.tree is None or len(told.tree.body) < 2 or not (told.marks or told.gives & answers):
        return [(cell, told)]
    parts = [Cell(cell.where, source, cell.line + before) for before, source in statements(cell.source)]
    return [(part, unit(part.source)) for part in parts]


LOOK_ALIKES = str.maketrans("аеорсухіѕԁһјӏ", "aeopcyxisdhjl")
"""Cyrillic letters beside the Latin ones that they look like."""


def letters(name: str) -> str:
    """A name by what its letters look like."""
    return name.translate(LOOK_ALIKES).lower()


def short(ran: Ran) -> str:
    """What a program did, for the end of a sentence."""
    return {"time": "never ended", "cpu": "never ended", "crash": "crashed", "left": "ended too early",
            "flood": "sent too much"}.get(ran.end, "broke")  # fmt: skip


def steady(text: str) -> str:
    """A reason without addresses of memory, which are others on every run, and with nothing invisible in it."""
    return plain(ADDRESS.sub("0x…", text))


def zero(assignment: Assignment, name: str, reason: str) -> dict[str, Any]:
    """No points for an exercise, and why."""
    exercise, worth = assignment.found[name], assignment.worth(name)
    of = float(exercise.points) or 1.0
    parts = [{"name": part.name, "points": 0.0, "of": round(part.points * worth / of, 6), "reason": reason}
             for part in exercise.parts]  # fmt: skip
    return {"exercise": name, "title": exercise.title, "right": False, "points": 0.0, "of": worth, "parts": parts,
            "first_wrong": None, "mistake": None, "flags": [], "reason": reason}  # fmt: skip


# What a process said, looked at again -------------------------------------------------------------------------------


def outcome_of(ran: Ran, place: int, request: dict[str, Any]) -> dict[str, Any]:
    """One call's outcome, in the form that the exercises compare; whatever has another form is no answer."""
    if place in ran.errors:
        error = ran.errors[place]
        message = error["message"] if error["told"] else spoken(error["kind"])
        return NOTHING_CAME | {"error": {"kind": error["kind"], "message": steady(message), "line": error["line"]}}
    given = ran.outcomes.get(place)
    if type(given) is not dict or given.keys() != NOTHING_CAME.keys():
        return dict(NOTHING_CAME)
    error, values, wrote = error_of(given["error"]), values_of(given["values"], request["answers"]), given["wrote"]
    names = [each for each in wrote if each in request["arguments"]] if type(wrote) is list and all(
        type(each) is str for each in wrote) else []  # fmt: skip
    return {"values": None if error else values, "error": error, "wrote": names}


def spoken(kind: str) -> str:
    """What is said in the place of a message that an error does not have."""
    return say("memory" if kind == "MemoryError" else "no_message")


def error_of(given: Any) -> dict[str, Any] | None:
    """An error's parts, each of its type."""
    if given is None:
        return None
    if type(given) is not dict or type(given.get("kind")) is not str or type(given.get("message")) is not str:
        return {"kind": "InvalidAnswer", "message": "what came back is no answer", "line": None}
    line = given.get("line")
    message = steady(given["message"][:300]) or spoken(given["kind"])
    return {"kind": plain(given["kind"][:80]), "message": message, "line": line if type(line) is int else None}


def values_of(given: Any, answers: list[str]) -> dict[str, np.ndarray] | None:
    """The arrays under the names that were asked for; None where one is missing or is none."""
    if type(given) is not dict:
        return None
    arrays = {name: given.get(name) for name in answers}
    if not all(type(each) is np.ndarray and each.dtype.str[1:] in OF_ANSWERS for each in arrays.values()):
        return None
    return arrays  # type: ignore[return-value]  # each has just been seen to be an array

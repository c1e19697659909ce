"""Marks of one submission: each exercise runs in the sandbox, its values are compared here, every point has a reason.

Marks are plain data. They depend only on the submission, the assignment, the attempt and the level of isolation: they
contain no times, paths or memory addresses, so they are equal to the byte in every run.
"""

from __future__ import annotations
import __future__ as future_features

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..exercises.answer_walks import right_walk, walk_with_answer
from ..exercises.spec import ORDINARY
from .assignment import Assignment
from .budget import SPARE, Budget
from .cells import answers_to_run, cells_to_run, exercises_of, is_starter, required_cells
from .messages import SafeMessages
from .reasons import escape_invisible, reason
from .sandbox.boxes import Sandbox, SandboxError
from .sandbox.isolation import is_at_least
from .sandbox.runs import Limits, Run, RunResult
from .store import BESIDE
from .submissions import Submission
from .tampering import find_tampering

SCHEMA = "micrograd_plus/marks/1"
ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
PROGRAM_ONLY = re.compile(r"__name__\s*==\s*['\"]__main__")
EMPTY_OUTCOME = {"values": None, "error": None, "wrote": []}
MISSING_NAME = re.compile(r"name '(\w+)' is not defined")
MOST_STATEMENTS, MOST_LINES = 8000, 1 << 20
COMMON_CASES, MOST_ENTRIES, LONGEST_CODE = 6, 200, 6000
ANSWER_DTYPES = ("f8", "f4", "c16", "c8")
PATIENCE = 3.0
"""An answer may take this many times its processor time by the clock."""
MOST_LEFT_OUT = 3
"""After as many cells that end or block the process, only the cells that an answer needs are run."""
MOST_REPEATS = 2
"""An answer that was stopped by the clock runs once more with twice the time, since the machine may have been busy.
A submission may waste this many repetitions."""


def grade_submission(submission: Submission, assignment: Assignment, sandbox: Sandbox, attempt: int = 1,
                     limits: Callable[[Any], Limits] | None = None,
                     walks: dict[str, str] | None = None,
                     answers: dict[str, Any] | None = None, spent: float = 0.0) -> dict[str, Any]:  # fmt: skip
    """Return the marks of a submission.

    Add to `walks` the walk through the first wrong call of each exercise, and to `answers` the code of each answer.
    `spent` is the processor time that reading it took, which counts towards its budget.
    """
    if submission.problem is not None:
        return ungradable_marks(submission, assignment, attempt, sandbox.level)
    marks = first_marks(submission, assignment, attempt, sandbox.level)
    grading = SubmissionGrading(submission, assignment, sandbox, attempt, limits or limits_of, spent)
    try:
        marks["exercises"] = [grading.mark_or_zero(name) for name in assignment.exercises]
    finally:
        sandbox.close_box()
    if walks is not None:
        walks.update(grading.walks)
    if answers is not None:
        answers.update(grading.answer_sources())
    marks["score"] = round(sum(each["points"] for each in marks["exercises"]), 6)
    marks["failed"] = grading.failed
    marks["remarks"] += list(dict.fromkeys(grading.remarks))
    marks["tampering"] = submission.tampering + find_tampering(grading.cells)
    return marks


def first_marks(submission: Submission, assignment: Assignment, attempt: int, level: str) -> dict[str, Any]:
    """Return the marks of a submission without its exercises."""
    return blank_marks(
        assignment=assignment.id, student=submission.student, attempt=attempt, isolation=level,
        provisional=not is_at_least(level, assignment.isolation), gradable=submission.problem is None,
        problem=submission.problem, max_score=assignment.total_points(), remarks=list(submission.remarks),
    )  # fmt: skip


def ungradable_marks(submission: Submission, assignment: Assignment, attempt: int, level: str) -> dict[str, Any]:
    """Return the marks of a submission that could not be read."""
    marks = first_marks(submission, assignment, attempt, level)
    why = reason("not_gradable", problem=submission.problem)
    marks["exercises"] = [zero_marks(assignment, name, why) for name in assignment.exercises]
    marks["tampering"] = submission.tampering
    return marks


def blank_marks(**fields: Any) -> dict[str, Any]:
    """Return marks of a submission without exercises, in the order of the schema, with these fields replaced.

    `failed` lists the exercises that the grader itself failed to grade. Such marks are no marks yet: see `is_graded`.
    """
    return {
        "schema": SCHEMA, "assignment": "", "student": "", "attempt": 1, "isolation": "none", "provisional": True,
        "gradable": False, "problem": None, "failed": [], "score": 0.0, "max_score": 0.0, "late": None,
        "exercises": [], "remarks": [], "tampering": [],
    } | fields  # fmt: skip


def content_hash(submission: Submission) -> str:
    """Return a hash of the code of a submission."""
    code = [[cell.where, cell.source] for cell in submission.cells]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def is_graded(marks: dict[str, Any]) -> bool:
    """Return whether marks count: the grader did not fail on the submission or on one of its exercises."""
    return not marks.get("failed")


def limits_of(exercise: Any) -> Limits:
    """Return the limits that an exercise declares."""
    seconds, megabytes = float(exercise.limits["seconds"]), int(exercise.limits["megabytes"])
    return Limits(cpu=seconds, wall=PATIENCE * seconds, memory=megabytes << 20)


class SubmissionGrading:
    """State of grading one submission, exercise by exercise."""

    def __init__(self, submission: Submission, assignment: Assignment, sandbox: Sandbox, attempt: int,
                 limits: Callable[[Any], Limits], spent: float = 0.0) -> None:  # fmt: skip
        self.submission, self.assignment, self.sandbox, self.attempt = submission, assignment, sandbox, attempt
        self.limits = limits
        self.budget = Budget(SPARE + sum(limits(each).cpu for each in assignment.definitions.values()), spent)
        functions = {name: exercise.function_name for name, exercise in assignment.definitions.items()}
        self.cells = [part for cell in submission.cells if not cell.is_test for part in cell.split()]
        if len(self.cells) > MOST_STATEMENTS:
            self.cells = [cell for cell in submission.cells if not cell.is_test]
        self.owners = exercises_of(self.cells, functions)
        starters = {name: exercise.starter for name, exercise in assignment.definitions.items()}
        self.running = answers_to_run(self.cells, self.owners, starters)
        self.content = content_hash(submission)
        self.messages = SafeMessages((cell.source for cell in submission.cells), map(str, functions.values()))
        self.deadly: dict[int, RunResult] = {}
        """The cells that ended the process, each with the result of its run."""
        self.remarks: list[str] = self.several_answers()
        self.failed: list[str] = []
        self.repeats = 0
        self.walks: dict[str, str] = {}

    def several_answers(self) -> list[str]:
        """Return a remark for each exercise that several files answer."""
        remarks = []
        for name in self.assignment.exercises:
            pairs = zip(self.cells, self.running, strict=True)
            files = list(dict.fromkeys(cell.file for cell, own in pairs if name in own))
            if len(files) > 1:
                remarks.append(reason("two_answers", exercise=name, names=", ".join(files[:5]), name=files[-1]))
        return remarks

    def mark_or_zero(self, name: str) -> dict[str, Any]:
        """Return the marks of an exercise; none if the exercise itself fails. Faults of the machine are raised."""
        try:
            return self.mark(name)
        except (SandboxError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - a faulty exercise must not cost the marks of the others
            self.remarks.append(f"{name}: {type(error).__name__} in the grader")
            self.failed.append(name)
            return zero_marks(self.assignment, name, reason("failed"))

    def mark(self, name: str) -> dict[str, Any]:
        """Return the marks of an exercise."""
        exercise = self.assignment.definitions[name]
        own = [cell.source for cell, owners in zip(self.cells, self.owners, strict=True) if name in owners]
        if own and all(is_starter(source, exercise.starter) for source in own):
            return zero_marks(self.assignment, name, reason("unchanged"))
        seed = self.assignment.seed(self.submission.student, name, self.attempt, self.content)
        cases = exercise.cases(seed)
        result, places = self.run(name, exercise, [case.request for case in cases])
        if result.end != "done":
            return zero_marks(self.assignment, name, self.reason_for_end(exercise, result, places))
        self.remarks += self.missing_names(result, places)
        marks = self.compare(name, exercise, cases, result)
        has_values = any(type(each) is dict and each.get("values") for each in result.outcomes.values())
        if marks["first_wrong"] and not marks["mistake"] and has_values:
            marks["group"] = self.group_of(name, exercise, places)
        return marks

    def group_of(self, name: str, exercise: Any, places: list[int]) -> str | None:
        """Return a hash of the answer's values on inputs that the class shares: equal wrong answers have equal hashes.

        Students do not see it. It is None for answers that stop, and for exercises with a walk of each student's own.
        """
        if exercise.has_own_walk or self.budget.is_spent:
            return None
        cases = exercise.cases(self.assignment.seed("", name, 0))[:COMMON_CASES]
        result = self.carry_out(self.build_run(name, exercise, [case.request for case in cases], places))
        values = [check_outcome(result, place, case.request, self.messages)["values"]
                  for place, case in enumerate(cases)]  # fmt: skip
        if result.end != "done" or not any(values):
            return None
        rounded = [each and {key: [value.shape, [f"{complex(entry) + 0:.5e}" for entry in value.ravel()[:MOST_ENTRIES]]]
                             for key, value in each.items()} for each in values]  # fmt: skip
        return hashlib.sha256(json.dumps(rounded).encode()).hexdigest()[:12]

    def answer_sources(self) -> dict[str, dict[str, Any]]:
        """Return the code of each answer with its cell and line, for the teacher's report."""
        sources: dict[str, dict[str, Any]] = {}
        for cell, own in zip(self.cells, self.running, strict=True):
            for name in own & set(self.assignment.exercises):
                sources[name] = {
                    "where": cell.where,
                    "line": cell.line + 1,
                    "source": cell.source.rstrip()[:LONGEST_CODE],
                }
        return sources

    def missing_names(self, result: RunResult, places: list[int]) -> list[str]:
        """Return a remark for each name that an answer misses because the cell that defines it stopped."""
        errors = [*result.errors.values(), *(each["error"] for each in result.outcomes.values()
                                            if type(each) is dict and type(each.get("error")) is dict)]  # fmt: skip
        missing = {match[1] for each in errors if (match := MISSING_NAME.match(str(each.get("message"))))}
        return [reason("missing_name", name=name, where=self.cells[places[number]].where,
                       kind=self.messages.kind(error["kind"]), message=self.shown_message(error))
                for number, error in result.cell_errors.items() if number < len(places)
                for name in sorted(missing & self.cells[places[number]].analysis.binds)][:3]  # fmt: skip

    def shown_message(self, error: dict[str, Any]) -> str:
        """Return the message of an error after a colon, as far as students may see it."""
        message = clean(self.messages.message(error["message"])) if error["has_message"] else ""
        return f": {message}" if message else ""

    # Running ----------------------------------------------------------------------------------------------------------

    def run(self, name: str, exercise: Any, requests: list[Any]) -> tuple[RunResult, list[int]]:
        """Run the answer on all requests, and return the result and the cells that ran.

        A cell that ends the process is left out if the exercise does not depend on it.
        """
        is_answered = any(name in owners for owners in self.running)
        if self.deadly and not is_answered:
            return next(iter(self.deadly.values())), []
        while True:
            if self.budget.is_spent:
                return RunResult(end="budget"), []
            places = cells_to_run(self.running, name, set(self.deadly))
            if len(self.deadly) > MOST_LEFT_OUT:
                places = sorted(required_cells(self.cells, self.running, name) - self.deadly.keys())
            result = self.run_patiently(self.build_run(name, exercise, requests, places))
            is_over = result.end in ("done", "missing", "budget") or result.has_answer
            if is_over or not 0 <= result.last_cell < len(places):
                return result, places
            blamed = places[result.last_cell]
            if blamed in required_cells(self.cells, self.running, name):
                return result, places
            self.deadly[blamed] = result
            if not is_answered:
                return result, places
            self.remarks.append(reason("left_out_cell", where=self.cells[blamed].where, what=verb_for(result)))

    def build_run(self, name: str, exercise: Any, requests: list[Any], places: list[int]) -> Run:
        """Return the run of an exercise with these cells."""
        seed = hashlib.sha256(f"{self.submission.student}\0{name}".encode()).digest()[:4]
        postponed = "from __future__ import annotations" in "\n".join(cell.source for cell in self.cells)
        return Run(
            cells=[(f"<your {self.cells[place].where}>", self.cells[place].source, self.cells[place].line)
                   for place in places],
            ids=[name], functions=[exercise.function_name], requests=requests, limits=self.limits(exercise),
            seed=int.from_bytes(seed, "little"), name="__main__" if self.submission.notebook else "submission",
            future=future_features.annotations.compiler_flag if postponed else 0,
        )  # fmt: skip

    def run_patiently(self, run: Run) -> RunResult:
        """Carry out a run; once more with twice the time if the clock stopped it, since the machine may be busy."""
        result, limits = self.carry_out(run), run.limits
        has_waited = result.end == "time" and result.cpu < limits.cpu
        if has_waited and self.repeats < MOST_REPEATS and not self.budget.is_spent:
            result = self.carry_out(replace(run, limits=replace(limits, wall=2 * limits.wall)))
            self.repeats += result.end == "time"
        return result

    def carry_out(self, run: Run) -> RunResult:
        """Carry out a run within what is left of the budget, and take off what it used."""
        limits = self.budget.limit(run.limits)
        result = self.sandbox.run(replace(run, limits=limits))
        self.budget.spend(result)
        is_cut = (result.end == "cpu" and limits.cpu < run.limits.cpu) or (
            result.end == "time" and limits.wall < run.limits.wall)  # fmt: skip
        return replace(result, end="budget") if is_cut else result

    # Comparing --------------------------------------------------------------------------------------------------------

    def compare(self, name: str, exercise: Any, cases: list[Any], result: RunResult) -> dict[str, Any]:
        """Return the marks for the values that came back."""
        outcomes = [check_outcome(result, place, case.request, self.messages) for place, case in enumerate(cases)]
        with np.errstate(all="ignore"):
            comparison = exercise.mark(cases, outcomes)
            if (wrong := comparison.first_wrong) is not None:
                self.save_walk(name, exercise, wrong, outcomes[cases.index(wrong.case)])
        marks, scale = comparison.to_dict(), self.assignment.scale_of(name)
        for part in marks["parts"]:
            part.update(points=round(part["points"] * scale, 6), of=round(part["of"] * scale, 6),
                        reason=clean(part["reason"]))  # fmt: skip
        if marks["first_wrong"]:
            marks["first_wrong"]["sentence"] = clean(marks["first_wrong"]["sentence"])
        marks.update(points=round(marks["points"] * scale, 6), of=self.assignment.points_of(name), title=exercise.title,
                     reason=reason_for_marks(marks), group=None)  # fmt: skip
        return marks

    def save_walk(self, name: str, exercise: Any, wrong: Any, outcome: dict[str, Any]) -> None:
        """Save the walk through the first wrong call. The values that came back replace the rule; no code runs."""
        if outcome["values"] is None:
            return
        values = list(outcome["values"].values())

        def returned_values() -> Any:
            return values[0] if len(values) == 1 else tuple(values)

        trace = walk_with_answer(exercise, wrong, returned_values)
        if trace is not None:
            self.walks[name] = trace.to_json()
            self.walks[f"{name}{BESIDE}"] = what_is_beside(trace, right_walk(exercise, wrong.case))

    # Reasons ----------------------------------------------------------------------------------------------------------

    def reason_for_end(self, exercise: Any, result: RunResult, places: list[int]) -> str:
        """Return why there are no values to compare."""
        if result.end == "missing":
            return self.reason_for_missing(exercise, result, places)
        limits = self.limits(exercise)
        return reason(result.end, seconds=f"{limits.cpu:g}", total=f"{self.budget.total:g}", disk=limits.disk >> 20,
                      signal=result.detail.get("signal", ""))  # fmt: skip

    def reason_for_missing(self, exercise: Any, result: RunResult, places: list[int]) -> str:
        """Return why there is no answer: the cell that failed to define it, or a function with a similar name."""
        name, names = exercise.function_name, result.detail["names"]
        for number, error in result.cell_errors.items():
            if number >= len(places):
                continue
            cell = self.cells[places[number]]
            if exercise.id in self.owners[places[number]] or name in cell.analysis.binds:
                if cell.analysis.problem:
                    return reason("broken_syntax", name=name, where=cell.where, problem=cell.analysis.problem)
                return reason("broken_cell", name=name, where=cell.where, kind=self.messages.kind(error["kind"]),
                              message=self.shown_message(error))  # fmt: skip
        if any(PROGRAM_ONLY.search(cell.source) and name in cell.analysis.binds
               for cell in map(self.cells.__getitem__, places)):  # fmt: skip
            return reason("only_as_program", name=name)
        look_alike = next((each for each in names if to_latin(each) == to_latin(name)), None)
        if look_alike:
            return reason("look_alike", name=name, other=look_alike)
        similar = get_close_matches(name, names, 1, 0.75)
        return reason("similar", name=name, other=similar[0]) if similar else reason("missing", name=name)


def what_is_beside(trace: Any, right: Any) -> str:
    """Return what a page needs beside the walk of an answer: its marks, the step where it opens, the right walk."""
    marks = {str(index): {**mark, "right": None if mark["right"] is None else np.asarray(mark["right"]).tolist()}
             for index, mark in trace.marks.items()}  # fmt: skip
    parts = {"opens_at": trace.opens_at, "marks": replace_not_finite(marks),
             "right": None if right is None else right.to_dict()}  # fmt: skip
    return json.dumps(parts, separators=(",", ":"), allow_nan=False)


def replace_not_finite(data: Any) -> Any:
    """Return nested data in which NaN and infinities are text, as in the file of a walk."""
    if isinstance(data, dict):
        return {name: replace_not_finite(each) for name, each in data.items()}
    if isinstance(data, list):
        return [replace_not_finite(each) for each in data]
    return str(data) if isinstance(data, float) and not np.isfinite(data) else data


def reason_for_marks(marks: dict[str, Any]) -> str:
    """Return the reason for an exercise's marks as one sentence, with a hint if the mistake is known."""
    if marks["right"]:
        return reason("right")
    wrong, mistake = marks["first_wrong"], marks["mistake"]
    flaws = dict.fromkeys(part["reason"].removeprefix("right; ") for part in marks["parts"])
    case = f", {wrong['case']}" if wrong and wrong["case"] != ORDINARY else ""
    first = f"{wrong['part']}{case}: {wrong['sentence']}" if wrong else "; ".join(
        each for each in flaws if each != "right")  # fmt: skip
    return clean(f"{first}. {mistake['hints'][0]}" if mistake else first)


CYRILLIC_TO_LATIN = str.maketrans("аеорсухіѕԁһјӏ", "aeopcyxisdhjl")
"""Cyrillic letters and the Latin ones that look the same."""


def to_latin(name: str) -> str:
    """Return a name in lower case, with Latin letters for Cyrillic ones that look the same."""
    return name.translate(CYRILLIC_TO_LATIN).lower()


def verb_for(result: RunResult) -> str:
    """Return the verb for the sentence "your program …"."""
    return {"time": "never ended", "cpu": "never ended", "crash": "crashed", "left": "ended too early",
            "flood": "sent too much data"}.get(result.end, "failed")  # fmt: skip


def clean(text: str) -> str:
    """Return text without memory addresses, which differ in every run, and without invisible characters."""
    return escape_invisible(ADDRESS.sub("0x…", text))


def zero_marks(assignment: Assignment, name: str, why: str) -> dict[str, Any]:
    """Return marks of 0 points for an exercise."""
    exercise, scale = assignment.definitions[name], assignment.scale_of(name)
    parts = [{"name": part.name, "points": 0.0, "of": round(part.points * scale, 6), "reason": why}
             for part in exercise.parts]  # fmt: skip
    return {"exercise": name, "title": exercise.title, "right": False, "points": 0.0, "of": assignment.points_of(name),
            "parts": parts, "first_wrong": None, "mistake": None, "flags": [], "reason": why,
            "group": None}  # fmt: skip


# Checking data from the student's process ----------------------------------------------------------------------------


def check_outcome(result: RunResult, place: int, request: dict[str, Any], safe: SafeMessages) -> dict[str, Any]:
    """Return the outcome of one call in the form that exercises compare. Anything of another form is no answer."""
    if place in result.errors:
        error = result.errors[place]
        message = clean(safe.message(error["message"]) if error["has_message"] else missing_message(error["kind"]))
        return EMPTY_OUTCOME | {"error": {"kind": safe.kind(error["kind"]), "message": message, "line": error["line"]}}
    outcome = result.outcomes.get(place)
    if type(outcome) is not dict or outcome.keys() != EMPTY_OUTCOME.keys():
        return dict(EMPTY_OUTCOME)
    error, wrote = check_error(outcome["error"], safe), outcome["wrote"]
    if type(wrote) is not list or not all(type(each) is str for each in wrote):
        wrote = []
    return {"values": None if error else check_values(outcome["values"], request["answers"]), "error": error,
            "wrote": [name for name in wrote if name in request["arguments"]]}  # fmt: skip


def missing_message(kind: str) -> str:
    """Return the text for an error without a message."""
    return reason("memory" if kind == "MemoryError" else "no_message")


def check_error(error: Any, safe: SafeMessages) -> dict[str, Any] | None:
    """Return the error of an outcome with the right types; None if there is none."""
    if error is None:
        return None
    if type(error) is not dict or type(error.get("kind")) is not str or type(error.get("message")) is not str:
        return {"kind": "InvalidAnswer", "message": "the data sent is not a valid answer", "line": None}
    line = error.get("line")
    return {"kind": escape_invisible(safe.kind(error["kind"][:80])),
            "message": clean(safe.message(error["message"][:300])) or missing_message(error["kind"]),
            "line": line if type(line) is int and 0 < line < MOST_LINES else None}  # fmt: skip


def check_values(values: Any, answers: list[str]) -> dict[str, np.ndarray] | None:
    """Return the arrays of an outcome; None if one is missing or is not an array of numbers."""
    if type(values) is not dict:
        return None
    arrays: dict[str, Any] = {name: values.get(name) for name in answers}
    if not all(type(each) is np.ndarray and each.dtype.str[1:] in ANSWER_DTYPES for each in arrays.values()):
        return None
    return arrays

"""Assignments: which exercises count, the secret their inputs are drawn from, and the isolation that marks need.

An assignment is a short TOML file that stays with the teacher:

    title = "Week 3"
    exercises = ["tanh.x", "softmax.x"]
    secret = "..."                       # `micrograd-plus grade --new week3.toml` creates one
    isolation = "full"                   # required for final marks; at a weaker level marks are provisional
    files = ["my_exercises.py"]          # your own exercises, defined with @exercises.define
    hand_out = ["my_exercises.py"]       # those files that students get, with their answers, for feedback at home
    due = 2026-12-04T23:59:00+01:00      # for points off by the rule in [late], see `lateness`
    [points]
    "softmax.x" = 4                      # instead of the exercise's own points
    [late]
    per_day = 10                         # percent of the points
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import json
import linecache
import secrets
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import exercises as catalogue
from ..exercises.student_key import derive_key, walk_number
from ..files import write_file
from .lateness import find_problems_of_rule
from .sandbox.isolation import LEVELS

SHORTEST_SECRET = 16
OWN = "own_exercises"
"""The name of the module that a teacher's file runs as."""
KEYS = {"title", "exercises", "secret", "isolation", "files", "hand_out", "points", "id", "due", "late"}


class AssignmentError(Exception):
    """An assignment file is invalid."""


@dataclass
class Assignment:
    """The exercises of an assignment, their points, and the secret that their inputs are drawn from."""

    id: str
    exercises: list[str]
    secret: str
    title: str = ""
    isolation: str = "full"
    files: list[str] = field(default_factory=list)
    hand_out: list[str] = field(default_factory=list)
    points: dict[str, float] = field(default_factory=dict)
    due: datetime | None = None
    late: dict[str, float] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)
    sources: dict[str, bytes] = field(default_factory=dict)
    """The contents of `files`."""

    @cached_property
    def definitions(self) -> dict[str, Any]:
        """The exercises by ID, in the order of the assignment."""
        for name, source in self.sources.items():
            try:
                run_file(str(self.folder / name), source)
            except Exception as error:
                raise AssignmentError(f"{name} stopped with {type(error).__name__}: {error}") from error
        definitions: dict[str, Any] = {}
        for name in self.exercises:
            try:
                definitions[name] = catalogue.get_exercise(name)
            except (KeyError, ValueError) as error:
                raise AssignmentError(f"{self.id}: there is no exercise {name!r}: {error.args[0]}") from error
        return definitions

    def points_of(self, exercise: str) -> float:
        """Return the points of an exercise in this assignment."""
        own = float(self.definitions[exercise].points)
        return float(self.points.get(exercise, own))

    def scale_of(self, exercise: str) -> float:
        """Return the factor from the exercise's own points to its points in this assignment."""
        return self.points_of(exercise) / (float(self.definitions[exercise].points) or 1.0)

    def total_points(self) -> float:
        """Return the points of all exercises together."""
        return sum(map(self.points_of, self.exercises))

    def seed(self, student: str, exercise: str, attempt: int, content: str = "") -> int | list[int]:
        """Return the seed of a student's inputs.

        It differs for each student, exercise, attempt and content of the submission, so a new version is graded on new
        inputs, and cannot be computed without the secret. For an exercise about a walk that the student sees, it is
        the number of that walk.
        """
        if self.definitions[exercise].has_own_walk:
            return walk_number(derive_key(self.secret), student, exercise, attempt)
        message = json.dumps([student, exercise, attempt, content]).encode()
        digest = hmac.digest(self.secret.encode(), message, "sha256")
        return [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 32, 4)]

    def fingerprint(self) -> str:
        """Return a hash of everything except the submission that marks depend on. It does not reveal the secret."""
        parts = [self.id, self.exercises, self.secret, self.points, str(self.due), self.late,
                 list(map(describe, self.definitions.values())),
                 [hashlib.sha256(source).hexdigest() for source in self.sources.values()]]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def run_file(name: str, source: bytes) -> None:
    """Run a file that defines exercises. Its lines are kept for tracebacks and `inspect`, so it need not be on disk."""
    text = importlib.util.decode_source(source)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = sys.modules[OWN] = ModuleType(OWN)
    module.__file__ = name
    try:
        exec(compile(text, name, "exec", dont_inherit=True), vars(module))  # noqa: S102 - the teacher's own file
    finally:
        del sys.modules[OWN]


def describe(exercise: Any) -> list[Any]:
    """Return the parts of an exercise that change when it is corrected."""
    parts = [[part.name, part.points] for part in exercise.parts]
    return [exercise.id, exercise.prompt, exercise.starter, parts, list(exercise.functions)]


def load_assignment(path: Path) -> Assignment:
    """Load an assignment from its file, with the files that it names."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AssignmentError(f"there is no assignment {str(path)!r}") from error
    except UnicodeDecodeError as error:
        raise AssignmentError(f"{path.name} is not valid TOML: {error}") from error
    assignment = parse_assignment(text, path.name)
    assignment.folder = path.parent
    for name in assignment.files:
        if not (path.parent / name).is_file():
            raise AssignmentError(f"{path.name} names the file {name!r}, which is not in {str(path.parent)!r}")
        assignment.sources[name] = (path.parent / name).read_bytes()
    return assignment


def parse_assignment(text: str, name: str) -> Assignment:
    """Return the assignment of a TOML text from a file of this name, without the files that it names."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AssignmentError(f"{name} is not valid TOML: {error}") from error
    problem = next(find_problems(data), None)
    if problem:
        raise AssignmentError(f"{name}: {problem}")
    settings = {key: data[key] for key in KEYS & data.keys() - {"id"}}
    return Assignment(id=data.get("id", Path(name).stem), **settings)


def find_problems(data: dict[str, Any]) -> Iterator[str]:
    """Yield each problem in the data of an assignment."""
    unknown = sorted(data.keys() - KEYS)
    if unknown:
        yield f"unknown key {unknown[0]!r}; an assignment may have {', '.join(sorted(KEYS))}"
    ids = data.get("exercises")
    if type(ids) is not list or not ids or not all(type(each) is str for each in ids) or len(set(ids)) < len(ids):
        yield "`exercises` must be a list of IDs without duplicates"
    if type(data.get("secret")) is not str or len(data["secret"]) < SHORTEST_SECRET:
        yield f"`secret` must be a string of at least {SHORTEST_SECRET} characters; --new creates one"
    if data.get("isolation", "full") not in LEVELS:
        yield f"`isolation` must be one of {', '.join(LEVELS)}"
    if type(data.get("title", "")) is not str or type(data.get("id", "")) is not str:
        yield "`title` and `id` must be strings"
    files, hand_out = data.get("files", []), data.get("hand_out", [])
    if type(files) is not list or not all(type(each) is str for each in files):
        yield "`files` must be a list of names of files"
    elif type(hand_out) is not list or not all(each in files and Path(each).stem.isidentifier() for each in hand_out):
        yield "`hand_out` must be a list of names in `files` that Python can import"
    yield from find_problems_of_points(data.get("points", {}), ids if type(ids) is list else [])
    yield from find_problems_of_rule(data.get("due"), data.get("late", {}))


def find_problems_of_points(points: Any, ids: list[Any]) -> Iterator[str]:
    """Yield each problem in the table of points."""
    if type(points) is not dict:
        yield "`points` must be a table with a number for each exercise"
        return
    for name, value in points.items():
        if name not in ids:
            yield f"[points] names {name!r}, which is not in this assignment; it has {', '.join(map(str, ids))}"
        if type(value) not in (int, float) or not 0 <= value < float("inf"):
            yield f"[points] {name!r} must be a number of at least 0, got {value!r}"


def write_assignment(path: Path, ids: list[str], title: str = "") -> None:
    """Write a new assignment with a new secret. Only its owner can read the file."""
    lines = [
        f"title = {json.dumps(title or path.stem)}",
        f"exercises = {json.dumps(ids)}",
        "# Inputs are drawn from this secret. Keep it: the same secret gives the same inputs at an appeal.",
        f"secret = {json.dumps(secrets.token_urlsafe(24))}",
        'isolation = "full"',
    ]
    if path.exists():
        raise AssignmentError(f"{path} already exists")
    write_file(path, "\n".join(lines) + "\n", private=True)

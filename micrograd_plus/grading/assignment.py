"""An assignment: which exercises count, the secret their inputs are drawn from, and the isolation its marks need.

It is a file of a few lines, which stays with the teacher:

    title = "Week 3"
    exercises = ["tanh.x", "softmax.x"]
    secret = "..."                       # `micrograd-plus grade --new week3.toml` draws one
    isolation = "full"                   # what final marks need; below it they are provisional
    files = ["my_exercises.py"]          # exercises of one's own, defined with @exercises.define
    [points]
    "softmax.x" = 4                      # instead of the exercise's own
"""

from __future__ import annotations

import hashlib
import hmac
import json
import runpy
import secrets
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import exercises as catalogue
from ..exercises.student_key import derive_key, walk_number
from .sandbox.isolation import LEVELS

SHORTEST_SECRET = 16
KNOWN = {"title", "exercises", "secret", "isolation", "files", "points", "id"}


class AssignmentError(Exception):
    """What is wrong with an assignment's file, as a sentence for the teacher."""


@dataclass
class Assignment:
    """What is marked, and how its inputs are drawn."""

    id: str
    exercises: list[str]
    secret: str
    title: str = ""
    isolation: str = "full"
    files: list[str] = field(default_factory=list)
    points: dict[str, float] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)

    @cached_property
    def found(self) -> dict[str, Any]:
        """The exercises themselves, by id, in the order of the assignment."""
        for name in self.files:
            runpy.run_path(str(self.folder / name), run_name="own_exercises")
        made = {}
        for name in self.exercises:
            try:
                made[name] = catalogue.get_exercise(name)
            except (KeyError, ValueError) as error:
                raise AssignmentError(f"{self.id}: there is no exercise {name!r}: {error.args[0]}") from error
        return made

    def worth(self, exercise: str) -> float:
        """The points of an exercise in this assignment."""
        given = self.points.get(exercise)
        return float(self.found[exercise].points if given is None else given)

    def total(self) -> float:
        """The points of all."""
        return sum(self.worth(each) for each in self.exercises)

    def seed(self, student: str, exercise: str, attempt: int) -> int | list[int]:
        """What a student's inputs are drawn from: different for each student, exercise and attempt, the same at an
        appeal, and told by nothing without the secret. Of a walk that the student looks at it is the number on his
        sheet."""
        if self.found[exercise].has_own_walk:
            return walk_number(derive_key(self.secret), student, exercise, attempt)
        said = json.dumps([student, exercise, attempt]).encode()
        digest = hmac.digest(self.secret.encode(), said, "sha256")
        return [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 32, 4)]

    def print(self) -> str:
        """A short name for everything that a mark depends on besides the submission; the secret cannot be told from
        it."""
        about = [self.id, self.exercises, self.secret, self.points, [code_of(each) for each in self.found.values()],
                 [hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in self.files]]  # fmt: skip
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]


def code_of(exercise: Any) -> list[Any]:
    """What an exercise says of itself; changed when it is mended."""
    parts = [[part.name, part.points] for part in exercise.parts]
    return [exercise.id, exercise.prompt, exercise.starter, parts, list(exercise.functions)]


def load(path: Path) -> Assignment:
    """The assignment that a file describes."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AssignmentError(f"there is no assignment {str(path)!r}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{path.name} is not TOML: {error}") from error
    problem = next(problems(data), None)
    if problem:
        raise AssignmentError(f"{path.name}: {problem}")
    given = {name: data[name] for name in KNOWN & data.keys() - {"id"}}
    return Assignment(id=data.get("id", path.stem), folder=path.parent, **given)


def problems(data: dict[str, Any]) -> Any:
    """What is wrong with an assignment, if anything is."""
    unknown = sorted(data.keys() - KNOWN)
    if unknown:
        yield f"{unknown[0]!r} is unknown; an assignment has {', '.join(sorted(KNOWN))}"
    ids = data.get("exercises")
    if type(ids) is not list or not ids or not all(type(each) is str for each in ids) or len(set(ids)) < len(ids):
        yield "`exercises` is a list of ids, each once"
    if type(data.get("secret")) is not str or len(data["secret"]) < SHORTEST_SECRET:
        yield f"`secret` is a text of at least {SHORTEST_SECRET} characters; --new draws one"
    if data.get("isolation", "full") not in LEVELS:
        yield f"`isolation` is one of {', '.join(LEVELS)}"


def drawn(path: Path, ids: list[str], title: str = "") -> None:
    """Write a new assignment with a secret of its own, readable by its owner alone."""
    lines = [
        f"title = {json.dumps(title or path.stem)}",
        f"exercises = {json.dumps(ids)}",
        "# Inputs are drawn from this. Keep it: the same secret gives the same inputs at an appeal.",
        f"secret = {json.dumps(secrets.token_urlsafe(24))}",
        'isolation = "full"',
    ]
    if path.exists():
        raise AssignmentError(f"{path} is there already")
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

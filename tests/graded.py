"""Answers to grade and an assignment for them, shared by the tests of the grader."""

from pathlib import Path

SECRET = "a-secret-of-the-tests"  # noqa: S105 - it protects nothing
HEAD = "from micrograd_plus import exercises\n"
TANH = '\n\n@exercises.answer("tanh.x")\ndef tanh_x(out):\n    return {}\n'
EXP = '\n\n@exercises.answer("exp.x")\ndef exp_x(out):\n    return {}\n'
RIGHT = HEAD + TANH.format("1 - out**2") + EXP.format("out")
SIGN = HEAD + TANH.format("out**2 - 1") + EXP.format("out")
BROKEN = (
    "import os\nos._exit(0)\n", "while True: pass\n", "def (\n", "", "\0", HEAD + TANH.format("undefined"),
    "import os\nos.kill(os.getpid(), 9)\n", HEAD + TANH.format("'text'"), HEAD + TANH.format("out.T.T.T @ out"),
)  # fmt: skip


def assignment(folder: Path, name: str = "week3", **settings: str) -> Path:
    """Write an assignment of two exercises, and return its file."""
    lines = ['exercises = ["tanh.x", "exp.x"]', f'secret = "{SECRET}"', *(f"{k} = {v}" for k, v in settings.items())]
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_class(folder: Path, count: int, broken: int = 0) -> Path:
    """Write submissions of `count` students into a folder, the last of them broken in various ways."""
    folder.mkdir()
    for number in range(count):
        bad = number - (count - broken)
        text = BROKEN[bad % len(BROKEN)] if bad >= 0 else SIGN if number % 3 == 2 else RIGHT
        (folder / f"student{number:03d}.py").write_text(text, encoding="utf-8")
    return folder

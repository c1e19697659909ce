"""What the hostile tests share: a sandbox for each level, and the count that is printed at the end."""

import pytest

from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits
from micrograd_plus.grading.sandbox.isolation import is_available

HELD: dict[str, dict[int, bool]] = {"full": {}, "user": {}}
"""By level: whether each case held."""
LISTED = 98
"""The last number of the list; those after it are attacks that are in none."""
LEVELS_HERE = [level for level in HELD if is_available(level)]


@pytest.fixture(scope="session", params=list(HELD))
def sandbox(request):
    """A sandbox of one level. Where the machine does not have it, the tests of that level say so."""
    if request.param not in LEVELS_HERE:
        pytest.skip(f"this machine has no isolation of level {request.param!r}")
    with Sandbox(request.param) as made:
        yield made


@pytest.fixture(scope="session")
def small_limits():
    """Limits that are reached soon."""
    return lambda exercise: Limits(cpu=2.0, wall=6.0, memory=256 << 20)


@pytest.fixture(autouse=True)
def canary(tmp_path, monkeypatch):
    """Something to be found beside the grader, in its environment, in its folder and in its memory."""
    told = "CANARY-" + "of-the-grader"
    monkeypatch.setenv("CANARY", told)
    (tmp_path / "canary.txt").write_text(told, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return told


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Say with each report which case it was at which level, so that it can be counted where tests are handed out."""
    outcome = yield
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if "case" in params and params.get("sandbox") in HELD:
        outcome.get_result().user_properties.append(("hostile", [params["sandbox"], params["case"].number]))


def pytest_runtest_logreport(report):
    """Count the cases that held."""
    for name, value in report.user_properties:
        if name == "hostile" and (report.when == "call" or report.failed):
            level, number = value
            HELD[level][number] = HELD[level].get(number, True) and report.passed


def pytest_terminal_summary(terminalreporter):
    """How many of the cases held at each level."""
    for level, cases in HELD.items():
        if cases:
            listed = [held for number, held in cases.items() if number <= LISTED]
            more = [held for number, held in cases.items() if number > LISTED]
            terminalreporter.write_line(f"hostile cases held at {level}: {sum(listed)}/{len(listed)}, "
                                        f"and of those in no list {sum(more)}/{len(more)}")  # fmt: skip
        elif level not in LEVELS_HERE:
            terminalreporter.write_line(f"hostile cases at {level}: this machine has no such isolation")

"""Fixtures of the hostile tests: a sandbox for each level, and a count of the cases that held."""

import pytest

from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.isolation import is_available
from micrograd_plus.grading.sandbox.runs import Limits

HELD: dict[str, dict[int, bool]] = {"full": {}, "user": {}}
"""By level: whether each case held."""
LISTED = 98
"""Number of the last listed case. Cases after it are not in any published list."""
LEVELS_HERE = [level for level in HELD if is_available(level)]


@pytest.fixture(scope="session", params=list(HELD))
def sandbox(request):
    """Return a sandbox of one level; skip the tests if the machine does not support it."""
    if request.param not in LEVELS_HERE:
        pytest.skip(f"this machine has no isolation of level {request.param!r}")
    with Sandbox(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def small_limits():
    """Return limits that are reached quickly."""
    return lambda exercise: Limits(cpu=1.0, wall=6.0, memory=256 << 20)


@pytest.fixture(autouse=True)
def canary(tmp_path, monkeypatch):
    """Return a secret text that attacks search for in the grader's environment, folder and memory."""
    canary = "CANARY-" + "of-the-grader"
    monkeypatch.setenv("CANARY", canary)
    (tmp_path / "canary.txt").write_text(canary, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return canary


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Add the level and the number of the case to each report, for counting also with several pytest workers."""
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
    """Print how many cases held at each level."""
    for level, cases in HELD.items():
        if cases:
            listed = [held for number, held in cases.items() if number <= LISTED]
            more = [held for number, held in cases.items() if number > LISTED]
            terminalreporter.write_line(f"hostile cases held at {level}: {sum(listed)}/{len(listed)}, "
                                        f"and of the unlisted {sum(more)}/{len(more)}")  # fmt: skip
        elif level not in LEVELS_HERE:
            terminalreporter.write_line(f"hostile cases at {level}: this machine has no such isolation")

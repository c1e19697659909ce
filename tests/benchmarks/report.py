"""Results of benchmarks as tables and as JSON."""

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

PEERS = ("numpy", "micrograd_plus", "micrograd", "autograd", "torch")


@dataclass(frozen=True)
class Row:
    """One number, and its goal if it has one.

    `reached` is None where something needed for it is not installed, or was left out.
    """

    workload: str
    what: str
    reached: float | None
    unit: str = "x"
    at_most: float | None = None
    at_least: float | None = None

    @property
    def goal(self) -> str:
        """Return the goal as text: `<= 1.5 x`."""
        if self.at_most is not None:
            return f"<= {number(self.at_most)} {self.unit}"
        return f">= {number(self.at_least)} {self.unit}" if self.at_least is not None else "-"

    @property
    def verdict(self) -> str:
        """Return whether the goal is reached."""
        if self.reached is None:
            return "not measured"
        if self.at_most is None and self.at_least is None:
            return "-"
        above = self.at_least is None or self.reached >= self.at_least
        below = self.at_most is None or self.reached <= self.at_most
        return "held" if above and below else "MISSED"


@dataclass(frozen=True)
class Outcome:
    """Result of a workload: its rows, and for each contender its time or the reason why it did not run."""

    title: str
    unit: str
    rows: list[Row]
    taken: dict[str, float | str]


def version(distribution: str) -> str:
    """Return the installed version, or `not installed`."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Return the processor's name, from Linux or Python."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, str]:
    """Return the machine and the versions of a measurement."""
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores, one used",
        "system": platform.platform(),
        "python": platform.python_version(),
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "chosen by OpenBLAS"),
        **{peer: version(peer) for peer in PEERS},
    }


def number(value: float | None) -> str:
    """Return a number with three significant digits, without an exponent."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """Return rows as text, with columns of the necessary width."""
    widths = [max(len(line[place]) for line in [heads, *lines]) for place in range(len(heads))]
    ruled = [heads, tuple("-" * width for width in widths), *lines]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
                     for line in ruled)


def text(outcomes: list[Outcome]) -> str:
    """Return the report for a reader: the machine, the times, and the goals."""
    about = "\n".join(f"{name:18} {value}" for name, value in machine().items())
    taken = [(each.title if place == 0 else "", name,
              taken if isinstance(taken, str) else f"{number(taken)} {each.unit}")
             for each in outcomes for place, (name, taken) in enumerate(each.taken.items())]
    goals = [(row.workload, row.what, row.goal,
              "-" if row.reached is None else f"{number(row.reached)} {row.unit}", row.verdict)
             for each in outcomes for row in each.rows]
    return "\n\n".join([about, table(("workload", "contender", "taken"), taken),
                        table(("", "what", "goal", "reached", "verdict"), goals)])


def data(outcomes: list[Outcome]) -> dict[str, object]:
    """Return the report as data for programs."""
    return {"machine": machine(),
            "outcomes": [{**asdict(each), "rows": [{**asdict(row), "goal": row.goal, "verdict": row.verdict}
                                                   for row in each.rows]} for each in outcomes]}

"""Writing commands that are killed, interrupted or out of disk space at random moments.

Each case forks a process that writes the second version of some files over the first one, and stops it. Every file must
then have one of the two versions, and the next write must leave no temporary file behind.
"""

import atexit
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import writers

from .harness import SAME, dice

KILL, LATE_KILL, INTERRUPT, FULL_DISK = "kill", "kill after some time", "Ctrl-C", "a full disk"
WAYS = (KILL, INTERRUPT, FULL_DISK, LATE_KILL, INTERRUPT, FULL_DISK)
"""Of the kills, half come at an event of the module that writes files, and half at any time."""


class Command(NamedTuple):
    """A writing command, its folder, and what is known about it."""

    folder: Path
    old: dict[str, bytes]
    new: dict[str, bytes]
    events: int
    seconds: float


@cache
def workplace() -> Path:
    """Return a folder of this process that is removed at its end."""
    writers.prepare()
    place = tempfile.TemporaryDirectory(prefix="kills")
    atexit.register(place.cleanup)
    return Path(place.name)


@cache
def prepare(name: str) -> Command:
    """Write both versions of a command's files, and return what is known about it."""
    folder = workplace() / f"{len(list(workplace().iterdir()))}" / "out"
    folder.mkdir(parents=True)
    write, contents = writers.WRITERS[name], []
    for version in (1, 0):
        write(folder, version)
        contents.append(writers.read_folder(folder))
    events = writers.count_events(lambda: write(folder, 1))
    write(folder, 0)
    start = time.monotonic()
    writers.in_child(lambda: write(folder, 1))
    seconds = time.monotonic() - start
    write(folder, 0)
    return Command(folder, contents[1], contents[0], events, seconds)


def run(case: int) -> str:
    """Stop one command at one moment, and return what came of it."""
    names = sorted(writers.WRITERS)
    name, way = names[case % len(names)], WAYS[case // len(names) % len(WAYS)]
    rng, command = dice("kills", case), prepare(name)
    write, folder = writers.WRITERS[name], command.folder

    def write_again() -> None:
        write(folder, 1)

    event = int(rng.integers(1, command.events + 1))
    if way == LATE_KILL:
        writers.in_child(write_again, after=float(rng.uniform(0, command.seconds)))
    elif way == FULL_DISK:
        writers.in_child(writers.fill_disk(write_again, int(rng.integers(max(map(len, command.new.values()))))))
    else:
        writers.in_child(writers.stop_at(write_again, event, KeyboardInterrupt if way == INTERRUPT else None))
    found = writers.read_folder(folder)
    mixed = [file for file, content in found.items() if content not in (command.old.get(file), command.new.get(file))]
    if found != command.old or writers.temporaries(folder):
        write(folder, 0)
    left = writers.temporaries(folder)
    if writers.read_folder(folder) != command.old:
        left.append("other files than before")
    return SAME if not mixed + left else f"{name} after {way}: {mixed} are neither old nor new; left behind: {left}"

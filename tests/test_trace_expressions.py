"""Source expressions of unnamed results, and the places where gradients are cut off."""

import pytest

import micrograd_plus as mg
from micrograd_plus.engine import Value
from micrograd_plus.tracing.expressions import LONGEST_EXPRESSION


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def titles(trace):
    """Return the titles of all applications."""
    return [node.title for node in trace.nodes if node.op]


def test_an_unnamed_result_is_called_by_its_source_expression():
    x, w = leaf([[1.0, 2.0]]), leaf([[1.0], [3.0]])
    with mg.record() as trace:
        h = mg.tanh(x @ w)
        ((h * h - 1) / (-h)).sum().backward()
    assert titles(trace) == ["x @ w", "tanh (h)", "h * h", "h * h - 1", "-h", "(h * h - 1) / (-h)",
                             "((h * h - 1) / (-h)).sum()"]  # fmt: skip
    assert [node.expression for node in trace.nodes if node.label] == [None] * 3


def test_a_formula_has_the_expression_of_an_unnamed_factor():
    x, w = leaf([[1.0, 2.0]]), leaf([[1.0], [3.0]])
    with mg.record() as trace:
        ((x @ w) * mg.sin(w)).sum().backward()
    texts = {step.input: step.formula.text for step in trace.steps if trace.nodes[step.node].op == "multiply"}
    assert "upstream · mg.sin(w)" in texts["a"]
    assert "upstream · (x @ w)" in texts["b"]


def test_equal_expressions_are_numbered_and_keep_their_numbers_in_parts():
    x = leaf(2.0)
    with mg.record() as trace:
        y = x
        for _ in range(3):
            y = mg.sin(y * y)
        y.backward()
    assert titles(trace)[::2] == ["y * y #1", "y * y #2", "y * y #3"]
    part = trace.to_dict(0, 1)
    assert {node["title"] for node in part["nodes"] if node["op"] == "multiply"} <= set(titles(trace))


def test_a_long_expression_keeps_its_outer_operations():
    x = leaf(2.0)
    with mg.record() as trace:
        (mg.sin(x * x * x * x * x * 2) + mg.log(mg.exp(x) + mg.exp(x * 2.5))).backward()
    *_, last = titles(trace)
    assert last == "mg.sin(… * 2) + mg.log(… + …)"
    assert all(len(title) <= LONGEST_EXPRESSION + len(" #1") for title in titles(trace))


def test_long_calls_keep_their_names_without_their_arguments():
    x, y = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    with mg.record() as trace:
        ratio = x.sum(axis=1, keepdims=True) / (y.sum(axis=1, keepdims=True) + x.mean(axis=1, keepdims=True))
        (ratio - ratio.max(axis=0, keepdims=True).detach()).sum().backward()
    assert titles(trace)[:3] == ["x.sum(axis=1, keepdims=True)", "y.sum(axis=1, keepdims=True)",
                                 "x.mean(axis=1, keepdims=True)"]  # fmt: skip
    assert titles(trace)[3] == "y.sum(…) + x.mean(…)"
    assert "ratio.max(…).detach()" in titles(trace)


def test_a_part_of_a_parameter_by_an_array_has_the_programs_expression():
    table, letters = leaf([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([0, 1, 1])
    with mg.record() as trace:
        (table[letters] * table[0]).sum().backward()
    assert titles(trace)[:2] == ["table[letters]", "getitem (table[0])"]


def test_an_expression_over_several_lines_is_on_one():
    x = leaf([1.0, 2.0])
    with mg.record() as trace:
        (
            mg.exp(x
                   + 1)
            .sum()
        ).backward()  # fmt: skip
    assert titles(trace) == ["x + 1", "mg.exp(x + 1)", "….sum()"]


def test_only_the_last_application_of_a_call_is_its_value():
    xs = [Value(float(k)) for k in range(3)]
    w = leaf([[1.0, 2.0], [3.0, 4.0]])
    with mg.record() as trace:
        (sum(xs) * 2.0).backward()
        sum(row.sum() for row in w).backward()
    assert titles(trace)[:4] == ["add #1", "add #2", "sum(xs)", "sum(xs) * 2.0"]
    rows = [node for node in trace.nodes if node.op is None and node.kind == "output"]
    assert [node.expression for node in rows] == [None, None]


def test_what_a_walk_computes_has_no_expression():
    x = leaf(3.0)
    with mg.record() as trace:
        (x * x).backward(create_graph=True)
        (x.grad * 1.0).backward()
    expressions = [node.expression for node in trace.nodes if node.op]
    assert expressions[0] == "x * x"
    assert expressions[-1] == "x.grad * 1.0"
    assert not any(expressions[1:-1])


def test_a_call_that_goes_through_entries_is_not_the_name_of_one():
    w, x = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor([3.0, 4.0])
    with mg.record() as trace:
        total = 0
        for a, b in zip(w, x, strict=True):
            total = total + a * b
        (total + sum(list(w))).backward()
    assert {node.expression for node in trace.nodes if node.op == "unstack"} == {None}


def test_code_without_a_source_has_no_expressions():
    names = {"mg": mg, "x": leaf(2.0)}
    with mg.record() as trace:
        exec(compile("mg.sin(x * 2.0).backward()", "<nowhere>", "exec"), names)  # noqa: S102 - our own code
    assert titles(trace) == ["multiply", "sin"]


# Cuts -----------------------------------------------------------------------------------------------------------------


def cut_program():
    """Return a trace with every kind of cut."""
    x, w = leaf(3.0), leaf([1.0, -2.0])
    with mg.record() as trace:
        y = x * 2.0
        d = y.detach()
        with mg.no_grad():
            k = w * w
            k = k + 1.0
        m = w > 0
        (mg.where(m, w, 0.0) * d * k).sum().backward()
    return trace


def test_a_cut_says_why_no_gradient_goes_on():
    cuts = {node.name: node.cut for node in cut_program().nodes if node.op}
    assert cuts == {
        "multiply (y)": None, "detach (d)": "detach", "multiply (k)": "no_grad", "add (k)": None,
        "greater (m)": "no rule", "where": None, "multiply #1": None, "multiply #2": None, "sum": None,
    }  # fmt: skip


def test_cuts_and_expressions_survive_a_file():
    trace = cut_program()
    again = mg.load_trace(trace.to_json())
    for word in ("cut", "title", "expression"):
        assert [getattr(node, word) for node in again.nodes] == [getattr(node, word) for node in trace.nodes]
    data = trace.to_dict()
    data["nodes"][4]["cut"] = "scissors"
    with pytest.raises(ValueError, match="cut must be null or one of detach, no_grad, no rule"):
        mg.load_trace(data)


def test_a_loop_that_goes_on_with_its_value_has_the_expression_in_each_round():
    w, state = leaf(0.5), [mg.tensor(1.0)]
    with mg.record() as trace:
        for _ in range(2):
            state = [state[0] * mg.exp(w)]
        state[0].backward()
    assert titles(trace)[:2] == ["mg.exp(w) #1", "state[0] * mg.exp(w)"]


def test_a_short_expression_has_the_programs_own_quotes_and_brackets():
    w = {"w0": leaf([1.0, 2.0]), "w1": leaf([3.0, 4.0])}
    with mg.record() as trace:
        mg.exp(w["w0"] * w[f"w{1}"] + w["w1"] * w[f"w{0}"]).sum().backward()
        (sum(w[f"w{i}"] * mg.sin(w[f"w{i}"]) for i in range(2)) * 2.0).sum().backward()
    assert any('w[f"w{0}"]' in title for title in titles(trace))
    assert not any("f'" in title or "((" in title for title in titles(trace))

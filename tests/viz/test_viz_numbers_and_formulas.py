"""Tests of numbers, names, sentences and formulas in pictures."""

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import sample_traces

import micrograd_plus as mg
from micrograd_plus.tracing.values import number_text, value_to_dict
from micrograd_plus_viz import cells, digits, formula, javascript, walks, words
from micrograd_plus_viz.formula_functions import meaning_of
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.static_files import text
from micrograd_plus_viz.trace_input import normalize, trace_data


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2.0, "2"),
        (-3, "−3"),
        (0.5, "0.5"),
        (1 / 3, "0.3333"),
        (1.0625, "1.0625"),
        (-1.0625, "−1.0625"),
        (1.06251234, "1.063"),
        (123456, "123456"),
        (12345.6, "12345.6"),
        (12345.67, "12350"),
        (1234567.0, "1.235e6"),
        (-1e-5, "−1e−5"),
        (9.9996e-5, "9.9996e−5"),
        (9.99961234e-5, "1e−4"),
        (1e300, "1e300"),
        (True, "True"),
        (False, "False"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("-inf", "−inf"),
        (math.nan, "nan"),
        (-math.inf, "−inf"),
        ([1.0, -2.5], "1 − 2.5i"),
        ([0, "nan"], "0 + nani"),
    ],
)
def test_a_number_has_all_its_digits_or_four_and_a_true_minus(x, shown):
    assert digits.number(x) == shown


def test_a_printed_trace_rounds_as_the_page():
    rng = np.random.default_rng(1)
    drawn = (rng.normal(size=500) * 10.0 ** rng.integers(-9, 9, 500)).tolist()
    for x in [0.0, 1.0625, -3.0, 12345.67, 123456.0, 1e300, math.inf, *drawn, *np.round(drawn, 3).tolist()]:
        assert float(number_text(x)) == float(digits.number(x).replace(digits.MINUS, "-")), x


def test_a_number_that_the_page_rounds_again_is_the_nearest():
    drawn = np.random.default_rng(0).lognormal(size=2000).tolist()
    for x in [10.03498, 100.4502, *drawn]:
        (kept,) = cells.round_entries([x])
        assert float(f"{kept:.3g}") == float(f"{x:.3g}"), x
        norm = cells.page_value({"shape": [2], "dtype": "float64", "data": [x, 0.0], "statistics": {"norm": x}})
        assert float(f"{norm['statistics']['norm']:.4g}") == float(f"{x:.4g}"), x


def test_a_complex_entry_is_counted_once_as_infinite_or_nan():
    value = {"data": [["inf", "-inf"], ["nan", 1.0], ["inf", "nan"], [1.0, 2.0]]}
    assert cells.count_not_finite(value) == {"nan": 1, "inf": 2}
    assert cells.count_not_finite({"data": ["nan", "-inf", 1.0]}) == {"nan": 1, "inf": 1}


@pytest.mark.parametrize(("line", "forms"), [
    ("(2, 3), has nan", {"has nan", "nan", "(2, 3)"}), ("(2, 3) ±0.4567", {"±0.4567", "(2, 3)"}),
    ("±0.4567", set()), ("(20, 300)", set()), ("(2, 3) up to 0.4567", {"up to 0.4567", "(2, 3)"}),
    ("(2, 3), has nan | has inf", {"has nan | has inf", "nan | inf", "(2, 3)"}),
    ("(2, 3) 1 of 6 is nan", {"1 of 6 is nan", "nan", "(2, 3)"}),
    ("(2, 3) 1 nan, 2 inf of 6", {"1 nan, 2 inf of 6", "1 nan, 2 inf", "(2, 3)"}),
])  # fmt: skip
def test_a_scale_in_a_node_is_whole_or_left_out(line, forms):
    fit = "((...x) => JSON.stringify(fitText(...x)))"
    shown = {javascript.call(fit, line, 1, room, 11) for room in range(5, 160, 3)}
    assert {line, ""} <= shown <= {line, "", *forms}


def test_the_scale_of_a_picture_is_rounded_once():
    # In a film, entries have four digits.
    value = {"shape": [2, 10], "dtype": "float64", "data": [10.75, *[1] * 19]}
    value["statistics"] = {"min": 1, "max": 10.74514}
    assert javascript.call("((value) => JSON.stringify(scaleText(value)))", value) == "±10.7"


def test_a_number_with_two_digits_says_once_that_it_is_about():
    shorten = "((...x) => JSON.stringify(shortenNumber(...x)))"
    lines = {"grad 0.4567": "grad ≈0.46", "grad ±0.4567": "grad ±0.46", "grad up to 4.567e7": "grad up to 4.6e7"}
    assert {line: javascript.call(shorten, line, 2) for line in lines} == lines


@pytest.mark.parametrize("number", ["nan", "inf", "−inf", "−2.5", "1e+20", "nan+nani"])
def test_a_gradient_without_room_is_three_dots_whatever_number_it_is(number):
    fit = "((...x) => JSON.stringify(fitText(...x)))"
    assert javascript.call(fit, f"grad {number}", 2, 14, 11) == "…"


@pytest.mark.parametrize(("names", "forms"), [
    (["layers[0].weight", "layers[1].weight"], {"l\u2026[0].weight", "l\u2026[1].weight"}),
    ([f"n.layers[{k}].neurons[0].w[0]" for k in (0, 1)], {"n.l\u2026[1].n\u2026[0].w[0]"}),
    (["round 1 of 2 #1", "round 1 of 2 #2"], {"round 1 #1", "1 #2"}),
    (["round 1 of 2 #1.MLP", "round 2 of 2 #1.MLP"], {"round 1 #1.MLP", "round 2 #1", "1 #1"}),
])  # fmt: skip
def test_the_place_in_a_list_and_the_round_are_never_left_out(names, forms):
    fit = "((...x) => JSON.stringify(fitText(...x)))"
    shown = [[javascript.call(fit, name, 0, room, 12) for name in names] for room in range(5, 240, 4)]
    assert all(len({*texts}) == 2 or "" in texts for texts in shown)
    assert {*names, *forms, ""} <= {text for texts in shown for text in texts}


@pytest.mark.parametrize(("names", "forms"), [
    (["multiply #239"], {"mult\u2026 #239", "mu\u2026 #239", "* #239"}),
    (["take_along_axis #2"], {"take\u2026 #2", "ta\u2026 #2"}),
    (["subtract (fast_b) #1", "subtract (fast_b) #2"], {"fast_b #1", "fast_b #2"}),
    (["x @ w #1", "x @ w + b #1", "x @ w + b #2"], {"x\u2026w #1", "x @\u2026b #2"}),
    (["b.detach() - a.detach() #1", "a.detach() - a.detach() #1"], {"b.detach() - a.det\u2026 #1"}),
    (["mg.sin(x) #1", "x.sin() #1"], {"sin(x) #1", "x.si\u2026 #1"}),
    (["0.1 * dw #2", "0.1 * db #2"], {"0.\u2026dw #2", "0.\u2026db #2"}),
])  # fmt: skip
def test_the_number_of_a_name_is_never_left_out_nor_alone(names, forms):
    fit = "((...x) => JSON.stringify(fitText(...x)))"
    shown = [[javascript.call(fit, name, 0, room, 12) for name in names] for room in range(5, 180, 3)]
    for texts in shown:
        written = [text for text in texts if text]
        assert len({*written}) == len(written)
        assert all(re.fullmatch(r".+ #\d+", text) for text in written)
    assert {*names, *forms, ""} <= {text for texts in shown for text in texts}


def test_a_call_without_room_loses_its_arguments():
    fit = "((...x) => JSON.stringify(fitText(...x)))"
    forms = {"(loss_a + loss_b).mean(axis=0)": "mean(…)", "F.logsigmoid(D(G(z)))": "logsigmoid(…)",
             "reshape(swapaxes (net.blocks.0))ᵀ": "reshape(…)ᵀ", "mg.sqrt(x[0] * x) #12": "sqrt(…) #12",
             "reshape(swapaxes (net.blo…)": "reshape(…)",
             "-D(G(z).detach())": "-D(G(z).deta…", "one_half * mg.sin(x * y)": "one_half * m…"}  # fmt: skip
    assert {line: javascript.call(fit, line, 0, 85, 12) for line in forms} == forms


LINES = """((height) => {
  const texts = [0, 1, 2].map(() => svgElement("text", {}));
  writeLines({ box: [0, 0, 110, height], lines: ["loss", "4.327", "grad 1"], texts }, 0.9, 104);
  return JSON.stringify(texts.map((text) => [text.textContent, ...["x", "y"].map((at) => Number(text.attributes.get(at)
    ))]));
})"""


@pytest.mark.parametrize(("height", "rows"), [(60, 3), (42, 3), (30, 2)])
def test_a_small_node_has_its_value_beside_its_gradient(height, rows):
    lines = javascript.call(LINES, height)
    assert [text for text, *_ in lines] == ["loss", "4.327", "grad 1"]
    (_, value, _), (_, gradient, _) = lines[1:]
    assert len({y for *_, y in lines}) == rows
    assert (value < gradient) == (rows == 2)


def test_a_formula_has_the_digits_of_the_picture_beside_it():
    x = mg.tensor(np.linspace(0.0123416, 1.0, 24).reshape(4, 6), requires_grad=True)
    with mg.record() as trace:
        (x * x).sum().backward()
    data = normalize(trace_data(trace))
    shown = formula.with_numbers(data, data["steps"][-1])
    assert "<mn>0.01234</mn>" in shown
    assert "0.0123416" not in shown


def test_names_come_from_the_trace_and_constants_show_their_value():
    program = sample_traces.Program()
    x, two = program.leaf("a\nb\x00c", 3.0), program.leaf(None, 2.0, requires_grad=False)
    several = program.leaf(None, [1.0, 2.0], requires_grad=False)
    product = program.apply("mul", program.apply("mul", x, two), several, text="y = «x * 2 * several»")
    trace = normalize(program.walk(product))
    assert words.names(trace) == ["a b c", "2", "leaf #2", "mul (v3)", "mul (y)"]
    assert words.program_names(trace) == ["a b c", None, None, "v3", "y"]


def test_long_names_are_truncated():
    assert [words.truncate("abcd", longest) for longest in (5, 4, 3)] == ["abcd", "abcd", "ab…"]


def test_every_step_has_a_sentence_with_its_numbers():
    sentences = words.sentences(normalize(sample_traces.diamond()))
    assert sentences[0] == "Step 1 of 10. add (y) sends 1 to add (e), the first gradient to arrive there."
    assert sentences[9] == "Step 10 of 10. add (c) sends 7 to b, which had 12 and now holds 19."


def test_the_first_step_names_gradients_from_several_outputs():
    sentences = words.sentences(normalize(sample_traces.several_outputs()))
    arrived = [", where the gradients of hidden and kept arrived," in text for text in sentences]
    assert arrived == [False] * 6 + [True] + [False] * 9
    sentences = words.sentences(normalize(sample_traces.one_of_several()))
    assert "exp (v1), where the gradient of exp[0] arrived, sends" in sentences[1]


def test_a_sentence_counts_the_gradients_of_many_outputs():
    with mg.record() as trace:
        sum(mg.tensor(np.ones((6, 2)), requires_grad=True).unstack()).sum().backward()
    (said,) = [text for text in words.sentences(normalize(trace_data(trace))) if "arrived" in text]
    assert "where the gradients of unstack[0], unstack[1] and 4 other outputs arrived, sends" in said


def test_an_output_at_which_nothing_arrived_passes_nothing_on():
    trace = normalize(sample_traces.several_outputs())
    sum_of_kept = next(step for step in trace["steps"] if words.names(trace)[step["target"]] == "kept")
    trace["steps"].remove(sum_of_kept)
    assert max(map(len, words.output_links(trace))) == 1


def test_forward_a_tangent_passes_on_to_the_output_that_it_is_for():
    trace = normalize(sample_traces.one_of_several())
    trace["walks"][0]["direction"] = "forward"
    trace["steps"].reverse()
    for step, target in zip(trace["steps"], (2, 3), strict=True):
        step["target"] = target
    assert [[words.edges(trace)[j][:2] for j in passed] for passed in words.output_links(trace)] == [[(1, 2)], []]


@pytest.mark.parametrize(
    ("entries", "norm"),
    [([3.0, 4.0], "5"), ([3.0, math.nan], "nan"), ([3.0, -math.inf], "inf"), ([math.nan, math.inf], "nan"),
     ([math.nan] * 2, "nan"), ([1j, complex(0, math.inf)], "inf"), ([], None), ([math.nan] * 100, "nan")],
)  # fmt: skip
def test_a_norm_does_not_hide_what_is_not_finite(entries, norm):
    assert words.norm(sample_traces.value(sample_traces.np.array(entries))) == norm


@pytest.mark.parametrize(("before", "added", "said"), [
    ([1 / 3, 0.5], [1e-7, 0.0], "had norm 0.6009 and now has norm 0.6009, a change smaller than these digits show."),
    ([1 / 3, 0.5], [0.0, 0.0], "had norm 0.6009 and now has norm 0.6009."),
    ([1 / 3], [1e-7], "had 0.3333 and now holds 0.3333, a change smaller than these digits show."),
    ([1 / 3], [1.0], "had 0.3333 and now holds 1.333."),
    ([math.nan, 0.5], [1.0, 0.0], "had norm nan and now has norm nan."),
])  # fmt: skip
def test_a_sentence_says_if_digits_hide_a_change(before, added, said):
    x = mg.tensor(np.zeros(len(before)), requires_grad=True)
    with mg.record() as trace:
        ((x * mg.tensor(added)).sum() + (x * mg.tensor(before)).sum()).backward()
    sentence = next(each for each in words.sentences(normalize(trace_data(trace))) if " had " in each)
    assert sentence.endswith(said)


def test_the_summed_axes_are_told_with_both_shapes():
    trace = normalize(sample_traces.broadcast())
    step = next(s for s in trace["steps"] if s["summed_axes"] == [0])
    assert words.summed_sentence(trace, step) == (
        "Broadcasting repeated the input along axis 0, so raw, of shape (2, 3), is summed there: "
        "the contribution has shape (3,)."
    )


def test_the_sentence_lists_all_summed_axes():
    trace = normalize(sample_traces.broadcast())
    trace["steps"][-1]["summed_axes"] = [0, 1, 3]
    assert "along axes 0, 1 and 3," in words.summed_sentence(trace, trace["steps"][-1])


def test_a_forward_walk_speaks_of_tangents_and_follows_the_edges():
    trace = normalize(sample_traces.forward())
    edge, start, end = words.step_edges(trace)[0]
    assert (trace["nodes"][start]["label"], trace["nodes"][end]["op"], words.edges(trace)[edge]) == (
        "a",
        "add",
        (0, 2, "a"),
    )
    assert "the first tangent" in words.sentences(trace)[0]


def test_a_walk_knows_what_every_node_holds_before_its_first_step():
    assert walks.values_at_start(normalize(sample_traces.diamond()))[0] == {
        6: 7,
        4: None,
        5: None,
        2: None,
        3: None,
        0: None,
        1: None,
    }


def test_applications_with_several_outputs_hold_no_gradient():
    trace = normalize(sample_traces.one_of_several())
    assert trace["steps"][1]["node"] == 1, "its rule is applied, although no step reached it"
    assert walks.values_at_start(trace)[0][1] is None
    assert words.names(trace)[2] == "exp[0]"


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_kind_of_trace_has_its_names_sentences_and_formulas(make):
    trace = normalize(make())
    assert len(words.names(trace)) == len(trace["nodes"])
    assert all(text.endswith(".") for text in words.sentences(trace))
    for step in trace["steps"]:
        if trace["rules"][step["rule"]]["mathml"] is None:
            assert formula.with_numbers(trace, step) is None
        sent = step["contribution"]
        if sent is not None and trace["values"][sent]["data"]:
            assert (formula.with_numbers(trace, step) is None) == (formula.step_with_symbols(trace, step) is None)


def step_of(op: str, **shapes: object) -> tuple[dict, dict]:
    """Return a trace with one application of `op` to some values, and the step of its first rule."""
    program = sample_traces.Program()
    leaves = [program.leaf(name, x) for name, x in shapes.items()]
    trace = normalize(program.walk(program.apply(op, *leaves)))
    return trace, trace["steps"][0]


def test_scalars_replace_symbols_and_the_result_follows():
    trace, step = step_of("mul", a=2.0, b=3.0)
    assert formula.with_numbers(trace, step) == (
        '<p><math displaystyle="true"><mrow><mi data-name="contribution">contribution</mi><mo>=</mo>'
        '<mn data-name="upstream">1</mn><mo>·</mo><mn data-name="b">3</mn></mrow></math></p>'
        '<p class="result"><math displaystyle="true"><mo form="infix">=</mo><mn>3</mn></math></p>'
    )


def test_a_negative_number_after_a_sign_stands_in_parentheses():
    trace, step = step_of("mul", a=2.0, b=-3.0)
    assert '<mo>(</mo><mn data-name="b">−3</mn><mo>)</mo>' in formula.with_numbers(trace, step)


def test_a_negative_base_of_a_power_stands_in_parentheses():
    trace, step = step_of("tanh", x=-0.5)
    assert (
        '<msup><mrow><mo>(</mo><mn data-name="out">−0.4621</mn><mo>)</mo></mrow><mn>2</mn></msup>'
        in formula.with_numbers(trace, step)
    )


def test_a_fraction_needs_no_parentheses():
    trace, step = step_of("log", x=-0.5)
    assert '<mn data-name="x">−0.5</mn></mfrac>' in formula.with_numbers(trace, step)


def test_a_power_of_ten_is_set_as_one():
    trace, step = step_of("log", x=2.5e-7)
    assert "<mn>2.5</mn><mo>×</mo><msup><mn>10</mn><mn>−7</mn></msup>" in formula.with_numbers(trace, step)


@pytest.mark.parametrize(
    ("shape", "columns", "dots"), [((2, 3), 3, 0), ((5, 4), 4, 7), ((3,), 3, 0), ((9,), 4, 1)]
)
def test_matrices_show_at_most_three_rows_and_columns(shape, columns, dots):
    program = sample_traces.Program()
    x = sample_traces.np.arange(1.0, 1 + sample_traces.np.prod(shape)).reshape(shape)
    trace = normalize(program.walk(program.apply("sum", program.leaf("x", x))))
    shown = formula.with_numbers(trace, trace["steps"][0])
    first_row = shown[shown.index("<mtable") : shown.index("</mtr>")]
    assert first_row.count("<mtd>") == columns
    assert sum(shown.count(f"<mo>{dot}</mo>") for dot in "…⋮⋱") == dots


def test_two_matrices_show_two_rows_and_columns_each():
    np = sample_traces.np
    trace, step = step_of("matmul", a=np.ones((3, 4)), b=np.ones((4, 5)))
    rows = formula.with_numbers(trace, step).split("</mtable>")[0].count("<mtr>")
    assert rows == 3, "two rows and one of dots"


def test_a_large_array_stands_by_name_with_its_shape():
    np = sample_traces.np
    trace, _ = step_of("matmul", a=np.ones((20, 30)), b=np.ones((30, 1)))
    rows, columns = (next(s for s in trace["steps"] if s["input"] == name) for name in "ab")
    named = '<msub class="by-name" data-name="a"><mtext>a</mtext><mtext>(20, 30)</mtext></msub>'
    assert named in formula.with_numbers(trace, columns)
    assert formula.with_numbers(trace, rows) is None, "with shapes alone it would say no more than with symbols"


def test_where_axes_were_summed_the_formula_gives_raw():
    trace = normalize(sample_traces.broadcast())
    step = next(s for s in trace["steps"] if s["summed_axes"] == [0])
    assert '<mi data-name="raw">raw</mi>' in formula.with_numbers(trace, step)


def test_a_parameter_stands_as_python_prints_it():
    trace, step = step_of("tanh", x=1.0)
    trace["nodes"][1]["params"] = {"axis": "-1"}
    trace["rules"]["tanh.x"]["mathml"] = '<math><mi data-name="axis">axis</mi></math>'
    assert '<mn data-name="axis">−1</mn>' in formula.with_numbers(trace, step)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            '<math><mi onclick="x()" style="color:red" href="javascript:x()" data-name="b">b</mi></math>',
            '<mi data-name="b">b</mi>',
        ),
        ("<math><script>x()</script><mi>a</mi></math>", "<mi>a</mi>"),
        ("<math><mtext>&lt;img src=x&gt;</mtext></math>", "<mtext>&lt;img src=x&gt;</mtext>"),
        ('<math><mi class="tall">a</mi><mi class="player">b</mi></math>', '<mi class="tall">a</mi><mi>b</mi>'),
        ("<math><msup><mi>a</mi></msup><mfrac></mfrac><mi>b</mi></math>", "<mi>b</mi>"),
        ("<svg><mi>a</mi></svg>", None),
        ("<math><mi>", None),
        ("not markup", None),
        (None, None),
        ('<!DOCTYPE math [<!ENTITY a "aaaa">]><math><mi>&a;</mi></math>', None),
        ("<mrow>" * 5000 + "</mrow>" * 5000, None),
    ],
    ids=range(11),
)
def test_formulas_keep_only_allowed_elements(given, kept):
    shown = None if kept is None else f'<p><math displaystyle="true">{kept}</math></p>'
    assert formula.with_symbols(given) == shown


def pieces(right: str) -> list[str]:
    """Return the texts of the pieces between which a formula may break."""
    shown = formula.with_symbols(f"<math><mrow><mi>contribution</mi><mo>=</mo>{right}</mrow></math>")
    return ["".join(ET.fromstring(part).itertext()) for part in re.findall("<math.*?</math>", shown)]  # noqa: S314 - our own formula


LONG = "".join(f"<mo>·</mo><mi>{name}</mi>" for name in ("something", "something_else", "more"))


def test_short_formulas_stay_on_one_line():
    assert pieces("<mi>a</mi><mo>·</mo><mi>b</mi>") == ["contribution=a·b"]


def test_long_formulas_break_at_operators_commas_and_brackets():
    group = "<mrow><mo form='prefix'>(</mo><mn>1</mn><mo>−</mo><mi>out</mi><mo form='postfix'>)</mo></mrow>"
    listed = f"<mrow><mo form='prefix'>(</mo>{group}<mo>,</mo><mi>x</mi>{LONG}<mo form='postfix'>)</mo></mrow>"
    assert pieces(f"<mi>f</mi>{listed}") == [
        "contribution", "=f(", "(1−out),", "x", "·something", "·something_else", "·more)",
    ]  # fmt: skip


def test_a_sign_before_a_number_is_no_place_to_break():
    assert pieces(f"<mrow><mo>−</mo><mi>a</mi></mrow>{LONG}")[1] == "=−a"


def test_the_exponent_of_a_long_group_stays_with_its_closing_bracket():
    base = f"<mrow><mo form='prefix'>(</mo><mi>a</mi>{LONG}<mo form='postfix'>)</mo></mrow>"
    shown = formula.with_symbols(f"<math><msup>{base}<mo>⊤</mo></msup></math>")
    assert shown.endswith('<msup><mo form="postfix">)</mo><mo>⊤</mo></msup></math></p>')


WIDE = "".join(f"<mo>·</mo><mi>{name}</mi>" for name in ("upstream", "something", "something_else", "and_more"))
MATRIX = "<mtable><mtr><mtd><mn>1.5</mn></mtd><mtd><mn>−2.5</mn></mtd></mtr></mtable>"


BUILT_UP = "<mfrac|<msqrt|<msup|overlined|cases"
CASES = (
    f"<mtr><mtd><mi>a</mi></mtd><mtd><mtext>if </mtext><mi>b</mi>{WIDE}</mtd></mtr>"
    "<mtr><mtd><mn>0</mn></mtd><mtd><mtext>otherwise</mtext></mtd></mtr>"
)


@pytest.mark.parametrize(
    ("built_up", "in_a_line"),
    [
        (f"<mfrac><mrow><mi>a</mi>{WIDE}</mrow><mi>b</mi></mfrac>", "(a·upstream·something·something_else·and_more)/b"),
        (f"<mfrac><mi>b</mi><mrow><mi>f</mi>{MATRIX}{WIDE}</mrow></mfrac>",
         "b/(f1.5−2.5·upstream·something·something_else·and_more)"),
        (f"<msqrt><mi>a</mi>{WIDE}</msqrt>", "√(a·upstream·something·something_else·and_more)"),
        (f"<msup><mi>e</mi><mrow><mi>a</mi>{WIDE}</mrow></msup>", "e^(a·upstream·something·something_else·and_more)"),
        (f'<mover class="overlined"><mrow><mi>a</mi>{WIDE}</mrow><mo>¯</mo></mover>',
         "conj(a·upstream·something·something_else·and_more)"),
        (f'<mrow class="tall"><mo form="prefix">{{</mo><mtable class="cases">{CASES}</mtable></mrow>',
         "{aifb·upstream·something·something_else·and_more;0otherwise}"),
    ],
    ids=["fraction", "fraction of a matrix", "root", "power", "conjugate", "cases"],
)  # fmt: skip
def test_wide_fractions_are_inline_on_phones_only(built_up, in_a_line):
    broad, narrow = formula.with_symbols(f"<math><mi>c</mi><mo>=</mo>{built_up}</math>").split('<div class="narrow">')
    assert re.search(BUILT_UP, broad)
    assert not re.search(BUILT_UP, narrow)
    assert re.sub("<.*?>| ", "", narrow) == f"c={in_a_line}"


def test_short_groups_break_if_no_room_is_left():
    head = "<msub><mi>mean</mi><mtext>all_but_channels of its x</mtext></msub><mo>&#8289;</mo>"
    group = "<mrow><mo form='prefix'>(</mo><mi>upstream</mi><mo>·</mo><mi>unit</mi><mo form='postfix'>)</mo></mrow>"
    apart = ["=meanall_but_channels of its x\u2061(", "upstream", "·unit)"]
    assert pieces(head + group)[-3:] == apart
    assert pieces(f"<mi>mean</mi><mo>&#8289;</mo>{group}")[-1].endswith("(upstream·unit)")


def test_wide_indices_follow_in_brackets_on_phones():
    index = "<mrow><mi>corner</mi><mo form='prefix'>(</mo><mtext>shape of the index</mtext><mo>,</mo><mn>1</mn></mrow>"
    shown = formula.with_symbols(f"<math><msub>{MATRIX}<mrow>{index}{LONG}</mrow></msub></math>").split("narrow")[1]
    assert "<msub>" not in shown
    assert re.sub("<.*?>| |^.*?>", "", shown).startswith("1.5−2.5[corner(shapeoftheindex,1·something")


def test_a_matrix_shows_no_more_columns_than_fit_in_a_line():
    import micrograd_plus as mg

    with mg.record() as trace:
        x = mg.tensor([1j, 2j, 3j, 4j], requires_grad=True)
        mg.real(x * mg.tensor([-1.25e-9 - 2.125e-9j] * 4)).sum().backward()
    data = trace.to_dict()
    shown = formula.with_numbers(data, data["steps"][-1])
    row, *_ = re.findall("<mtr>(?:(?!</mtr>).)*1\\.25.*?</mtr>", shown)
    ten = "<mo>×</mo><msup><mn>10</mn><mn>−9</mn></msup>"
    assert f"<mn>−1.25</mn>{ten}</mrow><mo>−</mo><mrow><mn>2.125</mn>{ten}</mrow><mi>i</mi>" in row
    assert row.count("<mtd>") == 2


def test_definitions_have_separate_lines_and_tables_stay_intact():
    inner = "<mtable><mtr><mtd><mi>b</mi></mtd></mtr></mtable>"
    rows = f"<mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mtext>where</mtext>{inner}</mtd></mtr>"
    shown = formula.with_symbols(f"<math><mtable class='formula'>{rows}</mtable></math>")
    assert shown.count("<p>") == shown.count("</p>") == 2
    assert inner in shown.split("<p>")[2]


def test_a_missing_upstream_is_zero_in_the_formula():
    import micrograd_plus as mg

    with mg.record() as trace:
        left, _ = mg.split(mg.tensor([[1.0, 2.0]], requires_grad=True), 2, axis=1)
        (left * 3.0).sum().backward()
    data = trace.to_dict()
    filled = formula.with_numbers(data, data["steps"][-1])
    assert '<mn data-name="upstream[0]">3</mn>' in filled
    assert '<mn data-name="upstream[1]">0</mn>' in filled


@pytest.mark.parametrize("make", sample_traces.EVERY)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_samples_are_traces_as_the_engine_reads_them(make):
    from micrograd_plus.tracing import load_trace

    assert len(load_trace(make()).steps) == len(make()["steps"])


def test_what_is_no_trace_is_refused_with_a_sentence():
    with pytest.raises(TypeError, match=r"a trace must be .* not int"):
        trace_data(3)
    with pytest.raises(ValueError, match="its format is None"):
        trace_data({})
    with pytest.raises(ValueError, match="this trace has version 4; this program reads version 3"):
        trace_data(sample_traces.diamond() | {"version": 4})


def test_a_trace_is_read_from_an_object_or_a_file(tmp_path):
    class Recorded:
        def to_dict(self):
            return sample_traces.diamond()

    import json

    (tmp_path / "walk.json").write_text(json.dumps(sample_traces.diamond()), encoding="utf-8")
    assert (
        trace_data(Recorded())
        == trace_data(tmp_path / "walk.json")
        == trace_data(str(tmp_path / "walk.json"))
    )


def test_a_gradient_that_a_hook_has_changed_is_said_to_be():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = x * x
        y.register_hook(lambda gradient: gradient * 10)
        (y * 3).backward()
    sentences = words.sentences(normalize(trace.to_dict()))
    assert sentences[1].startswith(
        "Step 2 of 3. multiply (y), whose gradient a hook changed to 30, sends 60 to x, the first "
    )
    assert not any("hook" in sentence for sentence in (sentences[0], sentences[2]))


def test_functions_in_formulas_are_numpys_or_have_a_tooltip():
    pages = Path(__file__).parents[2].joinpath("docs", "reference").glob("*.md")
    written = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()
               if line.startswith("contribution =")]  # fmt: skip
    named = {name.rstrip("ᵀ") for line in written for name in re.findall(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\(", line)}
    known = {"Re", "Im", "mod", *dir(np), *dir(np.linalg), *dir(np.fft)}
    assert len(written) > 300
    assert not {name for name in named - known if not meaning_of(name)}


def test_operations_without_a_rule_refer_to_their_inner_walk():
    x = mg.tensor(np.arange(6.0).reshape(1, 2, 3), requires_grad=True)
    with mg.record() as trace:
        y = mg.conv1d(x, np.ones((1, 2, 2)))
        y.sum().backward()
    data = normalize(trace.to_dict())
    assert words.sentences(data)[-1].startswith("Step 2 of 2. conv1d (y), by the walk inside it, sends a (1, 2, 3) ")
    assert words.is_walk(data["rules"]["conv1d.x"])
    assert not words.is_walk(data["rules"]["sum.x"])
    assert data["rules"]["conv1d.x"]["text"] == "contribution = Σ[entries of conv1d](upstream · ∂conv1d/∂x)"
    assert "<mo>∑</mo>" in formula.step_with_symbols(data, data["steps"][-1])


def test_arrays_rounded_to_five_digits_use_the_approximate_sign():
    rng = np.random.default_rng(0)
    signs = {}
    for name, numbers in (("drawn", rng.normal(size=(20, 20))), ("whole", rng.integers(-9, 9, (20, 20)).astype(float))):
        a, b = mg.tensor(numbers, requires_grad=True), mg.tensor(numbers.T, requires_grad=True)
        with mg.record() as trace:
            ((a @ b) * numbers).sum().backward()
        data = normalize(trace.to_dict())
        step = next(step for step in data["steps"] if step["rule"] == "matmul.a")
        signs[name] = re.findall("[=≈]", re.sub("<[^>]*>", "", formula.with_numbers(data, step)))
    assert set(signs["drawn"]) == {"≈"}
    assert set(signs["whole"]) == {"="}


CARDS_AND_EVENT = """() => {
  const { shadowRoot } = document.querySelector("#walk");
  const texts = (name) => [...shadowRoot.querySelectorAll(name)].map(({ textContent }) => textContent);
  return [texts(".numbers .share:first-child .sign"), texts(".numbers .share:first-child figcaption"),
    texts(".event .sign"), texts(".event .about")];
}"""


def test_the_cards_have_the_signs_and_shapes_of_the_event(open_player):
    rng = np.random.default_rng(0)
    x, w = (mg.tensor(rng.normal(size=size), requires_grad=True) for size in [(4, 3), (3, 2)])
    z = mg.tensor(rng.normal(size=20) * (1 + 1j), requires_grad=True)
    with mg.record() as trace:
        (mg.softmax((x @ w).mT, axis=1).sum() + mg.abs(z * (2 + 1j * mg.ones(20))).sum()).backward()
    page = open_player(trace)
    seen = {}
    for step in trace.steps:
        page.keyboard.press("ArrowRight")
        signs, cards, in_event, about = page.evaluate(CARDS_AND_EVENT)
        assert [sign.split()[0] for sign in signs] == [sign.split()[0] for sign in in_event[: len(signs)]], step.rule
        shapes = [re.search(r"\([\d, ]+\)", text) for text in (*about, *cards)]
        assert len({found[0] for found in shapes[: len(about)] if found}
                   ^ {found[0] for found in shapes[len(about) :] if found}) == 0, step.rule  # fmt: skip
        seen[step.rule] = [signs[0], *cards]
    assert seen["matmul.a"][0] == "@"
    assert seen["matmul.a"][2].startswith("wᵀ (b in the rule)(2, 3)")
    assert seen["mT.x"][1].startswith("upstreamᵀ")
    assert seen["softmax.x"][0] == ","
    assert "(20,) up to " in seen["multiply.a"][2], "complex numbers have a size and no sign"


@pytest.mark.parametrize(("inside", "kind"), [
    ("<mfrac><mi>x</mi><mn>2</mn></mfrac>", "tall"), ("<mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable>", "tall"),
    ("<msup><mi>x</mi><mn>2</mn></msup>", None),
])  # fmt: skip
def test_brackets_are_as_high_as_the_fractions_and_matrices_in_them(page, inside, kind):
    for opening, closing, square in (("(", ")", ""), ("[", "]", " square")):
        row = f"<mrow><mo>{opening}</mo>{inside}<mo>{closing}</mo></mrow>"
        shown = formula.with_symbols(f"<math><mi>f</mi><mo>=</mo>{row}</math>")
        assert (f'<mrow class="{kind}{square}">' in shown) == (kind is not None)
        page.set_content(f"<style>{text('player.css')}</style><div class=formula>{shown}</div>")
        drawn = page.evaluate("""() => [...document.querySelectorAll(".tall")].map((row) =>
            [row.firstChild, row.lastChild].every((sign) => getComputedStyle(sign).display === "none")
            && getComputedStyle(row).borderLeftWidth)""")
        assert len(drawn) == (kind is not None)
        assert all(width and float(width[:-2]) >= 1 for width in drawn)


def test_walks_have_their_own_values_after_values_are_shown():
    page = payload(normalize(sample_traces.diamond()))
    leaf = next(i for i, node in enumerate(page["nodes"]) if node["kind"] == "leaf")
    page["early"] = [{"from": 0, "values": {leaf: [None, "7"]}, "gradients": {}}]
    wanted = [[leaf, page["nodes"][leaf]["value"], page["labels"][leaf][1]]]
    assert javascript.call("((data) => JSON.stringify(walkOf(data).valuesIn(0)))", page) == wanted


def test_a_node_keeps_its_form_whatever_value_it_has_later():
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with mg.record() as trace:
        (x * 123.456).sum().backward()
    page = payload(normalize(trace_data(trace)))
    other = next(node["value"] for node in page["nodes"] if node["kind"] == "application")
    rooms = javascript.call("""((data, other) => {
        const placer = makePlacer(data);
        const before = placer.formOf(0, "stacked").room;
        data.nodes[0].value = other;
        return JSON.stringify([before, placer.formOf(0, "stacked").room, makePlacer(data).formOf(0, "stacked").room]);
    })""", page, other)
    assert rooms[0] == rooms[1] != rooms[2]


def test_all_entries_of_a_large_array_that_are_not_finite_are_counted():
    array = np.ones((100, 100))
    array[3, :50], array[5, 0] = np.nan, np.inf
    assert cells.count_not_finite(value_to_dict(array)) == {"nan": 50, "inf": 1}
    mixed = value_to_dict(np.array([complex(math.nan, math.inf), complex(math.nan, 0.0)]))
    assert cells.count_not_finite(mixed) == {"nan": 1, "inf": 1}, "an entry is infinite or nan as its size"


def test_a_gradient_that_no_walk_brings_has_its_line_while_values_are_computed():
    x = mg.tensor(2.0, requires_grad=True)
    x.grad = mg.tensor(5.0)
    with mg.record() as trace:
        x * 3.0
        x.grad = None
    page = payload(normalize(trace_data(trace)))
    assert page["labels"][0][2] == ""
    assert page["values"][page["early"][0]["gradients"][0]]["data"] == [5.0]

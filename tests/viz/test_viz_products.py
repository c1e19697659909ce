"""Signs of an event: the numbers that it shows add and multiply to what it says."""

import itertools
import json
import re
import sys
import warnings

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus import nn
from micrograd_plus.checks.promises import differentiable_inputs, replace_inputs, scalar
from micrograd_plus.checks.samples import samples
from micrograd_plus_viz import formula, javascript, payload, products, stage, words
from micrograd_plus_viz.trace_input import normalize, trace_data

ROWS = "(data => JSON.stringify(data.steps.map((step) => rowsOf(data, step))))"
TIMES = {"·": np.multiply, "· conj": lambda a, b: a * np.conj(b), "@": np.matmul, "+": np.add}


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def first_samples(op_samples):
    """Return the first sample of an operation, and the first with complex inputs."""
    kinds = [any(getattr(x, "dtype", np.dtype(float)).kind == "c" for x in sample.inputs) for sample in op_samples]
    return [op_samples[kinds.index(kind)] for kind in (False, True) if kind in kinds]


def record_sample(sample):
    places = differentiable_inputs(sample)
    held = [leaf(sample.inputs[place]) for place in places]
    with np.errstate(all="ignore"), warnings.catch_warnings(), mg.record() as trace:
        warnings.simplefilter("ignore")
        scalar(sample, replace_inputs(sample, places, held)).backward()
    return trace


def rows_of_events(trace):
    """Return the rows of each step's event, as the player lays them out."""
    data = normalize(trace_data(trace))
    page = payload._payload(data, range(len(data["values"])), None, with_numbers=False, with_insides=False)
    return javascript.call(ROWS, page | {"values": data["values"]})


def number_of(part, step):
    """Return what a part of an event shows."""
    name = {"added": "contribution"}.get(part["name"], part["name"])
    value = step.reads[name] if name in step.reads else getattr(step, name.partition("[")[0])
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    array = array.reshape(-1, array.shape[-1]) if part.get("rows") else array
    return np.swapaxes(array, -1, -2) if part.get("transposed") else array


def problems(row, step):
    """Yield the equations of a row that do not hold."""
    so_far = number_of(row[0], step)
    for sign, part in zip(row[1::2], row[2::2], strict=True):
        shown = number_of(part, step)
        if sign["sign"] in (",", "→"):
            return
        if sign["sign"] in ("∑ =", "∑ ≈"):
            so_far = so_far.sum(tuple(map(int, re.findall(r"\d+", sign["note"]))), keepdims=True).reshape(shown.shape)
            so_far = so_far.real if sign["note"].endswith("real part") else so_far
        elif sign["sign"] not in ("=", "≈"):
            so_far = TIMES[sign["sign"]](so_far, shown)
            continue
        if so_far.shape != shown.shape or not np.allclose(so_far, shown, rtol=1e-6, atol=1e-9, equal_nan=True):
            yield " ".join(each.get("sign") or each["word"] for each in row)
        so_far = shown


def wrong_rows(trace):
    steps = zip(trace.steps, rows_of_events(trace), strict=True)
    return [(step.rule, found) for step, rows in steps for row in rows for found in problems(row, step)]


def test_the_signs_of_every_operations_event_hold():
    found = [wrong for name in samples for sample in first_samples(samples[name]) if differentiable_inputs(sample)
             for wrong in wrong_rows(record_sample(sample))]  # fmt: skip
    assert not found


@pytest.mark.parametrize("name", ["multiply", "transpose", "group_images"])
def test_the_comparison_finds_a_false_sign(name, monkeypatch):
    monkeypatch.setattr(products, "_holds", lambda *_: True)
    assert any(wrong_rows(record_sample(sample)) for sample in samples[name])


def test_a_sum_of_complex_numbers_says_that_a_real_input_gets_its_real_part():
    x, z = leaf(2.0), mg.tensor([1 + 2j, 3 - 1j])
    with mg.record() as trace:
        mg.abs(x * z).sum().backward()
    signs = [part.get("note") for row in rows_of_events(trace)[-1] for part in row
             if part.get("sign", " ")[0] == "∑"]  # fmt: skip
    assert signs == ["axis 0, real part"]
    assert trace.steps[-1].formula.text.startswith("contribution = Re(Σ(upstream · ")


def matrix_product(x):
    weight = mg.tensor(np.ones((3, 4)) * 0.5)
    return x @ weight


RULES = {
    "softmax": (lambda x: mg.softmax(x, axis=1), "upstream , s → contribution"),
    "log_softmax": (lambda x: mg.log_softmax(x, axis=1), "upstream , s → contribution"),
    "std": (lambda x: mg.std(x, axis=1), "upstream , x , s → contribution"),
    "the transpose": (lambda x: x.mT, "upstreamᵀ = contribution"),
    "itself": (lambda x: x.astype("float32"), "upstream = contribution"),
    "a matrix": (matrix_product, "upstream @ weightᵀ = contribution"),
}


@pytest.mark.parametrize("rule", RULES)
def test_an_event_has_signs_if_its_rule_is_a_plain_product(rule):
    function, shown = RULES[rule]
    x = leaf([[1.0, -2.0, 0.5], [0.25, 3.0, 1.0]])
    with mg.record() as trace:
        s = function(x)
        (s * s).sum().backward()
    row = rows_of_events(trace)[-1][0]
    assert " ".join(part.get("sign") or part["word"] for part in row) == shown


def event_markup(trace, k=-1):
    """Return the markup of the event of a step, and the page's data."""
    page = payload.payload(normalize(trace_data(trace)))
    return stage.Stage(page, (1000, 600)).show(k % len(page["steps"]) + 1).event


def texts_of(markup):
    return re.findall(r"<text[^>]*>([^<]+)</text>", markup)


@pytest.mark.parametrize(("shape", "pieces"), [((3, 1), 8), ((1, 4), 6), ((4,), 6), ((2, 1, 1), 12), ((1, 3, 4), 2)])
def test_all_that_broadcasting_repeated_falls_together(shape, pieces):
    x, small = mg.tensor(np.random.default_rng(0).normal(size=(2, 3, 4))), leaf(np.ones(shape))
    with mg.record() as trace:
        (small * x).sum().backward()
    page = payload.payload(normalize(trace_data(trace)))
    event = stage.Stage(page, (1000, 600)).show(len(page["steps"]), 0.6).event
    assert event.count("tile falling") == pieces
    assert len(re.findall(r"\S+ falling[^>]*translate", event)) == pieces


def gradients_of_two_sizes():
    """Record a step whose contribution is a hundredth of what its receiver has."""
    x = leaf(np.linspace(-1.0, 1.0, 20))
    with mg.record() as trace:
        y = x * 1.0
        ((y * 0.01).sum() + (y * mg.tensor(np.linspace(1.0, 2.0, 20))).sum()).backward()
    return trace


def test_a_picture_has_its_own_range_and_the_shared_scale_is_written_once():
    trace = gradients_of_two_sizes()
    k = next(step.index for step in trace.steps if step.accumulates)
    texts = texts_of(event_markup(trace, k))
    ranges = dict(itertools.pairwise(texts))
    step = trace.steps[k]
    for word in ("before", "contribution", "after"):
        assert ranges[word] == f"(20,) ±{abs(getattr(step, word)).max():.3g}"
    assert texts[-2:] == ["all gradients: −2.01", "2.01"]


def test_pictures_with_one_range_need_no_scale_below_them():
    x = leaf(np.linspace(-1.0, 1.0, 20))
    with mg.record() as trace:
        (x * 1.0).sum().backward()
    assert not any("all gradients" in text for text in texts_of(event_markup(trace)))


def signs_of(row):
    return " ".join(part.get("sign") or part["word"] for part in row)


def test_a_factor_of_one_and_digits_that_fit_are_equal_to_their_product():
    x = leaf([[1 / 3], [1 / 7]])
    with mg.record() as trace:
        ((x + 1.0) * mg.tensor([[1 / 3], [1 / 9]])).sum().backward()
    rows = rows_of_events(trace)
    assert signs_of(rows[-1][0]) == "upstream · local = contribution"
    assert signs_of(rows[-2][0]).startswith("upstream · "), "two factors"


def test_a_sum_over_axes_has_one_notation():
    x, bias = mg.tensor(np.ones((1, 2, 3, 3))), leaf([1 / 3])
    column = leaf([1 / 3, 0.5])
    with mg.record() as trace:
        y = nn.functional.conv2d(x, mg.tensor(np.ones((1, 2, 2, 2))), bias)
        z = column + mg.tensor([[1 / 3, 1.0], [2.0, 1 / 7]])
        ((y * y).sum() + (z * z).sum()).backward()
    rows = {step.rule: row for step, (row, *_) in zip(trace.steps, rows_of_events(trace), strict=True)}
    assert signs_of(rows["conv2d.bias"]) == "upstream ∑ ≈ contribution"
    assert [part["note"] for part in rows["conv2d.bias"] if "note" in part] == ["axes 0, 2, 3"]
    assert signs_of(rows["add.a"]) == "upstream · local = raw, before the sum ∑ ≈ contribution"


def two_cells():
    """Record two rounds of a recurrent cell, whose states the graph numbers."""
    cell = nn.LSTMCell(2, 2, rng=np.random.default_rng(0))
    state = (mg.tensor(np.zeros((1, 2))),) * 2
    with mg.record() as trace:
        for _ in range(3):
            state = cell(mg.tensor(np.ones((1, 2))), state)
        state[0].sum().backward()
    return trace


def test_an_operand_has_the_number_that_the_graph_gives_it():
    trace = two_cells()
    data = normalize(trace_data(trace))
    titles = words.names(data)
    numbered = 0
    for step, rows in zip(data["steps"], rows_of_events(trace), strict=True):
        inputs = {each["name"]: titles[each["node"]] for each in data["nodes"][step["node"]]["inputs"]}
        names = words.names_of_symbols(data, step, formula.step_with_symbols(data, step) or "")
        for part in rows[0]:
            title = inputs.get(part.get("from"), "")
            if title and title.partition(" #")[0] == part.get("word", "").partition(" #")[0]:
                assert part["word"] == title
                assert names.get(part["from"], title) == title
                numbered += "#" in title
    assert numbered


@pytest.mark.parametrize(("a", "b", "signs"), [
    (0.5, 3.0, ["·", "=", "+", "="]), (1 / 3, 3.0, ["·", "≈", "+", "="]), (1 / 3, 1 / 7, ["·", "≈", "+", "≈"]),
])  # fmt: skip
def test_an_equation_of_rounded_numbers_says_so(a, b, signs):
    x = leaf(1.0)
    with mg.record() as trace:
        (x * b * a + x).backward()
    rows = next(rows for rows in rows_of_events(trace) if len(rows) > 1)
    assert [part["sign"] for row in rows for part in row if "sign" in part] == signs


def odd_numbers():
    x = leaf([1.0, -1.0, 0.0, *range(1, 20)])
    with np.errstate(all="ignore"), mg.record() as trace:
        (x * mg.tensor([np.nan, np.inf, -np.inf, *range(19)])).sum().backward()
    return trace


def test_nan_and_infinity_have_their_own_cells_and_words():
    markup = event_markup(odd_numbers())
    cells = dict(re.findall(r'<path class="(odd|p5|n5|p4)" d="([^"]*)"', markup))
    assert {name: d.count("M") for name, d in cells.items()} == {"odd": 1, "p5": 1, "n5": 1, "p4": 6}
    assert texts_of(markup).count("1 nan, 2 inf of 22") == 2
    ranges = dict(itertools.pairwise(texts_of(markup)))
    assert (ranges["upstream"], ranges["contribution"]) == ("(22,) ±1", "(22,)"), "no range hides what is not finite"


@pytest.mark.parametrize(("entries", "words"), [
    ([np.nan, 1.0, 2.0], "1 of 3 is nan"), ([np.inf, -np.inf, 2.0], "2 of 3 are inf"),
    ([np.nan, np.inf, 2.0, 0.0], "1 nan, 1 inf of 4"),
])  # fmt: skip
def test_a_caption_counts_what_is_not_finite(entries, words):
    assert f"{words}</text>" in viz.picture(np.array(entries)).svg


@pytest.mark.parametrize("entries", [["nan", 5.0, 0.0, 1.0], [5.0, 0.0, 1.0, "nan"], [5.0, "-inf", 1.0, 9.0]])
def test_a_cell_of_several_entries_keeps_what_is_not_finite(entries):
    grid = {"data": entries, "rows": 4, "columns": 1, "slices": 1}
    coarse = javascript.call("((grid) => JSON.stringify(coarsenGrid(grid, 1, 1).data))", grid)
    assert coarse == [entry for entry in entries if isinstance(entry, str)]


@pytest.mark.parametrize("shape", [(6, 2, 2), (10, 1, 2), (2, 3, 4, 2), (7, 6, 3)])
@pytest.mark.parametrize("size", ["event", "node"])
def test_slices_that_have_room_show_every_entry(shape, size):
    value = {"shape": shape, "data": np.arange(np.prod(shape) * 1.0).tolist()}
    tile = javascript.call(
        "((value, size) => { const tile = tileOf(value, size); return JSON.stringify({ data: tile.data,"
        " side: tile.side, box: [tile.width, tile.height], room: TILE_SIZES[size].room,"
        " at: tile.data.map((_, k) => placeInTile(tile, k)) }); })", value, size)  # fmt: skip
    assert tile["data"] == value["data"]
    assert all(x + tile["side"] <= tile["box"][0] and y + tile["side"] <= tile["box"][1] for x, y in tile["at"])
    assert all(most >= side for most, side in zip(tile["room"], tile["box"], strict=True))
    far = [max(abs(a - c), abs(b - d)) for (a, b), (c, d) in itertools.combinations(tile["at"], 2)]
    assert min(far) >= tile["side"]


def event_at(program, name):
    """Return the event of the last step to a leaf, as words and signs."""
    leaves = {"a": leaf(np.ones((3, 2, 4))), "b": leaf(np.ones((4, 5))), "c": leaf(np.ones((2, 4)))}
    with mg.record() as trace:
        a, b, c = leaves.values()
        out = program(a, b, c)
        (out * mg.tensor(np.arange(out.size * 1.0).reshape(out.shape))).sum().backward()
    ends = [trace.nodes[step.target].name for step in trace.steps]
    return signs_of(rows_of_events(trace)[len(ends) - 1 - ends[::-1].index(name)][0])


@pytest.mark.parametrize(("program", "name", "shown"), [
    (lambda a, b, c: a @ b, "a", "upstream @ bᵀ = contribution"),
    (lambda a, b, c: a @ b, "b", "reshape(a)ᵀ @ reshape(upstream) = contribution"),
    (lambda a, b, c: nn.functional.linear(a, c), "c", "reshape(upstream)ᵀ @ reshape(a) = contribution"),
    (lambda a, b, c: mg.einsum("bij,jk->bik", a, b), "a", "upstream @ bᵀ = contribution"),
    (lambda a, b, c: mg.einsum("ij,jk->ki", c, b), "c", "upstreamᵀ @ bᵀ = contribution"),
    (lambda a, b, c: mg.einsum("ij,ij->i", c, c), "c", "upstream , c → contribution"),
    (lambda a, b, c: mg.where(c > 0.0, c * 2.0, 1.0) + c, "c", "upstream · local = contribution"),
])  # fmt: skip
def test_products_of_matrices_have_their_sign_whatever_their_axes(program, name, shown):
    assert event_at(program, name) == shown


def test_an_operand_is_called_as_the_program_writes_it():
    x = leaf([1.0, 2.0, 3.0])
    with mg.record() as trace:
        mg.where(x > 1.5, x, 0.0).sum().backward()
    assert signs_of(rows_of_events(trace)[-1][0]) == "upstream , (x > 1.5) → contribution"


def center(x):
    return x - x.mean(0)


def saturate(x):
    return mg.sigmoid(50.0 * x * x + 40.0)


def gradient_of(y, x):
    (gradient,) = mg.autograd.grad(y.sum(), [x], create_graph=True)
    return gradient


ONLY_ROUNDING = {
    "a shift before its mean is taken away": lambda x, rows: mg.tanh(rows * center(rows + x)),
    "the sum of weights that add up to one": lambda x, rows: mg.softmax(x),
    "what is added and taken away": lambda x, rows: 0.3 * x - (0.1 * x + 0.2 * x),
}
TRUE_AND_SMALL = {
    "a saturated curve": lambda x, rows: saturate(x),
    "a mean in single precision": lambda x, rows: mg.broadcast_to(x.astype("float32"), (3000, 12)).mean(),
    "a product of numbers": lambda x, rows: x * 1e-20,
    "a product of matrices": lambda x, rows: x @ (mg.tensor(np.eye(12)) * 1e-18),
    "a selection beside a huge entry": lambda x, rows: gradient_of(x[:-1] ** 2, x) * ([1.0] * 11 + [1e30]),
}


def values_beside(program):
    """Return the gradient of `x` on the page of a program, and how many values of the page are rounding errors."""
    x, rows = leaf(np.linspace(-1.0, 1.3, 12)), mg.tensor(np.random.default_rng(0).normal(size=(5, 12)))
    with mg.record() as trace:
        program(x, rows).sum().backward()
    page = payload.payload(normalize(trace_data(trace)))
    return page["values"][page["gradients"][0]["value"]], sum("beside" in value for value in page["values"])


@pytest.mark.parametrize("name", ONLY_ROUNDING)
def test_rounding_errors_are_pale_and_keep_their_number(name):
    gradient, _ = values_beside(ONLY_ROUNDING[name])
    largest = max(map(abs, gradient["data"]))
    assert 0 < largest < 1e-14
    shades, caption = javascript.call("""(value => JSON.stringify([
        [...new Set(value.data.map((x) => heat(x, largestOf(value))))], scaleText(value)]))""", gradient)
    assert {*shades} <= {"h0", "p1", "n1"}
    assert caption == f"±{largest:.2e} ≈ 0".replace("e-", "e−").replace("e−0", "e−")


@pytest.mark.parametrize("name", TRUE_AND_SMALL)
def test_small_numbers_that_no_sum_made_keep_their_shades(name):
    assert values_beside(TRUE_AND_SMALL[name])[1] == 0


def test_what_stands_beside_a_rounding_error_does_not_overflow():
    x = leaf([1e-200])
    with mg.record() as trace:
        z = x * 1e20 * 1e300
        (0.3 * z - 0.1 * z - 0.2 * z).sum().backward()
    page = payload.payload(normalize(trace_data(trace)))
    assert max(value.get("beside", 0) for value in page["values"]) == sys.float_info.max
    json.dumps(page, allow_nan=False)

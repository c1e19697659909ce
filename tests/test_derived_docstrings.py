"""Sections of docstrings that are derived from kind and signature are true, and the files of rules are short."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import extras, ops
from micrograd_plus.checks.docstrings import parts_of
from micrograd_plus.checks.samples import samples
from micrograd_plus.ops import derived_sections
from test_docstrings import PUBLIC

FILES = sorted(path for path in Path(ops.__file__).parent.glob("*.py") if path.name != "__init__.py")
TABLES = [path for path in FILES if path.stem in ("arithmetic", "comparisons", "exponentials", "trigonometry")]
TABLES.append(Path(extras.special.functions.__file__))
"""Files of at least ten rules without parameters. Other operations have parameters, or formulas of several lines."""
VERBS = frozenset([
    "Add", "Append", "Apply", "Arrange", "Blend", "Broadcast", "Build", "Change", "Choose", "Compute",
    "Concatenate", "Contract", "Convert", "Convolve", "Copy", "Count", "Divide", "Drop", "Encode", "Estimate",
    "Exchange", "Extract", "Flatten", "Give", "Index", "Insert", "Interpolate", "Limit", "Look", "Merge",
    "Move", "Multiply", "Negate", "Normalise", "Pad", "Partition", "Permute", "Put", "Quantise", "Raise",
    "Rearrange", "Rebuild", "Reduce", "Remove", "Repeat", "Replace", "Resample", "Reshape", "Resize", "Return",
    "Reverse", "Rotate", "Round", "Separate", "Set", "Shift", "Solve", "Sort", "Split", "Square", "Stack",
    "Subtract", "Sum", "Take", "Transpose", "Truncate", "Write",
])  # fmt: skip
"""Verbs that begin the first line of an operation's docstring, as in NumPy."""


def functions():
    """Yield the public functions of every subject."""
    for subject in (*ops.SUBJECTS.values(), *extras.SUBJECTS.values()):
        yield from (f for _, f in ops.functions_of(subject) if ops.is_public(f))


FUNCTIONS = {f.__name__ if getattr(f, "op", None) else f"{f.__module__}.{f.__name__}": f for f in functions()}
SAMPLED = {
    name: samples[name][0]
    for name, f in FUNCTIONS.items() if getattr(f, "op", None) and f.op.call is f and name in samples
}  # fmt: skip


COMPARISONS = [
    name for name, f in FUNCTIONS.items()
    if getattr(f, "op", None) and "Returns: a tensor of booleans, without a graph." in str(f.__doc__)
    and not {*f.op.params} - {"axis", "keepdims", "rtol", "atol", "equal_nan"}
]  # fmt: skip


def has_derived(name, derive):
    """Return whether a section of an operation's docstring is the derived one."""
    op = FUNCTIONS[name].op
    section = derive(derived_sections.facts_of(op.call, op), "").strip()
    return bool(section) and section in inspect.cleandoc(op.call.__doc__)


def names_with(derive, *words):
    """Return the operations whose derived section has these words."""
    return [
        name for name in SAMPLED
        if has_derived(name, derive)
        and all(word in derive(derived_sections.facts_of(FUNCTIONS[name], FUNCTIONS[name].op), "") for word in words)
    ]  # fmt: skip


def has_bounds(name):
    """Return whether a sample has Python floats, which are not converted below."""
    return any(isinstance(value, float) for value in SAMPLED[name].inputs)


def call(name, convert=lambda value: value, **params):
    """Call an operation on its sample, with each array converted first."""
    sample = SAMPLED[name]
    inputs = [convert(value) if hasattr(value, "dtype") else value for value in sample.inputs]
    return sample.op.call_with(inputs, {**sample.params, **params})


def only_result(out):
    return out[0] if isinstance(out, tuple) else out


# Sections -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names_with(derived_sections.shapes, "any -> the same"))
def test_a_result_has_the_shape_of_its_input(name):
    assert only_result(call(name)).shape == np.shape(SAMPLED[name].inputs[0])


@pytest.mark.parametrize("name", names_with(derived_sections.shapes, "the broadcast shape"))
def test_a_result_has_the_shape_that_broadcasting_gives(name):
    shapes = [np.shape(value) for value in SAMPLED[name].inputs if value is not None]
    assert call(name).shape == np.broadcast_shapes(*shapes)


@pytest.mark.parametrize("name", names_with(derived_sections.shapes, "keepdims"))
def test_a_reduction_removes_an_axis_or_keeps_it_with_length_one(name):
    x = np.linspace(0.5, 2.0, 6).reshape(2, 3)
    assert only_result(FUNCTIONS[name](x, axis=0)).shape == (3,)
    assert only_result(FUNCTIONS[name](x, axis=0, keepdims=True)).shape == (1, 3)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_returns_booleans_without_a_graph(name):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    out = FUNCTIONS[name](*[x] * len(FUNCTIONS[name].op.inputs))
    assert out.dtype == bool
    assert not out.requires_grad


@pytest.mark.parametrize("name", sorted(derived_sections.INTEGER_OPERATIONS))
def test_operations_on_bits_take_integers_only(name):
    count = len(FUNCTIONS[name].op.inputs)
    assert FUNCTIONS[name](*[mg.tensor([1, 2], dtype="int32")] * count).dtype == np.int32
    with pytest.raises(TypeError):
        FUNCTIONS[name](*[mg.tensor([1.0, 2.0])] * count)


FLOATS = [
    name for name in names_with(derived_sections.returns, "dtype of")
    if name not in derived_sections.INTEGER_OPERATIONS and not has_bounds(name)
]  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_result_has_the_dtype_of_its_inputs(name, precision):
    out = only_result(call(name, lambda value: value.astype(precision) if value.dtype.kind == "f" else value))
    if all(getattr(value, "dtype", np.dtype(float)).kind != "c" for value in SAMPLED[name].inputs):
        assert out.dtype == precision


def integers(value):
    return np.maximum(np.abs(value), 1).astype("int32") if value.dtype.kind == "f" else value


ROUNDED = sorted({*names_with(derived_sections.returns, "float64 for integers")} - {"inv"})  # ones have no inverse


@pytest.mark.parametrize("name", ROUNDED)
def test_the_result_for_integers_is_float64(name):
    if all(getattr(value, "dtype", np.dtype(float)).kind == "f" for value in SAMPLED[name].inputs):
        assert only_result(call(name, integers)).dtype == np.float64


EXACT = [
    name for name in names_with(derived_sections.returns, "dtype of")
    if FUNCTIONS[name].op.kind == "elementwise"
    and "float64" not in parts_of(FUNCTIONS[name]).returns and not has_bounds(name)
]  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_the_result_for_integers_is_made_of_integers(name):
    assert only_result(call(name, integers)).dtype.kind == "i"


@pytest.mark.parametrize("name", names_with(derived_sections.raises, "not numeric"))
def test_text_is_rejected(name):
    with pytest.raises(TypeError):
        call(name, lambda value: np.full(value.shape, "text"))


@pytest.mark.parametrize("name", names_with(derived_sections.raises, "complex or not numeric"))
def test_complex_numbers_are_rejected_where_the_docstring_says_so(name):
    with pytest.raises(TypeError):
        call(name, lambda value: value.astype(complex) if value.dtype.kind == "f" else value)


@pytest.mark.parametrize("name", names_with(derived_sections.raises, "the shapes do not broadcast"))
def test_shapes_that_do_not_broadcast_are_rejected(name):
    sample, lengths = SAMPLED[name], iter(range(2, 9))
    inputs = [np.ones(next(lengths), getattr(value, "dtype", float)) for value in sample.inputs]
    with pytest.raises(ValueError, match="broadcast"):
        sample.op.call_with(inputs, sample.params)


@pytest.mark.parametrize("name", names_with(derived_sections.raises, "the axis is out of range"))
def test_an_axis_out_of_range_is_rejected(name):
    with pytest.raises(IndexError):
        call(name, axis=7)


@pytest.mark.parametrize("name", names_with(derived_sections.raises, "one is repeated"))
def test_a_repeated_axis_is_rejected(name):
    with pytest.raises(ValueError, match=r"axis|axes"):
        call(name, axis=(0, 0))


def test_most_operations_have_derived_sections():
    derived = [name for name in SAMPLED if has_derived(name, derived_sections.raises)]
    assert len(derived) > 100
    for derive in (derived_sections.shapes, derived_sections.returns, derived_sections.raises):
        assert len(names_with(derive)) > 90


def test_every_argument_has_a_description():
    assert not [(name, names) for name, f in FUNCTIONS.items() for names, text in parts_of(f).arguments if not text]


def test_a_section_in_the_source_replaces_the_derived_one():
    facts = derived_sections.facts_of(mg.tanh, mg.tanh.op)

    def double(x):
        """Do it.

        Returns: a pair.
        >>> 1
        1
        See: there.
        """

    source = double.__doc__.replace("\n        ", "\n    ")  # as a function at the top of a file has it
    assert inspect.cleandoc(derived_sections.with_sections(source, facts)).splitlines() == [
        "Do it.", "", "Shapes: any -> the same.", "Args:", "    x: real or complex numbers.", "Returns: a pair.",
        "Raises: TypeError if x is not numeric.", "Example:", "    >>> 1", "    1", "", "See: there.",
    ]  # fmt: skip


# Source files ---------------------------------------------------------------------------------------------------------


def docstrings_in(path):
    """Yield the docstrings of the functions in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            yield ast.get_docstring(node)


def most_on_two_screens(path):
    """Return how many operations of a file can be seen whole on two screens of 60 lines."""
    ends = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list and not node.name.startswith("_"):
            ends.append((node.decorator_list[0].lineno, node.end_lineno))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):  # another name of an operation
            ends.append((node.lineno, node.end_lineno))
    return max(sum(first >= start and last < start + 120 for first, last in ends) for start, _ in ends)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_file_of_elementwise_rules_shows_ten_operations_on_two_screens(path):
    assert most_on_two_screens(path) >= 10


def test_few_lines_of_docstrings_occur_five_times_or_more():
    lines = [line.strip() for path in FILES for text in docstrings_in(path) for line in text.splitlines()]
    prose = [line for line in lines if line and line != "Args:"]
    repeated = sum(count for count in Counter(prose).values() if count >= 5)
    assert repeated / len(prose) < 0.05


def test_the_first_line_of_an_operation_begins_with_a_verb():
    first = {name: parts_of(f).summary.split()[0].rstrip(",") for name, f in FUNCTIONS.items()}
    assert {name: word for name, word in first.items() if word not in VERBS} == {}


def test_help_shows_the_derived_sections(capsys):
    help(mg.tanh)
    shown = capsys.readouterr().out
    assert all(f"{heading}:" in shown for heading in ("Shapes", "Args", "Returns", "Raises", "Example", "See"))


def test_the_source_of_an_operation_is_its_definition():
    mg.tanh(mg.tensor(1.0))  # which replaces its code by compiled code
    assert inspect.getsource(mg.tanh).startswith("@elementwise(x=lambda out: 1 - out * out)\ndef tanh(xp, x):\n")
    assert str(inspect.signature(mg.tanh)) == "(x)"


def test_the_docstrings_of_all_operations_are_checked():
    assert {id(f) for f in FUNCTIONS.values()} <= {id(value) for value in PUBLIC.values()}


def test_a_docstring_is_complete_when_it_is_printed():
    assert "Returns: " in str(mg.tanh.__doc__)
    assert "Returns: " in f"{mg.tanh.op.forward.__doc__!s}"

"""Notation of formulas: one line, LaTeX and MathML, all from the same tree."""

import random
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest

from micrograd_plus.formulas import symbols
from micrograd_plus.formulas.notation import equation, latex, mathml, text
from micrograd_plus.formulas.symbols import Expression, Shape, Symbol, evaluate

upstream, out, x, y, a, b, axis = map(Symbol, ["upstream", "out", "x", "y", "a", "b", "axis"])


def parse(formula):
    """Return the element that `mathml` writes for a formula."""
    return ET.fromstring(mathml(formula))  # noqa: S314 - a formula of our own


def softmax_rule(xp, upstream, out, axis):
    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))


def layer_norm_rule(xp, upstream, x, weight, eps):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    scale = xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + eps)
    normal = centred / scale
    sent = upstream * weight
    along = xp.mean(sent * normal, axis=-1, keepdims=True)
    return (sent - xp.mean(sent, axis=-1, keepdims=True) - normal * along) / scale


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        (upstream * (1 - out * out), "upstream · (1 − out²)"),
        (upstream @ symbols.mT(b), "upstream @ bᵀ"),
        (softmax_rule(symbols, upstream, out, axis), "out · (upstream − Σ[axis](upstream · out))"),
        (softmax_rule(symbols, upstream, out, -1), "out · (upstream − Σ[axis −1](upstream · out))"),
        (symbols.sum(x, (0, 2)) ** 2, "(Σ[axes 0, 2](x))²"),
        (symbols.max(x, axis=axis, keepdims=True), "max[axis](x)"),
        (a * b ** (a - 1), "a · b^(a − 1)"),
        (upstream * (x > 0), "upstream · [x > 0]"),
        (upstream * ((x > 0) & ~(y <= 1) | (a != b)), "upstream · [x > 0 ∧ ¬(y ≤ 1) ∨ a ≠ b]"),
        ((x > 0) & ((y > 0) | (a > 0)), "x > 0 ∧ (y > 0 ∨ a > 0)"),
        ((x == y) == a, "[x = y] = a"),
        (symbols.sum(x == out, axis=0), "Σ[axis 0]([x = out])"),
        (symbols.where(x < 0, 0, symbols.where(x > 6, 6, x)), "{0 if x < 0; 6 if x > 6; x otherwise}"),
        (upstream * symbols.exp(x - out), "upstream · e^(x − out)"),
        (upstream / (2 * symbols.sqrt(x)), "upstream / (2 · √x)"),
        (symbols.sqrt(x + 1) ** 2, "(√(x + 1))²"),
        (symbols.rsqrt(x) * symbols.reciprocal(y), "1 / √x · 1 / y"),
        (symbols.linalg.inv(a) ** 2 @ symbols.linalg.solve(a, b), "(a⁻¹)² @ solve(a, b)"),
        (abs(x) * abs(y * abs(x)), "|x| · absolute(y · |x|)"),
        (symbols.conj(x) * symbols.real(y), "conj(x) · Re(y)"),
        (-1 * -x - (-y) * a + (-b) ** 2 - 2 * -a, "−1 · (−x) − (−y · a) + (−b)² − 2 · (−a)"),
        (a - (b - x) - (y + 1), "a − (b − x) − (y + 1)"),
        (a + (b - x), "a + b − x"),
        ((a * b) @ x @ y, "(a · b) @ x @ y"),
        (a @ (b @ x), "a @ (b @ x)"),
        (upstream[..., 0] * x[1:, None, ::2], "upstream[…, 0] · x[1:, None, ::2]"),
        (symbols.scatter_add(symbols.zeros_like(x), a, y), "scatter_add(zeros_like(x), a, y)"),
        (symbols.concatenate([a, b], axis=0), "concatenate[axis 0]([a, b])"),
        (symbols.einsum("ij,jk->ik", a, b), "einsum(“ij,jk->ik”, a, b)"),
        (symbols.fold(x, stride=(2, 2)), "fold(x, stride = (2, 2))"),
        (symbols.astype(x, symbols.float32) + symbols.pi, "astype(x, float32) + π"),
        (symbols.full(np.float32, np.dtype("int8"), np.float32(0.1)), "full(float32, int8, 0.1)"),
        (x * -2 + 0.5 - 1e-5 * y, "x · (−2) + 0.5 − 10⁻⁵ · y"),
        (0.7978845608028655 * x + 2.5e9 * y, "0.797885… · x + 2.5 · 10⁹ · y"),
        (2 / np.sqrt(np.pi) * x + np.sqrt(0.5) * y - 1 / 6, "2 / √π · x + 1 / √2 · y − 1 / 6"),
        (1j * x + (2 - 3j), "i · x + 2 − 3 · i"),
        (symbols.full(float("inf"), float("-inf"), float("nan"), True), "full(∞, −∞, nan, True)"),
        (+x, "x"),
        ((x + 1, -y), "(x + 1, −y)"),
        (1, "1"),
    ],
)  # fmt: skip
def test_a_formula_reads_as_one_line_of_mathematics(formula, line):
    assert text(formula) == line


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        (upstream / (2 * out), r"\frac{\mathrm{upstream}}{2 \cdot \mathrm{out}}"),
        (symbols.mT(a) @ Symbol("x_shape"), r"a^{\top} \mathbin{@} \mathrm{x\_shape}"),
        (Symbol("gamma") * symbols.cbrt(x), r"\gamma \cdot \sqrt[3]{x}"),
        (symbols.sum(x, axis=-1), r"\sum_{\text{axis }-1}\left( x \right)"),
        (symbols.where(a, x, 0), r"\begin{cases} x & \text{if } a \\ 0 & \text{otherwise} \end{cases}"),
        (symbols.exp(-x), r"\mathrm{e}^{-x}"),
        ((a / b) ** 2, r"\left( \frac{a}{b} \right)^{2}"),
        (symbols.negative(-x), r"-\left( -x \right)"),
        (symbols.conj(x)[..., 0], r"\overline{x}\left[ \ldots , 0 \right]"),
        (x[2], r"x_{2}"),
        (x[:3], r"x\left[ :3 \right]"),
    ],
)
def test_a_formula_is_written_in_latex(formula, code):
    assert latex(formula) == code


def test_mathml_marks_what_stands_for_a_value_and_nothing_else():
    formula = softmax_rule(symbols, upstream, out, Symbol("eps")) + symbols.pi
    element = parse(formula)
    assert element.tag == "math"
    assert element.attrib == {"display": "block"}
    marked = [mark.get("data-name") for mark in element.iter("mi") if mark.get("data-name")]
    assert marked == ["out", "upstream", "eps", "upstream", "out"]
    assert [mark.text for mark in element.iter("mi") if not mark.get("data-name")] == ["π"]


def test_names_and_words_cannot_become_markup():
    hostile = '<b>&"{x}\\_$'
    formula = symbols.take(Symbol(hostile), hostile) + Expression(hostile, (x,))
    element = parse(formula)
    assert [mark.get("data-name") for mark in element.iter("mi")][1] == hostile
    assert r"\mathrm{<b>\&\"\{x\}".replace(r"\"", '"') in latex(formula)


def test_an_equation_is_written_in_all_three_notations():
    written = equation("contribution", x > 0)
    assert written.text == "contribution = [x > 0]"
    assert written.latex == r"\mathrm{contribution} = \left[ x > 0 \right]"
    element = ET.fromstring(written.mathml)  # noqa: S314 - a formula of our own
    assert "".join(element.itertext()) == "contribution=[x>0]"
    assert equation(upstream + 1, symbols.where(x, 1, 0)).text == "upstream + 1 = {1 if x; 0 otherwise}"


def test_a_long_formula_gives_names_to_what_it_says_twice():
    formula = layer_norm_rule(symbols, upstream, x, Symbol("weight"), Symbol("eps"))
    line, *definitions = re.split(", where |; ", text(formula))
    mean = "mean[axis −1]"
    sent = "upstream · weight"
    assert line == f"({sent} − {mean}({sent}) − s₂ · {mean}({sent} · s₂)) / s₁"
    assert definitions == [f"s₁ = √({mean}((x − {mean}(x))²) + eps)", f"s₂ = (x − {mean}(x)) / s₁"]
    assert r"\text{where } s_{1} = \sqrt" in latex(formula)
    assert len(parse(formula).findall("mtable/mtr")) == 3


def test_a_condition_with_a_name_is_no_second_equation():
    most = x == symbols.unreduce(out, Symbol("x_shape"), axis)
    shared = symbols.unreduce(upstream / symbols.sum(most, axis=axis), Symbol("x_shape"), axis)
    definition = text(symbols.where(most, shared + y**3 + a + b * y + b * a, y)).partition("where ")[2]
    assert definition == "s₁ = [x = broadcast[axis](out)]"


def test_several_formulas_share_their_names():
    sent = symbols.exp(upstream) @ symbols.mT(y) - symbols.sum(out)
    line = text((sent @ x, sent * symbols.sum(sent * x), symbols.tanh(sent)))
    assert line == "(s₁ @ x, s₁ · Σ(s₁ · x), tanh(s₁)), where s₁ = e^upstream @ yᵀ − Σ(out)"


def test_sharing_keeps_a_formula_short_that_would_fill_books():
    formula = x
    for _ in range(200):
        formula = symbols.tanh(formula + formula)
    assert len(text(formula)) < 20_000


def test_a_whole_shape_is_written_by_name():
    shape = Shape((2, 3), "x")
    assert text(symbols.reshape(upstream, shape)) == "reshape(upstream, shape of x)"
    assert text(symbols.reshape(upstream, shape[:1] * 2)) == "reshape(upstream, (2, 2))"


def test_a_deep_formula_can_be_written():
    deep = x
    for _ in range(2_000):
        deep = deep + 1
    assert text(deep).count("+ 1") == 2_000


# Parentheses: every notation, read again by the rules of arithmetic, gives the value of the tree


class Exact:
    """A 2 x 2 matrix of fractions, row by row."""

    def __init__(self, entries):
        self.entries = [Fraction(entry) for entry in entries]

    def each(self, other, combine):
        others = other.entries if isinstance(other, Exact) else [Fraction(other)] * 4
        return Exact(combine(mine, its) for mine, its in zip(self.entries, others, strict=True))

    def __eq__(self, other):
        return self.entries == other.entries

    __hash__ = None

    def __add__(self, other):
        return self.each(other, Fraction.__add__)

    def __sub__(self, other):
        return self.each(other, Fraction.__sub__)

    def __mul__(self, other):
        return self.each(other, Fraction.__mul__)

    def __truediv__(self, other):
        return self.each(other, Fraction.__truediv__)

    def __lt__(self, other):
        return self.each(other, Fraction.__lt__)

    def __rmul__(self, number):
        return self * number

    def __pow__(self, exponent):
        return Exact(entry**exponent for entry in self.entries)

    def __neg__(self):
        return Exact(-entry for entry in self.entries)

    def __abs__(self):
        return Exact(map(abs, self.entries))

    def __matmul__(self, other):
        p, q, r, s = self.entries
        t, u, v, w = other.entries
        return Exact([p * t + q * v, p * u + q * w, r * t + s * v, r * u + s * w])

    @property
    def T(self):  # noqa: N802 - NumPy's name
        p, q, r, s = self.entries
        return Exact([p, r, q, s])


class ExactWords:
    """The namespace of exact matrices."""

    @staticmethod
    def mT(matrix):  # noqa: N802 - NumPy's name
        return matrix.T


MATRICES = {"a": Exact([2, -3, 5, 7]), "b": Exact([11, 13, -17, 19]), "c": Exact([23, 29, 31, -37])}


def random_formula(draw, depth):
    if depth == 0 or draw.random() < 0.1:
        return Symbol(draw.choice("abc"))
    left, right = random_formula(draw, depth - 1), random_formula(draw, depth - 1)
    return draw.choice([
        left + right, left + right, left - right, left - right, left * right, left * right, left / right,
        left @ right, left @ right, -left, left**2, symbols.mT(left), abs(left), left < right, left * left,
        2 * left, right * -3,
    ])  # fmt: skip


def replaced_in_order(code, replacements):
    for written, python in replacements.items():
        code = code.replace(written, python)
    return code


def text_in_python(line):
    line = re.sub(r"\|([^|]*)\|", r"abs(\1)", line)
    return replaced_in_order(line, {
        "absolute": "abs", "·": "*", "−": "-", "²": "**2", "ᵀ": ".T", "[": "(", "]": ")",
    })  # fmt: skip


def latex_in_python(code):
    return replaced_in_order(code, {
        r"\operatorname{absolute}": "abs", r"\left|": "abs(", r"\right|": ")", r"\left": "", r"\right": "",
        r"\mathbin{@}": "@", r"\cdot": "*", r"^{\top}": ".T", r"\frac{": "over(", "}{": ",", "^{": "**(",
        "}": ")", "[": "(", "]": ")",
    })  # fmt: skip


def mathml_in_python(element):
    inside = [mathml_in_python(child) for child in element]
    if element.tag == "mfrac":
        return f"over({inside[0]}, {inside[1]})"
    if element.tag == "msup":
        return f"{inside[0]}.T" if inside[1] == "⊤" else f"{inside[0]}**{inside[1]}"
    if inside and element[0].text == "|":
        return f"abs({''.join(inside[1:-1])})"
    signs = {"·": "*", "−": "-", "\u2061": "", "[": "(", "]": ")", "absolute": "abs"}
    return "".join(inside) or signs.get(element.text, element.text)


def read_again(code):
    words = {"abs": abs, "over": lambda top, bottom: top / bottom, "__builtins__": {}}
    return eval(code, {**words, **MATRICES})  # noqa: S307 - a formula of our own


def test_parentheses_are_right_in_every_notation():
    draw = random.Random(1)  # noqa: S311 - not for secrets
    seen = set()
    while len(seen) < 1_500:
        formula = random_formula(draw, 3)
        line = text(formula)
        try:
            value = evaluate(formula, ExactWords, MATRICES)
        except ZeroDivisionError:
            continue
        seen.add(line)
        tree = parse(formula)
        for code in (text_in_python(line), latex_in_python(latex(formula)), mathml_in_python(tree)):
            assert read_again(code) == value, (line, code)


def test_there_are_no_needless_parentheses():
    draw = random.Random(2)  # noqa: S311 - not for secrets
    for _ in range(500):
        line = text(random_formula(draw, 4)).replace("absolute(", "<")
        assert not re.search(r"\([abc]\)", line), line
        assert not re.search(r"\(\([^()]*\)\)", line), line


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        (symbols.unreduce(upstream, Shape((3, 4), "x"), None), "broadcast(upstream)"),
        (symbols.sum_to_shape(upstream, Shape((3,), "x")), "Σ[repeated axes](upstream)"),
        (symbols.sum_repeats(upstream, Shape((3,), "x"), 2, axis=0), "Σ[repeats, axis 0](upstream)"),
        (symbols.product_of_others(x, axis=1), "Π[all others, axis 1](x)"),
        (symbols.shift_by_one(x, axis=0), "x[t − 1]"),
        (symbols.shift_by_one(symbols.broadcast_to(x, (3, 4)), axis=0, reverse=True), "x[t + 1]"),
        (symbols.unpad(upstream, Shape((3,), "x"), ((1, 2),), "constant"), "padᵀ(upstream, ((1, 2)))"),
        (symbols.setitem(upstream, symbols.new_zeros(upstream, ()), index=(1,)), "{0 at [1]; upstream elsewhere}"),
        (symbols.zero_at(upstream, x, axis=1), "{0 at [x] along axis 1; upstream elsewhere}"),
        (symbols.put_diagonal(upstream, Shape((3, 3), "x"), 1, 0, 1),
         "{upstream on diagonal 1 of axes 0, 1; 0 elsewhere}"),
        (symbols.undiag(upstream, Shape((3, 3), "x"), 1), "diag(upstream, k = 1)"),
        (symbols.is_unclipped(x, 0.5, 0, low=-4, high=3), "[−4 ≤ round(x / 0.5) ≤ 3]"),
        (symbols.hermitian_part(x), "(x + xᴴ) / 2"),
        (symbols.mH(symbols.conj(x)), "xᵀ"),
        (symbols.block_triangle(x, upstream), "[x, upstream; 0, x]"),
        (symbols.attention_scale(x, None), "1 / √d"),
        (symbols.max(x, axis=symbols.last_axes(2)), "max[last 2 axes](x)"),
        (symbols.where(x == 0, 0, upstream / symbols.where(x == 0, 1, x)), "{0 if x = 0; upstream / x otherwise}"),
        (symbols.fold(symbols.ungroup_columns(symbols.mT(symbols.kernel_rows(x, groups=2)) @ symbols.group_images(
            upstream, groups=2), images=2), (5, 6), (2, 3), (2, 1), (0, 0), (1, 1)),
         "conv_transpose2d(upstream, x, stride = (2, 1), groups = 2)"),
    ],
)  # fmt: skip
def test_internal_functions_are_written_in_usual_notation(formula, line):
    assert text(formula) == line
    ET.fromstring(mathml(formula))  # noqa: S314 - a formula of our own
    assert latex(formula)

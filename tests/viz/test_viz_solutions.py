"""Worked solutions: their content, true equations, and valid LaTeX."""

import re
from fractions import Fraction

import numpy as np
import pytest
import sample_traces

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz.exports import formula_latex

KNOWN = re.compile(r"\\(?:[A-Za-z]+|.)")
COMMANDS = set(formula_latex.SIGNS.values()) | {rf"\{name}" for name in formula_latex.GREEK.values()} | {
    r"\begin", r"\end", r"\frac", r"\sqrt", r"\overline", r"\text", r"\mathrm", r"\left", r"\right", r"\underset",
    r"\overset", r"\quad", r"\textbackslash", r"\textasciitilde", r"\textasciicircum", r"\mathbin", r"\hat", r"\bar",
    "\\\\", r"\{", r"\}", r"\&", r"\%", r"\_", r"\#", r"\$", r"\|",
}  # fmt: skip


def save_solution(trace, folder, suffix=".md", **options):
    """Return the text of a solution."""
    return viz.save(trace, folder / f"walk{suffix}", **options).read_text(encoding="utf-8")


def formulas(text):
    """Return every formula of a solution in Markdown."""
    return [a or b for a, b in re.findall(r"\$\$\n(.*?)\n\$\$|(?<![\\$&])\$([^$\n]+)\$", text, re.DOTALL)]


def test_a_solution_has_the_values_every_step_and_what_adds_up(tmp_path):
    text = save_solution(sample_traces.diamond(), tmp_path, title="The diamond")
    assert text.startswith("# The diamond\n\nBackward walk: 7 nodes, 10 steps, add (y) = 41.")
    assert "| add (c) | add of a and b | $5$ |" in text
    assert re.findall(r"### Step (\d+) of 10", text) == [str(k) for k in range(1, 11)]
    assert "What mul (d) had, plus what arrives:\n\n$$\n" in text
    assert text.rstrip().endswith("| a | $25$ |\n| b | $19$ |")


def test_printed_equations_of_numbers_are_true(tmp_path):
    """The last two lines of a formula are its left side and its result; a sum is on one line."""
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        y = mg.sin(x) * x + (x * 3 + x * 0.25)
        y.backward()
    sums = [code for code in formulas(save_solution(trace, tmp_path)) if " + " in code]
    exact = 0
    for code in sums:
        left, sign, right = re.fullmatch(r"(.*) (=|\\approx) (.*)", code).groups()
        total = sum(map(Fraction, left.split(" + ")))
        assert (sign == "=") == (total == Fraction(right)), code
        assert abs(total - Fraction(right)) < Fraction(1, 1000), code
        exact += sign == "="
    assert 0 < exact < len(sums)


def test_all_formats_conjugate_and_round_complex_numbers_alike(tmp_path):
    a, b = mg.tensor(1 + 2j, requires_grad=True), mg.tensor(0.3 - 1j / 3, requires_grad=True)
    with mg.record() as trace:
        z = mg.abs(mg.exp(a) * b * a)
        z.backward()
    text = save_solution(trace, tmp_path)
    assert r"\mathrm{contribution} = \mathrm{upstream} \cdot \overline{a}" in text
    filled = r"\mathrm{contribution} \approx ( -0.643 + 0.7659i ) \cdot \overline{( 1 + 2i )}"
    assert f"$$\n{filled}\n$$\n$$\n\\approx 0.8888 + 2.052i\n$$" in text
    assert r"0.5452 + 1.09i + \left( 2.726 - 4.441 \times {10}^{-16} i \right) \approx 3.271 + 1.09i" in text
    drawn = viz.save(trace, tmp_path / "walk.svg", index=2).read_text(encoding="utf-8")
    assert ">· conj</text>" in drawn


@pytest.mark.parametrize("make", sample_traces.EVERY)
@pytest.mark.parametrize("suffix", [".md", ".tex"])
def test_every_solution_has_valid_mathematics(tmp_path, make, suffix):
    text = save_solution(make(), tmp_path, suffix)
    codes = formulas(text) if suffix == ".md" else re.findall(r"\\\[\n(.*?)\n\\\]", text, re.DOTALL)
    for code in codes:
        plain = re.sub(r"\\[\\{}]", "", code)
        depth = 0
        for sign in plain:
            depth += (sign == "{") - (sign == "}")
            assert depth >= 0, code
        assert depth == 0, code
        assert sorted(re.findall(r"\\begin\{(\w+)\}", code)) == sorted(re.findall(r"\\end\{(\w+)\}", code))
        assert code.count(r"\left") - code.count(r"\left.") == code.count(r"\right"), code
        assert {each for each in KNOWN.findall(code) if each not in COMMANDS and len(each) > 2} == set(), code


def test_what_a_hostile_record_says_is_text_in_a_solution(tmp_path):
    text = save_solution(sample_traces.hostile(), tmp_path)
    outside = re.sub(r"\$\$\n.*?\n\$\$|`[^`]*`", "", text, flags=re.DOTALL)
    assert "<" not in outside
    assert "&lt;script&gt;" in outside
    paper = save_solution(sample_traces.hostile(), tmp_path, ".tex")
    assert not re.search(r"(?<!\\)[#%]", paper.partition(r"\begin{document}")[2])


def test_a_long_walk_is_worked_out_in_part_and_says_so(tmp_path):
    trace = sample_traces.chain(300)
    first = save_solution(trace, tmp_path)
    count = len(trace["steps"])
    assert len(re.findall(r"^### Step", first, re.MULTILINE)) == 100
    assert f"100 of {count} steps are worked out here; steps=range(101, 201) has the next ones." in first
    some = save_solution(trace, tmp_path, steps=range(3, 6))
    assert re.findall(r"^### Step (\d+)", some, re.MULTILINE) == ["3", "4", "5"]
    with pytest.raises(ValueError, match=f"there is no step 999: steps are numbered 1 to {count}"):
        save_solution(trace, tmp_path, steps=[999])


def test_every_letter_of_a_solution_is_one_that_latex_has(tmp_path):
    rng = np.random.default_rng(0)
    images, cell = (mg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((1, 1, 4, 4), (2, 3)))
    gates = mg.tensor(rng.normal(size=(2, 12)), requires_grad=True)
    with mg.record() as trace:
        pooled = mg.nn.functional.max_pool2d(images, 2)
        hidden, after = mg.lstm_cell(gates, cell)
        flat = mg.nn.functional.layer_norm(pooled, (2,))
        values, vectors = mg.linalg.eigh(cell @ cell.mT)
        ((flat * flat).sum() + (hidden * after).sum() + values.sum() + (vectors**2).sum()).backward()
    written = viz.save(trace, tmp_path / "walk.tex").read_text(encoding="utf-8")
    assert r"\sigma ^{-1}" in written
    assert r"\hat{x}" in written
    assert not {letter for letter in written if not letter.isascii()}

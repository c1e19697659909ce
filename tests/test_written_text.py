"""The text of a program: the user's lines and names, its rules, what it is saved as."""

from __future__ import annotations

import subprocess
import sys
import traceback

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.nn import functional
from written_steps import (
    batch,
    classifier,
    same,
)


def test_the_text_has_the_users_lines_names_and_rules():
    params, _ = classifier()
    w, b, v = params

    def step(x, y):
        for p in params:
            p.grad = None
        hidden = mg.tanh(functional.linear(x, w, b))
        loss = functional.cross_entropy(functional.linear(hidden, v), y)
        loss.backward()
        return loss

    program = mg.written_out(step, *batch(np.random.default_rng(0)))
    text = program.source
    assert "# hidden = mg.tanh(functional.linear(x, w, b))  " in text
    assert "hidden = np.tanh(" in text
    assert "# step 2: back through linear_layer.x: each output passes its gradient on" in text
    assert "to_hidden = " in text
    assert "to_w = " in text
    assert "def step(x, y, w, b, v):" in text
    assert "x: argument, float64 (32, 8)" in text
    assert str(program) == text


def test_names_say_what_they_are():
    model = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 3))
    adam = optim.Adam(model.parameters(), lr=0.1)
    weights = [mg.tensor(np.eye(8), requires_grad=True) for _ in range(2)]

    def step(x, y):
        adam.zero_grad()
        h = mg.tanh(x @ weights[0])
        h = mg.tanh(h @ weights[1])
        logits = model(h)
        loss = functional.cross_entropy(logits, y)
        loss.backward()
        adam.step()
        return loss

    compiled, (x, y) = mg.compile(step), batch(np.random.default_rng(0))
    for _ in range(2):
        compiled(x, y)
    lines = [line.strip() for line in compiled.source.splitlines()]
    for line in (
        "model_0_weight: tensor, float64 (4, 8)",
        "betas_1, betas_2, eps, lr: settings of the optimiser",
        "model_0_weight_exp_avg, model_0_weight_exp_avg_sq: states of the optimiser, float64 (4, 8)",
        "linear = h_2.dot(model_0_weight_T)",
        "assert y.view('u8').max().item() < 3, 'loss = functional.cross_entropy(logits, y)'",
        "to_tanh = to_logits.dot(model_2_weight)",
        "to_h_2 = to_tanh.dot(model_0_weight)",  # the gradient of the second h
        "to_model_0_weight = to_tanh_T.dot(h_2)",
        "model_0_weight_exp_avg *= betas_1",
    ):
        assert line in lines
    assert any(line.startswith("# update of model.0.weight by Adam  ") for line in lines)
    assert max(map(len, (line for line in compiled.source.splitlines() if "#" not in line))) <= 120


def test_a_saved_program_runs_with_numpy_alone(tmp_path):
    w = mg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)

    def step(x):
        w.grad = None
        loss = (mg.exp(x @ w) * 0.1).sum() + mg.tensor(np.linspace(0.0, 1.0, 5000)).sum()
        loss.backward()
        return loss

    x = mg.tensor([[0.1, 0.2], [0.3, 0.4]])
    program = mg.written_out(step, x)
    program.save(str(tmp_path / "step.py"))
    code = (
        "import sys; sys.path.insert(0, '.'); import numpy as np; from step import step; "
        "loss, g = step(np.array([[0.1, 0.2], [0.3, 0.4]]), np.arange(6.0).reshape(2, 3)); "
        "assert 'micrograd_plus' not in sys.modules; print(repr(float(loss)), g.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == f"{step(x).item()!r} {w.grad.tolist()}"


def test_a_name_of_the_users_like_one_of_the_programs_keeps_its_value():
    product_2 = mg.tensor([5.0])

    def step(x):
        return (mg.sin(x * 2.0) + mg.cos(x * 3.0)) * product_2

    compiled, x = mg.compile(step), mg.tensor([1.0])
    for _ in range(4):
        assert same(step(x), compiled(x))
    assert "product_2: tensor" in compiled.source


def test_an_error_in_a_program_shows_the_programs_line():
    step = mg.compile(lambda x: (x * 2.0).reshape(2, 2).sum())
    for _ in range(2):
        step(mg.tensor([1.0, 2.0, 3.0, 4.0]))
    (program,) = step.programs
    with pytest.raises(ValueError, match="reshape") as caught:
        program.function(np.ones(3))
    assert program.filename in [entry.frame.code.raw.co_filename for entry in caught.traceback]
    assert ".reshape((2, 2))" in "".join(traceback.format_tb(caught.tb))

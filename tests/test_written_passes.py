"""The passes that shorten a program keep its bits: each alone, all together, and loops; planted mistakes are caught."""

from __future__ import annotations

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import leaves
from micrograd_plus.written import (
    at_once,
    loop_text,
    loops,
    passes,
    stacks,
    text,
)
from micrograd_plus.written.program import Program, trace
from micrograd_plus.written.step import Runner
from written_steps import (
    all_same,
    batch,
    classifier,
    same,
    set_column,
    write_into_views,
)


def test_each_pass_alone_and_all_together_give_the_same_bits():
    rng = np.random.default_rng(3)
    _, loss_of = classifier()
    given = batch(rng)
    others = batch(rng)
    expected = loss_of(*others)
    names = list(passes.PASSES)
    for chosen in ([], *([name] for name in names), names):
        _, (page, structure) = trace(loss_of, given, {}, chosen)
        (found,) = Runner(Program(page, structure, "step")).run(list(others))
        assert same(found, expected), chosen


def programs_for_passes():
    """Return functions whose programs have writes, views, draws, effects and named tuples."""

    def writes(x):
        total = x * 2.0
        kept = total + 1.0
        total[0] = 5.0
        return kept, total + 1.0, total * x

    def arrays(x):
        a = (x * 1.0).detach().data
        before = a + 1.0
        a[0] = 5.0
        return mg.tensor(before), mg.tensor(a + 1.0)

    def draws(x):
        return x + mg.random.normal(size=3) - mg.random.normal(size=3)

    def tables(x):
        return mg.nn.functional.embedding(mg.tensor([0, 2, 0]), x.reshape(3, 1)).sum(), mg.take(x, mg.tensor([1, 1]))

    def gradient_of_take(x):
        leaf = x.detach().requires_grad_()
        (leaf[mg.tensor([0, 0, 1])] * 2.0).sum().backward()
        return leaf.grad

    def named_tuples(x):
        return mg.linalg.slogdet(mg.eye(3) + x * x[:, None])

    def read_later(x):
        a = x * 2.0
        b = a + 1.0
        return b * a, mg.exp(b) - a

    def views_of_repeats(x):
        a, b = mg.exp(x), mg.exp(x)
        return b.T / (5.0 + x), a + 1.0

    found = [writes, arrays, draws, tables, gradient_of_take, named_tuples, read_later, views_of_repeats]
    return [*found, *programs_with_loops()]


def layers_of_weights():
    """Return a function whose rounds read inputs of their own."""
    weights = [mg.tensor(np.eye(3) + 0.1 * k, requires_grad=True) for k in range(7)]

    def equal_layers(x):
        state = x
        for w in weights:
            w.grad = None
            state = mg.tanh(state @ w)
        state.sum().backward()
        return state.detach(), [w.grad for w in weights]

    return equal_layers


def programs_with_loops():
    """Return functions whose rounds read each other and what is stacked of them."""

    def rounds(x):
        x = mg.concatenate([x, x])
        state, seen = x, []
        for _ in range(8):
            state = mg.tanh(state * 0.9 + x)
            seen.append(state)
        return mg.stack(seen), seen[2] * seen[5], (seen[1] * seen[4]).sum(), state

    def first_round_again(x):
        state = first = mg.tanh(x)
        for _ in range(8):
            state = mg.tanh(state * 0.9) * first
            first = state if first is None else first
        return state

    def rounds_back(x):
        leaf = x.detach().requires_grad_()
        state = leaf
        for part in mg.stack([leaf * float(i) for i in range(1, 9)]).unstack():
            state = mg.sin(state * part)
        state.sum().backward()
        return leaf.grad

    def rows_of_a_stack(x):
        state, seen = x, []
        for _ in range(8):
            state = mg.sin(state * 0.9 + x)
            seen.append(state)
        back = x
        for each in reversed(seen):
            back = mg.cos(back * (1.0 - each * each))
        return mg.stack(seen), back

    return [rounds, first_round_again, rounds_back, rows_of_a_stack, layers_of_weights()]


def differences():
    """Return the programs that give other bits than the engine on new numbers, or raise an error."""
    wrong = []
    for f in programs_for_passes():
        try:
            mg.random.seed(0)
            _, (page, structure) = trace(f, (mg.tensor([1.0, 2.0, 3.0]),), {})
            x = mg.tensor([0.5, -1.0, 4.0])
            mg.random.seed(1)
            expected = f(x)
            mg.random.seed(1)
            found = Runner(Program(page, structure, "step")).run([x])
            if not all_same(list(leaves(expected)), list(found)):
                wrong.append(f.__name__)
        except Exception:  # noqa: BLE001 - a wrong program may fail in any way
            wrong.append(f.__name__)
    return wrong


def merge_across_a_write(monkeypatch):
    monkeypatch.setattr(passes, "Counter", Forgetful)


class Forgetful(dict):
    """Counts nothing: every buffer seems never to have been written."""

    def update(self, *_):
        return None

    def __missing__(self, _):
        return 0


def write_into_what_is_read(monkeypatch):
    def can_take_over(x, statement, last, at):
        return isinstance(x, passes.Value) and x.is_array and x.kind == "temporary" and x.shape == statement.out.shape

    monkeypatch.setattr(passes, "can_take_over", can_take_over)


def merge_a_draw(monkeypatch):
    real = passes.PASSES["repeats"]

    def merge(page):
        for statement in page.statements:
            statement.has_effect = False
        real(page)

    monkeypatch.setitem(passes.PASSES, "repeats", merge)


def drop_calls_without_a_result(monkeypatch):
    def drop(page):
        page.statements = [s for s in page.statements if s.outs() or s.form == "iop"]

    monkeypatch.setitem(passes.PASSES, "dead statements", drop)


def overlook_named_tuples(monkeypatch):
    def drop(page):
        live = [*page.live(), *(v for s in page.statements for v in s.reads())]
        page.statements = [s for s in page.statements if type(s.out) in (passes.Value, tuple, type(None))
                           and (not isinstance(s.out, tuple) or set(s.outs()) & set(live[:0]))]  # fmt: skip

    monkeypatch.setitem(passes.PASSES, "dead statements", drop)


def run_one_round_less(monkeypatch):
    monkeypatch.setattr(loops.Loop, "count", property(lambda self: len(self.rounds) - 1))


def read_the_new_value_for_the_old(monkeypatch):
    monkeypatch.setattr(loops, "Before", lambda now: now)


def list_only_the_last_round(monkeypatch):
    monkeypatch.setattr(loops, "_list_value", lambda value, reader: None)
    monkeypatch.setattr(text, "_find_slice", lambda parts: (None, 0, 0))


def stack_what_is_used_later(monkeypatch):
    def can_be_made_in_place(self, part, at):
        self.last[part.buffer] = at
        return real(self, part, at)

    real = stacks.Stack.can_be_made_in_place
    monkeypatch.setattr(stacks.Stack, "can_be_made_in_place", can_be_made_in_place)


def read_rows_before_they_are_made(monkeypatch):
    monkeypatch.setattr(at_once.Rows, "can_stand_before", lambda self, page, at: True)


def give_rows_in_the_wrong_order(monkeypatch):
    def replace(self, page, rows, statements):
        return real(self, page, rows, [*statements[1:], statements[0]])

    real = at_once.Rows.replace
    monkeypatch.setattr(at_once.Rows, "replace", replace)


def list_the_inputs_forward_on_the_way_back(monkeypatch):
    def find_list(self, series):
        found = real(self, series)
        return found and (found[0], loops.Count(0, 1))

    real = loop_text.LoopText._find_list
    monkeypatch.setattr(loop_text.LoopText, "_find_list", find_list)


MISTAKES = [
    (list_the_inputs_forward_on_the_way_back, "equal_layers"),
    (read_rows_before_they_are_made, "rows_of_a_stack"), (give_rows_in_the_wrong_order, "rows_of_a_stack"),
    (run_one_round_less, "rounds"), (list_only_the_last_round, "rounds"),
    (read_the_new_value_for_the_old, "rounds_back"), (stack_what_is_used_later, "rounds"),
    (merge_across_a_write, "arrays"), (write_into_what_is_read, "read_later"), (merge_a_draw, "draws"),
    (drop_calls_without_a_result, "writes"), (overlook_named_tuples, "named_tuples"),
]  # fmt: skip


def test_programs_for_passes_have_the_engines_bits():
    assert differences() == []


@pytest.mark.parametrize(("mistake", "program"), MISTAKES, ids=[m.__name__ for m, _ in MISTAKES])
def test_a_planted_mistake_in_a_pass_is_caught(mistake, program, monkeypatch):
    mistake(monkeypatch)
    assert program in differences()


WAYS_THROUGH_A_ROUND = [
    lambda state, seen, x, i: mg.tanh(state + x),
    lambda state, seen, x, i: state * 0.5 + seen[0],
    lambda state, seen, x, i: state - seen[-1] * 0.1,
    lambda state, seen, x, i: state + seen[max(len(seen) - 2, 0)] * 0.3,
    lambda state, seen, x, i: mg.where(x > 0.0, state, mg.sin(state)),
    lambda state, seen, x, i: state * x[i % 4] if i else state,
    lambda state, seen, x, i: set_column(state * 1.0, x[None] + state),
    lambda state, seen, x, i: write_into_views(state, x),
    lambda state, seen, x, i: state + mg.random.normal(size=4) if i > 1 else state * 2.0,
    lambda state, seen, x, i: state @ (mg.eye(4) * 0.9) + x * float(i),
]  # fmt: skip


def random_rounds(seed):
    """Return a function with a loop of several statements a round, whose rounds are read in different ways."""
    rng = np.random.default_rng([seed, 11])
    chosen = [WAYS_THROUGH_A_ROUND[k] for k in rng.integers(0, len(WAYS_THROUGH_A_ROUND), rng.integers(1, 4))]
    count, later = int(rng.integers(5, 9)), int(rng.integers(0, 5))

    def program(x, y):
        first, parameter = x.detach().requires_grad_(), y.detach().requires_grad_()
        state, seen, total = first, [first], mg.tensor(0.0)
        for i in range(count):
            for way in chosen:
                state = way(state, seen, parameter, i)
            seen.append(state)
            total = total + (state * state).sum()
        stacked = mg.stack(seen) if seed % 2 else mg.stack(seen[::-1])
        for each in reversed(seen) if seed % 3 == 1 else ():
            total = total + mg.cos(total * (1.0 - each * each)).mean()
        (total + stacked.mean() + seen[later].sum() + parameter.sum()).backward()
        return total, stacked.detach(), seen[later].detach(), first.grad, parameter.grad

    return program


def test_rolled_programs_have_the_bits_of_unrolled_ones_and_of_the_engine():
    rolled = 0
    for seed in range(24):
        f, rng = random_rounds(seed), np.random.default_rng(seed)
        given, others = ([mg.tensor(rng.normal(size=s)) for s in [(3, 4), (4,)]] for _ in range(2))
        names = list(passes.PASSES)
        found = []
        for chosen in (names, ["loops"] if seed % 3 == 0 else [name for name in names if name != "loops"]):
            mg.random.seed(seed)
            _, (page, structure) = trace(f, given, {}, chosen)
            rolled += any(isinstance(each, loops.Loop) for each in page.statements)
            mg.random.seed(seed)
            found.append(Runner(Program(page, structure, "step")).run(others))
        mg.random.seed(seed)
        expected = list(leaves(f(*others)))
        for each in found:
            assert all_same(expected, list(each)), seed
    assert rolled > 24


def test_equal_layers_are_written_as_one_loop_forward_and_one_back():
    layers = [nn.Linear(4, 4) for _ in range(6)]
    net = nn.Sequential(*[part for layer in layers for part in (layer, nn.Tanh())])
    sgd = optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        sgd.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        return loss

    source = mg.written_out(step, mg.tensor(np.ones((3, 4)))).source
    assert "weights = [net_0_weight, net_2_weight, net_4_weight, net_6_weight, net_8_weight, net_10_weight]" in source
    assert "for i in range(6):" in source
    assert "for i in reversed(range(1, 6)):" in source
    assert "to_net_weights.append(to_net_weight)" in source


def test_a_recurrent_network_is_written_as_two_loops():
    rng = np.random.default_rng(0)
    w, u = (mg.tensor(rng.normal(size=(4, 4)), requires_grad=True) for _ in range(2))
    sgd = optim.SGD([w, u], lr=0.1)

    def step(x):
        sgd.zero_grad()
        state = mg.zeros((3, 4))
        for drive in functional.linear(x, w).unstack():
            state = mg.tanh(functional.linear(state, u, drive))
        loss = (state * state).mean()
        loss.backward()
        sgd.step()
        return loss

    lengths = []
    for count in (20, 90):
        source = mg.written_out(step, mg.tensor(rng.normal(size=(count, 3, 4)))).source
        lengths.append(source.count("\n"))
        assert f"for i in range({count}):" in source
        assert "states.append(state)" in source
        assert "for i in reversed(range(1, " in source
        assert "np.stack" not in source
    assert lengths[0] == lengths[1] < 115

"""Writes into parts of tensors reach the whole, or raise an error that names the line to write."""

import gc
import weakref

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus.numpy as anp


def run(line, start="plain"):
    """Run a line with a tensor `o` of shape (2, 3); return its values, and the gradients of a weighted sum by w."""
    w = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = mg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=start != "plain")
    o = {"plain": x, "leaf": x, "result": x * 1.0}[start]
    exec(line, {"mg": mg, "o": o, "w": w, "np": np})  # noqa: S102 - a line of the tables here
    (o * mg.tensor([[1.0, 10.0, 100.0], [1e3, 1e4, 1e5]])).sum().backward() if o.requires_grad else None
    return o.tolist(), None if w.grad is None else w.grad.tolist()


SAME = {
    "o[0][1] = w[0]": "o[0, 1] = w[0]",
    "o[0][:] = w ** 2": "o[0] = w ** 2",
    "o[0][1] += w[0]": "o[0, 1] = o[0, 1] + w[0]",
    "row = o[0]; row += w ** 2": "o[0] = o[0] + w ** 2",
    "row = o[0]; row[1] = w[1]; row *= w": "o[0, 1] = w[1]; o[0] = o[0] * w",
    "v = o[0][1]; v += w[0]; v *= 2": "o[0, 1] = (o[0, 1] + w[0]) * 2",
    "o.T[0] = w[:2] ** 2": "o[:, 0] = w[:2] ** 2",
    "o.reshape(-1)[1] = w[0]": "o[0, 1] = w[0]",
    "o.reshape(3, 2).T[1, 2] = w[2]": "o[1, 2] = w[2]",
    "o.flatten()[4] *= w[1]": "o[1, 1] = o[1, 1] * w[1]",
    "o.ravel()[0] = w[0]": "o[0, 0] = w[0]",
    "o.squeeze()[1] = w": "o[1] = w",
    "mg.expand_dims(o, 1)[0, 0] = w": "o[0] = w",
    "o.swapaxes(0, 1)[2][1] = w[2]": "o[1, 2] = w[2]",
    "mg.moveaxis(o, 0, 1)[2] = w[:2]": "o[:, 2] = w[:2]",
    "mg.diagonal(o)[1] = w[0]": "o[1, 1] = w[0]",
    "for row in o: row += w": "o[0] = o[0] + w; o[1] = o[1] + w",
    "for row in o: row[0] = w.sum()": "o[:, 0] = w.sum()",
    "a, b = o; a *= w; b -= w": "o[0] = o[0] * w; o[1] = o[1] - w",
    "a = o[0]; b = o[1]; a += w; b -= w; a *= w": "o[0] = (o[0] + w) * w; o[1] = o[1] - w",
    "mg.unstack(o, axis=1)[2][1] = w[0]": "o[1, 2] = w[0]",
    "mg.split(o, 3, axis=1)[1][0] = w[2]": "o[0, 1] = w[2]",
    "o[0][np.array([True, False, True])] = w[:2]": "o[0, 0] = w[0]; o[0, 2] = w[1]",
    "o[0][[2, 0]] += w[0]": "o[0, 0] = o[0, 0] + w[0]; o[0, 2] = o[0, 2] + w[0]",
    "h = o[:, 1:]; h[0] = w[1:]; h[1][0] = 7.0": "o[0, 1:] = w[1:]; o[1, 1] = 7.0",
    "c = o[0].clone(); c += w": "pass",
    "c = o[[0, 1]]; c += w": "pass",
}


@pytest.mark.parametrize("start", ["plain", "result"])
@pytest.mark.parametrize("line", SAME)
def test_a_write_into_a_part_is_a_write_into_the_whole(line, start):
    assert run(line, start) == run(SAME[line], start)


PLAIN = {
    "o[0][1] = 5": "o[0, 1] = 5",
    "o[0][1] += 1": "o[0, 1] += 1",
    "for row in o: row += 1": "o += 1",
    "o[1] //= 2": "o[1] = o[1] // 2",
    "row = o[1]; row //= 2": "o[1] = o[1] // 2",
    "row = o[1]; row.assign(9.0)": "o[1] = 9.0",
    "o[0][o[0] > 0] = 0": "o[0, 1:] = 0",
}
ARRAYS = {
    "o.data[0][1] = 5": "o[0, 1] = 5",
    "o[1].data[0] = 3": "o[1, 0] = 3",
    "o.T.data[0] = 7": "o[:, 0] = 7",
    "o[0][1].data[...] = 2": "o[0, 1] = 2",
    "o[0].data -= 1": "o[0] -= 1",
    "d = o[0].data; o[0, 2] = 4; d[1] = 3": "o[0, 2] = 4; o[0, 1] = 3",
    "n = o.numpy(); n[0][1] = 5": "pass",
}


@pytest.mark.parametrize("line", {**PLAIN, **ARRAYS})
def test_numbers_are_written_into_the_whole(line):
    assert run(line) == run({**PLAIN, **ARRAYS}[line])


@pytest.mark.parametrize("line", [line for line in PLAIN if ">" not in line])
def test_a_part_of_a_leaf_is_written_under_no_grad(line):
    def after(text):
        return run(f"with mg.no_grad():\n    {text}", "leaf")

    assert after(line) == after(PLAIN[line])
    with pytest.raises(RuntimeError, match=r"x is a leaf.*write `with mg.no_grad\(\): .*clone\(\)"):
        run(line, "leaf")


REFUSED = {
    "row = o[0]; o[0, 2] = 9; row += 1": r"since the program read x\[0\].* write x\[0\] \+= ... with x itself",
    "row = o[0]; o *= 2; row[1] = 5": r"write x\[0, 1\] = ... with x itself.*x\[0\].clone\(\)",
    "v = o[0][1]; o += 1; v *= 2": r"write x\[0, 1\] \*= ...",
    "o[0], o[1] = o[1], o[0]": r"x has changed since the program read x\[0\].*write x\[0\].clone\(\)",
    "o.T.reshape(-1)[0] = 1": r"mg.reshape\(x.T, \(-1,\)\) is a copy here.*write into x itself",
    "h = o.T[1:]; h *= 2; h.reshape(-1)[0] = 1": r"mg.reshape\(x.T\[1:\], \(-1,\)\) is a copy here",
    "o.T.ravel()[0] = 1": r"mg.ravel\(x.T\) is a copy here.*write mg.ravel\(x.T\).clone\(\)",
    "mg.broadcast_to(o, (2, 2, 3))[0] = 1": r"write into x itself",
    "o[0].data = np.ones(3)": r"x\[0\].data = ... would give.*write x\[0\]\[...\] = ... to change both",
    "o[:, 1:][0] = np.ones(5)": r"does not fit",
    "o[0][3] = w[0]": r"setitem",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_write_that_would_be_lost_or_wrong_is_refused(line):
    with pytest.raises((RuntimeError, ValueError, IndexError), match=REFUSED[line]):
        run(line)


def test_a_write_that_fails_changes_neither_part_nor_whole():
    x, w = mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor(2.0, requires_grad=True)
    y = x * w
    row = y[0]
    for line in ("row += mg.ones(3)", "row[0] = w * 1j", "row[5] = w", "row.assign(1.0)"):
        with pytest.raises((TypeError, ValueError, IndexError, RuntimeError)):
            exec(line, {"row": row, "mg": mg, "w": w})  # noqa: S102 - a line above
        assert (row.tolist(), y.tolist()) == ([2.0, 4.0], [[2.0, 4.0], [6.0, 8.0]])
    row += w
    y.sum().backward()
    assert w.grad.item() == 12.0


def test_parameters_gradients_and_states_are_written_by_parts():
    layer = mg.nn.Linear(3, 2)
    layer(mg.ones(3)).sum().backward()
    layer.weight.grad[0][1] = 0
    assert layer.weight.grad.tolist() == [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    with mg.no_grad():
        layer.weight[0][1] = 5
    state = layer.state_dict()
    state["weight"][1] = 1
    state["weight"][1][2] = 7
    state["bias"] *= 0
    assert layer.weight.tolist()[1] == [1.0, 1.0, 7.0]
    assert layer.weight[0, 1].item() == 5.0
    assert layer.bias.tolist() == [0.0, 0.0]
    with mg.no_grad():
        layer.weight += 1
    assert state["weight"][1].tolist() == [1.0, 1.0, 7.0]
    with pytest.raises(RuntimeError, match=r"x has changed since the program read x.detach\(\).*clone\(\)"):
        state["weight"][0] = 1


def test_bigrams_are_counted():
    counts = mg.zeros((3, 3), dtype=int)
    for a, b in [(0, 1), (0, 1), (2, 2)]:
        counts[a][b] += 1
    assert counts.tolist() == [[0, 2, 0], [0, 0, 0], [0, 0, 1]]


def test_rules_keep_their_numbers_when_a_part_is_written():
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = mg.tensor([1.0, 1.0], requires_grad=True)
    loss = (x * w).sum()
    row = x[0]
    later = (row * w).sum()
    row += 10
    row.data[0] = 50
    (loss + later).backward()
    assert w.grad.tolist() == [5.0, 8.0]
    assert x.tolist() == [[50.0, 12.0], [3.0, 4.0]]


def test_a_part_keeps_no_tensor_and_no_graph_alive():
    x = mg.tensor(np.ones((3, 4)), requires_grad=True)
    y = x * 2
    nodes = weakref.ref(y.node)
    with mg.no_grad():
        kept = [y[0], y.T, y[0][1], *y, mg.split(y, 3)[1]]
    whole = weakref.ref(y)
    del y
    gc.collect()
    assert whole() is None
    assert nodes() is None
    kept[0] += 1  # no one else can see it
    assert kept[0].tolist() == [3.0] * 4


def test_an_update_at_an_index_applies_no_more_operations():
    w = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        total = mg.zeros(3)
        total[1] += w
        total.sum().backward()
    applied = [node.op for node in trace.nodes if node.op]
    assert applied == ["getitem", "add", "setitem", "sum"]


def test_second_derivatives_and_forward_mode_go_through_parts():
    def f(x):
        out = mg.zeros((2, 3))
        out[0][:] = x**3
        row = out[1]
        row += x * x[0]
        return (out * out).sum()

    def g(x):
        return (x**6).sum() + ((x * x[0]) ** 2).sum()

    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    assert np.allclose(mg.hessian(f)(x), mg.hessian(g)(x), rtol=1e-13)
    assert np.allclose(mg.jvp(f, (x,), (v,))[1], mg.jvp(g, (x,), (v,))[1], rtol=1e-13)


def test_complex_parts_are_written():
    z = mg.tensor([[1 + 2j, 3j], [4.0, 5.0]])
    z.T[0][1] = 7j
    z.reshape(-1)[3] *= 1j
    assert z.tolist() == [[1 + 2j, 3j], [7j, 5j]]
    for line in ("z.real[0] = 1.0", "z.imag[0] = 1.0", "mg.mH(z)[0] = 1.0"):
        with pytest.raises(RuntimeError, match=r"copy here|one to one"):
            exec(line, {"z": z, "mg": mg})  # noqa: S102 - a line above
    assert z.tolist() == [[1 + 2j, 3j], [7j, 5j]]


# Numbers keep their kind ------------------------------------------------------------------------------------


@pytest.mark.parametrize("symbol", ["+=", "-=", "*=", "/=", "**=", "%=", "//="])
@pytest.mark.parametrize("other", ["0.7", "mg.tensor(0.7)", "mg.tensor(0.7, requires_grad=True)"])
def test_whole_numbers_do_not_take_in_fractions(symbol, other):
    t = mg.tensor(3)
    with pytest.raises(TypeError, match="a tensor of int64 cannot become a result of float64; make it with dtype=f"):
        exec(f"t {symbol} {other}", {"t": t, "mg": mg})  # noqa: S102 - an operator above
    assert t.item() == 3


def test_each_kind_of_number_takes_in_narrower_kinds():
    kinds = {"bool": mg.tensor([True]), "int": mg.tensor([1]), "float": mg.tensor([1.5]), "complex": mg.tensor([1j])}
    for i, (name, target) in enumerate(kinds.items()):
        for j, other in enumerate(kinds.values()):
            t = mg.tensor(target)
            if j <= max(i, int(i == 0)) and (i or not j):
                t *= other
                assert t.dtype == target.dtype
            else:
                with pytest.raises(TypeError, match=f"cannot become a result of .*dtype={list(kinds)[j]}"):
                    t *= other
                assert t.tolist() == target.tolist(), name
    small = mg.tensor([1], dtype="uint8")
    small += mg.tensor([2])
    assert (small.tolist(), str(small.dtype)) == ([3], "uint8")


def test_one_hot_rows_count_beyond_127():
    rows = mg.one_hot(mg.tensor([0] * 300), 2)
    assert (rows.T @ rows).tolist() == [[300, 0], [0, 0]]
    assert rows.dtype == np.int64


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_keeps_the_dtype(dtype, reduce, include_self):
    x, src = (mg.tensor(values, dtype=dtype) for values in ([1, 5, 2], [1, 2, 3]))
    found = mg.scatter_reduce(x, 0, [0, 0, 1], src, reduce, include_self)
    exact = mg.scatter_reduce(x.astype(float), 0, [0, 0, 1], src.astype(float), reduce, include_self)
    assert np.allclose(found.numpy(), exact.numpy(), rtol=1e-6)
    assert found.dtype == ("float64" if (dtype, reduce) == ("int64", "mean") else dtype)


def test_scatter_add_adds_whole_numbers_to_floats():
    assert mg.scatter_add(mg.tensor([0.5, 0.0]), 0, [0, 1], mg.tensor([1, 2])).tolist() == [1.5, 2.0]
    assert mg.scatter_add(mg.tensor([1, 1]), 0, [0, 0], mg.tensor([0.5, 2.0])).tolist() == [3.5, 1.0]


@pytest.mark.parametrize("given", [(), (1,), (0, 1, 2), (-1, 2, 0)])
def test_the_trace_of_numpy_is_one_function(given):
    a = np.arange(24.0).reshape(2, 3, 4)
    assert anp.trace(mg.tensor(a), *given).tolist() == np.trace(a, *given).tolist() == anp.trace(a, *given).tolist()
    slope = anp.grad(lambda a: anp.sum(anp.trace(a, *given) ** 2))(a)
    moved = a + 1e-6 * slope
    growth = ((np.trace(moved, *given) ** 2).sum() - (np.trace(a, *given) ** 2).sum()) / 1e-6
    assert np.isclose(growth, (slope**2).sum(), rtol=1e-4)

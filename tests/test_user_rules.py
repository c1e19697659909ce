"""Forwards and rules of users: what they may write into, who owns what they return, and parameters that change."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core.define import mask
from walked import leaf

pytestmark = pytest.mark.usefixtures("own_operations")
HALF_CHAIN = 1 - np.tanh([1.0, 0.5]) ** 2


def one_rule(rule, forward=lambda xp, x: 2 * x):
    """Return an operation of one input with this rule."""
    forward.__name__ = "mine"
    call = mg.op(forward)
    call.rule("x")(rule)
    return call


def arrays_of_two_inputs(decorate):
    """Return an operation 2x + 2y whose rule returns one array for both inputs."""

    def twosum(x, y):
        return 2 * x + 2 * y

    def twosum_of_arrays(xp, x, y):
        return 2 * x + 2 * y

    call = mg.custom_vjp(twosum) if decorate == "custom_vjp" else mg.op(twosum_of_arrays)

    @call.rule("x", "y")
    def _(upstream):
        gradient = 2 * upstream
        return gradient, gradient

    return call


# What a rule returns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decorate", ["op", "custom_vjp"])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_rule_may_return_one_array_for_two_inputs(decorate, recorded):
    call = arrays_of_two_inputs(decorate)
    x, y = leaf([1.0, 0.5]), leaf([2.0, 1.0])
    loss = call(mg.tanh(x), mg.sin(y)).sum()
    if recorded:
        with mg.record() as trace:
            loss.backward()
        assert sorted(g.tolist() for g in trace.gradients.values()) == sorted([x.grad.tolist(), y.grad.tolist()])
    else:
        loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * HALF_CHAIN)
    np.testing.assert_allclose(y.grad.numpy(), 2 * np.cos([2.0, 1.0]))


@pytest.mark.parametrize("used_first", [False, True])
def test_a_rule_that_returns_its_input_does_not_change_it(used_first):
    half_square = one_rule(lambda upstream, x: x, lambda xp, x: x * x / 2)
    p = leaf([1.0, 2.0])
    terms = [lambda: half_square(p).sum(), lambda: mg.sum(5 * p)]
    first, second = [term() for term in (terms[::-1] if used_first else terms)]
    (first + second).backward()
    assert p.tolist() == [1.0, 2.0]
    assert p.grad.tolist() == [6.0, 7.0]


def test_a_rule_that_returns_a_result_keeps_it_for_the_second_walk():
    half_square = one_rule(lambda upstream, out: out)
    x = leaf([1.0, 2.0])
    h = 3 * x
    square = h * h
    y = half_square(h)  # later than `square`, so its contribution to h arrives first, and the other is added to it
    loss = y.sum() + square.sum()
    loss.backward()
    once = x.grad.numpy()
    loss.backward()
    assert y.tolist() == [6.0, 12.0]
    np.testing.assert_array_equal(x.grad.numpy(), 2 * once)


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[:], lambda a: a.T, np.asarray, memoryview])
def test_a_rule_that_returns_a_constant_does_not_change_it(view):
    ones = np.ones(2)
    constant = one_rule(lambda upstream: np.asarray(view(ones)))
    x = leaf([1.0, 2.0])
    (constant(x).sum() + (2 * x).sum() + mg.tanh(constant(mg.sin(x))).sum()).backward()
    assert ones.tolist() == [1.0, 1.0]


def test_a_rule_may_remember_what_it_returns():
    remembered = []

    def rule(upstream):
        remembered.append(2 * upstream)
        return remembered[-1]

    x = leaf([1.0, 2.0])
    (one_rule(rule)(mg.sin(x)).sum() + x.sum()).backward()
    assert remembered[0].tolist() == [2.0, 2.0]


def test_a_new_result_of_a_users_rule_is_not_copied(monkeypatch):
    from micrograd_plus.core.runtime import guards

    copies = []
    copy = guards.copy_array
    monkeypatch.setattr(guards, "copy_array", lambda x: copies.append(x) or copy(x))
    x = leaf([[1.0, 2.0]])
    for rule in (lambda upstream: 2 * upstream, lambda xp, upstream: xp.transpose(2 * upstream.T)):
        one_rule(rule)(x).sum().backward()
    assert copies == []
    one_rule(lambda upstream: upstream)(x).sum().backward()
    assert len(copies) == 1


def test_a_forward_may_return_a_buffer_that_it_uses_again():
    buffer = np.zeros(2)

    def double(xp, x):
        np.multiply(x, 2, out=buffer)
        return buffer

    call = one_rule(lambda upstream: 2 * upstream, double)
    first, second = call(leaf([1.0, 2.0])), call(leaf([3.0, 4.0]))
    assert (first.tolist(), second.tolist()) == ([2.0, 4.0], [6.0, 8.0])


def test_a_mask_may_be_written_into_one_buffer():
    buffer = np.zeros(2, bool)

    @mask
    def is_positive(x):
        buffer[...] = x > 0
        return buffer

    @mg.elementwise(x=is_positive)
    def ramp(xp, x):
        return xp.maximum(x, 0)

    x = leaf([1.0, -1.0])
    y = ramp(x)
    ramp(leaf([-1.0, 1.0]))
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_a_tangent_rule_may_return_what_it_was_given():
    @mg.custom_jvp
    def passes(x, y):
        return x + y

    @passes.tangent
    def _(x_tangent, y_tangent):
        return x_tangent + y_tangent

    x, y = leaf([1.0, 0.5]), leaf([2.0, 1.0])
    passes(mg.tanh(x), mg.sin(y)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), HALF_CHAIN)


# What a rule writes into ---------------------------------------------------------------------------------------------


def writes_upstream(upstream):
    upstream *= 2
    return upstream


def writes_input(upstream, x):
    x *= 2
    return upstream * x


def writes_result(upstream, out):
    out[...] = 0
    return upstream


def sorts_input(upstream, x):
    np.asarray(x).sort()
    return upstream


@pytest.mark.parametrize("rule", [writes_upstream, writes_input, writes_result, sorts_input])
def test_a_rule_that_writes_into_an_argument_is_an_error(rule):
    x = leaf([2.0, 1.0])
    y = one_rule(rule)(x)
    with pytest.raises(ValueError, match=r"backward through mine: .*must not write.*g = 2 \* upstream.*rule mine\.x"):
        y.sum().backward()
    assert (x.tolist(), y.tolist(), x.grad) == ([2.0, 1.0], [4.0, 2.0], None)


@pytest.mark.parametrize("rule", [writes_upstream, writes_input])
def test_a_rule_that_writes_into_a_tensor_is_an_error(rule):
    x = leaf([2.0, 1.0])
    middle = mg.sin(x)
    with pytest.raises(ValueError, match=r"backward through mine: .*must not write"):
        one_rule(rule)(middle).sum().gradients(create_graph=True)
    np.testing.assert_array_equal(middle.numpy(), np.sin([2.0, 1.0]))


def test_a_forward_that_writes_into_its_input_is_an_error():
    def doubles(xp, x):
        x *= 2
        return x

    x = mg.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"mine\(x: \(2,\) float64\): a forward or rule must not write"):
        one_rule(lambda upstream: upstream, doubles)(x)
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_composite_that_writes_into_its_input_is_an_error(requires_grad):
    @mg.composite
    def steps(xp, x):
        x *= 2
        return xp.sum(x)

    x = mg.tensor([1.0, 2.0], requires_grad=requires_grad)
    with pytest.raises((ValueError, RuntimeError), match=r"steps\(x: .*(must not write|leaf that requires a gradient)"):
        steps(x)
    with mg.unfuse(), mg.no_grad(), pytest.raises(ValueError, match="must not write"):
        steps(x)
    assert x.tolist() == [1.0, 2.0]


def test_a_rule_cannot_write_into_an_array_among_the_parameters():
    def weigh(xp, x, *, weights):
        return x * weights[0]

    def rule(upstream, weights):
        weights[0] *= upstream
        return weights[0]

    x, given = leaf([1.0, 2.0]), np.array([3.0, 4.0])
    with pytest.raises(ValueError, match="must not write"):
        one_rule(rule, weigh)(x, weights=[given]).sum().backward()
    assert given.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_rule_of_tensors_may_change_its_own_upstream(create_graph):
    @mg.custom_vjp
    def both(x, y):
        return x + 3 * y

    @both.rule("x")
    def _(upstream, x):
        upstream *= 2
        return upstream + 0 * x

    @both.rule("y")
    def _(upstream, x):
        return upstream * (3 + x - x)

    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    found = both(x, y).sum().gradients(create_graph=create_graph)
    assert found[x.node].tolist() == [2.0, 2.0]
    assert found[y.node].tolist() == [3.0, 3.0]
    assert x.tolist() == [1.0, 2.0]


def test_a_rule_of_the_engine_is_called_as_it_is():
    rules = [rule for name in ("matmul", "tanh", "getitem") for rule in getattr(mg.ops, name).op.rules]
    assert all(rule.guarded is rule.function for rule in rules)


# Promises ------------------------------------------------------------------------------------------------------------


COMPOSED = "composed with other operations, the gradient is that of the walk on tensors"
UNCHANGED = "what an operation is given stays unchanged"


def share(upstream):
    gradient = 2 * upstream
    return gradient, gradient


def write_x(upstream, x):
    result = 2 * upstream
    x *= 1.5
    return result, result.copy()


@pytest.mark.parametrize(("rule", "promise", "broken"), [(share, COMPOSED, False), (write_x, UNCHANGED, True)])
def test_promises_find_a_rule_that_shares_or_writes(monkeypatch, rule, promise, broken):
    from micrograd_plus.checks.promises import broken_promises

    def both(xp, x, y):
        return 2 * x + 2 * y

    for is_trusted in (False, True):
        both.__name__ = f"both_{is_trusted}".lower()
        with monkeypatch.context() as patch:
            if is_trusted:
                patch.setattr("micrograd_plus.core.runtime.guards.is_built_in", lambda function: True)
            call = mg.op(both)
            call.rule("x", "y")(rule)
        mg.samples.sample(call, np.array([0.5, -1.5]), np.array([2.0, 0.7]))
        found = broken_promises(call)
        assert (promise in found) == (is_trusted or broken)


def test_promises_find_a_rule_that_writes_into_a_constant():
    from micrograd_plus.checks.promises import broken_promises

    count = np.zeros(())

    def rule(upstream):
        count[...] += 1
        return 2 * upstream

    call = one_rule(rule)
    mg.samples.sample(call, np.array([0.5, -1.5]))
    assert "the constants have changed" in broken_promises(call)[UNCHANGED]


# Parameters ----------------------------------------------------------------------------------------------------------


INDICES = [
    lambda: np.array([0, 2]), lambda: np.array([True, False, True]), lambda: [0, 2], lambda: (np.array([0, 2]),),
    lambda: ([0, 2],),
]  # fmt: skip


def move_first_index(value):
    """Write another index, or the opposite of a mask, into an index."""
    place = value[0] if isinstance(value, tuple) else value
    if isinstance(place, np.ndarray) and place.dtype.kind == "b":
        place[:2] = [False, True]
    else:
        place[0] = 1


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("factor", [1.0, 1j], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", ["getitem", "setitem", "put_add"])
def test_a_changed_index_does_not_reach_the_backward_pass(name, factor, index):
    index = index()
    x, values = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
    calls = {
        "getitem": lambda: mg.ops.getitem(factor * x, index=index),
        "setitem": lambda: mg.ops.setitem(factor * x, factor * values, index=index),
        "put_add": lambda: mg.ops.put_add(factor * values, index=index, shape=(3,)),
    }
    out = calls[name]()
    loss = (out * mg.tensor(factor * np.arange(1.0, out.size + 1))).real.sum()
    before = {node: gradient.tolist() for node, gradient in loss.gradients().items()}
    move_first_index(index)
    assert {node: gradient.tolist() for node, gradient in loss.gradients().items()} == before


@pytest.mark.parametrize(("call", "parameter"), [
    (lambda x, p: mg.roll(x, p, axis=0), np.array([1])),
    (lambda x, p: mg.roll(x, p, axis=(0, 1)), np.array([1, 2])),
    (lambda x, p: mg.ops.pad(x, pad_width=p), [[1, 0], [0, 1]]),
    (lambda x, p: mg.repeat(x, p, axis=0), np.array([1, 2])),
    (lambda x, p: mg.sum(x, axis=p), np.array(0)),
], ids=["roll", "roll twice", "pad", "repeat", "sum"])  # fmt: skip
def test_a_changed_parameter_does_not_reach_the_backward_pass(call, parameter):
    x = leaf(np.arange(6.0).reshape(2, 3))
    out = call(x, parameter)
    loss = (out * mg.tensor(np.arange(1.0, out.size + 1).reshape(out.shape))).sum()
    before = loss.gradients()[x.node].tolist()
    if isinstance(parameter, list):
        parameter[0] = [0, 1]
    else:
        parameter[...] = 1 - parameter
    assert loss.gradients()[x.node].tolist() == before


@pytest.mark.parametrize("decorate", [mg.op, mg.custom_vjp])
def test_parameters_of_a_users_operation_are_kept_as_they_were(decorate):
    forward = {mg.op: lambda xp, x, *, table: x * 2, mg.custom_vjp: lambda x, *, table: x * 2}[decorate]
    forward.__name__ = "mine"
    call = decorate(forward)

    @call.rule("x")
    def _(upstream, table):
        return upstream * table["weights"][0][0]

    table = {"weights": [np.array([5.0, 6.0])]}
    x = leaf([1.0, 2.0])
    y = call(x, table=table).sum()
    table["weights"][0][...] = 0
    table["weights"].clear()
    y.backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_forward_mode_and_records_have_the_parameters_of_the_call():
    index = [0, 2]

    def twice(x):
        first = mg.ops.getitem(x, index=index)
        index[:] = [1, 1]
        second = mg.ops.getitem(x * x, index=index)
        index[:] = [0, 2]
        return first + second

    x, moved = mg.tensor([1.0, 2.0, 3.0]), mg.tensor([1.0, 10.0, 100.0])
    assert mg.jvp(twice, (x,), (moved,))[1].tolist() == [41.0, 140.0]
    with mg.record() as trace:
        twice(leaf([1.0, 2.0, 3.0])).sum().backward()
    assert [node.params["index"] for node in trace.nodes if node.op == "getitem"] == ["[0, 2]", "[1, 1]"]


def test_a_plain_parameter_is_not_copied():
    from micrograd_plus.core.runtime.guards import keep_parameter

    for value in (3, None, "same", (0, 1), 2.5, slice(1, 2)):
        assert keep_parameter(value) is value

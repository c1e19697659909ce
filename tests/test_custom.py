"""User-defined rules for functions of tensors."""

import numpy as np
import pytest

import micrograd_plus as mg

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=3), RNG.normal(size=3)
WEIGHTS = mg.tensor([1.0, -2.0, 0.5])


@pytest.fixture
def product():
    """Return sin(x) y k, with rules equal to the derived ones."""

    @mg.custom_vjp
    def sine_times(x, y, *, k=2.0):
        """Return a scaled sine."""
        return mg.sin(x) * y * k

    @sine_times.rule("x", "y")
    def _(upstream, x, y, k):
        return upstream * mg.cos(x) * y * k, upstream * mg.sin(x) * k

    return sine_times


@pytest.fixture
def pair():
    """Return sin(x) y and cos(x), with only a tangent rule."""

    @mg.custom_jvp(outputs=("sine", "cosine"))
    def wave(x, y):
        return mg.sin(x) * y, mg.cos(x)

    @wave.tangent
    def _(x, y, x_tangent, y_tangent, cosine):
        return cosine * y * x_tangent + mg.sin(x) * y_tangent, -mg.sin(x) * x_tangent

    def of_both(x, y):
        sine, cosine = wave(x, y)
        return sine * cosine * cosine + sine

    return of_both


def test_a_custom_rule_takes_the_place_of_what_would_be_derived():
    @mg.custom_vjp
    def clip_gradient(x):
        return x * 1

    @clip_gradient.rule("x")
    def _(upstream):
        return mg.clip(upstream, -1.0, 1.0)

    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (clip_gradient(x) * mg.tensor([5.0, -0.5, -7.0])).sum().backward()
    assert x.grad.tolist() == [1.0, -0.5, -1.0]


def test_a_custom_rule_works_in_reverse_forward_and_second_order(product):
    assert mg.gradcheck(product, (X, Y))
    assert mg.gradcheck(lambda x, y: mg.grad(lambda x, y: product(x, y, k=3.0).sum())(x, y) * WEIGHTS, (X, Y))
    moved = mg.jvp(product, (X, Y), (Y, X))[1].numpy()
    expected = mg.jvp(lambda x, y: mg.sin(x) * y * 2, (X, Y), (Y, X))[1].numpy()
    assert np.allclose(moved, expected, rtol=1e-14)


def test_a_tangent_rule_gives_the_way_back_by_its_transpose(pair):
    assert mg.gradcheck(pair, (X, Y))
    assert mg.gradcheck(lambda x, y: mg.grad(lambda x, y: pair(x, y).sum())(x, y) * WEIGHTS, (X, Y))
    x = mg.tensor(X, requires_grad=True)
    pair(x, Y).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    (first * WEIGHTS).sum().backward()
    plain = mg.grad(lambda x: (mg.grad(lambda x: (mg.sin(x) * Y * (mg.cos(x) ** 2 + 1)).sum())(x) * WEIGHTS).sum())
    assert np.allclose(x.grad.numpy(), plain(X).numpy(), rtol=1e-12)


def test_an_infinite_input_that_does_not_move_has_a_tangent_of_0():
    @mg.custom_jvp
    def smaller(x, bound):
        return mg.minimum(x, bound)

    @smaller.tangent
    def _(x, bound, x_tangent, bound_tangent):
        return mg.where(x < bound, x_tangent, bound_tangent) + 0 * bound_tangent

    unbounded = np.full(3, np.inf)
    assert mg.jvp(lambda x: smaller(x, unbounded), (np.ones(3),), (np.full(3, 2.0),))[1].tolist() == [2.0, 2.0, 2.0]
    assert mg.grad(lambda x: smaller(x, unbounded).sum())(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_gradient_and_tangent_rules_are_both_used():
    used = []

    @mg.custom_vjp
    def twice(x):
        return 2 * x

    @twice.rule("x")
    def _(upstream):
        used.append("back")
        return 2 * upstream

    @twice.tangent
    def _(x_tangent):
        used.append("forward")
        return 2 * x_tangent

    assert mg.grad(twice)(1.0).item() == 2.0
    assert used == ["back"]
    assert mg.jvp(twice, (1.0,), (3.0,))[1].item() == 6.0
    assert used == ["back", "forward"]


def test_an_argument_without_gradient_needs_no_rule(product):
    @mg.custom_vjp
    def scale(x, mask=None):
        return x if mask is None else x * mask

    @scale.rule("x")
    def _(upstream, mask):
        return upstream if mask is None else upstream * mask

    assert mg.grad(scale)(2.0).item() == 1.0
    assert mg.grad(lambda x: scale(x, 3.0))(2.0).item() == 3.0
    assert mg.grad(lambda x: scale(x, mask=4.0))(2.0).item() == 4.0


def test_without_rules_it_is_the_function_it_was():
    @mg.custom_vjp
    def plain(x):
        """Nothing special."""
        return x * x

    assert mg.grad(plain)(3.0).item() == 6.0
    assert plain.__doc__ == "Nothing special."
    assert repr(plain) == "<custom plain(x)>"


def test_an_unnamed_function_is_described_by_its_signature():
    assert repr(mg.custom_vjp(lambda x, y, *, k=1, c=2: x)) == "<custom lambda(x, y, k, c)>"


def test_a_rule_may_read_the_result():
    @mg.custom_vjp
    def root(x):
        return mg.sqrt(x)

    @root.rule("x")
    def _(upstream, out):
        return upstream / (2 * out)

    assert mg.gradcheck(root, (X**2,))
    assert mg.gradcheck(mg.grad(lambda x: root(x).sum()), (X**2,), rtol=1e-4)


def test_what_has_no_default_must_be_given():
    @mg.custom_vjp
    def power(x, y, *, k):
        return x * y * k

    power.rule("x")(lambda upstream, y, k: upstream * y * k)
    assert power(2.0, 3.0, k=4.0).item() == 24.0
    with pytest.raises(TypeError, match="power"):
        power(2.0, k=4.0)
    with pytest.raises(TypeError, match=r"power.*k"):
        power(2.0, 3.0)


def test_a_new_tangent_rule_replaces_the_old_one():
    @mg.custom_jvp
    def twice(x):
        return 2 * x

    def wrong(x_tangent):
        return 3 * x_tangent

    def right(x_tangent):
        return 2 * x_tangent

    for rule, slope in ((wrong, 3.0), (right, 2.0)):
        assert twice.tangent(rule) is rule
        x = mg.tensor(1.0, requires_grad=True)
        with mg.record() as trace:
            twice(x).backward()
        assert x.grad.item() == slope
        (shown,) = trace.rules.values()
        assert f"return {slope:.0f} * x_tangent" in shown.source
        assert (shown.reason, shown.latex) == ("The transpose of the tangent rule.", None)


def test_the_engine_undoes_broadcasting_of_custom_rules(product):
    x, y = mg.tensor(1.5, requires_grad=True), mg.tensor(Y, requires_grad=True)
    product(x, y).sum().backward()
    assert x.grad.item() == pytest.approx(2 * np.cos(1.5) * Y.sum())


def test_the_record_shows_a_custom_rule_with_its_source():
    @mg.custom_vjp
    def halve(x):
        """Half of it."""
        return x / 2

    @halve.rule("x")
    def _(upstream):
        """Half goes back."""
        return upstream / 2

    x = mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        halve(x).backward()
    (rule,) = trace.rules.values()
    assert (rule.op, rule.reason, rule.text) == ("halve", "Half goes back.", "contribution = upstream / 2")
    assert "return upstream / 2" in rule.source
    assert trace.nodes[-1].summary == "Half of it."
    assert mg.load_trace(trace.to_json()).to_json() == trace.to_json()


@pytest.mark.parametrize(("rule", "sentence"), [
    (lambda upstream, z: upstream, "the rule f.x reads 'z'; it may read"),
])  # fmt: skip
def test_a_rule_with_an_unknown_argument_is_an_error(rule, sentence):
    @mg.custom_vjp
    def f(x):
        return x * 1

    with pytest.raises(TypeError, match=sentence):
        f.rule("x")(rule)


def test_a_tangent_rule_with_an_unknown_argument_is_an_error():
    @mg.custom_jvp
    def f(x):
        return x * 1

    with pytest.raises(TypeError, match="the tangent rule of f reads 'upstream'; it may read out, x, x_tangent"):
        f.tangent(lambda upstream: upstream)


def test_a_required_gradient_without_a_rule_is_an_error():
    @mg.custom_vjp
    def f(x, y):
        return x * y

    @f.rule("x")
    def _(upstream, y):
        return upstream * y

    with pytest.raises(RuntimeError, match=r"f has no rule for y, which requires a gradient: .*@f\.rule\('y'\)"):
        f(1.0, mg.tensor(2.0, requires_grad=True))
    with mg.no_grad():
        assert f(1.0, mg.tensor(2.0, requires_grad=True)).item() == 2.0


def test_a_captured_tensor_with_a_gradient_is_an_error():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    @mg.custom_vjp
    def f(x):
        return x * w

    f.rule("x")(lambda upstream: upstream)
    with pytest.raises(RuntimeError, match=r"f captures a tensor of shape \(2,\) that.*make it an argument"):
        f(1.0)


def test_a_rule_of_the_wrong_shape_names_itself():
    @mg.custom_vjp
    def f(x):
        return x * 1

    f.rule("x")(lambda upstream: mg.stack([upstream, upstream], 1)[:, :, None])
    with pytest.raises(RuntimeError, match=r"the rule f\.x returned shape \(3, 2, 1\), but the input x"):
        mg.grad(lambda x: f(x).sum())(X)


@pytest.mark.parametrize("still", [mg.tensor([np.inf, 1.0]), 3.0])
def test_an_input_that_does_not_move_has_a_tangent_of_zeros(still):
    @mg.custom_jvp
    def add_two(x, y):
        return x + y

    @add_two.tangent
    def _(x_tangent, y_tangent):
        return x_tangent + y_tangent

    assert mg.jvp(lambda x: add_two(x, still), (np.ones(2),), (np.array([5.0, 7.0]),))[1].tolist() == [5.0, 7.0]


def test_a_tangent_of_the_wrong_shape_names_its_rule():
    @mg.custom_jvp
    def f(x):
        return x.sum()

    f.tangent(lambda x_tangent: x_tangent)
    with pytest.raises(RuntimeError, match=r"the tangent rule of f gave shape \(3,\) for a result of \(\)"):
        mg.jvp(f, (X,), (X,))


def test_a_function_of_any_number_of_arguments_is_refused():
    with pytest.raises(TypeError, match=r"f takes \*args or \*\*kwargs; a rule is for an input with a name"):
        mg.custom_vjp(_of_any_number)


def _of_any_number(*xs):
    return xs[0]


_of_any_number.__name__ = "f"


def test_several_results_are_read_by_name():
    @mg.custom_vjp(outputs=("root", "square"))
    def both(x):
        return mg.sqrt(x), x * x

    @both.rule("x")
    def _(upstream, x, root):
        return upstream[0] / (2 * root) + upstream[1] * 2 * x

    assert mg.gradcheck(lambda x: mg.stack(both(x)), (X**2,))
    assert mg.gradcheck(mg.grad(lambda x: (both(x)[0] * both(x)[1]).sum()), (X**2,), rtol=1e-4)
    assert mg.grad(lambda x: both(x)[0])(4.0).item() == 0.25
    with pytest.raises(TypeError, match="a rule of both reads its results by name: root, square"):
        both.rule("x")(lambda upstream, out: upstream[0])


@pytest.mark.parametrize("results", [lambda x: x, lambda x: [x, x], lambda x: (x, x, x)])
def test_results_that_are_not_what_outputs_names_are_refused(results):
    @mg.custom_vjp(outputs=("first", "second"))
    def f(x):
        return results(x)

    f.rule("x")(lambda upstream: upstream[0])
    with pytest.raises(TypeError, match="f returns a tuple of first, second, as its `outputs` say"):
        f(1.0)


def test_one_name_for_several_results_is_refused():
    with pytest.raises(TypeError, match="`outputs` names the results of a function that returns several"):
        mg.custom_vjp(outputs=("all",))(lambda x: (x, x))

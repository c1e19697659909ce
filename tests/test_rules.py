"""Invalid rules: rejected at their definition, or named in the error when they are applied."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.core.define import wraps_op
from micrograd_plus.core.rule import KINDS
from open_modes import open_modes


def leaf(values, **options):
    return mg.tensor(values, requires_grad=True, **options)


def numbers(x):
    return x.tolist()


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("watched", [False, True])
def test_a_gradient_of_the_wrong_shape_is_an_error_with_both_shapes(watched):
    @mg.op
    def shorten(xp, x):
        return x * 2

    @shorten.rule("x")
    def _(xp, upstream):
        return xp.sum(upstream, axis=0)

    x = leaf(np.ones((2, 3)))
    y = shorten(x)
    if watched:
        y.register_hook(lambda gradient: None)
    sentence = r"the rule shorten\.x returned shape \(3,\), but the input x of shorten has shape \(2, 3\)"
    with pytest.raises(RuntimeError, match=sentence):
        y.backward(np.ones((2, 3)))


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("watched", [False, True])
def test_an_error_names_the_rule_with_too_few_contributions(watched):
    @mg.op
    def lonely(xp, a, b):
        return a * b

    @lonely.rule("a", "b")
    def _(upstream, a, b):
        return (upstream * b,)

    a, b = leaf([1.0]), leaf([2.0])
    y = lonely(a, b)
    if watched:
        y.register_hook(lambda gradient: None)
    with pytest.raises(RuntimeError, match=r"the rule lonely\.a\+b returned 1 contributions for 2 inputs"):
        y.backward()


@pytest.mark.usefixtures("own_operations")
def test_an_error_names_the_variadic_rule_that_skips_a_part():
    @mg.variadic(parts=lambda xp, upstream: [upstream])
    def forgetful(xp, parts):
        return parts[0] + parts[1]

    y = forgetful([leaf([1.0]), leaf([2.0])])
    with pytest.raises(RuntimeError, match=r"rule forgetful\.parts returned 1 contributions for 2 inputs"):
        y.backward()


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("watched", [False, True])
def test_a_rule_that_raises_leaves_no_partial_gradients(watched):
    @mg.op
    def stubborn(xp, x):
        return x * 2

    @stubborn.rule("x")
    def _(upstream):
        raise ArithmeticError("not today")

    x, other = leaf([1.0]), leaf([2.0])
    middle = stubborn(x)
    y = (middle * other).sum()
    if watched:
        middle.register_hook(lambda gradient: None)
    with pytest.raises(ArithmeticError, match="backward through stubborn: not today"):
        y.backward()
    assert x.grad is None
    assert other.grad is None
    assert open_modes() == []
    (other * 3).backward()
    assert numbers(other.grad) == [3.0]


@pytest.mark.usefixtures("own_operations")
def test_an_operation_without_a_rule_says_how_to_give_one():
    @mg.op
    def mystery(xp, x):
        return xp.nextafter(x, 0.0)

    assert numbers(mystery(mg.tensor([0.0]))) == [0.0]
    with pytest.raises(RuntimeError, match=r"mystery has no gradient rule.*@mystery\.rule\('x'\).*stop_grad"):
        mystery(leaf([1.0]))


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize(("kind", "promise", "rule", "reads"), [
    (mg.elementwise, "elementwise", lambda upstream: upstream, "upstream"),
    (mg.linear, "linear", lambda upstream, x: upstream * x, "x"),
    (mg.linear, "linear", lambda upstream, out: upstream * out, "out"),
    (mg.multilinear, "multilinear", lambda upstream, x: upstream * x, "x"),
])  # fmt: skip
def test_a_rule_that_reads_a_forbidden_name_raises(kind, promise, rule, reads):
    def unruly(xp, x):
        return x * 2

    with pytest.raises(TypeError, match=f"the rule unruly.x may not read '{reads}': unruly is {promise}: "):
        kind(x=rule)(unruly)


def test_a_rule_becomes_its_adjoint_for_complex_numbers():
    a = leaf([[1 + 2j]])
    mg.real(a @ mg.tensor([[3 - 1j]])).sum().backward()
    assert numbers(a.grad) == [[3 + 1j]]


def test_a_function_in_front_of_an_operation_takes_dim_for_axis():
    @wraps_op(mg.sum)
    def total(x, axis=None):
        return mg.sum(x, axis=axis)

    assert numbers(total(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)) == [4.0, 6.0]
    assert total.op is mg.sum.op


@pytest.mark.parametrize("decorator", [mg.elementwise, mg.linear, mg.multilinear, mg.variadic])
def test_a_decorator_says_what_its_kind_promises(decorator):
    kind = decorator.__name__
    assert decorator.__doc__.startswith(f"Define an operation of the {kind} kind: {KINDS[kind]}.")
    assert f"`@mg.{kind}(x=rule)`" in decorator.__doc__


@pytest.mark.usefixtures("own_operations")
def test_the_error_about_an_unknown_argument_lists_the_known_ones():
    def unclear_rule(xp, x):
        return x * 2

    with pytest.raises(TypeError, match=r"unclear_rule\.x reads 'wish'; it may read .*out.*upstream.*x_shape"):
        mg.elementwise(x=lambda wish: wish)(unclear_rule)


@pytest.mark.usefixtures("own_operations")
def test_a_rule_for_an_unknown_input_raises():
    @mg.op
    def single(xp, x):
        return x * 2

    with pytest.raises(TypeError, match="single has no input 'y' for a rule; it has x"):
        single.rule("y")(lambda upstream: upstream)
    with pytest.raises(TypeError, match=r"the rule single\.x must be a function, got 2\.0"):
        single.rule("x")(2.0)


def test_an_input_with_a_reserved_name_raises():
    with pytest.raises(TypeError, match="twofold: an input cannot be called 'out'; rules use that name for something"):

        @mg.op
        def twofold(xp, out):
            return out * 2

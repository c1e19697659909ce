"""Linear algebra: values by hand, conventions for degenerate matrices, and error messages."""

import itertools
import math
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import matrices

la = mg.linalg
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


def gradient(f, x):
    return mg.grad(f)(np.asarray(x, complex if np.iscomplexobj(x) else float)).numpy()


def draw(*shape, seed=0):
    rng = np.random.default_rng([*shape, seed] if seed else shape)
    return rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)


def complex_numbers(*shape):
    return draw(*shape) + 1j * draw(*shape, seed=1)


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


# Solving and determinants -----------------------------------------------------------------------------------


def test_solve_undoes_a_product_for_vectors_matrices_and_stacks():
    a, x = draw(2, 1, 3, 3) + 4 * np.eye(3), draw(4, 3, 5)
    np.testing.assert_allclose(la.solve(a, a @ x).numpy(), np.broadcast_to(x, (2, 4, 3, 5)))
    assert la.solve(a, [1.0, 2.0, 3.0]).shape == (2, 1, 3)
    assert la.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0]).tolist() == [0.5, 0.25]


def test_a_rule_of_solve_makes_no_inverse():
    with mg.record() as trace:
        a = mg.tensor([[2.0, 1.0], [0.0, 4.0]], requires_grad=True)
        mg.sum(la.solve(a, [1.0, 1.0])).backward()
    (rule_of_solve,) = [rule for rule in trace.rules.values() if rule.op == "solve"]
    assert rule_of_solve.text == "contribution = −solve(aᵀ, upstream) @ outᵀ"
    np.testing.assert_allclose(a.grad.numpy(), [[-0.1875, -0.125], [-0.046875, -0.03125]])


def test_det_has_the_gradient_of_the_sum_over_permutations():
    def by_permutations(a):
        total = 0.0
        for order in itertools.permutations(range(3)):
            sign = (-1) ** sum(order[i] > order[j] for i in range(3) for j in range(i + 1, 3))
            total = total + sign * a[0, order[0]] * a[1, order[1]] * a[2, order[2]]
        return total

    rank_two, rank_one = np.outer([1.0, 2, 3], [1, -1, 2]) + np.outer([0, 1, 1], [3, 0, 1]), np.ones((3, 3))
    for a in (draw(3, 3), rank_two, rank_one, np.zeros((3, 3)), np.eye(3)):
        np.testing.assert_allclose(gradient(la.det, a), gradient(by_permutations, a), atol=1e-14)
    for a in (draw(3, 3), np.eye(3)):
        np.testing.assert_allclose(mg.hessian(la.det)(a).numpy(), mg.hessian(by_permutations)(a).numpy(), atol=1e-13)


def test_slogdet_goes_on_where_the_determinant_overflows():
    large = -1e200 * np.eye(3)
    sign, size = la.slogdet(large)
    assert (sign.item(), size.item()) == (-1, 3 * math.log(1e200))
    np.testing.assert_allclose(gradient(lambda a: la.slogdet(a)[1], large), -1e-200 * np.eye(3))
    assert [part.item() for part in la.slogdet(SINGULAR)] == [0, -math.inf]


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: la.solve(SINGULAR, [1.0, 1.0]), r"^solve\(a: \(2, 2\) float64, b: .*: a is singular: a @ x = b has no"),
    (lambda: la.inv(SINGULAR), r"^inv\(a: \(2, 2\) float64\): a is singular: it has no inverse$"),
    (lambda: gradient(lambda a: la.slogdet(a)[1], SINGULAR), "a is singular: it has no inverse"),
    (lambda: mg.hessian(la.det)(np.array(SINGULAR)), "a is singular: it has no inverse"),
    (lambda: la.matrix_power(SINGULAR, -1), "a is singular: it has no inverse"),
    (lambda: gradient(lambda a: mg.sum(la.qr(a)[1]), [[1.0, 0.0], [0.0, 0.0]]), "a is singular"),
    (lambda: la.cholesky([[1.0, 2.0], [2.0, 1.0]]), r"a must be positive definite: all eigenvalues of \(a \+ aᵀ\) / 2"),
    (lambda: la.det(np.ones((2, 3))), r"a must be a square matrix, or a stack of them; it has shape \(2, 3\)"),
    (lambda: la.expm([1.0]), r"a must be a square matrix"),
    (lambda: la.solve(np.eye(3), np.ones((2, 3))),
     r"b must have a row for each row of a; the shapes are \(3, 3\) and \(2, 3\)"),
    (lambda: la.svd(np.ones((2, 3)), full_matrices=True),
     "the additional vectors of full_matrices are not unique"),
    (lambda: la.qr(np.ones((2, 3)), mode="complete"), "mode must be 'reduced' or 'r', got 'complete'"),
    (lambda: la.eigh(np.eye(2), UPLO="l"), "UPLO must be 'L', 'U' or None, got 'l'"),
    (lambda: la.matrix_norm(np.eye(2), ord=3), "ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got 3"),
    (lambda: la.vector_norm([1.0], ord="fro"), "vector_norm: ord must be a number, got 'fro'"),
    (lambda: la.norm(np.ones((2, 2, 2)), 2), r"with ord=2, axis must be one axis .* or two \(a matrix\), got 3"),
])  # fmt: skip
def test_errors_state_the_requirement_on_the_matrix(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Factorisations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [draw, complex_numbers])
def test_factors_multiply_to_what_they_were_made_of(entries):
    a = entries(2, 4, 3)
    square = adjoint(a) @ a
    lower, upper = la.cholesky(square).numpy(), la.cholesky(square, upper=True).numpy()
    np.testing.assert_allclose(lower @ adjoint(lower), square)
    np.testing.assert_allclose(upper, adjoint(lower))
    values, vectors = (part.numpy() for part in la.eigh(square))
    np.testing.assert_allclose(vectors * values[:, None] @ adjoint(vectors), square)
    for matrix in (a, adjoint(a)):
        q, r = (part.numpy() for part in la.qr(matrix))
        np.testing.assert_allclose(q @ r, matrix)
        assert not np.tril(r, -1).any()
        assert not np.diagonal(r, axis1=-2, axis2=-1).imag.any()
        u, s, vh = (part.numpy() for part in la.svd(matrix))
        np.testing.assert_allclose(u * s[:, None] @ vh, matrix)
        np.testing.assert_allclose(la.pinv(matrix).numpy(), np.linalg.pinv(matrix))


@pytest.mark.parametrize("a", [
    complex_numbers(3, 3), [[1, 1j], [-1j, 1]], [[2, 0], [0, 1j]], [[3, 1 + 1j, 0], [1 - 1j, 3, 0], [0, 0, 5]],
])  # fmt: skip
def test_the_first_large_entry_of_a_complex_vector_is_positive(a):
    for columns in (la.eigh(np.array(a) + 0j)[1].numpy(), la.svd(np.array(a) + 0j)[0].numpy()):
        size = abs(columns)
        pivots = columns[np.argmax(size >= size.max(axis=0) / 2, axis=0), range(len(columns))]
        np.testing.assert_allclose(pivots.imag, 0, atol=1e-15)
        assert (pivots.real > 0.2).all()


def test_the_adjoint_is_the_conjugate_transpose():
    a = complex_numbers(2, 3, 4)
    assert mg.tensor(a).mH.tolist() == mg.mH(a).tolist() == adjoint(a).tolist()
    assert mg.mH(draw(2, 3)).tolist() == draw(2, 3).T.tolist()
    assert mg.gradcheck(lambda a: a.mH @ a, [a])


def test_slogdet_of_a_complex_matrix_has_the_gradient_of_det():
    a = complex_numbers(3, 3)
    sign, size = la.slogdet(a)
    assert sign.item() * math.exp(size.item()) == pytest.approx(np.linalg.det(a))
    received = gradient(lambda a: mg.real(la.slogdet(a)[0] * mg.exp(la.slogdet(a)[1])), a)
    np.testing.assert_allclose(received, gradient(lambda a: mg.real(la.det(a)), a))


def test_complex_factors_give_the_gradient_of_their_product():
    """The product does not depend on the free phase of its factors."""
    weights, a = mg.tensor(complex_numbers(3, 3)), complex_numbers(4, 3)
    square = adjoint(a) @ a

    def cube(a):
        values, vectors = la.eigh(a)
        return mg.sum(mg.real((vectors * values**3) @ mg.mH(vectors) * weights))

    def root(a):
        u, s, vh = la.svd(a)
        return mg.sum(mg.real((u * s**3) @ vh * complex_numbers(4, 3)))

    hermitian = gradient(lambda a: mg.sum(mg.real(la.matrix_power((a + mg.mH(a)) / 2, 3) * weights)), square)
    np.testing.assert_allclose(gradient(cube, square), hermitian, rtol=1e-9)
    exact = gradient(lambda a: mg.sum(mg.real(a @ mg.mH(a) @ a * complex_numbers(4, 3))), a)
    np.testing.assert_allclose(gradient(root, a), exact, rtol=1e-9)


def test_equal_complex_singular_values_have_a_gradient():
    a = np.linalg.qr(complex_numbers(4, 2))[0] * 2
    exact = gradient(lambda a: mg.real(mg.sum(mg.square(mg.abs(a @ mg.mH(a))))), a)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(gradient(lambda a: mg.sum(la.svdvals(a) ** 4), a), exact, atol=1e-12)
        assert np.isnan(gradient(lambda a: mg.real(mg.sum(la.svd(a)[0] * draw(4, 2))), a)).any()


@pytest.mark.parametrize("function", [
    lambda a: mg.sum(la.cholesky(a) * draw(3, 3)), lambda a: mg.sum(la.eigvalsh(a) * draw(3)),
])  # fmt: skip
def test_eigh_and_cholesky_use_the_symmetric_part(function):
    a = draw(3, 3) + 9 * np.eye(3)
    assert function(mg.tensor(a)).item() == pytest.approx(function(mg.tensor((a + a.T) / 2)).item(), rel=1e-13)
    np.testing.assert_allclose(gradient(function, a), gradient(function, a).T)


@pytest.mark.parametrize("entries", [draw, complex_numbers])
def test_with_a_triangle_named_nothing_goes_to_the_other(entries):
    a = entries(3, 3)
    for uplo, silent in (("L", np.triu), ("U", np.tril)):
        np.testing.assert_allclose(la.eigvalsh(a, uplo).numpy(), np.linalg.eigvalsh(a, uplo))
        received = gradient(lambda a, uplo=uplo: mg.sum(la.eigvalsh(a, uplo) ** 3), a)
        assert not silent(received, 1 if uplo == "L" else -1).any()


def rotate(values):
    """Return a symmetric matrix with these eigenvalues, up to rounding."""
    q = np.linalg.qr(draw(len(values), len(values)))[0]
    return q * values @ q.T


@pytest.mark.parametrize("values", [[2.0, 2.0, 5.0], [3.0, 3.0, 3.0], [0.0, 0.0, 1.0]])
def test_only_vectors_of_equal_eigenvalues_have_no_gradient(values):
    a = rotate(values)
    received = gradient(lambda a: mg.sum(la.eigvalsh(a) ** 3), a)
    np.testing.assert_allclose(received, gradient(lambda a: la.trace(la.matrix_power(a, 3)), a), atol=1e-13)
    for matrix in (a, np.diag(values)):  # equal up to rounding, and exactly
        assert np.isnan(gradient(lambda a: mg.sum(la.eigh(a)[1] * draw(3, 3)), matrix)).any()


def test_eigenvectors_of_close_eigenvalues_have_a_gradient():
    def cube(a):
        values, vectors = la.eigh(a)
        return mg.sum((vectors * values**3) @ mg.mT(vectors) * weights)

    a, weights = rotate([2.0, 2.0001, 5.0]), draw(3, 3)
    exact = gradient(lambda a: mg.sum(la.matrix_power((a + mg.mT(a)) / 2, 3) * weights), a)
    np.testing.assert_allclose(gradient(cube, a), exact, rtol=1e-8)


@pytest.mark.parametrize("s", [[2.0, 2.0], [3.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 4)])
def test_equal_or_zero_singular_values_have_a_gradient(s, shape):
    a = np.linalg.qr(draw(shape[0], 2))[0] * s @ np.linalg.qr(draw(shape[1], 2))[0].T
    exact = gradient(lambda a: mg.sum(mg.square(a @ mg.mT(a))), a)
    np.testing.assert_allclose(gradient(lambda a: mg.sum(la.svdvals(a) ** 4), a), exact, atol=1e-12)


@pytest.mark.parametrize("s", [[3.0, 1.0], [1.0, 0.0], [1.0, 1e-9]])
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 4)])
def test_products_of_singular_vectors_have_the_right_gradient(s, shape):
    def rebuild(a):
        u, s, vh = la.svd(a)
        return mg.sum((u * s**3) @ vh * weights)

    a = np.linalg.qr(draw(shape[0], 2))[0] * s @ np.linalg.qr(draw(shape[1], 2))[0].T
    weights = draw(*shape)
    exact = gradient(lambda a: mg.sum(a @ mg.mT(a) @ a * weights), a)
    np.testing.assert_allclose(gradient(rebuild, a), exact, atol=1e-9)


def test_singular_vectors_of_equal_values_have_no_gradient():
    assert np.isnan(gradient(lambda a: mg.sum(la.svd(a)[0] * draw(2, 2)), np.eye(2))).any()
    np.testing.assert_allclose(gradient(lambda a: la.matrix_norm(a, ord="nuc"), np.eye(3)), np.eye(3), atol=1e-15)


def test_a_pseudoinverse_counts_small_singular_values_as_0():
    a = np.diag([2.0, 1e-20, 0.0])[:, :2]
    assert la.pinv(a).tolist() == [[0.5, 0, 0], [0, 0, 0]]
    assert la.pinv(np.diag([2.0, 0.1]), rtol=0.1).tolist() == [[0.5, 0], [0, 0]]
    assert la.pinv(np.diag([2.0, 0.1])).tolist() == [[0.5, 0], [0, 10]]
    assert la.pinv(np.zeros((2, 3))).tolist() == np.zeros((3, 2)).tolist()


def test_pinv_has_a_gradient_at_equal_singular_values():
    columns = np.linalg.qr(draw(4, 2))[0]
    assert mg.gradcheck(lambda a: mg.sum(la.pinv(a) * draw(2, 4)), [columns])


# Functions of matrices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5, 8])
def test_matrix_power_equals_the_product_with_its_gradient(n):
    def product(a):
        factor, out = (a if n >= 0 else la.inv(a)), mg.tensor(np.eye(3))
        for _ in range(abs(n)):
            out = out @ factor
        return mg.sum(out * draw(3, 3))

    a = draw(3, 3) + 3 * np.eye(3)
    np.testing.assert_allclose(la.matrix_power(a, n).numpy(), np.linalg.matrix_power(a, n))
    received = gradient(lambda a: mg.sum(la.matrix_power(a, n) * draw(3, 3)), a)
    np.testing.assert_allclose(received, gradient(product, a) if n else 0, rtol=1e-9, atol=1e-15)


def test_expm_of_simple_matrices():
    turn, shear = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
    for angle in (0.0, 0.1, 3.0, 100.0, 1e6):
        wanted = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        np.testing.assert_allclose(la.expm(angle * turn).numpy(), wanted, atol=1e-15 * max(angle, 20))
    np.testing.assert_allclose(la.expm(1e5 * shear).numpy(), [[1, 1e5], [0, 1]], rtol=1e-12)
    exponents = np.array([-700.0, 0.0, 1.0, 700.0])
    np.testing.assert_allclose(np.diag(la.expm(np.diag(exponents)).numpy()), np.exp(exponents), rtol=1e-12)
    np.testing.assert_allclose(la.expm([[1j * math.pi]]).numpy(), [[-1]], atol=1e-14)


def test_each_matrix_of_a_stack_is_halved_as_often_as_it_needs():
    stack = draw(3, 4, 4) * np.array([1e-3, 1.0, 30.0])[:, None, None]
    np.testing.assert_allclose(la.expm(stack).numpy(), [la.expm(a).numpy() for a in stack], rtol=1e-13)


def test_an_exponential_beyond_reach_is_not_a_number():
    assert np.isnan(la.expm(1e9 * np.array([[0.0, -1.0], [1.0, 0.0]])).numpy()).all()


def test_a_flow_carries_volume_by_the_exponential_of_the_trace():
    a = draw(3, 3)
    assert la.det(la.expm(a)).item() == pytest.approx(math.exp(la.trace(a).item()))
    received = gradient(lambda a: la.slogdet(la.expm(a))[1], a)
    np.testing.assert_allclose(received, np.eye(3), atol=1e-12)


def test_a_trace_is_over_the_last_two_axes():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert la.trace(x).tolist() == np.linalg.trace(x).tolist()
    assert la.trace(x, offset=-1).tolist() == np.linalg.trace(x, offset=-1).tolist()
    assert la.trace(x, offset=9).tolist() == [0, 0]
    assert gradient(lambda x: mg.sum(la.trace(x, offset=9)), x).tolist() == np.zeros((2, 3, 4)).tolist()


# Norms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "axis"), [
    *[(order, axis) for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf) for axis in ((0, 1), (2, 0))],
    *[(order, 1) for order in (None, 0, 0.5, 1, 2, 3, np.inf, -np.inf, -2)], (None, None),
])  # fmt: skip
def test_norms_equal_numpy(order, axis):
    x = draw(2, 3, 4)
    for keepdims in (False, True):
        ours, numpys = (f(x, order, axis, keepdims) for f in (la.norm, np.linalg.norm))
        assert ours.shape == numpys.shape
        np.testing.assert_allclose(ours.numpy(), numpys)


@pytest.mark.parametrize("order", [None, 1, 2, 3, 0.5, "fro", 0])
def test_at_the_origin_a_norm_sends_nothing(order):
    axis = (0, 1) if order == "fro" else None
    x = np.zeros((2, 2) if axis else 3)
    assert not gradient(lambda x: la.norm(x, order, axis), x).any()


def test_a_zero_entry_has_a_zero_gradient_of_the_norm():
    for order in (0.5, 1, 1.5, 3):
        received = gradient(lambda x, order=order: la.norm(x, order), [3.0, 0.0, -4.0])
        assert received[1] == 0
        assert np.isfinite(received).all()


def test_rows_that_tie_for_a_norm_share_the_gradient():
    received = gradient(lambda x: la.norm(x, np.inf), [[1.0, -2.0], [3.0, 0.5], [-2.5, 1.0]])
    assert received.tolist() == [[0, 0], [0.5, 0.5], [-0.5, 0.5]]


def test_single_precision_stays_single_precision():
    a = mg.tensor((draw(3, 3) + 4 * np.eye(3)).astype("float32"), requires_grad=True)
    parts = [la.expm(a), la.det(a), la.pinv(a), la.norm(a, "nuc"), *la.svd(a), *la.eigh(a), la.norm(a, 3, axis=0)]
    assert {part.dtype for part in parts} == {np.dtype("float32")}
    sum(mg.sum(part) for part in parts).backward()
    assert a.grad.dtype == np.float32


def test_a_library_with_a_check_for_singular_matrices_runs_it(monkeypatch):
    events = []

    @contextmanager
    def errstate(**settings):
        events.append(settings)
        yield
        events.append("over")

    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(errstate=errstate))
    library = SimpleNamespace(__name__="cupy", linalg=np.linalg, broadcast_to=np.broadcast_to)
    for word in (matrices.inv, matrices.cholesky, lambda np, a: matrices.solve(np, a, a)):
        word(library, np.eye(2))
        assert events == [{"linalg": "raise"}, "over"]
        events.clear()

"""The public functions of mg.linalg, mg.fft and mg.signal compared with PyTorch's, in double precision."""

from functools import partial

import numpy as np
import pytest

import micrograd_plus as mg

pytestmark = pytest.mark.parity
KINDS = pytest.mark.parametrize("kind", ["real", "complex"])


def random_array(*shape, kind="real"):
    rng = np.random.default_rng([5, *shape])
    x = rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)
    return x + 1j * rng.uniform(0.5, 2.0, shape) if kind == "complex" else x


def weighted_sum(parts, tensor):
    """Return a weighted sum of all entries, as a real number, for either library."""
    total = 0.0
    for part in parts if isinstance(parts, tuple) else (parts,):
        rng = np.random.default_rng(7)
        weights = rng.uniform(0.5, 1.5, tuple(part.shape)) * rng.choice([-1.0, 1.0], tuple(part.shape))
        if "complex" in str(part.dtype):
            total = total + (part.real * tensor(weights)).sum() - (part.imag * tensor(weights * 0.7)).sum()
        else:
            total = total + (part * tensor(weights)).sum()
    return total


def agree(ours, theirs, *inputs):
    """Check the value, the gradient, and the gradient of the gradient."""
    import torch

    def close(a, b, what):
        np.testing.assert_allclose(a.numpy(), b.numpy(force=True), rtol=1e-9, atol=1e-10, err_msg=what)

    def our_slopes(*values):
        return mg.grad(lambda *values: weighted_sum(ours(*values), mg.tensor), tuple(range(len(inputs))))(*values)

    leaves = [torch.tensor(value, requires_grad=True) for value in inputs]
    outs, our_outs = theirs(*leaves), ours(*[mg.tensor(value) for value in inputs])
    for mine, other in zip(*[out if isinstance(out, tuple) else (out,) for out in (our_outs, outs)], strict=True):
        close(mine, other, "the value")
    first = torch.autograd.grad(weighted_sum(outs, torch.tensor), leaves, create_graph=True)
    for mine, other in zip(our_slopes(*inputs), first, strict=True):
        close(mine, other, "the gradient")
    total = sum(weighted_sum(each, torch.tensor) for each in first)
    if total.requires_grad:
        second = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
        ours_again = mg.grad(lambda *values: sum(weighted_sum(each, mg.tensor) for each in our_slopes(*values)),
                             tuple(range(len(inputs))))(*inputs)  # fmt: skip
        for mine, other in zip(ours_again, second, strict=True):
            close(mine, other, "the gradient of the gradient")


def test_solve_with_one_vector_for_all_matrices():
    import torch

    agree(mg.linalg.solve, torch.linalg.solve, random_array(3, 3) + 4 * np.eye(3), random_array(3))
    agree(mg.linalg.solve, lambda a, b: torch.linalg.solve(a, b[:, None])[..., 0],
          random_array(2, 3, 3) + 4 * np.eye(3), random_array(3))  # fmt: skip


@KINDS
def test_eigvals_and_svdvals_agree_with_torch(kind):
    import torch

    agree(mg.linalg.eigvalsh, lambda a: torch.linalg.eigvalsh((a + a.mH) / 2), random_array(2, 3, 3, kind=kind))
    agree(mg.linalg.svdvals, torch.linalg.svdvals, random_array(4, 3, kind=kind))
    agree(lambda a: mg.linalg.svd(a, compute_uv=False), torch.linalg.svdvals, random_array(3, 4, kind=kind))


@KINDS
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh_reads_only_the_requested_triangle(uplo, kind):
    import torch

    def of_hermitian(a):
        kept = torch.tril(a) if uplo == "L" else torch.triu(a)
        return torch.linalg.eigvalsh(kept + kept.mH - torch.diag(torch.diag(a)).real)

    agree(lambda a: mg.linalg.eigvalsh(a, uplo), of_hermitian, random_array(3, 3, kind=kind))


@KINDS
def test_the_upper_factor_of_cholesky(kind):
    import torch

    def theirs(a):
        return torch.linalg.cholesky((a + a.mH) / 2, upper=True)

    agree(lambda a: mg.linalg.cholesky(a, upper=True), theirs, random_array(3, 3, kind=kind) + 9 * np.eye(3))


@KINDS
def test_qr_of_a_wide_matrix(kind):
    import torch

    a = random_array(2, 3, 5, kind=kind)
    agree(lambda a: abs(mg.linalg.qr(a, mode="r")), lambda a: torch.linalg.qr(a)[1].abs(), a)


def test_a_loss_independent_of_complex_phases_agrees():
    import torch

    def in_directions(vectors, w):
        return abs(w @ vectors)

    a, w = random_array(3, 3, kind="complex"), random_array(4, 3, kind="complex")
    agree(lambda a, w: in_directions(mg.linalg.eigh(a + mg.mH(a))[1], w),
          lambda a, w: in_directions(torch.linalg.eigh(a + a.mH)[1], w), a, w)  # fmt: skip
    agree(lambda a, w: in_directions(mg.linalg.svd(a)[0], w),
          lambda a, w: in_directions(torch.linalg.svd(a)[0], w), a, w)  # fmt: skip
    agree(lambda a, w: in_directions(mg.mH(mg.linalg.svd(a)[2]), w),
          lambda a, w: in_directions(torch.linalg.svd(a)[2].mH, w), a, w)  # fmt: skip


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
@KINDS
def test_every_norm_of_a_matrix(order, keepdims, kind):
    import torch

    x = random_array(2, 3, 4, kind=kind)
    agree(lambda x: mg.linalg.norm(x, order, axis=(-2, -1), keepdims=keepdims),
          lambda x: torch.linalg.norm(x, order, dim=(-2, -1), keepdim=keepdims), x)  # fmt: skip
    agree(lambda x: mg.linalg.norm(x, order, axis=(2, 0), keepdims=keepdims),
          lambda x: torch.linalg.norm(x, order, dim=(2, 0), keepdim=keepdims), x)  # fmt: skip


@pytest.mark.parametrize("order", [None, 0.5, 1, 2, 3, 3.5, np.inf, -np.inf, -1, -2])
def test_every_norm_of_a_vector(order):
    import torch

    x = random_array(2, 3, 4)
    agree(lambda x: mg.linalg.norm(x, order, axis=1), lambda x: torch.linalg.norm(x, order, dim=1), x)
    agree(lambda x: mg.linalg.norm(x, order), lambda x: torch.linalg.norm(x, order), random_array(4))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 4, 7, 8])
def test_every_fourier_transform_at_every_length(n, norm):
    import torch

    kinds = [("fft", "complex"), ("ifft", "complex"), ("rfft", "real"), ("irfft", "complex"), ("fft", "real")]
    for name, kind in kinds:
        ours, theirs = (partial(getattr(room, name), n=n, norm=norm) for room in (mg.fft, torch.fft))
        agree(partial(ours, axis=0), partial(theirs, dim=0), random_array(5, 2, kind=kind))


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("s", [None, (3, 6), (5, 2)])
def test_both_transforms_of_images(s, norm):
    import torch

    for name in ("fft2", "ifft2"):
        ours, theirs = (partial(getattr(room, name), s=s, norm=norm) for room in (mg.fft, torch.fft))
        agree(partial(ours, axes=(0, 2)), partial(theirs, dim=(0, 2)), random_array(4, 2, 5, kind="complex"))


@pytest.mark.parametrize("params", [
    {}, {"hop_length": 3}, {"center": False}, {"normalized": True}, {"onesided": False}, {"pad_mode": "constant"},
], ids=str)  # fmt: skip
def test_spectrograms_without_and_with_a_window(params):
    import torch

    agree(lambda x: mg.signal.stft(x, 8, **params),
          lambda x: torch.stft(x, 8, window=torch.ones(8, dtype=x.dtype), return_complex=True, **params),
          random_array(2, 21))  # fmt: skip
    agree(lambda x: mg.signal.stft(x, 8, win_length=5, window="hann", **params),
          lambda x: torch.stft(x, 8, win_length=5, window=torch.hann_window(5, dtype=x.dtype), return_complex=True,
                               **params), random_array(21))  # fmt: skip
    agree(lambda x, window: mg.signal.stft(x, 8, window=window, **params),
          lambda x, window: torch.stft(x, 8, window=window, return_complex=True, **params),
          random_array(21), random_array(8))  # fmt: skip

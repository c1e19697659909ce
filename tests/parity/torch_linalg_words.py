"""PyTorch versions of linear algebra, Fourier transforms and spectrograms; the others are in `torch_words`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def solve_sylvester(torch: Any, a: Any, b: Any, q: Any) -> Any:
    m, n = a.shape[-1], b.shape[-1]
    one, other = torch.eye(n, dtype=a.dtype), torch.eye(m, dtype=a.dtype)
    stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2])
    rows = torch.einsum("...ik,jl->...ijkl", a, one)
    columns = torch.einsum("ik,...lj->...ijkl", other, b)
    whole = (rows + columns).expand(*stack, m, n, m, n).reshape(*stack, m * n, m * n)
    return torch.linalg.solve(whole, q.expand(*stack, m, n).reshape(*stack, m * n, 1)).reshape(*stack, m, n)


def sqrtm(torch: Any, a: Any) -> Any:
    values, vectors = torch.linalg.eig(a)
    root = vectors @ torch.diag_embed(torch.sqrt(values)) @ torch.linalg.inv(vectors)
    return root if a.is_complex() else root.real


def convolve(torch: Any, a: Any, b: Any) -> Any:
    lengths = [m + n - 1 for m, n in zip(a.shape, b.shape, strict=True)]
    out = torch.fft.ifftn(torch.fft.fftn(a, lengths) * torch.fft.fftn(b, lengths))
    return out if a.is_complex() else out.real


def hermitian(a: Any) -> Any:
    return (a + a.mH) / 2


def linear_algebra_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    linalg = torch.linalg

    def pivots(x: Any) -> Any:
        size = x.detach().abs()
        large = size >= size.amax(-2, keepdim=True) / 2
        return torch.where(large & (large.cumsum(-2) == 1), 1 / x, 0.0)

    def as_numpy_turns(columns: Any, numpys: Any) -> Any:
        """Return one sign for each column, so that it has the same direction as NumPy's."""
        return torch.sign((columns.detach().conj() * torch.from_numpy(numpys)).sum(dim=-2, keepdim=True).real)

    def until_pivots_are_real(columns: Any, numpys: Any) -> Any:
        """Return factors that make each column's pivot real and positive; real columns follow NumPy."""
        if not columns.is_complex():
            return as_numpy_turns(columns, numpys)
        return torch.sgn(pivots(columns).sum(dim=-2, keepdim=True))

    def eigh(a: Any) -> Any:
        values, vectors = linalg.eigh(hermitian(a))
        return values, vectors * until_pivots_are_real(vectors, np.linalg.eigh(hermitian(a).detach().numpy())[1])

    def qr(a: Any) -> Any:
        q, r = linalg.qr(a)
        signs = as_numpy_turns(q, np.linalg.qr(a.detach().numpy())[0])
        return q * signs, r * signs.mT

    def svd(a: Any) -> Any:
        u, s, vh = linalg.svd(a, full_matrices=False)
        turns = until_pivots_are_real(u, np.linalg.svd(a.detach().numpy(), full_matrices=False)[0])
        return u * turns, s, vh * turns.mH

    def eig(a: Any) -> Any:
        values, vectors = linalg.eig(a)
        turned = torch.sgn(pivots(vectors).sum(dim=-2, keepdim=True))
        return values, vectors * turned

    def block_triangle(a: Any, b: Any) -> Any:
        upper, lower = torch.cat([a, b], -1), torch.cat([torch.zeros_like(b), a], -1)
        return torch.cat([upper, lower], -2)

    return {
        "solve": linalg.solve,
        "inv": linalg.inv,
        "det": linalg.det,
        "cofactors": lambda a: linalg.det(a)[..., None, None] * linalg.inv(a).mT,
        "slogdet": lambda a: tuple(linalg.slogdet(a)),
        "eig": eig,
        "check_independent": lambda x, **params: x,
        "sqrtm": partial(sqrtm, torch),
        "solve_sylvester": partial(solve_sylvester, torch),
        "trace": lambda x, offset=0: torch.diagonal(x, offset, -2, -1).sum(-1),
        "hermitian_part": hermitian,
        "pivots": pivots,
        "cholesky": lambda a: linalg.cholesky(hermitian(a)),
        "eigh": eigh,
        "reciprocal_beyond": lambda x, floor: torch.where(x.abs() > floor, 1 / x, 0.0),
        "known_ratio": lambda x, y, floor: x / y,
        "qr": qr,
        "svd": svd,
        "pinv": linalg.pinv,
        "block_triangle": block_triangle,
        "matrix_power": linalg.matrix_power,
        "expm": linalg.matrix_exp,
        "p_norm": lambda x, axis=None, keepdims=False, **params: linalg.vector_norm(
            x, dim=axis, keepdim=keepdims, **params
        ),
    }


def wave_words(torch: Any, F: Any) -> dict[str, Callable[..., Any]]:
    def along(transform: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axis=-1, norm="backward": transform(x, dim=axis, norm=norm)

    def over_two(transform: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, axes=(-2, -1), norm="backward": transform(x, dim=axes, norm=norm)

    def cut_or_pad(x: Any, length: int, axis: int = -1) -> Any:
        kept = x.narrow(axis, 0, min(length, x.shape[axis]))
        missing = list(x.shape)
        missing[axis] = length - kept.shape[axis]
        return torch.cat([kept, x.new_zeros(missing)], axis)

    def overlap_add(x: Any, size: int, hop: int) -> Any:
        columns = x.mT
        covered = (x.shape[-2] - 1) * hop + x.shape[-1]
        added = F.fold(columns, (1, covered), (1, x.shape[-1]), stride=(1, hop)).flatten(-3)
        return F.pad(added, (0, size - covered))

    def windowed_spectra(x: Any, window: Any, hop_length: int, pad_mode: str = "reflect", **params: Any) -> Any:
        mode = {"wrap": "circular"}.get(pad_mode, pad_mode)
        return torch.stft(x, len(window), hop_length, window=window, pad_mode=mode, return_complex=True, **params)

    def log_mel(x: Any, sample_rate: int, n_fft: int, hop_length: int, n_mels: int) -> Any:
        window = torch.hann_window(n_fft, dtype=x.dtype)
        power = torch.stft(x, n_fft, hop_length, window=window, return_complex=True).abs() ** 2
        mels = torch.linspace(0, 2595 * math.log10(1 + sample_rate / 1400), n_mels + 2, dtype=x.dtype)
        corners = 700 * (10 ** (mels / 2595) - 1)
        filters = torch.zeros(n_mels, n_fft // 2 + 1, dtype=x.dtype)
        for i, (left, peak, right) in enumerate(zip(corners, corners[1:], corners[2:], strict=False)):
            for k in range(n_fft // 2 + 1):
                f = k * sample_rate / n_fft
                if left < f < right:
                    filters[i, k] = (f - left) / (peak - left) if f < peak else (right - f) / (right - peak)
        return torch.log(torch.clamp(filters @ power, min=1e-10))

    return {
        "fft": along(torch.fft.fft),
        "ifft": along(torch.fft.ifft),
        "fftn": over_two(torch.fft.fftn),
        "ifftn": over_two(torch.fft.ifftn),
        "fft2": over_two(torch.fft.fft2),
        "ifft2": over_two(torch.fft.ifft2),
        "rfft": along(torch.fft.rfft),
        "irfft": lambda x, n, axis=-1, norm="backward": torch.fft.irfft(x, n, dim=axis, norm=norm),
        "convolve": partial(convolve, torch),
        "cut_or_pad": cut_or_pad,
        "frames": lambda x, length, hop: x.unfold(-1, length, hop),
        "overlap_add": overlap_add,
        "windowed_spectra": windowed_spectra,
        "log_mel": log_mel,
    }

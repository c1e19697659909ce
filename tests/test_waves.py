"""Fourier transforms and spectrograms: values by hand, adjoints, and error messages."""

import cmath
import math

import numpy as np
import pytest

import micrograd_plus as mg


def random_array(*shape):
    rng = np.random.default_rng(shape)
    return rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape)


def test_fft_is_the_sum_in_its_docstring():
    x = random_array(5) + 1j * random_array(5)[::-1]
    by_hand = [sum(x[t] * cmath.exp(-2j * cmath.pi * k * t / 5) for t in range(5)) for k in range(5)]
    np.testing.assert_allclose(mg.fft.fft(x).numpy(), by_hand)
    np.testing.assert_allclose(mg.fft.ifft(by_hand).numpy(), x)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 3, 4, 7])
def test_fft_agrees_with_numpy_at_every_length(n, norm):
    x = random_array(4, 2) + 1j * random_array(4, 2)[::-1]
    for name in ("fft", "ifft", "irfft"):
        np.testing.assert_allclose(
            getattr(mg.fft, name)(x, n, 0, norm).numpy(), getattr(np.fft, name)(x, n, 0, norm), atol=1e-15
        )
    np.testing.assert_allclose(mg.fft.rfft(x.real, n, 0, norm).numpy(), np.fft.rfft(x.real, n, 0, norm), atol=1e-15)


@pytest.mark.parametrize("s", [None, (3, 5)])
def test_fft2_agrees_with_numpy(s):
    x = random_array(4, 2, 3) + 1j
    for name in ("fft2", "ifft2"):
        ours, numpys = (getattr(room, name)(x, s, (0, 2), "ortho") for room in (mg.fft, np.fft))
        np.testing.assert_allclose(ours.numpy(), numpys, atol=1e-15)


def test_fft_accepts_lists():
    assert mg.fft.irfft([4.0, 0.0, 0.0]).tolist() == [1, 1, 1, 1]
    assert mg.fft.rfft([1.0, 2.0], n=1).tolist() == [1]


def test_rfft_is_half_of_the_spectrum():
    """Energy is equal in time and frequency, with mirrored frequencies counted twice."""
    for n in (6, 7):
        x = random_array(n)

        def energy(x, n=n):
            spectrum = mg.fft.rfft(x, norm="ortho")
            return mg.sum(mg.ops.count_mirror_images(abs(spectrum) ** 2, n=n))

        assert energy(mg.tensor(x)).item() == pytest.approx((x * x).sum())
        np.testing.assert_allclose(mg.grad(energy)(x).numpy(), 2 * x)


def test_ignored_entries_of_an_inverse_transform_have_gradient_0():
    x = np.array([1 + 1j, 2 + 2j, 3 + 3j])
    received = mg.grad(lambda x: mg.sum(mg.fft.irfft(x, n=4) * random_array(4)))(x).numpy()
    assert received[[0, 2]].imag.tolist() == [0, 0]
    assert (received.real != 0).all()
    assert received[1].imag != 0


def test_a_product_of_spectra_is_a_convolution():
    x, kernel = random_array(6), random_array(6)[::-1].copy()

    def by_spectra(x, kernel):
        product = mg.fft.rfft(x, n=11) * mg.fft.rfft(kernel, n=11)
        return mg.sum(mg.fft.irfft(product, n=11) * random_array(11))

    def by_hand(x, kernel):
        placed = mg.stack([mg.pad(x * kernel[i], (i, 5 - i)) for i in range(6)])
        return mg.sum(placed * random_array(11))

    for ours, wanted in zip(*[mg.grad(f, (0, 1))(x, kernel) for f in (by_spectra, by_hand)], strict=True):
        np.testing.assert_allclose(ours.numpy(), wanted.numpy())


# Frames -----------------------------------------------------------------------------------------------------


def test_overlap_add_inverts_frames():
    x = np.arange(8.0)
    assert mg.signal.frames(x, 4, 2).tolist() == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]
    assert mg.signal.frames(x, 3, 4).tolist() == [[0, 1, 2], [4, 5, 6]]
    assert mg.signal.overlap_add(np.ones((3, 4)), 8, 2).tolist() == [1, 1, 2, 2, 2, 2, 1, 1]
    assert mg.signal.overlap_add(np.ones((2, 3)), 8, 4).tolist() == [1, 1, 1, 0, 1, 1, 1, 0]
    assert mg.grad(lambda x: mg.sum(mg.signal.frames(x, 4, 2)))(x).tolist() == [1, 1, 2, 2, 2, 2, 1, 1]


def test_a_spectrogram_shows_a_tone_at_its_frequency():
    x = np.sin(2 * math.pi * 3 * np.arange(80) / 16)
    spectra = mg.signal.stft(x, 16, hop_length=8, window="hann")
    assert spectra.shape == (9, 11)
    assert (abs(spectra.numpy())[:, 1:-1].argmax(axis=0) == 3).all()
    np.testing.assert_allclose(abs(spectra.numpy())[3, 1:-1], 4)


def test_stft_centres_its_frames():
    impulse = np.zeros(20)
    impulse[10] = 1.0
    assert abs(mg.signal.stft(impulse, 4, hop_length=5, pad_mode="constant")).numpy()[0].tolist() == [0, 0, 1, 0, 0]
    assert mg.signal.stft(impulse, 4, hop_length=5, center=False).shape == (3, 4)


def test_mel_filters_are_adjacent_triangles():
    filters = mg.signal.mel_filters(1.0, n_mels=5, n_fft=512, sample_rate=8000).numpy()
    assert filters.shape == (5, 257)
    peaks = filters.argmax(axis=1)
    assert (np.diff(peaks) > 0).all()
    assert (np.diff(peaks, 2) >= 0).all()  # equal steps of pitch are growing steps of frequency
    between = filters[:, peaks[0] : peaks[-1] + 1].sum(axis=0)
    np.testing.assert_allclose(between, 1)


def test_silence_is_the_floor_with_gradient_0():
    silence = np.zeros(800)
    assert np.unique(mg.signal.log_mel(silence, floor=1e-6)).tolist() == [math.log(1e-6)]
    assert not mg.grad(lambda x: mg.sum(mg.signal.log_mel(x)))(silence).numpy().any()


def test_twice_the_amplitude_is_four_times_the_loudness():
    x = random_array(1600)
    louder = mg.signal.log_mel(2 * x).numpy() - mg.signal.log_mel(x).numpy()
    assert louder.shape == (80, 11)
    audible = mg.signal.mel_filters(1.0, n_mels=80, n_fft=400, sample_rate=16000).numpy().any(axis=1)
    np.testing.assert_allclose(louder[audible], math.log(4))


def test_signals_keep_float32():
    x = mg.tensor(random_array(64).astype("float32"), requires_grad=True)
    out = mg.signal.log_mel(x, sample_rate=800, n_fft=16, hop_length=8, n_mels=3)
    assert out.dtype == np.float32
    assert mg.signal.stft(x, 16, window="hann").dtype == np.complex64
    out.sum().backward()
    assert x.grad.dtype == np.float32


@pytest.mark.parametrize(("call", "error", "sentence"), [
    (lambda: mg.fft.rfft([1j, 2]), TypeError, "x must be real; fft takes complex numbers"),
    (lambda: mg.fft.fft([1.0, 2.0], norm="unitary"), ValueError, "unitary"),
    (lambda: mg.fft.fft([1.0, 2.0], axis=1), IndexError, r"axis 1 is out of range: with an input of shape \(2,\)"),
    (lambda: mg.signal.frames(np.ones(3), 4, 1), ValueError, "a frame of 4 entries does not fit into a signal of 3"),
    (lambda: mg.signal.frames(np.ones(3), 2, 0), ValueError,
     "hop must be a whole number of at least 1, got 0"),
    (lambda: mg.signal.overlap_add(np.ones((3, 4)), 9, 4), ValueError,
     "3 frames of 4, 4 apart, are not those of a signal of 9 entries"),
    (lambda: mg.signal.stft(np.ones(9), 4, window="boxcar"), ValueError,
     "window must be \"hann\", an array, or None; got 'boxcar'"),
    (lambda: mg.signal.stft(np.ones(9), 4, window=np.ones(5)), ValueError,
     r"its shape is \(5,\), and win_length=4, n_fft=4"),
    (lambda: mg.signal.stft(np.ones(9), 4, win_length=5), ValueError, r"window has win_length entries, at most n_fft"),
    (lambda: mg.signal.mel_filters(1.0, 4, 16, 800, fmin=300, fmax=500), ValueError,
     r"fmin must be less than fmax, and both between 0 and half the sample rate; got \(300, 500\)"),
])  # fmt: skip
def test_errors_of_signals_state_the_requirement(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()

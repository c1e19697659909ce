"""Signals in time: frames and spectrograms. Public as `mg.signal`. The last axis is time."""

from ...backends import devices
from ...backends.shapes import shape
from ...core.composite import composite
from ...core.define import linear, nondifferentiable
from ...core.messages import prefixes_errors
from ...ops.casts import new_ones
from ...ops.shape import pad
from . import kernels

devices.add_kernels(kernels)

# Frames ---------------------


@linear(x=lambda xp, upstream, x_shape, hop: xp.overlap_add(upstream, size=x_shape[-1], hop=hop))
def frames(xp, x, *, length, hop):
    """Split a signal into overlapping frames.

    Each frame has `length` entries and starts `hop` entries after the one before: frames[t, i] = x[t * hop + i]. A
    remainder at the end is dropped, so there are ⌊(T - length) / hop⌋ + 1 frames.
    Shapes: x (..., T) -> (..., frames, length).
    Args:
        x: signals, time on the last axis.
        length: entries of a frame, at least 1 and at most T.
        hop: distance from the start of one frame to the next, at least 1.
    Raises: ValueError if a frame is longer than the signal, or a number is less than 1.
    >>> mg.signal.frames([1.0, 2.0, 3.0, 4.0, 5.0], length=3, hop=2).tolist()
    [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]
    See: librosa.util.frame; torch.Tensor.unfold."""
    return xp.frames(x, length, hop)


@linear(x=lambda xp, upstream, x_shape, hop: xp.frames(upstream, length=x_shape[-1], hop=hop))
def overlap_add(xp, x, *, size, hop):
    """Add overlapping frames into a signal: the transpose of `frames`.

    Shapes: x (..., frames, length) -> (..., size).
    Args:
        x: frames.
        size: entries of the signal.
        hop: distance from the start of one frame to the next, at least 1.
    Raises: ValueError if the number of frames does not match the size.
    >>> mg.signal.overlap_add([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], size=5, hop=2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    See: `frames`; torch.nn.functional.fold."""
    return xp.overlap_add(x, size, hop)


# Spectrograms ---------------


@nondifferentiable
def hann_window(xp, x, *, length):
    """Return a periodic Hann window.

    w[i] = sin²(π * i / length). There is no gradient.
    Shapes: x any -> (length,).
    Args:
        x: a tensor that determines the device.
        length: the number of entries, at least 1.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError if length is less than 1.
    >>> mg.signal.hann_window([0.0], length=4).round(6).tolist()
    [0.0, 0.5, 1.0, 0.5]
    See: torch.hann_window; scipy.signal.windows.hann with sym=False."""
    return xp.hann_window(x, length)


@nondifferentiable
def mel_filters(xp, x, *, n_mels, n_fft, sample_rate, fmin=0.0, fmax=None):
    """Return a mel filter bank: triangular filters, equally spaced on the mel scale.

    The frequencies are as in `rfft`. On the mel scale, mel(f) = 2595 log10(1 + f / 700), pitches sound equally
    spaced. Each triangle rises from its left neighbour's peak to a height of 1 and falls to its right neighbour's.
    There is no gradient.
    Shapes: x any -> (n_mels, n_fft // 2 + 1).
    Args:
        x: a tensor that determines the device.
        n_mels: the number of triangles, each a row.
        n_fft: length of the transformed frames.
        sample_rate: samples per second.
        fmin: the lowest frequency, in hertz; default 0.0.
        fmax: the highest frequency, in hertz; None (default) for half the sample rate.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError unless 0 <= fmin < fmax <= sample_rate / 2.
    >>> mg.signal.mel_filters([0.0], n_mels=2, n_fft=8, sample_rate=8000).shape
    (2, 5)
    See: torchaudio.functional.melscale_fbanks; librosa.filters.mel, with htk=True; O'Shaughnessy, "Speech
        communication: human and machine", 1987."""
    return xp.mel_filters(x, n_mels, n_fft, sample_rate, fmin, fmax)


@composite(public=False)
def windowed_spectra(xp, x, window, *, hop_length, center=True, pad_mode="reflect", normalized=False, onesided=True):
    """Compute the Fourier transforms of the windowed frames of a signal.

        out[f, t] = Σ_n x[t * hop_length + n] * window[n] * exp(-2πi * f * n / length)
    Shapes: x (..., T), window (length,) -> (..., frequencies, frames).
    Args:
        x: signals, time on the last axis.
        window: factors for each frame.
        hop_length: distance from the start of one frame to the next, at least 1.
        center: whether to pad the ends so that frame t is centred at entry t * hop_length; default True.
        pad_mode: a mode of `mg.pad`; default "reflect".
        normalized: whether to divide by √length; default False.
        onesided: whether to omit the frequencies that mirror others; default True.
    Returns: a complex tensor with length // 2 + 1 frequencies, or length with `onesided=False`.
    Raises: ValueError if a frame is longer than the signal, pad_mode is unknown, or hop_length is less than 1;
        TypeError if the signal is complex and onesided is True.
    >>> wave = np.cos(np.pi / 2 * np.arange(8))
    >>> spectra = mg.extras.signal.spectra.windowed_spectra(wave, np.ones(4), hop_length=4, center=False)
    >>> mg.abs(spectra).round(6).tolist()
    [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]
    See: `stft`, which prepares the window."""
    length = xp.shape(window)[-1]
    if center:
        x = xp.pad(x, xp.border_at_end(xp.ndim(x), length // 2), pad_mode)
    seen = xp.frames(x, length=length, hop=hop_length) * window
    norm = "ortho" if normalized else "backward"
    return xp.mT(xp.rfft(seen, axis=-1, norm=norm) if onesided else xp.fft(seen, axis=-1, norm=norm))


@prefixes_errors
def stft(
    x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
    onesided=True,
):  # fmt: skip
    """Compute the short-time Fourier transform of a signal.

        out[f, t] = Σ_n x[t * hop_length + n] * window[n] * exp(-2πi * f * n / n_fft)

    Here x is the padded signal, where it is padded. A window shorter than n_fft is centred in a frame.
    Shapes: x (..., T) -> (..., frequencies, frames).
    Args:
        x: signals, time on the last axis.
        n_fft: length of a frame.
        hop_length: distance from the start of one frame to the next, at least 1; default n_fft // 4.
        win_length: length of the window, at most n_fft; default n_fft.
        window: "hann", or an array of win_length entries; None (default) for all ones.
        center: whether to pad the ends so that frame t is centred at entry t * hop_length; default True.
        pad_mode: a mode of `mg.pad`; default "reflect".
        normalized: whether to divide by √n_fft; default False.
        onesided: whether to omit the frequencies that mirror others, only for real signals; default True.
    Returns: a complex tensor with n_fft // 2 + 1 frequencies, or n_fft with `onesided=False`.
    Raises: ValueError if the window is unknown or has the wrong length, or a frame is longer than the signal; TypeError
        if the signal is complex and onesided is True.
    >>> wave = np.cos(np.pi / 2 * np.arange(8))
    >>> mg.abs(mg.signal.stft(wave, n_fft=4, hop_length=4, center=False)).round(6).tolist()
    [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]
    See: torch.stft; librosa.stft."""
    win_length = n_fft if win_length is None else win_length
    hop_length = n_fft // 4 if hop_length is None else hop_length
    if window is None:
        window = new_ones(x, shape=(win_length,))
    elif isinstance(window, str):
        if window != "hann":
            raise ValueError(f'stft: window must be "hann", an array, or None; got {window!r}')
        window = hann_window(x, length=win_length)
    if shape(window) != (win_length,) or win_length > n_fft:
        raise ValueError(
            f"stft: window has win_length entries, at most n_fft: its shape is {shape(window)}, and "
            f"win_length={win_length}, n_fft={n_fft}"
        )
    before = (n_fft - win_length) // 2
    if win_length < n_fft:
        window = pad(window, pad_width=(before, n_fft - win_length - before))
    return windowed_spectra(
        x, window, hop_length=hop_length, center=center, pad_mode=pad_mode, normalized=normalized, onesided=onesided
    )


@composite
def log_mel(xp, x, *, sample_rate=16000, n_fft=400, hop_length=160, n_mels=80, fmin=0.0, fmax=None, floor=1e-10):
    """Compute the log-mel spectrogram of a signal.

        out = log(max(mel_filters @ |stft(x)|², floor))

    With a Hann window, centred frames, and the natural logarithm. Entries below `floor` receive no gradient.
    Shapes: x (..., T) -> (..., n_mels, frames).
    Args:
        x: signals of real numbers, time on the last axis.
        sample_rate: samples per second; default 16000.
        n_fft: length of a frame; default 400.
        hop_length: distance from the start of one frame to the next; default 160.
        n_mels: the number of mel bands; default 80.
        fmin: the lowest frequency, in hertz; default 0.0.
        fmax: the highest frequency, in hertz; None (default) for half the sample rate.
        floor: lower bound for the power; default 1e-10.
    Returns: a tensor of the dtype of x.
    Raises: TypeError if x is complex; ValueError unless 0 <= fmin < fmax <= sample_rate / 2.
    >>> wave = np.sin(2 * np.pi * 1000 * np.arange(1600) / 16000)
    >>> loud = mg.signal.log_mel(wave, n_mels=10)
    >>> loud.shape, np.argmax(loud.tolist(), axis=0)[5].item()
    ((10, 11), 3)
    See: torchaudio.transforms.MelSpectrogram; librosa.feature.melspectrogram."""
    spectrum = xp.windowed_spectra(x, xp.hann_window(x, length=n_fft), hop_length=hop_length)
    power = xp.square(xp.real(spectrum)) + xp.square(xp.imag(spectrum))
    filters = xp.mel_filters(x, n_mels=n_mels, n_fft=n_fft, sample_rate=sample_rate, fmin=fmin, fmax=fmax)
    return xp.log(xp.maximum(xp.matmul(filters, power), floor))

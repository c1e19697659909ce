"""Signals in time: frames and spectrograms. Public as `mg.signal`. The last axis is time."""

from ..composites import composite
from ..hints import names_itself
from ..op import constant, linear
from ..readings.shapes import shape
from .elementwise import ones_beside
from .shape import pad

# Frames ---------------------


@linear(x=lambda xp, upstream, x_shape, hop: xp.overlap_add(upstream, size=x_shape[-1], hop=hop))
def frames(xp, x, *, length, hop):
    """Stretches of `length` entries, one beginning every `hop` entries: (..., T) to (..., frames, length)."""
    return xp.frames(x, length, hop)


@linear(x=lambda xp, upstream, x_shape, hop: xp.frames(upstream, length=x_shape[-1], hop=hop))
def overlap_add(xp, x, *, size, hop):
    """Frames put back where they were in a signal of `size` entries; where they overlap, entries add up."""
    return xp.overlap_add(x, size, hop)


# Spectrograms ---------------


@constant
def hann_window(xp, x, *, length):
    """A bell that begins at 0 and would be back there one entry after its end: sin² from 0 to π. It lives
    where x is."""
    return xp.hann_window(x, length)


@constant
def mel_filters(xp, x, *, n_mels, n_fft, sample_rate, fmin=0.0, fmax=None):
    """Triangles over the frequencies of an `rfft`, each as a row, at equal distances on the mel scale, where
    pitch sounds equally spaced. They live where x is."""
    return xp.mel_filters(x, n_mels, n_fft, sample_rate, fmin, fmax)


@composite
def windowed_spectra(xp, x, window, *, hop_length, center=True, pad_mode="reflect", normalized=False, onesided=True):
    """The Fourier transform of every frame of a signal, each frame as long as the window that it is seen
    through."""
    length = xp.shape(window)[-1]
    if center:
        x = xp.pad(x, xp.border_at_end(xp.ndim(x), length // 2), pad_mode)
    seen = xp.frames(x, length=length, hop=hop_length) * window
    norm = "ortho" if normalized else "backward"
    return xp.mT(xp.rfft(seen, axis=-1, norm=norm) if onesided else xp.fft(seen, axis=-1, norm=norm))


@names_itself
def stft(
    x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
    onesided=True,
):  # fmt: skip
    """How much of each wave there is at each time: (..., T) to (..., frequencies, frames), complex, as
    `torch.stft`.

    Frames of `n_fft` entries begin every `hop_length` (a quarter of `n_fft`, where none is given); with
    `center` the middle of frame t is at entry t * hop_length, and the ends are padded in a mode of `mg.pad`.
    `window` has `win_length` entries (`n_fft`) and stands in the middle of a frame; it may be "hann", and
    without one all entries count as they are. `normalized` divides by the root of `n_fft`. `onesided` leaves
    out the frequencies that mirror others; complex signals have none.
    """
    win_length = n_fft if win_length is None else win_length
    hop_length = n_fft // 4 if hop_length is None else hop_length
    if window is None:
        window = ones_beside(x, shape=(win_length,))
    elif isinstance(window, str):
        if window != "hann":
            raise ValueError(f'stft: window is "hann", an array, or None; got {window!r}')
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
    """How loud each pitch is at each time: (..., T) to (..., n_mels, frames).

    The natural logarithm of the spectrogram's squared sizes (Hann window, centred), gathered by
    `mel_filters`. What is fainter than `floor` counts as the floor, and receives no gradient.
    """
    spectrum = xp.windowed_spectra(x, xp.hann_window(x, length=n_fft), hop_length=hop_length)
    power = xp.square(xp.real(spectrum)) + xp.square(xp.imag(spectrum))
    filters = xp.mel_filters(x, n_mels=n_mels, n_fft=n_fft, sample_rate=sample_rate, fmin=fmin, fmax=fmax)
    return xp.log(xp.maximum(xp.matmul(filters, power), floor))

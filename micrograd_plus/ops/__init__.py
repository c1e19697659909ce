"""Every operation, by subject. A file here knows mathematics, and nothing of tensors, devices or walks."""

from types import FunctionType

from . import (
    activations,
    convolution,
    elementwise,
    factorisations,
    fourier,
    images,
    indexing,
    linalg,
    losses,
    neural,
    normalisation,
    products,
    quantisation,
    reductions,
    scans,
    sequence,
    shape,
    signal,
    splat,
    transformers,
)

SUBJECTS = {
    "Entry by entry": elementwise,
    "Activations": activations,
    "Reductions": reductions,
    "Along an axis": scans,
    "Shape and layout": shape,
    "Indexing": indexing,
    "Products": products,
    "Linear algebra": linalg,
    "Factorisations": factorisations,
    "Fourier transforms": fourier,
    "Signals": signal,
    "Convolution and pooling": convolution,
    "Windows and sizes": images,
    "Networks": neural,
    "Normalisation": normalisation,
    "Transformers": transformers,
    "Sequences": sequence,
    "Losses": losses,
    "Quantisation": quantisation,
    "Splats": splat,
}
"""The files of operations, under the headings that the reference gives them."""

APART = {linalg: "linalg", factorisations: "linalg", fourier: "fft", signal: "signal", splat: "splat"}
"""Subjects whose names are public in a room of their own, as in NumPy: mg.linalg.solve."""

__all__ = ["abs"]

for _subject in [each for each in SUBJECTS.values() if each not in APART]:
    for _name, _value in vars(_subject).items():
        if isinstance(_value, FunctionType) and _value.__module__ == _subject.__name__ and not _name.startswith("_"):
            globals()[_name] = _value
            __all__.append(_name)

abs = elementwise.absolute

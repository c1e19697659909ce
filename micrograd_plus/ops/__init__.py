"""Every operation, by subject. A file here knows mathematics, and nothing of tensors, devices or walks."""

from types import FunctionType

from . import (
    activations,
    arithmetic,
    casts,
    comparisons,
    complexes,
    convolution,
    exponentials,
    factorisations,
    fourier,
    images,
    indexing,
    linalg,
    losses,
    neural,
    normalisation,
    parts,
    products,
    reductions,
    rounding,
    scans,
    sequence,
    shape,
    transformers,
    trigonometry,
    ufuncs,
)
from .documentation import complete
from .extras import convolving, quantisation, signal, special, splat

SUBJECTS = {
    "Arithmetic": arithmetic,
    "Exponentials and logarithms": exponentials,
    "Circular and hyperbolic functions": trigonometry,
    "Rounding and sign": rounding,
    "Complex numbers": complexes,
    "Comparisons and logic": comparisons,
    "Dtypes and new arrays": casts,
    "Further functions of entries": ufuncs,
    "Activations": activations,
    "Reductions": reductions,
    "Along an axis": scans,
    "Shape and layout": shape,
    "Joining and parting": parts,
    "Indexing": indexing,
    "Products": products,
    "Linear algebra": linalg,
    "Factorisations": factorisations,
    "Fourier transforms": fourier,
    "Signals": signal,
    "Convolution of signals": convolving,
    "Special functions": special,
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

APART = {
    linalg: "linalg", factorisations: "linalg", fourier: "fft", convolving: "signal", signal: "signal",
    special: "special", splat: "splat",
}  # fmt: skip
"""Subjects whose names are public in a module of their own, as in NumPy: mg.linalg.solve."""

__all__ = ["abs"]

for _subject in SUBJECTS.values():
    for _name, _value in vars(_subject).items():
        if isinstance(_value, FunctionType) and _value.__module__ == _subject.__name__ and not _name.startswith("_"):
            complete(_value)
            if _subject not in APART:
                globals()[_name] = _value
                __all__.append(_name)

abs = arithmetic.absolute
trace = linalg.trace
__all__.append("trace")  # also public beside the others, as in NumPy

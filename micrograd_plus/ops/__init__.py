"""Every operation, by subject. A file here knows mathematics, and nothing of tensors, devices or walks.

`__all__` lists the operations that users call, and `mg` takes those. Steps that only rules need (`public=False`) are
found here as well: `mg.ops.unpad`.
"""

from collections.abc import Iterator
from types import FunctionType, ModuleType

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
    parameters,  # noqa: F401 - it tells error messages which parameters are whole numbers
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
    "Convolution and pooling": convolution,
    "Windows and sizes": images,
    "Networks": neural,
    "Normalisation": normalisation,
    "Transformers": transformers,
    "Sequences": sequence,
    "Losses": losses,
}
"""The files of operations, under the headings that the reference gives them."""

APART = {linalg: "linalg", factorisations: "linalg", fourier: "fft"}
"""Subjects whose names are public in a separate module, as in NumPy: mg.linalg.solve."""

__all__ = ["abs"]


def functions_of(subject: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """Yield the functions that a file defines, without those for itself alone."""
    for name, value in vars(subject).items():
        if isinstance(value, FunctionType) and value.__module__ == subject.__name__ and not name.startswith("_"):
            yield name, value


def is_public(function: FunctionType) -> bool:
    """Return whether users call a function of operations; False for a step that only rules need."""
    return getattr(function, "public", True)


for _subject in SUBJECTS.values():
    for _name, _function in functions_of(_subject):
        complete(_function)
        if _subject not in APART or not is_public(_function):
            globals()[_name] = _function
        if _subject not in APART and is_public(_function):
            __all__.append(_name)

abs = arithmetic.absolute
trace = linalg.trace
__all__.append("trace")  # also public beside the others, as in NumPy

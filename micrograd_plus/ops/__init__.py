"""Every operation, by subject. A file here knows mathematics, and nothing of tensors, devices or walks."""

from __future__ import annotations

from types import FunctionType

from . import (
    activations,
    convolution,
    elementwise,
    indexing,
    losses,
    neural,
    products,
    reductions,
    scans,
    shape,
)

SUBJECTS = {
    "Entry by entry": elementwise,
    "Activations": activations,
    "Reductions": reductions,
    "Along an axis": scans,
    "Shape and layout": shape,
    "Indexing": indexing,
    "Products": products,
    "Convolution and pooling": convolution,
    "Networks": neural,
    "Losses": losses,
}
"""The files of operations, under the headings that the reference gives them."""

__all__ = ["abs"]

for _subject in SUBJECTS.values():
    for _name, _value in vars(_subject).items():
        if isinstance(_value, FunctionType) and _value.__module__ == _subject.__name__ and not _name.startswith("_"):
            globals()[_name] = _value
            __all__.append(_name)

abs = elementwise.absolute

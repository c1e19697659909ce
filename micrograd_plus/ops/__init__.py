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

SUBJECTS = (elementwise, activations, reductions, scans, shape, indexing, products, convolution, neural, losses)

for _subject in SUBJECTS:
    for _name, _value in vars(_subject).items():
        if isinstance(_value, FunctionType) and _value.__module__ == _subject.__name__ and not _name.startswith("_"):
            globals()[_name] = _value

abs = elementwise.absolute

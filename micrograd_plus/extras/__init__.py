"""Subjects that are built on the engine and that nothing else needs, one folder or file each.

A folder holds all of its subject: kernels for arrays, operations with their rules, and the public names. A subject can
be removed by deleting it, its lines below, and its name in `mg`.

All subjects are imported when the first of them is asked for, and before a user defines an operation, whose rules may
call theirs.
"""

from ..ops import functions_of
from ..ops.documentation import complete
from . import quantisation
from .signal import convolving, spectra
from .special import functions
from .splat import blending

SUBJECTS = {
    "Signals": spectra,
    "Convolution of signals": convolving,
    "Special functions": functions,
    "Quantisation": quantisation,
    "Splats": blending,
}
"""The files of operations, by the headings that the reference gives them."""

PLACES = {convolving: "signal", spectra: "signal", functions: "special", blending: "splat"}
"""Subjects with their own public module: mg.special.gammaln."""

for _subject in SUBJECTS.values():
    for _, _function in functions_of(_subject):
        complete(_function)

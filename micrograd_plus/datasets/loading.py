"""Small data sets that come along: 1,797 handwritten digits of 8 × 8 pixels, and 150 irises.

Digits: E. Alpaydin and C. Kaynak (1998), "Optical Recognition of Handwritten Digits", UCI Machine Learning
Repository, CC BY 4.0; the 1,797 test images that scikit-learn distributes (BSD 3-Clause). Irises: R. A. Fisher (1936),
"The use of multiple measurements in taxonomic problems", UCI Machine Learning Repository, CC BY 4.0, as in
scikit-learn. The numbers are unchanged; `digits_and_iris.npz` stores them as bytes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_name("digits_and_iris.npz")
KINDS = ("setosa", "versicolor", "virginica")
MEASUREMENTS = ("sepal length", "sepal width", "petal length", "petal width")


class Digits(NamedTuple):
    """Images of handwritten digits, with the digit that each shows."""

    images: Any
    """Array of shape (1797, 8, 8): 0 is white, 16 is black."""
    labels: Any
    """Array of shape (1797,): integers from 0 to 9."""


class Irises(NamedTuple):
    """Measurements of irises, with their kinds."""

    measurements: Any
    """Array of shape (150, 4): the lengths and widths of `MEASUREMENTS` in centimetres."""
    labels: Any
    """Array of shape (150,): indices into `KINDS`."""


def load_digits() -> Digits:
    """Return 1,797 images of handwritten digits.

    Args: none.
    Returns: a pair of images, with shape (1797, 8, 8) and values from 0 to 16, and labels.
    Raises: nothing.
    Example:
        >>> from micrograd_plus import datasets
        >>> images, labels = datasets.load_digits()
        >>> images.shape, labels[:5].tolist()
        ((1797, 8, 8), [0, 1, 2, 3, 4])

    See: `sklearn.datasets.load_digits`.
    """
    arrays = _load_arrays()
    return Digits(arrays["digits"].astype(float), arrays["digit_labels"].astype(int))


def load_iris() -> Irises:
    """Return measurements of 150 irises of three kinds.

    Args: none.
    Returns: a pair of measurements, with shape (150, 4), and labels.
    Raises: nothing.
    Example:
        >>> from micrograd_plus import datasets
        >>> measurements, labels = datasets.load_iris()
        >>> measurements[0].tolist(), datasets.KINDS[labels[0]]
        ([5.1, 3.5, 1.4, 0.2], 'setosa')

    See: `sklearn.datasets.load_iris`.
    """
    return Irises(_load_arrays()["iris_tenths"] / 10, np.repeat(np.arange(3), 50))


@cache
def _load_arrays() -> dict[str, Any]:
    with np.load(FILE, allow_pickle=False) as file:
        return dict(file)

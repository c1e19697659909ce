"""Tooltips of functions in formulas. Common NumPy functions have none."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

MEANINGS = {
    "broadcast": "Repeated along the axes that the operation removed.",
    "broadcast_to": "Repeated until it has this shape.",
    "reshape": "The same entries in another shape.",
    "rows": "The array as a matrix: all axes but the last are one.",
    "count": "The number of entries that are reduced.",
    "moveaxis": "The same entries, the axes in another order.",
    "axes_to_last": "The named axes moved to the end, and made one.",
    "axes_from_last": "The last axis split into the original axes, each at its place.",
    "take_along_axis": "The indexed entries along the axis.",
    "split": "Cut along the axis into the parts.",
    "cumsum": "Running sums; reverse starts at the end, exclusive leaves out the entry itself.",
    "cumprod": "Running products; reverse starts at the end, exclusive leaves out the entry itself.",
    "tril": "The part on and below a diagonal; zeros above it.",
    "triu": "The part on and above a diagonal; zeros below it.",
    "pad": "Entries added around the edges; with ⊤ the transpose, which adds them back to their source.",
    "resample": "Weighted means of neighbours; with ⊤ the transpose, which returns each share.",
    "recurrence": "y[t] = decay[t] · y[t − 1] + drive[t], from 0; with reverse from the end.",
    "gated_recurrence": "y[t] = gate[t] · (drive[t] + y[t − 1] @ weight), from 0; with reverse from the end.",
    "matrix_recurrence": "y[t] = matrix[t] @ y[t − 1] + drive[t], from 0; with reverse from the end.",
    "conv2d": "The sum of products of each kernel with every window.",
    "conv_transpose2d": "The transpose of conv2d: each entry times the kernel, added at its window.",
    "unfold": "Every window of the images as a column.",
    "fold": "Columns added back at their windows.",
    "split_columns": "The columns of windows, with the positions in a window on a separate axis.",
    "pixel_shuffle": "Channels rearranged as pixels of a larger image.",
    "pixel_unshuffle": "Blocks of pixels rearranged as channels of a smaller image.",
    "inverse_mills": "The density of the normal distribution divided by its distribution function.",
    "one_hot": "Rows with 1 at the index of the class, 0 elsewhere.",
    "solve": "solve(A, b) is the x with A @ x = b.",
    "solve_sylvester": "solve_sylvester(A, B, Q) is the X with A @ X + X @ B = Q.",
    "cofactors": "Signed determinants of the matrix without a row and a column.",
    "expm": "The exponential of a matrix: I + A + A²/2 + …",
    "I": "The identity matrix.",
    "pivots": "The reciprocal of each column's pivot at its position; 0 elsewhere.",
    "grouped_matmul": "Each row times the matrix of its expert.",
    "expert_products": "For each expert: the rows of one, transposed, times its rows of the other.",
    "rope": "Pairs of entries rotated by angles.",
    "fake_quantize": "Rounded to a whole number of steps, then scaled back.",
    "dequantize_blocks": "The real numbers that codes stand for, block by block: (codes − zero_point) · scale.",
    "cut_or_pad": "The first entries along the axis, padded with zeros.",
    "frames": "Overlapping pieces of a signal as rows.",
    "overlap_add": "Pieces added back at their positions in the signal.",
    "to_device": "The same value on another device.",
    "sigmoid": "1 / (1 + e^(−x)).",
    "silu": "x · sigmoid(x).",
    "softplus": "log(1 + e^x).",
    "softmax": "e^x over the sum of all e^x: positive numbers that add up to 1.",
    "expm1": "e^x − 1.",
    "log1p": "log(1 + x).",
    "xlogy": "x · log(y), and 0 where x is 0.",
    "xlog1py": "x · log(1 + y), and 0 where x is 0.",
    "erfc": "1 − erf(x), the complementary error function.",
    "digamma": "The derivative of log Γ(x).",
    "polygamma": "polygamma(n, x): the nth derivative of digamma(x).",
    "gammaln": "log |Γ(x)|.",
    "betaln": "log |Γ(a) Γ(b) / Γ(a + b)|.",
}
_BESSEL = re.compile(r"([ijy])([01vn])(e?)")


def meaning_of(name: str) -> str | None:
    """Return the tooltip of a function; Bessel functions get theirs from the name."""
    found = _BESSEL.fullmatch(name)
    if not found:
        return MEANINGS.get(name)
    kind, order, scaled = found.groups()
    of = order if order.isdigit() else "given by its first argument"
    return f"The Bessel function {kind.upper()}, of order {of}{', times e^(−|x|)' * bool(scaled)}."


def explain_functions(tree: ET.Element) -> ET.Element:
    """Give the functions of a formula their tooltips, and return it."""
    for word in tree.iter("mi"):
        if word.get("mathvariant") == "normal" and not word.get("data-name") and (tip := meaning_of(word.text or "")):
            word.attrib |= {"data-tip": tip, "tabindex": "0"}
    return tree

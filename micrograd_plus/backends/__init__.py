"""The namespaces in which an operation can be read: the meanings of `xp`.

* `floats`: Python numbers.
* `arrays`: NumPy arrays, and CuPy's under the same names (`devices`).
* `tensors`: recorded tensors, so that gradients have gradients.

The fourth namespace, symbols, is in `formulas`: it spells the formula of a rule from the code that ran.
"""

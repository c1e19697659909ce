"""What `xp` can be: the namespaces in which one operation is read.

* `floats`: Python numbers.
* `arrays`: NumPy arrays, and CuPy's under the same names (`devices`).
* `tensors`: recorded tensors, so that gradients have gradients.

The fourth, symbols, is in `formulas`: names, so that the formula a student sees is spelled by the code that ran.
"""

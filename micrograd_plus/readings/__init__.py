"""What `xp` can be: the vocabularies in which one operation is read.

* `floats`: Python numbers.
* `arrays`: NumPy arrays, and CuPy's under the same names.
* `symbols`: names, so that the formula a student sees is spelled by the code that ran.
* `vocabulary.tensors`: recorded tensors, so that gradients have gradients.
"""

"""Benchmarks of the engine, compared with other libraries and with code by hand.

Run with `make bench`, or `python -m benchmarks` with tests/ on the path. Everything is measured on one
thread, and the libraries behind NumPy read these variables when they are loaded: hence here, before NumPy is.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

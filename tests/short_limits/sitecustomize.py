"""Settings of the grader's workers in tests: an endless loop ends after one second of processor time, not after five.

Python runs this file at its start if this folder is in PYTHONPATH.
"""

import sys

if "micrograd_plus.grading.worker" in "".join(sys.orig_argv):
    from micrograd_plus.grading import grade
    from micrograd_plus.grading.sandbox.runs import Limits

    grade.limits_of = lambda exercise: Limits(cpu=1.0, wall=60.0)

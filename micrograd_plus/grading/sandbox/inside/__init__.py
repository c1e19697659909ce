"""What runs in the student's process: nothing in this package knows an answer, a seed or a tolerance.

It is started apart from the rest of the house, by its own name, so nothing of the house is imported with it: these
files import Python's own modules, NumPy, and each other.
"""

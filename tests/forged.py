"""Forged answers: constants, echoes of what an answer may read, and outcomes that no honest code sends."""

import numpy as np

CONSTANTS = (0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 1e300, np.inf, -np.inf, np.nan)


def forge_outcomes(cases, right, readable, make):
    """Return an outcome for each case whose values come from `make(arrays, value, rng)`; `arrays` are the readable."""
    outcomes = []
    for i, (case, values, arrays) in enumerate(zip(cases, right, readable, strict=True)):
        rng = np.random.default_rng(i)
        upstream = case.expects.get("upstream")  # multiplies a local derivative, which has the output's shape
        shaped = {name: value if upstream is None else upstream for name, value in values.items()}
        forged = {name: make(arrays, value, rng) for name, value in shaped.items()}
        outcomes.append({"values": forged, "error": None, "wrote": []})
    return outcomes


def readable_arrays(arguments):
    """Yield every array that a request passes on, upstream first."""
    ordered = sorted(arguments.items(), key=lambda each: each[0] != "upstream")
    for value in flatten([each for _, each in ordered]):
        yield np.asarray(value, float)


def flatten(value):
    """Yield the numbers and arrays of nested data."""
    if isinstance(value, dict):
        yield from flatten(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from flatten(each)
    elif isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind in "fi":
        yield value


def like(value, array):
    """Return an array in the shape of a value: broadcast if it can be, else repeated."""
    try:
        return np.broadcast_to(array, value.shape).copy()
    except ValueError:
        return np.resize(array, value.shape).astype(float)


def echo(place, change=lambda x: x):
    """Return a forgery that sends back one of the arrays that an answer may read."""
    return lambda arrays, value, rng: like(value, change(arrays[place % len(arrays)] if arrays else np.ones(1)))


def alternate(value, first, second):
    """Return two numbers in turns."""
    return np.resize(np.array([first, second]), value.shape)


def first_only(value, first, rest):
    """Return one number at the first place, and another everywhere else."""
    array = np.full(value.shape, rest)
    array.reshape(-1)[:1] = first
    return array


FORGERIES = {
    **{f"the constant {c!r}": lambda a, v, rng, c=c: np.full(v.shape, c) for c in CONSTANTS},
    **{f"the constant {c!r} in single precision": lambda a, v, rng, c=c: np.full(v.shape, c, "f4")
       for c in (0.0, 1.0, np.nan, np.inf)},
    "an echo of upstream": echo(0),
    "an echo of the second array": echo(1),
    "an echo of the third array": echo(2),
    "an echo of the last array": echo(-1),
    "upstream turned round": echo(0, lambda x: -x),
    "upstream in single precision": echo(0, lambda x: x.astype("f4")),
    "upstream in reverse": echo(0, lambda x: x.reshape(-1)[::-1]),
    "upstream, sorted": echo(0, lambda x: np.sort(x, axis=None)),
    "the sum of upstream": echo(0, np.sum),
    "the mean of upstream": echo(0, np.mean),
    "the signs of upstream": echo(0, np.sign),
    "the first entry of upstream": echo(0, lambda x: x.reshape(-1)[:1]),
    "upstream where it is positive, else nan": echo(0, lambda x: np.where(x > 0, x, np.nan)),
    "upstream, complex": echo(0, lambda x: x + 0j),
    "one less than the second array": echo(1, lambda x: 1 - x),
    "0 and nan in turns": lambda a, v, rng: alternate(v, 0.0, np.nan),
    "0 and 1 in turns": lambda a, v, rng: alternate(v, 0.0, 1.0),
    "nan first, then 0": lambda a, v, rng: first_only(v, np.nan, 0.0),
    "1 first, then 0": lambda a, v, rng: first_only(v, 1.0, 0.0),
    "0, 1, 2, …": lambda a, v, rng: np.arange(v.size, dtype=float).reshape(v.shape),
    "random numbers": lambda a, v, rng: rng.normal(size=v.shape),
    "tiny random numbers": lambda a, v, rng: 1e-12 * rng.normal(size=v.shape),
    "complex zeros": lambda a, v, rng: np.zeros(v.shape, complex),
    "imaginary nan": lambda a, v, rng: np.full(v.shape, complex(1, np.nan)),
    "a number for an array": lambda a, v, rng: np.array(1.0),
    "an axis too many": lambda a, v, rng: np.zeros((*v.shape, 1)),
    "a flat array": lambda a, v, rng: np.ones(v.size + 1),
    "no entries": lambda a, v, rng: np.zeros(0),
}  # fmt: skip

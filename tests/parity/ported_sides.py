"""Runs a program of PyTorch's on both libraries with the same random numbers, in double precision.

A program is a file in `ported/`. It is run unchanged with torch. For micrograd_plus the imports name another package,
and some lines are replaced: `CHANGES` lists them. Random draws and first weights come from one NumPy generator on both
sides, and `float` means float64, so that results can be compared to many digits.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np

WIDE = {"float32": "float64"}
FOLDER = Path(__file__).parent / "ported"
RANDOM_LAYERS = (
    "Linear", "Conv2d", "ConvTranspose2d", "Embedding", "GRU", "LSTMCell", "Conv1d", "LSTM", "RNN",
)  # fmt: skip


def read_program(name):
    """Return the text of a program."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def port_program(text, changes):
    """Return a program for micrograd_plus: imports of torch name it, and each changed line is replaced."""
    lines = text.split("\n")
    for before, after in changes:
        places = [i for i, line in enumerate(lines) if line.strip() == before]
        assert places, f"no line {before!r}"
        for i in places:
            indent = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
            lines[i] = "\n".join(indent + each for each in after.split("\n"))
    text = re.sub(r"^import torch$", "import micrograd_plus as torch", "\n".join(lines), flags=re.MULTILINE)
    return re.sub(r"^(import|from) torch\b", r"\1 micrograd_plus", text, flags=re.MULTILINE)


class Draws:
    """Random numbers for one run: draws in the order of the program, first weights by shape and order."""

    def __init__(self, make):
        self.make, self.rng, self.count, self.is_drawing = make, np.random.default_rng(0), Counter(), False

    def weights(self, shape, scale=0.3):
        """Return first weights: the same for the n-th parameter of a shape."""
        self.count[shape] += 1
        return np.random.default_rng([self.count[shape], *shape]).standard_normal(shape) * scale

    def patches(self, library):
        """Return the library's random functions, each with numbers from here instead of those that it has drawn."""

        def replace_draws(function, draw):
            def call(*args, **options):
                outermost, self.is_drawing = not self.is_drawing, True
                drawn = function(*args, **options)
                if outermost:
                    drawn.data = self.make(draw(tuple(drawn.shape), *args))
                    self.is_drawing = False
                return drawn

            return call

        def uniform(shape, *_):
            return self.rng.random(shape)

        def standard(shape, *_):
            return self.rng.standard_normal(shape)

        def between(shape, low, high, *_):
            low, high = (0, low) if isinstance(high, tuple) else (low, high)
            return self.rng.integers(low, high, shape)

        def rows(shape, weights, *_):
            table = np.atleast_2d(np.asarray(weights.detach().numpy(), dtype=float))
            ends = np.cumsum(table / table.sum(1, keepdims=True), axis=1)
            return np.array([np.searchsorted(row, self.rng.random(shape[-1])) for row in ends]).reshape(shape)

        draws = {
            "randn": standard, "rand": uniform, "randn_like": standard, "rand_like": uniform, "randint": between,
            "multinomial": rows, "randperm": lambda shape, n: self.rng.permutation(n),
        }  # fmt: skip
        found = {name: replace_draws(getattr(library, name), draw) for name, draw in draws.items()}
        place = library if library.__name__ == "torch" else library.random
        normal = replace_draws(place.normal, lambda shape, mean, std, *_: mean + std * self.rng.standard_normal(shape))
        return [(library, name, function) for name, function in found.items()] + [(place, "normal", normal)]

    def like(self, p):
        """Return first weights in the shape of a tensor."""
        return self.make(self.weights(tuple(p.shape)))

    def fill(self, p, *_, **__):
        """Give a parameter first weights."""
        p.data = self.like(p)

    def silence(self, x, p=0.5, training=True, inplace=False, rng=None):
        """Dropout."""
        if not training:
            return x
        return x * self.make((self.rng.random(tuple(x.shape)) >= p) / (1 - p))

    def give_first_weights(self, layer):
        """Return a constructor that ends with weights from here."""
        own = layer.__init__

        def __init__(module, *args, **options):  # noqa: N807 - it replaces one
            count = self.count.copy()
            own(module, *args, **options)
            self.count = count.copy()
            for _, p in sorted(module.named_parameters(recurse=False)):
                p.data = self.like(p)

        return __init__


def run_program(name, library, patch, changes=()):
    """Run a program with a library, torch or micrograd_plus, and return the numbers in `out`. `patch` is pytest's."""
    nn, functional = library.nn, library.nn.functional
    draws = Draws(library.tensor)
    with patch.context() as place:
        for owner, called, function in draws.patches(library):
            place.setattr(owner, called, function)
        place.setattr(functional, "dropout", draws.silence)
        place.setattr(nn.Dropout, "forward", lambda layer, x: draws.silence(x, layer.p, layer.training))
        for layer in (getattr(nn, each) for each in RANDOM_LAYERS):
            place.setattr(layer, "__init__", draws.give_first_weights(layer))
        for called in ("normal_", "uniform_", "kaiming_normal_", "xavier_uniform_"):
            place.setattr(nn.init, called, draws.fill)
        is_torch = library.__name__ == "torch"
        if is_torch:
            default = library.get_default_dtype()  # `float32` is another name below
            library.set_default_dtype(library.float64)
            place.setattr(library, "FloatTensor", lambda values: library.tensor(values, dtype=library.float64))
            place.setattr(library.Tensor, "uniform_", lambda p, *_, **__: p.detach().copy_(draws.like(p)))
        for called in ("float", "float32"):
            place.setattr(library, called, library.float64)
        place.setattr(library.Tensor, "float", library.Tensor.double)
        widened = library.from_numpy
        place.setattr(library, "from_numpy", lambda array: widened(np.asarray(array, WIDE.get(array.dtype.name))))
        text = read_program(name)
        text = text if is_torch else port_program(text, changes)
        names = {"__name__": f"ported.{name}"}
        try:
            exec(compile(text, f"<{name}>", "exec"), names)  # noqa: S102 - a program of our own
        finally:
            if is_torch:
                library.set_default_dtype(default)
    return [float(each) for each in names["out"]]



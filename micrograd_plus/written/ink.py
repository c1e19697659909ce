"""Arrays that compute and write themselves down, and their device.

A namespace is anything with functions as attributes. `backends/arrays.py` is read once more here, over a library whose
functions do their work and add a statement to the open page. So the engine itself runs as it is: operations, rules, the
walk, layers and optimisers. What is written is what they do to arrays, and nothing else.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import importlib.util
import math
import operator
import sys
import types
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from ..backends import devices, shared
from ..core.variable import Variable
from .notes import note_here, refusal
from .page import Page, Setting, Statement, Value, add_array_type, find, is_array, map_parts, map_values

_here = local()


def open_page() -> Page | None:
    """Return the page that this thread writes on, if any."""
    return getattr(_here, "page", None)


open_pages: list[Page] = []
"""The open pages of all threads."""


def set_page(page: Page | None) -> None:
    """Set the page that this thread writes on."""
    if page is None:
        open_pages.remove(_here.page)
    else:
        open_pages.append(page)
    _here.page = page


@contextmanager
def leave_page() -> Generator[None]:
    """Let this thread use the engine as if no page were open, in a block."""
    page, _here.page = open_page(), None
    try:
        yield
    finally:
        _here.page = page


def real(x: Any) -> Any:
    """Return the array or number behind ink, and anything else as it is."""
    return x.array if type(x) is Ink else x


def value_of(page: Page, x: Any) -> Any:
    """Return an argument as statements have it: a value for ink, arrays and NumPy scalars."""
    if type(x) is Ink:
        return x.value if x.page is page else page.constant(x.array)
    if is_array(x) or isinstance(x, np.generic):
        return page.constant(x)
    return x


def record(form: str, function: str, call: Callable[..., Any], args: Any, kwargs: Any, effect: bool = False) -> Any:
    """Make a call on real arrays, write it down, and return its result as ink."""
    page = open_page()
    reals, named = map_parts(args, real), map_values(kwargs, real)
    if page is None:
        return call(*reals, **named)
    values, named_values = map_parts(args, lambda x: value_of(page, x)), map_values(kwargs, lambda x: value_of(page, x))
    result = call(*reals, **named)
    target = args[0] if form in ("iop", "setitem") or result is None else kwargs.get("out")
    target = target[0] if type(target) is tuple else target
    if type(target) is not Ink and result is not None and target is not None:
        cure = "Keep these numbers in a tensor, and write into that"
        raise TypeError(refusal("writes into an array from outside", cure))
    writes = [value_of(page, target)] if target is not None else []
    statement = Statement(form, function, values, named_values, writes, note_here(page), effect)
    reads = statement.reads()
    is_fixed = form != "draw" and all(value.buffer.is_fixed for value in reads)
    if target is None:
        is_dynamic = not is_fixed and (any(v.is_dynamic for v in reads) or shape_depends_on_numbers(statement))
        inked = map_parts(result, lambda r: _as_ink(page, r, args, statement))
        known = list(find(args, Ink))
        statement.out = map_parts(
            inked, lambda x: x.value if type(x) is Ink and not any(x is each for each in known) else None
        )
        for value in statement.outs():
            value.is_dynamic = is_dynamic
            if value.buffer.is_fixed is None:
                value.buffer.is_fixed = is_fixed
        if not statement.outs():
            return inked  # nothing new: the argument itself, or facts about it
    page.statements.append(statement)
    for each in writes:
        each.buffer.writes += 1
        each.buffer.is_fixed = each.buffer.is_fixed and is_fixed
    return None if result is None else target if writes else inked


def _as_ink(page: Page, r: Any, args: Any, statement: Statement) -> Any:
    """Return a result as ink. A view shares the memory of the argument that it is a view of."""
    if not is_array(r):
        if type(r) not in (float, int, complex, bool) and not isinstance(r, np.generic):
            return r
        is_call = statement.function.startswith(("math.", "item", "abs"))
        is_number = is_call or statement.form in ("binop", "unop", "draw")
        is_value = isinstance(r, np.generic) or (is_number and type(r) in (float, int, complex, bool))
        return Ink(r, Value("temporary", r), page) if is_value else r
    whole = root(r)
    is_shared = statement.function == "np.broadcast_arrays" or 0 in r.strides
    for x in find(args, Ink):
        if r is x.array:
            return x
        if is_array(x.array) and root(x.array) is whole:
            base = x if x.base is None else x.base
            whole_value = value_of(page, x)
            view = Value("temporary", r, whole_value.buffer)
            view.is_writable = whole_value.is_writable and not is_shared and is_writable(r)
            return Ink(r, view, page, base)
    value = Value("temporary", r)
    value.is_whole = value.is_writable = not is_shared and is_writable(r)
    if value.is_whole:
        value.buffer.nbytes = r.nbytes
    base = None if value.is_whole else Ink(whole, value, page)  # a number repeated without copies is a view too
    return Ink(r, value, page, base)


def root(array: Any) -> Any:
    """Return the array that owns the memory of a view."""
    while is_array(array.base):
        array = array.base
    return array


def is_writable(array: Any) -> bool:
    """Return True if entries of an array can be written. CuPy's always can."""
    return getattr(array.flags, "writeable", True)


class Ink:
    """An array (or number) that computes and writes its own statements."""

    __slots__ = ("__weakref__", "array", "base", "page", "value")

    def __init__(self, array: Any, value: Value, page: Page, base: Any = None):
        self.array, self.value, self.page, self.base = array, value, page, base

    __hash__ = object.__hash__

    def __array__(self, *_: Any, **__: Any) -> Any:
        if open_page() is None or self.value.buffer.is_fixed:
            return np.array(self.array)
        if self.value.is_number:
            raise TypeError(refusal("makes an array of a number among the arguments", NUMBER_AS_VARIABLE))
        raise TypeError(refusal("asks for the numbers of a tensor"))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(x, Variable) for x in inputs):
            return NotImplemented
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        return record("call", name, getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        word = _words.get(id(function))
        if word is None:
            raise TypeError(
                refusal(f"calls numpy's {getattr(function, '__name__', function)} on the array of a tensor")
            )
        return word(*args, **kwargs)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return record("getitem", "", operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        record("setitem", "", operator.setitem, (self, index, value), {})

    def __getattr__(self, name: str) -> Any:
        if name in ABOUT_AN_ARRAY:
            if self.value.is_dynamic and name in ("shape", "size", "strides", "nbytes") and open_page() is not None:
                raise TypeError(refusal("asks for a shape that depends on numbers"))
            return getattr(self.array, name)
        if name.startswith("__") or name == "get" or not hasattr(self.array, name):
            raise AttributeError(name)
        if name in ("item", "tolist", "tobytes"):
            return lambda *args: _refuse_number(self, name, *args)
        if not callable(getattr(self.array, name)):
            return record("attr", name, lambda x: getattr(x, name), (self,), {})
        return lambda *args, **kwargs: record("method", name, call_method(name), (self, *args), kwargs)

    def __bool__(self) -> bool:
        return decide(self)

    # Error messages of the engine show what was computed, as without a page.

    def __repr__(self) -> str:
        return repr(self.array)

    def __str__(self) -> str:
        return str(self.array)

    def __format__(self, spec: str) -> str:
        return format(self.array, spec)


def call_method(name: str) -> Callable[..., Any]:
    """Return a function that calls a method of its first argument."""
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


ABOUT_AN_ARRAY = frozenset(("shape", "dtype", "ndim", "size", "strides", "flags", "itemsize", "nbytes"))


def _refuse_number(ink: Ink, name: str, *args: Any) -> Any:
    """Return a number that ink holds if its page is closed or it is a constant; otherwise raise TypeError."""
    page = open_page()
    if page is None or ink.page is not page or ink.value.buffer.is_fixed:
        return getattr(ink.array, name)(*args)
    if name == "tobytes":  # asked by a view, whether its tensor has changed since: the same at every call
        return ink.array.tobytes()
    if name == "item" and is_engine_check(sys._getframe(2)):  # of the lambda that calls this
        return record("method", "item", lambda x: x.item(), (ink,), {})
    if ink.value.is_number and ink.value.kind == "input":
        return fix_number(page, ink)
    if ink.value.is_number:
        raise TypeError(refusal("needs a number itself that comes from an argument or a draw,", NUMBER_AS_VARIABLE))
    raise TypeError(refusal("asks for a number of a tensor"))


NUMBER_AS_VARIABLE = (
    "Let the step find it as a variable, each number of which has its own program, or compute with a tensor instead"
)


for _name in ("__float__", "__int__", "__index__", "__complex__", "__round__", "__trunc__", "__floor__", "__ceil__"):
    setattr(Ink, _name, lambda self, *args, name=_name: _refuse_number(self, name, *args))


def fix_number(page: Page, ink: Ink) -> Any:
    """Return an input number as a constant of the program, which holds as long as the number stays the same."""
    kind, read = ink.value.source[:2]
    if kind == "argument":
        what = f"needs the number {ink.value.hint} itself, not as part of arithmetic,"
        raise TypeError(refusal(what, NUMBER_AS_VARIABLE))
    page.add_condition(read, ink.array, f"{ink.value.hint} is {ink.array!r}")
    return ink.array


def decide(ink: Ink) -> bool:
    """Return whether ink is true. The engine's own checks become checks of the program; a user's `if` is refused."""
    page, answer = open_page(), bool(ink.array)
    if page is None or ink.page is not page or ink.value.buffer.is_fixed:
        return answer
    if ink.value.is_number and ink.value.kind == "input" and ink.value.source[0] == "read":
        read = ink.value.source[1]
        is_true = read._replace(is_truth=True) if isinstance(read, Setting) else lambda: bool(read())
        page.add_condition(is_true, answer, f"{ink.value.hint} is {'not 0' if answer else '0'}")
        return answer
    caller = sys._getframe(2)  # of `if x:`, above `__bool__`
    while caller.f_code.co_filename == _SEAMS or caller.f_globals.get("__name__", "").startswith(_HERE):
        caller = caller.f_back or caller
    has_written = any(w.kind == "input" for s in page.statements for w in s.writes)
    is_engines = is_engine_check(caller)
    if ink.value.is_number and not is_engines:
        cure = "Pass it as an int or a bool, each of which has its own program, or use mg.where"
        raise TypeError(refusal("asks about a float among the arguments, or a setting,", cure))
    if has_written or not is_engines:
        raise TypeError(refusal("asks whether a tensor is true"))
    note = note_here(page)
    page.statements.append(Statement("check", "", (value_of(page, ink), answer), {}, [], note, True))
    return answer


def is_engine_check(frame: Any) -> bool:
    """Return True for a frame of the engine that asks on its own account, and not for a user's `x.item()`."""
    while frame.f_globals.get("__name__", "").startswith((*_METHODS, _HERE)) or frame.f_code.co_filename == _SEAMS:
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").startswith(_PACKAGE)


_METHODS = [kind.__module__ for kind in Variable.public.__mro__[:-1]]  # modules of a tensor's methods
_HERE = __name__.rpartition(".")[0]
_SEAMS = "<compiled: watched function>"
_PACKAGE = __name__.partition(".")[0] + "."
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip


def _add_operators() -> None:
    """Give ink Python's operators."""
    for name, sign in SIGNS.items():
        function, plain = getattr(operator, name), name.strip("_")

        def forward(a: Any, b: Any, f: Any = function, s: str = sign) -> Any:
            return NotImplemented if isinstance(b, Variable) else record("binop", s, f, (a, b), {})

        def reverse(a: Any, b: Any, f: Any = function, s: str = sign) -> Any:
            return record("binop", s, f, (b, a), {})

        setattr(Ink, f"__{plain}__", forward)
        if sign in ("<", "<=", ">", ">=", "==", "!="):
            continue
        in_place_function = getattr(operator, f"i{plain}")

        def in_place(a: Any, b: Any, f: Any = function, s: str = sign, g: Any = in_place_function) -> Any:
            if isinstance(b, Variable):
                return NotImplemented
            return record("iop", f"{s}=", g, (a, b), {}) if is_array(a.array) else record("binop", s, f, (a, b), {})

        setattr(Ink, f"__r{plain}__", reverse)
        setattr(Ink, f"__i{plain}__", in_place)
    for name, sign in {"neg": "-", "pos": "+", "invert": "~"}.items():
        function = getattr(operator, name)
        setattr(Ink, f"__{name}__", lambda x, f=function, s=sign: record("unop", s, f, (x,), {}))
    setattr(Ink, "__abs__", lambda x: record("call", "abs", abs, (x,), {}))  # noqa: B010 - Ink has no such method yet


_add_operators()


# The library ----------------------------------------------


class Word:
    """A function of NumPy's that writes itself down."""

    def __init__(self, name: str, function: Any):
        self.name, self.function, self.__name__ = name, function, name
        _words.setdefault(id(function), self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function and write the call down."""
        return record("call", self.name, self.function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Word(f"{self.name}.{name}", getattr(self.function, name))


_words: dict[int, Word] = {}
SHAPED_BY_NUMBERS = frozenset(
    ("nonzero", "flatnonzero", "argwhere", "unique", "compress", "extract", "where",
    "union1d", "intersect1d", "setdiff1d", "trim_zeros", "bincount")
)  # fmt: skip
ABOUT = frozenset(("result_type", "shape", "ndim", "size", "finfo", "iinfo", "errstate", "can_cast", "promote_types",
    "issubdtype", "isscalar", "broadcast_shapes", "iscomplexobj", "isrealobj", "min_scalar_type", "may_share_memory",
    "shares_memory", "ndindex", "common_type", "einsum_path"))  # fmt: skip
"""Functions that ask for shapes and dtypes alone, or set a mode: nothing is written."""


def shape_depends_on_numbers(statement: Statement) -> bool:
    """Return True for a statement whose result has a shape that depends on entries, such as `x[mask]`."""
    if statement.form == "getitem":
        masks = [value for value in find(statement.args[1], Value) if value.is_array and value.dtype == bool]
        return any(not mask.buffer.is_fixed for mask in masks)
    name = statement.function.rpartition(".")[2]
    return name in SHAPED_BY_NUMBERS and (name != "where" or len(statement.args) == 1)


class Library(types.ModuleType):
    """A library of arrays whose functions write themselves down."""

    ndarray: type

    def __init__(self, of: Any, name: str, prefix: str):
        super().__init__(name)
        self._of, self._prefix = of, prefix
        for each in dir(of):  # words for all functions, since a user may call NumPy's own on ink
            if not each.startswith("_"):
                getattr(self, each)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        x = getattr(self._of, name)
        if name in ABOUT:
            x = _asking_real(x)
        elif isinstance(x, types.ModuleType):
            x = Library(x, name, f"{self._prefix}{name}.") if name in PARTS else x
        elif callable(x) and not isinstance(x, type):
            x = Word(self._prefix + name, x)
        setattr(self, name, x)
        return x


PARTS = ("linalg", "fft", "lib", "stride_tricks")
"""Modules of a library whose functions write themselves down too."""


def _asking_real(function: Any) -> Any:
    return lambda *args, **kwargs: function(*map_parts(args, real), **map_values(kwargs, real))


paper_sqrt = Word("math.sqrt", math.sqrt)


def _read_arrays_again(paper: Any) -> Any:
    """Return `backends/arrays.py`, read over paper instead of NumPy."""
    spec: Any = importlib.util.find_spec("micrograd_plus.backends.arrays")
    name = "micrograd_plus.backends.arrays_on_paper"
    made: Any = types.ModuleType(name)
    sys.modules[name] = made
    made.__package__ = "micrograd_plus.backends"
    exec(compile(Path(spec.origin).read_text(encoding="utf-8"), spec.origin, "exec"), vars(made))
    own = {n for n, x in vars(made).items() if getattr(x, "__module__", "") == name}
    vars(made).update({n: f for n, f in shared.bind_functions(made, paper).items() if n not in own})
    for each in ("_few_ones", "_few_places"):  # a cached array would belong to another page
        setattr(made, each, vars(made)[each].__wrapped__)
    made.np = paper
    return made


class Paper:
    """A device on paper: the library that writes itself down, its namespace, and the name of the real device.

    The CPU's namespace is `backends/arrays.py`, read once more; other devices use the shared functions. `special` has
    functions that sum series of hundreds of terms. A program calls each as one word, `special.jv(x, n=1)`.
    """

    def __init__(self, real_device: Any):
        self.real_device, self.library = real_device, Library(real_device.library, real_device.library.__name__, "np.")
        self.library.ndarray = Ink
        is_cpu = real_device.name == "cpu"
        self.namespace: Any = _read_arrays_again(self.library) if is_cpu else devices.Namespace(self.library)
        self.namespace.to_device = devices.to_device
        self.special = types.SimpleNamespace()
        self._known = [0, 0]
        add_array_type(real_device.array_type)

    def complete(self) -> None:
        """Add the operations and kernels that were defined since the last time."""
        operations, kernels = list(devices._composites.items()), devices._kernels
        for name, forward in operations[self._known[0] :]:
            devices._add(self.namespace, name, forward)
        for module in kernels[self._known[1] :]:
            for name in module.__all__:
                setattr(self.namespace, name, partial(getattr(module, name), self.library))
            if module.__name__.startswith(_SERIES):
                self._add_series(module)
        self._known[:] = len(operations), len(kernels)

    def _add_series(self, module: Any) -> None:
        """Make each function that sums a series one word."""
        for name in module.__all__:
            word = Word(f"special.{name}", partial(getattr(module, name), self.real_device.library))
            setattr(self.special, name, word.function)
            setattr(self.namespace, name, word)


class PaperDevice(devices.Device):
    """The device of ink: the one that the open page writes for, on paper."""

    __slots__ = ()

    def __init__(self) -> None:
        self.array_type = Ink

    @property
    def _paper(self) -> Paper:
        page = open_page()
        return paper_for("cpu") if page is None else page.paper

    name = property(lambda self: self._paper.real_device.name)
    library = property(lambda self: self._paper.library)
    namespace = property(lambda self: self._paper.namespace)


_SERIES = f"{_PACKAGE}extras.special"
_papers: dict[str, Paper] = {}


def paper_for(name: str) -> Paper:
    """Return the paper of a device."""
    real_device = devices.device(name)
    if name not in _papers or _papers[name].real_device is not real_device:
        _papers[name] = Paper(real_device)
    return _papers[name]


DEVICE = PaperDevice()

"""Everything that a step finds besides its arguments: variables, attributes of objects, entries, random states.

A program reads tensors and settings of optimisers at each call. Everything else that a step finds is written into the
program. So a program holds for as long as all those places hold the same objects, and a step that changes one of them
has no program.
"""

from __future__ import annotations

import functools
import inspect
import operator
import random
import sys
import threading
import weakref
from argparse import Namespace
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ..core.variable import Variable
from ..engine import Value
from ..nn.module import Module
from ..optim.optimizer import Optimizer
from ..tensor.tensor import Tensor
from ..tracing.sites import USER, kind_of
from .places import MISSING, NUMBERS, Place, attributes_of, describe_module, entries_of, is_equal

MOST_KEYS, MOST_ENTRIES = 16, 4096
"""Longer dictionaries are compared by a loop. A step that finds far longer ones, or lists, is refused."""
READS_ANY = frozenset(("getattr", "vars", "globals", "__dict__", "attrgetter", "asdict", "astuple"))
"""Code with one of these names may read any attribute of an object, and any variable that one of its texts names."""
READ_OF_TENSORS = frozenset(("node", "label"))
"""Attributes of a tensor that are no methods: reading one is not seen while a step is traced."""
CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__"))
OF_NO_CALL = frozenset(("__repr__", "__str__", "__del__", "__init_subclass__", "__reduce__", "__getstate__"))
"""Special methods that do not run in a step, unless it names them."""


class Surroundings:
    """The places around a step, the names of tensors in them, and the arrays, modules and generators that they hold."""

    def __init__(self, function: Any, arguments: Any = ()):
        self.names = found = frozenset[str]()
        while found or not hasattr(self, "places"):
            self.names |= found  # the names in code say which attributes matter, and these lead to more code
            self.places: list[Place] = []
            self._known_places = set[Any]()
            self.named: dict[int, str] = {}
            self.tensors: list[Any] = []
            self.arrays: dict[int, tuple[Any, str]] = {}
            self.modules: dict[int, tuple[Any, str]] = {}
            self.optimisers: list[tuple[Any, str]] = []
            self.generators: list[tuple[Any, str]] = []
            self.iterators: list[str] = []
            self._seen: dict[Any, Any] = {}
            self._found = set[str]()
            self._visit(function, "")
            for i, x in enumerate(arguments):
                visit = self._name_tensor if isinstance(x, Tensor) else self._visit  # each call has other tensors
                visit(x, f"argument {i + 1}")
            for optimiser, name in list(self.optimisers):
                for i, group in enumerate(optimiser.param_groups):
                    self._add("key", group, "params", group["params"], f"{name}.param_groups[{i}]['params']")
            found = frozenset(self._found) - self.names

    # What is reached ------------------------

    def _visit(self, x: Any, name: str) -> None:
        """Note the places in an object, and go on with what they hold."""
        if isinstance(x, NUMBERS) or id(x) in self._seen or isinstance(x, Value):
            return
        self._seen[id(x)] = x
        for kinds, visit in self._visits.items():
            if isinstance(x, kinds):
                visit(x, name)
                return
        if hasattr(type(x), "cache_info"):
            self._note(Place("cache", x, None, x.cache_info().currsize, f"the results that {name} keeps"))
            self._visit(x.__wrapped__, name)
        elif hasattr(type(x), "__next__") and type(x).__module__ in ("builtins", "itertools"):
            self.iterators.append(name)
        else:
            self._visit_object(x, name)

    @functools.cached_property
    def _visits(self) -> dict[Any, Callable[[Any, str], None]]:
        return {
            Tensor: self._visit_tensor,
            (np.ndarray, array, bytearray): lambda x, name: self.arrays.update({id(x): (x, name)}),
            (np.random.Generator, random.Random): lambda x, name: self.generators.append((x, name)),
            (list, tuple, deque): self._visit_list,
            dict: self._visit_dict,
            (set, frozenset): lambda x, name: self._note(Place("set", x, None, frozenset(x), name)),
            Module: self._visit_module,
            Optimizer: self._visit_optimiser,
            MethodType: lambda x, name: self._visit_parts((x.__self__, "self"), (x.__func__, name)),
            functools.partial: lambda x, name: self._visit_parts((x.args, name), (x.keywords, name), (x.func, name)),
            BuiltinMethodType: self._visit_builtin_method,
            FunctionType: self._visit_function,
            ContextVar: self._visit_context,
            weakref.ref: lambda x, name: self._visit(x(), name),
            (operator.attrgetter, operator.methodcaller): lambda x, _: self._found.update(names_in(x.__reduce__()[1])),
            type: lambda x, name: self._visit_class(x, is_constructed=True),
            ModuleType: self._visit_python_module,
            Mapping: self._visit_mapping,  # os.environ, and others whose values may be made anew at each reading
        }

    def _visit_parts(self, *parts: tuple[Any, str]) -> None:
        for x, name in parts:
            self._visit(x, name)

    def _name_tensor(self, x: Any, name: str) -> None:
        self.named.setdefault(id(x), name.removeprefix("self."))
        self.tensors.append(x)

    def _visit_tensor(self, x: Any, name: str) -> None:
        self._name_tensor(x, name)
        for key in sorted(self.names & READ_OF_TENSORS):
            if hasattr(x, key):
                self._note(Place("attribute", x, key, getattr(x, key), f"{name}.{key}"))

    def _visit_builtin_method(self, x: Any, name: str) -> None:
        owner = x.__self__
        self._visit(None if isinstance(owner, ModuleType) else owner, f"the {type(owner).__name__} of {name}")

    def _note(self, place: Place) -> None:
        """Note a place, once."""
        known = place.kind, id(place.holder), place.key if isinstance(place.key, (str, int)) else id(place.key)
        if known not in self._known_places:
            self._known_places.add(known)
            self.places.append(place)

    def _add(self, kind: str, holder: Any, key: Any, value: Any, name: str) -> None:
        is_librarys = isinstance(value, FunctionType) and not is_users(value)
        if not is_librarys and not isinstance(value, (ModuleType, type)):  # these stay what they are
            self._note(Place(kind, holder, key, value, name))
        self._visit(value, name)

    def _visit_list(self, x: Any, name: str) -> None:
        refuse_many(x, name)
        if not isinstance(x, tuple):
            self._note(Place("list", x, None, list(x), name))
        for i, part in enumerate(list(x)):
            self._visit(part, f"{name}[{i}]")

    def _visit_dict(self, x: Any, name: str) -> None:
        refuse_many(x, name)
        if len(x) > MOST_KEYS:
            self._note(Place("dict", x, None, [*x, *x.values()], name))
        else:
            self._note(Place("length", x, None, len(x), name))
        for key, part in list(x.items()):
            if len(x) > MOST_KEYS:
                self._visit(part, f"{name}[{key!r}]")
            else:
                self._add("key", x, key, part, f"{name}[{key!r}]")

    def _visit_mapping(self, x: Any, name: str) -> None:
        refuse_many(x, name)
        place = Place("mapping", x, None, [], name)
        self._note(place._replace(value=place.read()))
        for key, part in list(x.items()):
            self._visit(part, f"{name}[{key!r}]")

    def _visit_context(self, x: Any, name: str) -> None:
        self._note(Place("context", x, None, x.get(MISSING), name))
        self._visit(x.get(None), name)

    def _visit_module(self, module: Any, name: str) -> None:
        self.modules[id(module)] = module, name
        for key, x in [*module.named_parameters(), *module.named_buffers()]:
            self._visit_tensor(x, f"{name}.{key}" if key[:1].isdigit() else key)
        for key, part in attributes_of(module).items():
            self._visit(part, f"{name}.{key}")
        self._visit([*module._before.values(), *module._after.values()], f"the hooks of {name}")
        self._visit_class_of(module, name)

    def _visit_optimiser(self, x: Any, name: str) -> None:
        self.optimisers.append((x, name))
        self._note(Place("attribute", x, "param_groups", x.param_groups, f"{name}.param_groups"))
        self._note(Place("list", x.param_groups, None, list(x.param_groups), f"{name}.param_groups"))
        if has_users_code(type(x)):
            self._visit_attributes(x, name)
            self._visit_class_of(x, name)

    def _visit_function(self, function: FunctionType, name: str = "") -> None:
        """Note the variables that a user's function names, and its attributes."""
        if not is_users(function):
            return
        self._visit_attributes(function, name or function.__name__)
        codes = list(codes_of(function.__code__))
        names = {name for code in codes for name in code.co_names}
        if names & READS_ANY:
            names |= {name for code in codes for name in names_in(code.co_consts)}
        self._found |= names
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found = [Place("cell", cell, None, MISSING, name) for name, cell in cells]
        space = function.__globals__
        found += [Place("key", space, name, MISSING, name) for name in sorted(names & space.keys()) if name[:2] != "__"]
        found = [place._replace(value=place.read()) for place in found]
        for place in sorted(found, key=lambda place: not isinstance(place.value, Tensor)):  # these have the best names
            self._add(*place)
        named = list(inspect.signature(function).parameters)
        defaults = function.__defaults__ or ()
        first = function.__code__.co_argcount - len(defaults)
        parts = [*zip(defaults, named[first:], strict=False)]
        self._visit_parts(*parts, *((x, key) for key, x in (function.__kwdefaults__ or {}).items()))
        if hasattr(function, "__wrapped__"):
            self._visit(function.__wrapped__, "")

    def _visit_class(self, kind: type, *, is_constructed: bool = False) -> None:
        """Note the attributes of a user's class, and the variables that its methods name."""
        for each in kind.__mro__:
            if has_users_code(each) and (id(each), is_constructed) not in self._seen:
                self._seen[id(each), is_constructed] = each
                self._visit_attributes(each, each.__name__)
                for name, x in list(vars(each).items()):
                    is_run = name in self.names or is_called_by_us(kind, name)
                    is_run = is_constructed if name in CONSTRUCTORS else is_run
                    if is_run and isinstance(function := function_behind(x), FunctionType):
                        self._visit_function(function)

    def _visit_class_of(self, x: Any, name: str) -> None:
        """Note what an object finds in its class: an attribute of its own, or of a subclass, would come first."""
        for key in sorted(self.names):
            holder = next((each for each in type(x).__mro__ if key in vars(each)), None)
            if holder is not None and has_users_code(holder) and key not in getattr(x, "__dict__", {}):
                value = vars(holder)[key]
                if not hasattr(type(value), "__get__"):
                    self._add("attribute", x, key, value, f"{name}.{key}")
        self._visit_class(type(x))

    def _visit_attributes(self, x: Any, name: str) -> None:
        """Note the attributes that code names."""
        attributes: Any = getattr(x, "__dict__", {})
        is_any = self.names & READS_ANY and not isinstance(x, (type, ModuleType, FunctionType))
        keys = attributes.keys() if is_any and has_users_code(type(x)) else self.names & attributes.keys()
        for key in sorted(keys):
            is_direct = key.isidentifier() and getattr(x, key, MISSING) is attributes[key]
            kind, holder = ("attribute", x) if is_direct else ("key", attributes)
            self._add(kind, holder, key, attributes[key], f"{name}.{key}")

    def _visit_python_module(self, module: ModuleType, name: str) -> None:
        """Note what code names in a module: of an installed one, its settings."""
        if has_users_code(module):
            self._visit_attributes(module, name)
        elif not is_ours(module.__name__):
            is_pythons = module.__name__.partition(".")[0] in (*sys.stdlib_module_names, "numpy")
            for key in sorted(self.names & vars(module).keys()):
                x = vars(module)[key]
                if not callable(x) and not (is_pythons and isinstance(x, NUMBERS)):
                    self._add("attribute", module, key, x, f"{name}.{key}")

    def _visit_object(self, x: Any, name: str) -> None:
        """Note the attributes of an object that code names."""
        kind = type(x)
        if kind.__module__.startswith(__package__ or "") and hasattr(x, "function"):
            self._visit(x.function, name)  # of a compiled step
        if is_ours(kind.__module__):
            return
        self._visit_attributes(x, name)
        if not has_users_code(kind):
            return
        self._note(Place("type", x, None, kind, f"the class of {name}"))
        for key in sorted(self.names & set(slots_of(kind))):
            if hasattr(x, key):
                self._add("attribute", x, key, getattr(x, key), f"{name}.{key}")
        if isinstance(getattr(x, "__dict__", None), dict) and kind is not threading.local:
            self._note(Place("length", vars(x), None, len(vars(x)), f"the attributes of {name}"))
        self._visit_class_of(x, name)

    # What a step has changed ----------------

    def watch(self) -> None:
        """Remember what places and random generators hold now."""
        self.modules_before = self.places_of_modules()
        self._watched = [*self.places, *self.modules_before, *self.places_of_arrays()]
        self._settings = [self._numbers_of(each) for each, _ in self.optimisers]
        self._states = [state_of(rng) for rng, _ in self._all_generators()]

    def places_of_modules(self) -> list[Place]:
        """Return the attributes and hooks of all modules, as places."""
        return [Place("module", module, None, describe_module(module), name) for module, name in self.modules.values()]

    def places_of_arrays(self) -> list[Place]:
        """Return the entries of all arrays, as places."""
        return [Place("entries", x, None, entries_of(x), name) for x, name in self.arrays.values()]

    def _all_generators(self) -> list[tuple[Any, str]]:
        return [*self.generators, (random, "Python's random numbers"), (np.random, "NumPy's random numbers")]

    @staticmethod
    def _numbers_of(optimiser: Any) -> list[Any]:
        return [{k: x for k, x in group.items() if k != "params"} for group in optimiser.param_groups]

    def changed_modes(self) -> list[tuple[Any, bool]]:
        """Return the modules whose mode a step has changed since `watch`, with the modes that it leaves."""
        return [(x.holder, x.holder.training) for x in self.modules_before if x.holder.training != x.value["training"]]

    def first_change(self, page: Any) -> str:
        """Return an error message if a step that was written on a page has changed a place since `watch`. A program
        of arrays repeats changes of modes."""
        modes = hasattr(page, "hosts")
        changed = (each for each in self._watched if not each.holds() and not (modes and each.has_other_mode()))
        place = next(changed, None)
        if place is not None:
            place = place.narrow()
            return refuse_change(f"changes {place.describe_change()}", place.name, isinstance(place.value, Variable))
        for (optimiser, name), before in zip(self.optimisers, self._settings, strict=True):
            if not getattr(page, "hosts", ()) and not all(map(_same_settings, before, self._numbers_of(optimiser))):
                return refuse_change(f"changes a setting of {name}", name, False)
        for (rng, name), before in zip(self._all_generators(), self._states, strict=True):
            if id(rng) not in getattr(page, "generators", ()) and state_of(rng) != before:
                return (
                    f"mg.compile: the step draws from {name}, which its program would not do. Use mg.random, whose "
                    f"draws become part of the program, or draw before the call and pass the numbers as an argument"
                )
        return ""


def refuse_change(what: str, name: str, is_tensor: bool) -> str:
    """Return the message of an error for a step that changes something that its program would leave as it is."""
    cure = f"Write {name}.assign(...) into the tensor that is there, or return" if is_tensor else "Return"
    return (
        f"mg.compile: the step {what}. Its program repeats what happens to tensors, and nothing else. {cure} the new "
        f"value and store it after the call"
    )


def _same_settings(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(is_equal(x, b[k]) or repr(x) == repr(b[k]) for k, x in a.items())


def state_of(rng: Any) -> Any:
    """Return the state of a random generator, as something that can be compared."""
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    return repr(rng.getstate()) if hasattr(rng, "getstate") else repr(rng.get_state(legacy=False)["state"]["pos"])


def refuse_many(x: Any, name: str) -> None:
    """Raise TypeError for a list or dictionary that is too long to compare at each call."""
    if len(x) > MOST_ENTRIES:
        raise TypeError(
            f"mg.compile: the step finds {name}, with {len(x):,} entries, which each call would have to compare; pass "
            f"what the step needs as an argument, or put numbers into one tensor"
        )


def is_called_by_us(kind: type, name: str) -> bool:
    """Return True for a method that Python's syntax or this package calls, such as `forward`."""
    is_special = name[:2] == name[-2:] == "__" and name not in OF_NO_CALL
    return is_special or any(is_ours(base.__module__) and name in vars(base) for base in kind.__mro__)


def names_in(parts: Any) -> set[str]:
    """Return the names among constants, such as "scale" and "net.scale"."""
    return {name for x in parts if isinstance(x, str) for name in x.split(".") if name.isidentifier()}


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions and comprehensions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_of(each)


def is_users(function: FunctionType) -> bool:
    """Return True for a function that the user has written."""
    return kind_of(function.__code__) == USER


def has_users_code(kind: Any) -> bool:
    """Return True for a class or module that the user has written."""
    if kind in (SimpleNamespace, Namespace, threading.local) or "__dataclass_fields__" in vars(kind):
        return True
    name = kind.__name__ if isinstance(kind, ModuleType) else kind.__module__
    file = getattr(sys.modules.get(name), "__file__", "") or ""
    is_installed = "site-packages" in file or "dist-packages" in file
    return name.partition(".")[0] not in sys.stdlib_module_names and not is_ours(name) and not is_installed


def is_ours(name: str) -> bool:
    """Return True for the name of a module of this package."""
    return name.partition(".")[0] == __name__.partition(".")[0]


def function_behind(x: Any) -> Any:
    """Return the function of a class, static or cached method, of a property, or `x` itself."""
    return next((getattr(x, name) for name in ("__func__", "fget", "func") if hasattr(x, name)), x)


def slots_of(kind: Any) -> list[str]:
    """Return the names of the slots of a class."""
    found: list[str] = []
    for each in getattr(kind, "__mro__", ()):
        slots = vars(each).get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
    return found

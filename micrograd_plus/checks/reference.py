"""What there is to say about an operation, taken from its code: for the command line and the pages in docs.

>>> from micrograd_plus.checks import reference
>>> tanh = reference.named("tanh")
>>> reference.summary(tanh), reference.signature(tanh)
('Compute the hyperbolic tangent, a smooth step from -1 to 1.', 'mg.tanh(x)')
>>> [rule.text for rule in reference.rules(tanh)]
['contribution = upstream · (1 − out²)']
"""

from __future__ import annotations

import difflib
import inspect
import sys
from typing import Any

from .. import extras, ops
from ..backends import devices
from ..core.define import Op, operations
from ..core.fast.callers import is_compilable
from ..tensor import Tensor, tensor
from ..tracing import Rule, record
from . import promises as check
from .docstrings import Docstring, parts_of, wrapped
from .samples import Sample, samples

np = devices.device("cpu").library

SUBJECTS = {**ops.SUBJECTS, **extras.SUBJECTS}
"""Every file of operations, by its heading."""
PLACES = {**ops.APART, **extras.PLACES}
"""Subjects whose names are public in a module of their own."""

ORDER_FIRST = {"iv": "v", "ive": "v", "jv": "v", "polygamma": "n", "yn": "n"}
"""Functions that are called with a parameter before their argument, as in SciPy."""
MOST_ENTRIES = 24
"""An example spells out inputs of up to so many entries; of larger ones it gives the shapes."""


def named(name: str) -> Op:
    """The operation of that name; KeyError, with the nearest names, where there is none."""
    if name in operations:
        return operations[name]
    near = difflib.get_close_matches(name, operations, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise KeyError(f"there is no operation {name!r}{hint}")


def by_subject() -> dict[str, list[Op]]:
    """Return the operations that users call under each heading, in order of definition."""
    subjects: dict[str, list[Op]] = {heading: [] for heading in SUBJECTS}
    headings = {module.__name__: heading for heading, module in SUBJECTS.items()}
    for op in operations.values():
        if op.forward.__module__ in headings and ops.is_public(op.call):
            subjects[headings[op.forward.__module__]].append(op)
    return subjects


def derived_functions(heading: str) -> list[Any]:
    """The public functions of a subject that are made of operations, and have no rule of their own."""
    module = SUBJECTS[heading]
    public = [f for name, f in vars(module).items() if inspect.isfunction(f) and not name.startswith("_")]
    return [f for f in public if f.__module__ == module.__name__ and not hasattr(f, "op") and ops.is_public(f)]


def home(function: Any) -> tuple[str, Any]:
    """Return where users find a function of operations: the name that leads there, and the module."""
    module = sys.modules.get(function.__module__, ops)
    name = f"mg.{PLACES[module]}" if module in PLACES else "mg"
    if not ops.is_public(function):
        name = "mg.ops" if module in ops.SUBJECTS.values() else f"mg.{module.__name__.partition('.')[2]}"
    return name, module


def function_of(op: Op) -> Any:
    """What users call: the operation itself, or the function in front of it that prepares its arguments."""
    public = getattr(home(op.call)[1], op.name, None)
    return public if getattr(public, "op", None) is op else op.call


def signature(op: Op) -> str:
    """How the operation is called."""
    return f"{home(op.call)[0]}.{op.name}{bare_signature(function_of(op))}"


def bare_signature(function: Any) -> str:
    """A function's parameters, without types and without what only the library itself passes."""
    try:
        whole = inspect.signature(function)
    except ValueError:  # an exception class has the signature of C code
        return "(*args)"
    kept = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in whole.parameters.values()
        if p.name != "product"
    ]
    return str(whole.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def headline(function: Any) -> str:
    """The first sentence of a function's docstring."""
    return parts_of(function).summary.partition(". ")[0].rstrip(".") + "."


def summary(op: Op) -> str:
    """The first paragraph of its docstring."""
    return documentation(op).summary


def documentation(op: Op) -> Docstring:
    """The docstring of what users call, in its parts."""
    return parts_of(function_of(op))


def description(op: Op, width: int) -> str:
    """The same as text, in lines of at most so many characters."""
    return wrapped(documentation(op), width)


def rules(op: Op) -> list[Rule]:
    """Its rules, in the order of its inputs, with the formulas they have on its samples."""
    found: dict[str, Rule] = {}
    wanted = {name for rule in op.rules for name in rule.inputs}
    for sample in sorted(samples.get(op.name, []), key=_is_complex):
        if not wanted - found.keys():
            break
        for rule in _recorded(sample):
            found.setdefault(str(rule.input), rule)
    return [found[name] for name in op.inputs if name in found]


def shared_rules(op: Op) -> list[list[Rule]]:
    """The same, those of one function together: a rule may serve several inputs."""
    together: dict[Any, list[Rule]] = {}
    for rule in rules(op):
        together.setdefault((rule.file, rule.line, rule.source), []).append(rule)
    return list(together.values())


def _recorded(sample: Sample) -> list[Rule]:
    """The rules of a sample's operation, as a recording of it shows them."""
    places = check.differentiable_inputs(sample)
    leaves = [tensor(sample.inputs[place], requires_grad=True) for place in places]
    with record() as trace:
        check.scalar(sample, check.replace_inputs(sample, places, leaves)).backward()
    return [rule for rule in trace.rules.values() if rule.op == sample.op.name]


def _is_complex(sample: Sample) -> bool:
    return any(getattr(value, "dtype", np.dtype(float)).kind == "c" for value in sample.inputs)


def written_out(op: Op) -> str | None:
    """The straight code that everyday calls run; None for what is always applied by name."""
    return repr(op.call.source) if is_compilable(op) else None


# An example -----------------


def example(op: Op) -> str | None:
    """A small call of the operation and its way back, typed at the prompt; None where it has no sample.

    The numbers are those of a sample, rounded to two decimals before anything is computed, so whoever types
    the lines (after `import numpy as np` and `import micrograd_plus as mg`) sees the same, printed to four
    digits. Upstream is 1, -2, 3, -1, 2, -3 and so on: of ones alone, a softmax would send 0. Large inputs
    count evenly from -1 to 1, and what is shown of them is the shape.
    """
    if op.name not in samples:
        return None
    sample = min(samples[op.name], key=lambda each: (_is_complex(each), _entries(each)))
    spelled = all(getattr(value, "size", 0) <= MOST_ENTRIES for value in sample.inputs)
    with np.printoptions(precision=4, suppress=True, linewidth=100):
        return "\n".join(_session(op, sample, spelled=spelled))


def _entries(sample: Sample) -> int:
    return sum(value.size for value in sample.inputs if hasattr(value, "size"))


def _session(op: Op, sample: Sample, *, spelled: bool) -> list[str]:
    """The lines of an example."""
    places, names = check.differentiable_inputs(sample), _names(op, sample)
    inputs, lines = list(sample.inputs), []
    for place, value in enumerate(sample.inputs):
        if hasattr(value, "dtype"):
            wanted = place in places
            values, code = _input(value, spelled)
            inputs[place] = tensor(values, requires_grad=wanted)
            lines.append(f">>> {names[place]} = mg.tensor({code}{', requires_grad=True' if wanted else ''})")
    out = check.run(sample, inputs)
    lines.append(f">>> out = {_call(op, names, inputs, sample.params)}")
    if isinstance(out, tuple):
        place = next(place for place, part in enumerate(out) if part.requires_grad or part is out[-1])
        out = out[place]
        lines.append(f">>> out = out[{place}]")
    leaves = {names[place]: inputs[place] for place in places}
    if spelled and out.size <= MOST_ENTRIES:
        return [*lines, ">>> out.detach()", repr(out.detach()), *_numbers_back(out, leaves)]
    return [*lines, ">>> out.shape", str(out.shape), *_shapes_back(out, leaves)]


def _names(op: Op, sample: Sample) -> list[str]:
    """What the inputs are called in an example: the parts of a variadic operation parts0, parts1 and so on."""
    count = len(sample.inputs)
    return [name.replace("[", "").replace("]", "") for name in op.input_names(count)][:count]


def _input(value: Any, spelled: bool) -> tuple[Any, str]:
    """An input's values, and the code for them."""
    if value.dtype.kind not in "fc":
        return value, str(value.tolist())
    if spelled:
        return value.round(2), str(value.round(2).tolist())
    evenly = np.linspace(-1, 1, value.size).reshape(value.shape)
    return evenly, f"np.linspace(-1, 1, {value.size}).reshape{value.shape}"


def _numbers_back(out: Tensor, leaves: dict[str, Tensor]) -> list[str]:
    """The way back from a result, with the gradients that arrive."""
    if not leaves:
        return []
    upstream = np.resize([1.0, -2.0, 3.0, -1.0, 2.0, -3.0], out.size).reshape(out.shape).astype(out.dtype)
    out.backward(upstream)
    arrived = [line for name, leaf in leaves.items() for line in (f">>> {name}.grad", repr(leaf.grad))]
    return [f">>> out.backward({upstream.tolist()})", *arrived]


def _shapes_back(out: Tensor, leaves: dict[str, Tensor]) -> list[str]:
    """The way back from a result, with the shapes of the gradients that arrive."""
    arrived = [line for name, leaf in leaves.items() for line in (f">>> {name}.grad.shape", str(leaf.shape))]
    return [">>> out.sum().backward()", *arrived] if leaves else []


def _call(op: Op, names: list[str], inputs: list[Any], params: dict[str, Any]) -> str:
    """The call as users would write it."""
    pairs = zip(names, inputs, strict=True)
    given = [name if isinstance(value, Tensor) else repr(value) for name, value in pairs]
    while given[-1] == "None":
        given.pop()
    spelled = {name: _spelled(value) for name, value in params.items()}
    if op.name == "einsum":
        return f"mg.einsum({', '.join([spelled['subscripts'], *given])})"
    if op.name in ("scatter", "scatter_add"):
        return f"mg.{op.name}({', '.join([given[0], spelled['axis'], *given[1:]])})"
    if op.name in ORDER_FIRST:
        return f"mg.special.{op.name}({spelled[ORDER_FIRST[op.name]]}, {given[0]})"
    arguments = [f"[{', '.join(given)}]"] if op.kind == "variadic" else given
    arguments += [f"{name}={value}" for name, value in spelled.items()]
    return f"{home(op.call)[0]}.{op.name}({', '.join(arguments)})"


def _spelled(value: Any) -> str:
    """A parameter as one would type it."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()})"
    return repr(str(value)) if isinstance(value, np.dtype) else repr(value)

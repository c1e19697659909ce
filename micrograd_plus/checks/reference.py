"""Facts about operations, taken from their code, for the command line and the reference pages.

>>> from micrograd_plus.checks import reference
>>> tanh = reference.find_operation("tanh")
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
from ..tensor.pytorch_methods import PyTorchMethods
from ..tracing import Rule, record
from . import promises as check
from .docstrings import Docstring, parts_of, wrap_docstring
from .samples import Sample, samples

np = devices.device("cpu").library

SUBJECTS = {**ops.SUBJECTS, **extras.SUBJECTS}
"""Every file of operations, by its heading."""
PLACES = {**ops.APART, **extras.PLACES}
"""Subjects whose names are public in a separate module."""

ORDER_FIRST = {"iv": "v", "ive": "v", "jv": "v", "polygamma": "n", "yn": "n"}
"""Functions that take a parameter before their argument, as in SciPy."""
MOST_ENTRIES = 24
"""The largest number of entries that an example prints; for larger inputs it shows the shape."""


def find_operation(name: str) -> Op:
    """Return the operation with a name; raise KeyError, with similar names, if there is none."""
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
    """Return the public functions of a subject that are composed of operations, without a separate rule."""
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


def members(kind: type) -> dict[str, Any]:
    """Return the attributes of a class and its mixins, by name, except methods that only have PyTorch's names."""
    found: dict[str, Any] = {}
    for part in kind.__mro__[:-1]:
        if part is not PyTorchMethods:
            found |= {name: value for name, value in vars(part).items() if name not in found}
    return found


def function_of(op: Op) -> Any:
    """Return the function that users call: the operation, or the wrapper that prepares its arguments."""
    public = getattr(home(op.call)[1], op.name, None)
    return public if getattr(public, "op", None) is op else op.call


def signature(op: Op) -> str:
    """Return the call of an operation, with its parameters."""
    return f"{home(op.call)[0]}.{op.name}{bare_signature(function_of(op))}"


def bare_signature(function: Any) -> str:
    """Return a function's parameters, without types and without internal parameters."""
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
    """Return the first sentence of a function's docstring."""
    return parts_of(function).summary.partition(". ")[0].rstrip(".") + "."


def summary(op: Op) -> str:
    """Return the first paragraph of an operation's docstring."""
    return documentation(op).summary


def documentation(op: Op) -> Docstring:
    """Return the parts of an operation's docstring."""
    return parts_of(function_of(op))


def description(op: Op, width: int) -> str:
    """Return an operation's docstring as text with lines of at most `width` characters."""
    return wrap_docstring(documentation(op), width)


def rules(op: Op) -> list[Rule]:
    """Return an operation's rules in the order of its inputs, with their formulas on its samples."""
    found: dict[str, Rule] = {}
    wanted = {name for rule in op.rules for name in rule.inputs}
    for sample in sorted(samples.get(op.name, []), key=_is_complex):
        if not wanted - found.keys():
            break
        for rule in _record_rules(sample):
            found.setdefault(str(rule.input), rule)
    return [found[name] for name in op.inputs if name in found]


def shared_rules(op: Op) -> list[list[Rule]]:
    """Return the rules of an operation, grouped by function, since a rule may serve several inputs."""
    together: dict[Any, list[Rule]] = {}
    for rule in rules(op):
        together.setdefault((rule.file, rule.line, rule.source), []).append(rule)
    return list(together.values())


def _record_rules(sample: Sample) -> list[Rule]:
    """Return the rules of a sample's operation, as a recording shows them."""
    places = check.differentiable_inputs(sample)
    leaves = [tensor(sample.inputs[place], requires_grad=True) for place in places]
    with record() as trace:
        check.scalar(sample, check.replace_inputs(sample, places, leaves)).backward()
    return [rule for rule in trace.rules.values() if rule.op == sample.op.name]


def _is_complex(sample: Sample) -> bool:
    return any(getattr(value, "dtype", np.dtype(float)).kind == "c" for value in sample.inputs)


def compiled_source(op: Op) -> str | None:
    """The straight code that everyday calls run; None if the operation is always interpreted."""
    return repr(op.call.source) if is_compilable(op) else None


# An example -----------------


def example(op: Op) -> str | None:
    """Return a small call of the operation and its gradient as a Python session; None if it has no sample.

    The inputs come from a sample, rounded to two decimals, so that typing the lines (after `import numpy as np` and
    `import micrograd_plus as mg`) gives the same results, printed to four digits. Upstream is 1, -2, 3, -1, 2, -3 and
    so on, since a softmax returns 0 for an upstream of ones. Large inputs are evenly spaced from -1 to 1, and only
    their shape is shown.
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
    """Return the lines of an example."""
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
    """Return the names of the inputs in an example; the parts of a variadic operation are parts0, parts1 and so on."""
    count = len(sample.inputs)
    return [name.replace("[", "").replace("]", "") for name in op.input_names(count)][:count]


def _input(value: Any, spelled: bool) -> tuple[Any, str]:
    """Return an input's values, and the code for them."""
    if value.dtype.kind not in "fc":
        return value, str(value.tolist())
    if spelled:
        return value.round(2), str(value.round(2).tolist())
    evenly = np.linspace(-1, 1, value.size).reshape(value.shape)
    return evenly, f"np.linspace(-1, 1, {value.size}).reshape{value.shape}"


def _numbers_back(out: Tensor, leaves: dict[str, Tensor]) -> list[str]:
    """Return the lines of the backward pass, with the gradients of the leaves."""
    if not leaves:
        return []
    upstream = np.resize([1.0, -2.0, 3.0, -1.0, 2.0, -3.0], out.size).reshape(out.shape).astype(out.dtype)
    out.backward(upstream)
    arrived = [line for name, leaf in leaves.items() for line in (f">>> {name}.grad", repr(leaf.grad))]
    return [f">>> out.backward({upstream.tolist()})", *arrived]


def _shapes_back(out: Tensor, leaves: dict[str, Tensor]) -> list[str]:
    """Return the lines of the backward pass, with the shapes of the gradients."""
    arrived = [line for name, leaf in leaves.items() for line in (f">>> {name}.grad.shape", str(leaf.shape))]
    return [">>> out.sum().backward()", *arrived] if leaves else []


def _call(op: Op, names: list[str], inputs: list[Any], params: dict[str, Any]) -> str:
    """Return the call as users would write it."""
    pairs = zip(names, inputs, strict=True)
    given = [name if isinstance(value, Tensor) else repr(value) for name, value in pairs]
    while given[-1] == "None":
        given.pop()
    spelled = {name: _spell(value) for name, value in params.items()}
    if op.name == "einsum":
        return f"mg.einsum({', '.join([spelled['subscripts'], *given])})"
    if op.name in ("scatter", "scatter_add"):
        return f"mg.{op.name}({', '.join([given[0], spelled['axis'], *given[1:]])})"
    if op.name in ORDER_FIRST:
        return f"mg.special.{op.name}({spelled[ORDER_FIRST[op.name]]}, {given[0]})"
    arguments = [f"[{', '.join(given)}]"] if op.kind == "variadic" else given
    arguments += [f"{name}={value}" for name, value in spelled.items()]
    return f"{home(op.call)[0]}.{op.name}({', '.join(arguments)})"


def _spell(value: Any) -> str:
    """Return the code of a parameter."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()})"
    return repr(str(value)) if isinstance(value, np.dtype) else repr(value)

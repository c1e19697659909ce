"""Docstrings of public names have one form: a summary, a description, and sections in a fixed order."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import micrograd_plus as mg
from micrograd_plus.checks.reference import members
from micrograd_plus.core.messages import MissingName
from micrograd_plus.nn import functional, init
from micrograd_plus.optim import lr_scheduler

SECTIONS = ("Shapes", "Args", "Returns", "Raises", "Example", "See")
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):(.*)$")
NAMESPACES = (
    mg, mg.linalg, mg.fft, mg.signal, mg.special, mg.stats, mg.splat, mg.random, mg.nn, functional, init, mg.optim,
    lr_scheduler, mg.numpy.integrate,
)  # fmt: skip
WITHOUT_ARGUMENTS = {mg.Tensor, mg.Trace}          # made by mg.tensor and mg.record, never by hand


def public() -> Iterator[tuple[str, Any]]:
    """Return every public function and class, under its user-facing name, once."""
    met: set[int] = set()
    for namespace in NAMESPACES:
        for name in getattr(namespace, "__all__", dir(namespace)):
            value = getattr(namespace, name)
            if callable(value) and id(value) not in met and not name.startswith("_"):
                met.add(id(value))
                yield f"{namespace.__name__.removeprefix('micrograd_plus').lstrip('.') or 'mg'}.{name}", value


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring by heading; the text before them has the key ""."""
    found: dict[str, list[str]] = {"": []}
    here = ""
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            here = heading[1]
            found[here] = [heading[2].strip()]
        else:
            found[here].append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def parameters(value: Any) -> list[str]:
    """Return the parameters that a caller can pass."""
    if value in WITHOUT_ARGUMENTS:
        return []
    try:
        taken = inspect.signature(value).parameters.values()
    except ValueError:                             # an exception class has the signature of C code
        return []
    return [each.name for each in taken if each.name not in ("self", "cls")]


def handles_tensors(value: Any) -> bool:
    """Return whether a docstring must describe shapes."""
    of_layers = getattr(value, "__module__", "").startswith(("micrograd_plus.nn.functional", "micrograd_plus.nn.init"))
    is_layer = inspect.isclass(value) and issubclass(value, mg.nn.Module)
    return hasattr(value, "op") or of_layers or is_layer


def faults(value: Any) -> list[str]:
    """Return the gaps of a docstring, as sentences."""
    text = inspect.getdoc(value) or ""
    lines, found = text.splitlines() or [""], sections(text)
    wrong = []
    if not lines[0].endswith((".", "?")) or (len(lines) > 1 and lines[1]):
        wrong.append("the first line is not one sentence with an empty line below it")
    needed = {"Raises", "Example", "See"}
    needed |= {"Shapes"} if handles_tensors(value) else set()
    needed |= {"Args"} if parameters(value) else set()
    needed |= set() if inspect.isclass(value) else {"Returns"}
    wrong += [f"there is no {name}:" for name in SECTIONS if name in needed and not found.get(name, "").strip()]
    order = [name for name in found if name]
    if order != sorted(order, key=SECTIONS.index):
        wrong.append(f"the sections stand in the order {', '.join(order)}")
    named = set(re.findall(r"^ {4}((?:\*{0,2}\w+(?:, )?)+)(?= ?[:(])", found.get("Args", ""), flags=re.MULTILINE))
    known = {name.strip("* ") for names in named for name in names.split(",")}
    wrong += [f"Args does not name {name}" for name in parameters(value) if name not in known]
    if "Example" in needed and ">>> " not in found.get("Example", ">>> "):
        wrong.append("the example shows no call")
    return wrong


PUBLIC = dict(public())


def test_the_docstring_of_everything_public_has_the_form():
    wrong = {name: faults(value) for name, value in PUBLIC.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


METHODS = [
    (kind, name)
    for kind in (mg.Tensor, mg.Trace)
    for name, value in members(kind).items()
    if not name.startswith("_") and type(value) is not MissingName and not hasattr(value, "op")
    if callable(value) or isinstance(value, classmethod)
]


def test_the_docstring_of_a_method_has_the_form():
    asked = {"there is no Example:", "there is no See:"}       # optional for methods: the class has them
    wrong = {f"{kind.__name__}.{name}": {*faults(getattr(kind, name))} - asked for kind, name in METHODS}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_property_has_a_summary():
    properties = {name: value for name, value in members(mg.Tensor).items() if isinstance(value, property)}
    assert len(properties) > 10
    for name, value in properties.items():
        lines = (inspect.getdoc(value) or "").splitlines()
        assert lines[:1], name
        assert lines[0].endswith("."), name
        assert lines[1:2] in ([], [""]), name


def test_faults_lists_everything_that_is_missing():
    def incomplete(x, axis=None):
        """Something

        Returns: a tensor.
        Args:
            x: numbers.
        """

    assert faults(incomplete) == [
        "the first line is not one sentence with an empty line below it", "there is no Raises:", "there is no Example:",
        "there is no See:", "the sections stand in the order Returns, Args", "Args does not name axis",
        "the example shows no call",
    ][:6]

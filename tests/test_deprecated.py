"""What was written for the names of before goes on working: programs with a warning, files without one."""

import base64
import importlib
import json
import pickle
import re
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import micrograd_plus as mg
from commands import run_python
from micrograd_plus import deprecated, nn
from micrograd_plus.engine import Value

FOLDER = Path(deprecated.__file__).parent
SCHEMA = json.loads((Path(mg.__file__).parent / "tracing" / "trace.schema.json").read_text(encoding="utf-8"))
TRACES = json.loads((Path(__file__).parent / "data" / "traces_of_version_1.json").read_text(encoding="utf-8"))

MOVED = sorted(path.relative_to(FOLDER).with_suffix("").as_posix().replace("/", ".")
               for path in FOLDER.rglob("*.py") if path.name != "__init__.py")  # fmt: skip
"""The old names of modules."""

IMPORTS = {
    "from micrograd_plus.samples import real, sample": "checks.samples",
    "from micrograd_plus.check import check, broken": "checks.promises",
    "import micrograd_plus.check as check; check.promises": "checks.promises",
    "from micrograd_plus import museum; museum.named": "checks.museum",
    "from micrograd_plus.museum.evidence import evidence": "checks.museum",
    "import micrograd_plus.museum.exhibit; micrograd_plus.museum.exhibit.Exhibit": "checks.museum",
    "from micrograd_plus.reference import headline": "checks.reference",
    "from micrograd_plus.splat import *": "extras.splat",
    "from micrograd_plus.signal import stft": "extras.signal",
    "from micrograd_plus.variable import Leaf, Node, Variable": "core.variable",
    "from micrograd_plus.op import op, elementwise, Op": "core.define",
    "from micrograd_plus.rule import KINDS": "core.rule",
    "import micrograd_plus.trace; micrograd_plus.trace.record": "tracing",
    "import micrograd_plus.trace as trace; trace.Trace": "tracing",
    "from micrograd_plus.trace import record, Step, TraceNode": "tracing",
    "from micrograd_plus.trace.loading import TraceError": "tracing",
    "from micrograd_plus.readings import symbols; symbols.Symbol": "backends, micrograd_plus.formulas",
    "from micrograd_plus.readings.notation import latex": "backends, micrograd_plus.formulas",
    "import micrograd_plus.readings.arrays; micrograd_plus.readings.arrays.matmul": "backends, micrograd_plus.formulas",
    "from micrograd_plus.readings.vocabulary import device": "backends, micrograd_plus.formulas",
    "from micrograd_plus.control import scan, cond, while_loop": "transforms.control",
    "from micrograd_plus.ops.quantisation import fake_quantize": "ops.extras.quantisation",
    "import micrograd_plus.ops.splat": "ops.extras.splat",
    "from micrograd_plus.ops.elementwise import add, tanh, stop_gradient": ", micrograd_plus.".join(
        f"ops.{home}" for home in (
            "arithmetic", "exponentials", "trigonometry", "rounding", "complexes", "comparisons", "casts",
        )
    ),
}
"""What a program of before may say at its top, and where the warning points."""


@pytest.mark.parametrize("name", MOVED)
def test_an_old_module_is_the_new_one_and_says_so(name):
    program = f"""
import importlib, sys, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    old = importlib.import_module("micrograd_plus.{name}")
assert [each.category for each in told] == [DeprecationWarning], told
print(told[0].message)
"""
    ran = run_python("-c", program)
    assert ran.returncode == 0, ran.stderr
    said = re.fullmatch(rf"micrograd_plus\.{re.escape(name)} is now (micrograd_plus\S+(, \S+)*)\n", ran.stdout)
    assert said, ran.stdout
    for new in said[1].split(", "):
        importlib.import_module(new)


@pytest.mark.parametrize("line", IMPORTS)
def test_an_old_import_warns_once_where_it_is_written(line):
    ran = run_python("-W", "always::DeprecationWarning", "-c", line)
    assert ran.returncode == 0, ran.stderr
    new = f"micrograd_plus.{IMPORTS[line]}"
    first, *rest = ran.stderr.splitlines()
    assert re.fullmatch(rf"<string>:1: DeprecationWarning: micrograd_plus\.[\w.]+ is now {new}", first)
    assert not any("Warning" in each for each in rest), "from Python 3.13 on the line of the program follows"


def test_it_is_the_same_module_and_not_a_copy():
    program = """
import warnings; warnings.simplefilter("ignore")
import micrograd_plus as mg, micrograd_plus.museum.evidence, sys
import micrograd_plus.trace
from micrograd_plus import check, museum, samples, readings
from micrograd_plus.checks import promises
assert check is promises and museum is mg.checks.museum and samples is mg.samples
for old, new in (("museum.evidence", "checks.museum.evidence"), ("trace.trace", "tracing.trace"),
                 ("readings.floats", "backends.floats"), ("readings.notation", "formulas.notation")):
    assert sys.modules[f"micrograd_plus.{old}"] is sys.modules[f"micrograd_plus.{new}"]
files = [module.__file__ for module in {id(each): each for name, each in sys.modules.items()
         if name.startswith("micrograd_plus.") and "__file__" in vars(each)}.values()]
assert len(files) == len(set(files))
"""
    ran = run_python("-c", program)
    assert ran.returncode == 0, ran.stderr


def test_the_function_of_an_old_modules_name_stays_a_function():
    program = """
import warnings; warnings.simplefilter("ignore")
import micrograd_plus as mg
import micrograd_plus.op
from micrograd_plus.op import constant, joining, elementwise

@mg.op
def twice(xp, x):
    return x + x

@twice.rule("x")
def _(upstream):
    return upstream + upstream

assert mg.grad(twice)(3.0).item() == 2.0
assert constant is mg.nondifferentiable and joining is mg.variadic and elementwise is mg.elementwise
"""
    ran = run_python("-c", program)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [("constant", "nondifferentiable"), ("joining", "variadic"), ("check", "checks.promises")],
)
def test_an_old_attribute_is_the_new_one_and_says_so(old, new):
    with pytest.warns(DeprecationWarning, match=f"^micrograd_plus.{old} is now micrograd_plus.{new}$") as told:
        found = getattr(mg, old)
    assert told[0].filename == __file__
    meant = mg.checks if new.startswith("checks") else mg
    assert found is getattr(meant, new.rpartition(".")[2])
    assert old not in mg.__all__
    assert old not in dir(mg)


def test_an_old_program_runs_as_it_stands():
    program = """
import micrograd_plus as mg
from micrograd_plus.samples import real, sample

@mg.joining(parts=lambda xp, upstream, parts: [upstream for _ in parts])
def total(xp, parts):
    return sum(parts)

@mg.constant
def whole(xp, x):
    return xp.floor(x)

with mg.record() as trace:
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    total([a, a * whole([2.5, 3.5])]).sum().backward()
print(a.grad.tolist(), trace.rules["total.parts"].kind)
"""
    ran = run_python("-c", program)
    assert (ran.returncode, ran.stdout) == (0, "[3.0, 4.0] variadic\n"), ran.stderr


def test_what_is_read_today_warns_of_nothing():
    program = "import micrograd_plus as mg; [getattr(mg, name) for name in mg.__all__]"
    ran = run_python("-W", "error", "-c", program)
    assert ran.returncode == 0, ran.stderr


def test_the_trace_of_a_matrix_can_have_its_name():
    assert mg.trace is mg.linalg.trace
    program = """
import warnings; warnings.simplefilter("ignore")
import micrograd_plus as mg
import micrograd_plus.trace
assert mg.trace([[1.0, 2.0], [3.0, 4.0]]).item() == 5.0
assert mg.trace.load_trace is mg.load_trace
"""
    ran = run_python("-c", program)
    assert ran.returncode == 0, ran.stderr


# Pickles --------------------------------------------------------------------------------------------------------------

PICKLED = {
    "a tensor": (
        "gASVwQAAAAAAAACMFW1pY3JvZ3JhZF9wbHVzLnRlbnNvcpSMBnRlbnNvcpSTlCiMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVj"
        "b25zdHJ1Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsChZRoBowFZHR5cGWUk5SMAmY0lImIh5RSlChLA4wB"
        "PJROTk5K/////0r/////SwB0lGKJQwgAAIA/AAAAQJR0lGKJTowDY3B1lHSUUpQu"
    ),
    "a leaf": (
        "gASVywAAAAAAAACMFW1pY3JvZ3JhZF9wbHVzLnRlbnNvcpSMBnRlbnNvcpSTlCiMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVj"
        "b25zdHJ1Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsBSwKGlGgGjAVkdHlwZZSTlIwCZjiUiYiHlFKUKEsD"
        "jAE8lE5OTkr/////Sv////9LAHSUYolDEAAAAAAAAOA/AAAAAAAA8L+UdJRiiE6MA2NwdZR0lFKULg=="
    ),
    "a network": (
        "gASVzwQAAAAAAACMHG1pY3JvZ3JhZF9wbHVzLm5uLmNvbnRhaW5lcnOUjApTZXF1ZW50aWFslJOUKYGUfZQojAZfcm9sZXOUfZSMB19i"
        "ZWZvcmWUfZSMBl9hZnRlcpR9lIwIdHJhaW5pbmeUiYwBMJSMGG1pY3JvZ3JhZF9wbHVzLm5uLmxpbmVhcpSMBkxpbmVhcpSTlCmBlH2U"
        "KGgFfZQojAZ3ZWlnaHSUjAlwYXJhbWV0ZXKUjARiaWFzlGgUdWgHfZRoCX2UaAuJjAtpbl9mZWF0dXJlc5RLAowMb3V0X2ZlYXR1cmVz"
        "lEsDaBOMFW1pY3JvZ3JhZF9wbHVzLnRlbnNvcpSMBnRlbnNvcpSTlCiMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1"
        "Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsDSwKGlGggjAVkdHlwZZSTlIwCZjiUiYiHlFKUKEsDjAE8lE5O"
        "Tkr/////Sv////9LAHSUYolDMDM4o1FawOK/5i2HvznS17+2HbsmrETbP8iLNgHvvr0/hkcctx1e4r+ont8X7DW4v5R0lGKITowDY3B1"
        "lHSUUpRoFWgcKGgfaCJLAIWUaCSHlFKUKEsBSwOFlGgsiUMYQD0pEENWnr+VTi/PAszev1RuDpdDO9U/lHSUYohOaDF0lFKUdWKMATGU"
        "jB9taWNyb2dyYWRfcGx1cy5ubi5ub3JtYWxpc2F0aW9ulIwLQmF0Y2hOb3JtMWSUk5QpgZR9lChoBX2UKGgTaBRoFWgUjAxydW5uaW5n"
        "X21lYW6UjAZidWZmZXKUjAtydW5uaW5nX3ZhcpRoRIwTbnVtX2JhdGNoZXNfdHJhY2tlZJRoRHVoB32UaAl9lGgLiYwMbnVtX2ZlYXR1"
        "cmVzlEsDjANlcHOURz7k+LWI42jxjAhtb21lbnR1bZRHP7mZmZmZmZpoE2gcKGgfaCJLAIWUaCSHlFKUKEsBSwOFlGgsiUMYAAAAAAAA"
        "8D8AAAAAAADwPwAAAAAAAPA/lHSUYohOaDF0lFKUaBVoHChoH2giSwCFlGgkh5RSlChLAUsDhZRoLIlDGAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAJR0lGKITmgxdJRSlGhDaBwoaB9oIksAhZRoJIeUUpQoSwFLA4WUaCyJQxjLlzgKVcrDv8twSY2XGZg/G4MRuCKCqL+UdJRi"
        "iU5oMXSUUpRoRWgcKGgfaCJLAIWUaCSHlFKUKEsBSwOFlGgsiUMYpIAMTQ+X8j9newg0VBvvPyEpT4AwCvA/lHSUYolOaDF0lFKUaEZo"
        "HChoH2giSwCFlGgkh5RSlChLASloKYwCaTiUiYiHlFKUKEsDaC1OTk5K/////0r/////SwB0lGKJQwgBAAAAAAAAAJR0lGKJTmgxdJRS"
        "lHVijAEylIwdbWljcm9ncmFkX3BsdXMubm4uYWN0aXZhdGlvbnOUjARUYW5olJOUKYGUfZQoaAV9lGgHfZRoCX2UaAuJjAhmdW5jdGlv"
        "bpSMKG1pY3JvZ3JhZF9wbHVzLm5uLmZ1bmN0aW9uYWwuYWN0aXZhdGlvbnOUjAR0YW5olJOUjAhzZXR0aW5nc5R9lHVidWIu"
    ),
    "a value": (
        "gASVOQAAAAAAAACMFW1pY3JvZ3JhZF9wbHVzLmVuZ2luZZSMBVZhbHVllJOUKEdABAAAAAAAACmMAJSMAXaUdJRSlC4="
    ),
    "a generator's state": (
        "gASVkQAAAAAAAAB9lCiMBHNlZWSUSweMA2NwdZR9lCiMDWJpdF9nZW5lcmF0b3KUjAVQQ0c2NJSMBXN0YXRllH2UKGgGihFxWBycW00m"
        "4Q0yjJ2z73SYAIwDaW5jlIoRWdlwwFp/iGa/zorOlhh1xAB1jApoYXNfdWludDMylEsAjAh1aW50ZWdlcpRLAHWMBm90aGVyc5R9lHUu"
    ),
    "an operation": (
        "gASVKwAAAAAAAACMHm1pY3JvZ3JhZF9wbHVzLm9wcy5lbGVtZW50d2lzZZSMBHRhbmiUk5Qu"
    ),
    "an operation of quantisation": (
        "gASVNQAAAAAAAACMH21pY3JvZ3JhZF9wbHVzLm9wcy5xdWFudGlzYXRpb26UjA1mYWtlX3F1YW50aXpllJOULg=="
    ),
    "an optimiser": (
        "gASVzwIAAAAAAACMGW1pY3JvZ3JhZF9wbHVzLm9wdGltLmFkYW2UjARBZGFtlJOUKYGUfZQojAhkZWZhdWx0c5R9lCiMAmxylEc/0AAA"
        "AAAAAIwFYmV0YXOURz/szMzMzMzNRz/v987ZFocrhpSMA2Vwc5RHPkV5juIwjDqMDHdlaWdodF9kZWNheZRHAAAAAAAAAACMB2Ftc2dy"
        "YWSUiXWMDHBhcmFtX2dyb3Vwc5RdlH2UKGgHRz/QAAAAAAAAaAhoCWgKRz5FeY7iMIw6aAtHAAAAAAAAAABoDImMBnBhcmFtc5RdlCiM"
        "FW1pY3JvZ3JhZF9wbHVzLnRlbnNvcpSMBnRlbnNvcpSTlCiMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1Y3SUk5SM"
        "BW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsDSwKGlGgYjAVkdHlwZZSTlIwCZjiUiYiHlFKUKEsDjAE8lE5OTkr/////"
        "Sv////9LAHSUYolDMDM4o1FawOK/5i2HvznS17+2HbsmrETbP8iLNgHvvr0/hkcctx1e4r+ont8X7DW4v5R0lGKITowDY3B1lHSUUpRo"
        "FChoF2gaSwCFlGgch5RSlChLAUsDhZRoJIlDGEA9KRBDVp6/lU4vzwLM3r9Ubg6XQzvVP5R0lGKITmgpdJRSlGgUKGgXaBpLAIWUaByH"
        "lFKUKEsBSwOFlGgkiUMYAAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/lHSUYohOaCl0lFKUaBQoaBdoGksAhZRoHIeUUpQoSwFLA4WUaCSJ"
        "QxgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACUdJRiiE5oKXSUUpRldWGMBXN0YXRllIwLY29sbGVjdGlvbnOUjAtkZWZhdWx0ZGljdJST"
        "lIwIYnVpbHRpbnOUjARkaWN0lJOUhZRSlHViLg=="
    ),
}
"""As they were written under the names of before, with pickle's protocol 4."""


def unpickled(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pickle.loads(base64.b64decode(PICKLED[name]))  # noqa: S301 - it stands above


def test_an_old_pickle_of_a_tensor_loads():
    x = unpickled("a tensor")
    assert isinstance(x, mg.Tensor)
    assert (x.tolist(), x.requires_grad, x.dtype) == ([1.0, 2.0], False, np.dtype("float32"))


def test_an_old_pickle_of_a_leaf_wants_its_gradient():
    w = unpickled("a leaf")
    (w * w).sum().backward()
    assert w.grad.tolist() == [[1.0, -2.0]]


def test_an_old_pickle_of_a_network_computes_and_learns():
    network = unpickled("a network")
    assert [type(each) for each in network] == [nn.Linear, nn.BatchNorm1d, nn.Tanh]
    assert not network.training
    expected = [[-0.08218488380847704, -0.195108329039906, -0.09935268614987337]]
    np.testing.assert_allclose(network(mg.tensor([[1.0, -1.0]])).numpy(), expected, rtol=1e-12)
    assert [buffer.shape for buffer in network.buffers()] == [(3,), (3,), ()]
    network(mg.tensor([[1.0, -1.0]])).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


def test_an_old_pickle_of_a_value_loads():
    v = unpickled("a value")
    assert (type(v), v.data, v.label) == (Value, 2.5, "v")


def test_an_old_pickle_of_a_generators_state_draws_the_same_again():
    before = mg.random.state()
    mg.random.set_state(unpickled("a generator's state"))
    assert mg.random.normal(np.array([2.0])).tolist() == [2.29874553750847]
    mg.random.set_state(before)


@pytest.mark.parametrize(
    ("name", "function"),
    [("an operation", mg.tanh), ("an operation of quantisation", mg.fake_quantize)],
)
def test_an_old_pickle_of_an_operation_is_that_operation(name, function):
    assert unpickled(name) is function


def test_an_old_pickle_of_an_optimiser_goes_on():
    optimiser = unpickled("an optimiser")
    (group,) = optimiser.param_groups
    assert group["lr"] == 0.25
    before = [parameter.numpy().copy() for parameter in group["params"]]
    for parameter in group["params"]:
        parameter.grad = mg.tensor(np.ones(parameter.shape))
    optimiser.step()
    assert all((b != p.numpy()).all() for b, p in zip(before, group["params"], strict=True))


# Traces ---------------------------------------------------------------------------------------------------------------


def in_todays_words(trace):
    """A trace of version 1 as data of today's."""
    rules = {
        name: {**rule, "kind": {"joining": "variadic"}.get(rule["kind"], rule["kind"])}
        for name, rule in trace["rules"].items()
    }
    nodes = [{**node, "inside": node["inside"] and in_todays_words(node["inside"])} for node in trace["nodes"]]
    return {**trace, "version": 2, "rules": rules, "nodes": nodes}


def in_words(trace, part):
    """The entries of a part, with the values that they refer to in the place of references; what only one version has
    is left out."""
    words = {"upstream", "local", "raw", "contribution", "before", "after", "value"}
    common = {"index", "node", "target", "input", "rule", "summed_axes", "accumulates", "id", "kind", "op", "inputs",
              "params", "label", "requires_grad", "reads"}  # fmt: skip

    def told(name, held):
        if name in words:
            return None if held is None else trace["values"][held]["data"]
        return {each: trace["values"][at]["data"] for each, at in held.items()} if name == "reads" else held

    if part == "rules":
        return trace["rules"]
    return [{name: told(name, held) for name, held in each.items() if name in words | common} for each in trace[part]]


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_of_version_1_is_read_and_saved_as_one_of_today(name, tmp_path):
    written = TRACES[name]
    assert written["version"] == 1
    path = tmp_path / "walk.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    trace = mg.load_trace(path)
    read = trace.to_dict()
    for part in ("gradients", "rules", "nodes", "steps"):
        assert in_words(read, part) == in_words(in_todays_words(written), part)
    jsonschema.Draft202012Validator(SCHEMA).validate(trace.to_dict())
    trace.save(path)
    assert mg.load_trace(path).to_dict() == trace.to_dict()


def test_the_traces_of_version_1_say_what_is_said_otherwise_now():
    kinds = {rule["kind"] for rule in TRACES["joined"]["rules"].values()}
    assert "joining" in kinds
    inside = next(node["inside"] for node in TRACES["composite"]["nodes"] if node["inside"])
    assert inside["rules"]["concatenate.parts"]["kind"] == "joining"


@pytest.mark.parametrize("version", [0, 3, True, 1.0, "2", None])
def test_a_trace_of_a_version_that_never_was_is_refused(version):
    with pytest.raises(ValueError, match=f"has version {version!r}; this program reads versions 1 and 2"):
        mg.load_trace({**TRACES["joined"], "version": version})

"""The life of a compiled step: its calls, what is traced again, what the engine runs, and what is refused."""

from __future__ import annotations

import ast
import gc
import io
import linecache
import os
import platform
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.core.runtime import ownership
from micrograd_plus.core.variable import Variable
from micrograd_plus.nn import functional
from micrograd_plus.pytrees import map_leaves
from micrograd_plus.written import (
    memory,
    passes,
    seams,
    step as compiling,
)
from micrograd_plus.written.ink import open_page
from written_steps import (
    all_same,
    random_program,
    same,
    schedules,
    set_column,
)


def test_everything_else_works_without_the_package(tmp_path):
    package = Path(mg.__file__).parent
    shutil.copytree(package, tmp_path / "micrograd_plus", ignore=shutil.ignore_patterns("written", "__pycache__"))
    code = """
import micrograd_plus as mg
from micrograd_plus import checks, engine, exercises, grading, nn, optim, tracing, transforms
from micrograd_plus.checks import promises
net = nn.Linear(3, 2)
sgd = optim.SGD(net.parameters(), lr=0.01)
losses = []
for _ in range(3):
    sgd.zero_grad()
    loss = (net(mg.tensor([[1.0, 2.0, 3.0]])) ** 2).sum()
    loss.backward()
    sgd.step()
    losses.append(loss.item())
for name, keep in promises.promises.items():
    keep(promises.samples["tanh"][0])
w = engine.Value(2.0)
(w * w).backward()
assert w.grad == 4.0 and losses[0] > losses[-1]
try:
    mg.compile
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "No module named 'micrograd_plus.written'\n", done.stderr


def test_a_program_knows_its_peak_memory():
    def step(x):
        a = mg.exp(x)
        b = mg.sin(a)
        return (a * b).sum()

    x = mg.tensor(np.ones((300, 100)))
    assert memory.peak_bytes(mg.written_out(step, x).page) == 2 * 300 * 100 * 8


CALLS_THAT_FAIL = [
    lambda x, classes: functional.cross_entropy(x, classes + 1),
    lambda x, classes: functional.cross_entropy(x, classes - 10),
    lambda x, classes: functional.nll_loss(x, classes + 1),
    lambda x, classes: functional.binary_cross_entropy(x, mg.ones_like(x)),
    lambda x, classes: functional.embedding(classes, x),
    lambda x, classes: mg.one_hot(classes, 3),
    lambda x, classes: x @ x,
    lambda x, classes: x[5],
    lambda x, classes: mg.take(x, [7], axis=0),
    lambda x, classes: x + mg.ones((4, 4)),
    lambda x, classes: x.reshape(4, 4),
    lambda x, classes: mg.linalg.inv(mg.zeros((2, 2)) * x.sum()),
]


@pytest.mark.parametrize("call", CALLS_THAT_FAIL)
def test_a_call_that_fails_says_at_every_call_what_the_engine_says(call):
    x = mg.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]])
    classes = mg.tensor([0, 9])
    with pytest.raises((ValueError, IndexError, np.linalg.LinAlgError)) as by_engine:
        call(x, classes)
    step = mg.compile(call)
    for _ in range(3):
        with pytest.raises(by_engine.type) as traced:
            step(x, classes)
        assert str(traced.value) == str(by_engine.value)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives freed memory back after each step")
def test_a_compiled_step_in_a_fresh_process_keeps_its_memory():
    code = """
import resource, numpy as np, micrograd_plus as mg
x = mg.tensor(np.ones((600, 600)))
def step(x): return (mg.exp(x) * mg.sin(mg.exp(x)) + x).sum()
def faults(step):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10): step(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
step(x)
by_engine = faults(step)
compiled = mg.compile(step)
compiled(x), compiled(x), compiled(x)
print(by_engine, faults(compiled))
"""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # Dask sets one
    done = subprocess.run([sys.executable, "-c", code], env=usual, capture_output=True, text=True, check=True)
    by_engine, by_program = map(int, done.stdout.split())
    assert by_program < 100 < by_engine


ASKING = {
    "if loss > 3": lambda x: x if x.sum() > 3 else -x,
    "float(x)": lambda x: x * float(x.sum()),
    "int(x)": lambda x: x * int(x.sum()),
    "x.item()": lambda x: x * x.sum().item(),
    "x.tolist()": lambda x: x * x.tolist()[0],
    "x.numpy()": lambda x: x * x.numpy(),
    "np.asarray(x)": lambda x: x * np.asarray(x),
    "x[mask]": lambda x: x[x > 1.0].mean(),
    "x.data > 0": lambda x: x if x.data[0] > 0 else -x,
    "print(x)": lambda x: (str(x), x)[1],
    "range(x)": lambda x: [x for _ in range(x.sum().astype(int))],
}


@pytest.mark.parametrize("name", ASKING)
def test_asking_for_a_number_is_an_error_with_the_users_line(name):
    step = mg.compile(ASKING[name])
    with pytest.raises(TypeError, match=r"test_written_calls.py:\d+ .*while the step is written out.*mg\.where"):
        step(mg.tensor([1.0, 2.0]))
    assert open_page() is None
    assert ASKING["x.item()"](mg.tensor([1.0, 2.0])).tolist() == [3.0, 6.0]  # the engine is itself again


def test_writing_into_an_argument_is_an_error():
    @mg.compile
    def step(x):
        x[0] = 5.0
        return x.sum()

    x = mg.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"writes into its argument x; write into a copy, x\.clone\(\)"):
        step(x)
    copying = mg.compile(lambda x: set_column(x.clone(), x).sum())
    for _ in range(3):
        copying(x)
    assert copying.counts["written"] == 1
    assert x.tolist() == [1.0, 2.0]


def test_a_step_of_an_optimiser_after_its_schedule_is_an_error():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    sgd = optim.SGD([w], lr=0.1)
    plan = schedules.ExponentialLR(sgd, 0.5)

    @mg.compile
    def step(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        plan.step()
        sgd.step()

    words = r":\d+ takes a step of an optimiser after its schedule .* Take the schedule's step last"
    with pytest.raises(TypeError, match=words):
        step(mg.tensor([1.0, 1.0]))


def test_to_ask_whether_a_float_argument_is_large_is_an_error():
    step = mg.compile(lambda x, rate: x * rate if rate > 0.1 else x)
    with pytest.raises(TypeError, match=r"asks about a float among the arguments.* Pass it as an int or a bool"):
        step(mg.ones(2), 0.5)


@pytest.mark.parametrize("large", [[1.0] * 5000, dict.fromkeys(range(5000), 1.0)], ids=["list", "dictionary"])
def test_a_large_collection_is_an_error(large):
    with pytest.raises(TypeError, match=r"the step finds large, with 5,000 entries, .* pass what the step needs"):
        mg.compile(lambda x: x * large[3])(mg.ones(2))


def test_results_have_no_graph():
    w = mg.ones(2, requires_grad=True)
    step = mg.compile(lambda x: (w * x).sum())
    for _ in range(3):
        with pytest.raises(RuntimeError, match=r"compute outside no_grad and mg\.compile"):
            step(mg.ones(2)).backward()


def test_an_argument_without_a_hash_leaves_the_call_to_the_engine():
    class Settings:
        __hash__ = None
        rate = 2.0

    step = mg.compile(lambda x, settings: x * settings.rate)
    assert [step(mg.ones(2), Settings()).tolist() for _ in range(3)] == [[2.0, 2.0]] * 3
    assert step.counts == {"engine": 3, "engine: an argument cannot be part of a key": 3}


def test_another_device_is_an_error():
    step = mg.compile(lambda x: x.to("cuda") * 2.0)
    with pytest.raises((TypeError, RuntimeError, ModuleNotFoundError), match=r"cuda|CuPy|moves a tensor"):
        step(mg.tensor([1.0, 2.0]))
    assert open_page() is None
    stand_in = mg.backends.devices.Device("elsewhere", np, mg.backends.arrays)
    mg.backends.devices._devices["elsewhere"] = stand_in
    try:
        with pytest.raises(TypeError, match=r"test_written_calls.py:\d+ moves a tensor to 'elsewhere' while"):
            mg.compile(lambda x: x.to("elsewhere") * 2.0)(mg.tensor([1.0, 2.0]))
    finally:
        del mg.backends.devices._devices["elsewhere"]


def test_a_program_of_very_many_lines_is_warned_about(monkeypatch):
    monkeypatch.setattr(compiling, "MOST_LINES", 20)
    step = mg.compile(lambda x: sum((mg.exp(x * x) for _ in range(20)), mg.sin(x).sum() * mg.cos(x)))
    monkeypatch.setitem(passes.PASSES, "repeats", lambda page: None)
    monkeypatch.setitem(passes.PASSES, "loops", lambda page: None)
    with pytest.warns(UserWarning, match=r"is a program of \d+ lines.*compute a batch at once, use mg\.scan"):
        step(mg.tensor([1.0, 2.0]))


def test_a_number_that_changes_between_two_calls_is_named_with_its_line():
    file = io.BytesIO()  # whose changes are not seen

    def step(x):
        file.write(b"a")
        return x * (1.0 / file.tell())

    compiled = mg.compile(step)
    compiled(mg.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"wrote different programs, at return x \* .*test_written_calls.py:\d+.*0\.5"):
        compiled(mg.tensor([1.0, 2.0]))


def test_an_array_that_changes_between_two_calls_is_named():
    rows = io.BytesIO(bytes(2000))
    compiled = mg.compile(lambda x: x + mg.tensor(np.frombuffer(rows.getvalue(), "uint8").astype(float)))
    compiled(mg.zeros(2000))
    rows.getbuffer()[3] = 2
    with pytest.raises(TypeError, match="wrote different programs"):
        compiled(mg.zeros(2000))


def test_a_float_argument_is_an_input_and_a_variable_a_condition():
    scale = 2.0

    def step(x, rate):
        return x * rate * scale

    compiled = mg.compile(step)
    for rate in (0.1, 0.2, 0.3, 0.4):
        assert compiled(mg.tensor([1.0, 2.0], dtype="float32"), rate).tolist() == (
            step(mg.tensor([1.0, 2.0], dtype="float32"), rate).tolist()
        )
    assert compiled.counts == {"traced": 2, "written": 2}
    scale = 3.0
    assert compiled(mg.tensor([1.0, 2.0], dtype="float32"), 0.5).tolist() == [1.5, 3.0]
    assert compiled.counts["traced"] == 3


def test_other_shapes_dtypes_and_layouts_are_traced_beside():
    step = mg.compile(lambda x: (x * 2.0).sum(axis=0))
    wide = np.arange(12.0).reshape(3, 4)
    forms = [wide, wide[:2], wide.astype("float32"), np.asfortranarray(wide), wide]
    for form in forms * 3:
        x = mg.tensor(0.0)
        x = mg.Tensor.of(form)
        assert same(step(x), (x * 2.0).sum(axis=0))
    assert len(step.programs) == 4
    assert step.counts == {"traced": 8, "written": 7}


def test_many_programs_give_one_warning_that_names_the_argument():
    step = mg.compile(lambda x: x * 2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for length in range(1, 13):
            step(mg.zeros(length))
    (warning,) = caught
    assert "argument number 1 keeps changing" in str(warning.message)


def test_what_watches_the_engine_runs_by_the_engine_and_is_counted():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    compiled, x = mg.compile(step), mg.tensor([3.0, 4.0])
    for _ in range(3):
        compiled(x)
    with mg.record() as trace_:
        compiled(x)
    assert [each.rule for each in trace_] == ["sum.x", "multiply.a"]
    with mg.no_grad():
        assert mg.compile(lambda x: w * x)(x).node is None
    with mg.unfuse():
        compiled(x)
    with w.register_hook(lambda g: g * 10.0):
        compiled(x)
        assert w.grad.tolist() == [30.0, 40.0]
    assert compiled(mg.tensor([1.0, 2.0], requires_grad=True)).node is not None
    reasons = {name for name in compiled.counts if name.startswith("engine: ")}
    assert {"engine: record()", "engine: unfuse", "engine: hooks"} <= reasons
    assert "engine: an argument that requires a gradient" in reasons


def test_hooks_of_other_models_leave_a_program_alone():
    hidden, elsewhere = ([mg.tensor([1.0, 2.0], requires_grad=True)] for _ in range(2))

    class Model:
        weights = hidden

    @mg.compile
    def step(x):
        loss = (Model.weights[0] * x).sum()
        loss.backward()
        return loss

    x = mg.tensor([3.0, 4.0])
    with elsewhere[0].register_hook(lambda g: g * 10.0):
        for _ in range(5):  # the first one finds no gradient, so the next is traced anew
            step(x)
    assert step.counts == {"traced": 3, "written": 2}
    with hidden[0].register_hook(lambda g: g * 10.0):
        step(x)
    assert step.counts["engine: hooks"] == 1
    assert hidden[0].grad.tolist() == [45.0, 60.0]


def test_the_mode_of_a_module_and_a_new_parameter_are_traced_again():
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    step = mg.compile(net.forward)
    x = mg.tensor([[1.0, 2.0, 3.0]])
    for _ in range(3):
        step(x)
    net.eval()
    assert same(step(x), net(x))
    net[0].weight = nn.Parameter(np.zeros((3, 3)))
    net[0].bias = nn.Parameter(np.ones(3))
    assert step(x).tolist() == [[1.0, 1.0, 1.0]]


def test_a_step_that_sets_the_mode_of_its_network_leaves_that_mode():
    found = []
    for compiled in (False, True):
        mg.random.seed(0)
        net, x = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), mg.tensor([[1.0, 2.0]])

        def train(x, net=net):
            net.train()
            return net(x)

        def evaluate(x, net=net):
            net.eval()
            return net(x)

        steps = [mg.compile(f) if compiled else f for f in (train, evaluate)]
        found.append([(step(x), net.training, net[1].training) for _ in range(5) for step in steps])
    assert all_same(*found)
    assert [step.counts for step in steps] == [{"traced": 3, "written": 2}, {"traced": 2, "written": 3}]


def test_a_layer_that_is_frozen_between_calls_keeps_its_program():
    found = []
    for compiled in (False, True):
        mg.random.seed(0)
        net = nn.Linear(2, 1)
        adam = optim.Adam(net.parameters(), lr=0.1)

        def step(x, net=net, adam=adam):
            adam.zero_grad()
            loss = (net(x) ** 2).mean()
            loss.backward()
            adam.step()
            return loss

        run, losses = mg.compile(step) if compiled else step, []
        for i in range(6):
            losses += [run(mg.tensor([[1.0, i]])), [p.grad for p in net.parameters()]]
            net.requires_grad_(False)
            net.requires_grad_(True)
        found.append([losses, net.state_dict()])
    assert run.counts == {"traced": 3, "written": 3}  # Adam has no states at the first call
    assert all_same(*found)


def make_world():
    """Return a step with all that it finds: a variable, a list, a table, a layer, an optimiser, a class."""

    class World:

        shrink = 0.5

        def __init__(self):
            self.first = mg.tensor([2.0], requires_grad=True)
            self.parameters = [self.first, mg.tensor([[1.0, 3.0], [2.0, 4.0]], requires_grad=True)]
            self.table = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
            self.spare = mg.tensor([1.0], requires_grad=True)
            self.spare.grad = mg.tensor([0.5])
            self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
            self.net[0].weight.assign([[1.0, 2.0], [3.0, 5.0]])
            self.net[0].bias.assign([1.0, 2.0])
            self.sgd = optim.SGD([*self.parameters, *self.net.parameters()], lr=1e-3)
            self.generator = mg.random.seed(0)
            self.step, self.put = self.make_step()

        def scale(self, x):
            return x * self.shrink

        def make_step(self):
            factor, net = self.first, self.net

            def step():
                self.sgd.zero_grad()
                scale, weight = self.parameters
                loss = (net(self.scale(weight @ self.table)) * scale * factor).sum()
                loss.backward()
                self.sgd.step()
                return loss if self.spare.grad is None else loss * self.spare.grad

            def put(x):
                nonlocal factor
                factor = x

            return step, put

    return World()


def patch_class(world):
    world.__class__ = type("Other", (type(world),), {"scale": lambda self, x: x * 0.25})


CHANGES = {
    "strides": lambda world: setattr(world.table, "data", np.asfortranarray(world.table.numpy())),
    "a gradient wanted": lambda world: world.table.requires_grad_(),
    "no gradient wanted": lambda world: world.net[0].bias.requires_grad_(False),
    "no gradient wanted, of a leaf whose gradient alone is read": lambda world: world.spare.requires_grad_(False),
    "a tensor that becomes a result": lambda world: world.table.__iadd__(world.first),
    "the mode of a module": lambda world: world.net.eval(),
    "a hook of a module": lambda world: world.net[0].register_forward_hook(lambda module, args, out: out * 2.0),
    "a parameter of a module": lambda world: setattr(world.net[0], "bias", nn.Parameter([1.0, 2.0])),
    "a layer of a module": lambda world: world.net.append(nn.Tanh()),
    "an entry of a list": lambda world: world.parameters.__setitem__(0, mg.tensor([2.0], requires_grad=True)),
    "an entry of the optimiser": lambda world: world.sgd.param_groups[0]["params"].pop(),
    "another list of the optimiser": lambda world: world.sgd.param_groups[0].update(params=world.parameters[:1]),
    "the order of the optimiser": lambda world: world.sgd.param_groups[0]["params"].reverse(),
    "another optimiser": lambda world: setattr(world, "sgd", optim.SGD(world.parameters, lr=1e-3)),
    "a momentum": lambda world: world.sgd.param_groups[0].update(momentum=0.5),
    "an attribute of a class": lambda world: setattr(type(world), "shrink", 0.125),
    "a method of a class": lambda world: setattr(type(world), "scale", lambda self, x: x * 0.25),
    "another group": lambda world: world.sgd.add_param_group({"params": [mg.tensor([1.0], requires_grad=True)]}),
    "a list of groups": lambda world: setattr(
        world.sgd, "param_groups", [{**world.sgd.param_groups[0], "weight_decay": 0.5}]
    ),
    "a setting": lambda world: world.sgd.param_groups[0].update(weight_decay=0.5),
    "the kind of a number": lambda world: world.sgd.param_groups[0].update(lr=np.float32(1e-3)),
    "a variable": lambda world: world.put(mg.tensor([2.0])),
    "an attribute": lambda world: setattr(world, "table", mg.tensor([[1.0, 2.0], [3.0, 4.0]])),
    "an attribute that hides another": lambda world: setattr(world, "shrink", 0.125),
    "a class": patch_class,
    "a hook of a tensor": lambda world: world.first.register_hook(lambda g: g * 2.0),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_no_program_runs_after_a_change_of(change):
    for calls in (1, 4):  # between the two that are traced, and after a program has run
        found = []
        for compiled in (False, True):
            world = make_world()
            step = mg.compile(world.step) if compiled else world.step
            for _ in range(calls):
                step()
            before = step.counts.get("written", 0) if compiled else 0
            handle = CHANGES[change](world)
            losses = [step()]
            assert not compiled or step.counts.get("written", 0) == before
            losses += [step() for _ in range(2)]
            found.append([*losses, *world.parameters, *world.net.parameters()])
            del handle
        assert all(map(same, *found))


def leaf(*numbers):
    return mg.tensor(numbers, requires_grad=True)


def ask_about_a_tensor(question, change):
    """Return a step that asks something about a tensor whose values it does not use, and a change of the answer."""

    def make():
        w = leaf(1.0, 2.0)
        w.label = "before"
        return (lambda x: x * float(question(w))), lambda: change(w)

    return make


def thaw_a_parameter(use):
    """Return a step that uses an optimiser of which one parameter is frozen, and a change that thaws it."""

    def make():
        w, frozen = leaf(1.0, 2.0), leaf(3.0, 4.0).requires_grad_(False)
        sgd = optim.SGD([w], lr=0.1)
        sgd.param_groups[0]["params"].append(frozen)

        def step(x):
            (w * x).sum().backward()
            use(sgd)
            return x

        def thaw():
            frozen.requires_grad_(True)
            frozen.grad = mg.ones(2)

        return step, thaw, lambda: (w, frozen, frozen.grad)

    return make


def move_a_state():
    w, other = leaf(1.0, 2.0), leaf(3.0, 4.0)
    sgd = optim.SGD([w, other], lr=0.1, momentum=0.5)

    def step(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        sgd.step()
        return w * 1.0

    return step, lambda: sgd.state.update({other: sgd.state.pop(w)})


def write_through(write):
    """Return a step that writes through a view from before the call, and a change of the tensor behind the view."""

    def make():
        table = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
        row = table[0]

        def step(x):
            write(row, x)
            return table * 1.0

        return step, lambda: table.assign(7.0)

    return make


def walk_behind_the_step(change):
    """Return a step that walks back through a graph from before the call, and a change of that graph."""

    def make():
        w = leaf(1.0, 2.0)
        y = w * 2.0
        z = y * 3.0
        keep = []

        def step(x):
            (z * x).sum().backward()
            return x

        def look():
            found, w.grad = w.grad, None
            return found

        return step, lambda: keep.append(change(w, y, z)), look

    return make


UNREAD = {
    "whether a gradient is wanted": ask_about_a_tensor(lambda w: w.requires_grad, lambda w: w.requires_grad_(False)),
    "its node": ask_about_a_tensor(lambda w: w.node is None, lambda w: w.requires_grad_(False)),
    "how often it was written": ask_about_a_tensor(lambda w: w.version, lambda w: w.assign(0.0)),
    "its label": ask_about_a_tensor(lambda w: w.label == "before", lambda w: setattr(w, "label", "after")),
    "whether it is a leaf": ask_about_a_tensor(
        lambda w: w.is_leaf, lambda w: w.requires_grad_(False).__iadd__(leaf(1.0, 1.0))
    ),
    "a frozen parameter that is updated": thaw_a_parameter(lambda sgd: sgd.step()),
    "a frozen parameter whose gradient is set to None": thaw_a_parameter(lambda sgd: sgd.zero_grad()),
    "a state of another parameter": move_a_state,
    "a view that is written": write_through(lambda row, x: row.__setitem__(1, x[0])),
    "a view that is assigned": write_through(lambda row, x: row.assign(x)),
    "a hook of a hidden result": walk_behind_the_step(lambda w, y, z: y.register_hook(lambda g: g * 10.0)),
    "a hook of a hidden leaf": walk_behind_the_step(lambda w, y, z: w.register_hook(lambda g: g * 10.0)),
    "a freed graph": walk_behind_the_step(lambda w, y, z: z.sum().backward(retain_graph=False)),
}  # fmt: skip


@pytest.mark.parametrize("what", UNREAD)
def test_a_program_depends_on_tensors_whose_values_it_does_not_read(what):
    found = []
    for compiled in (False, True):
        step, change, *look = UNREAD[what]()
        run, results = mg.compile(step) if compiled else step, []
        for i in range(7):
            if i == 4:
                assert not compiled or run.counts["written"]
                change()
            try:
                results.append(map_leaves(run(mg.tensor([1.0, i])), lambda x: getattr(x, "tolist", lambda: None)()))
            except (RuntimeError, ValueError) as error:
                results.append(str(error))
            results += [str(each()) for each in look]
        found.append(results)
    assert found[0] == found[1]


def test_a_gradient_that_has_a_graph_is_an_error():
    w, v = leaf(1.0, 2.0), leaf(1.0, 1.0)

    @mg.compile
    def step(x):
        v.grad = None
        (w.grad * w.grad * v * x).sum().backward()
        return v.grad

    (w**3).sum().backward()
    for _ in range(3):
        step(mg.ones(2))
    w.grad = None
    (w**3).sum().backward(create_graph=True)
    with pytest.raises(TypeError, match=r"\.py:\d+ reads a gradient that has a graph .* `w.grad = w.grad.detach\(\)`"):
        step(mg.ones(2))
    w.grad = w.grad.detach()
    assert step(mg.ones(2)).tolist() == [9.0, 144.0]


def test_a_gradient_that_the_step_finds_as_a_variable_too_is_an_error():
    w = leaf(1.0, 2.0)
    w.grad = kept = mg.ones(2)

    def step(x):
        w.grad *= 0.5
        return kept * x

    with pytest.raises(TypeError, match=r"finds kept, which is the gradient of a leaf as well.*\.grad\.clone\(\)"):
        mg.compile(step)(mg.ones(2))
    w.grad = mg.ones(2)
    compiled = mg.compile(step)
    for _ in range(3):
        compiled(mg.ones(2))
    w.grad = kept
    with pytest.raises(TypeError, match="finds kept, which is the gradient of a leaf as well"):
        compiled(mg.ones(2))


def test_a_traced_call_that_reads_a_gradient_leaves_the_tensor_there():
    w = leaf(1.0, 2.0)
    w.grad = kept = mg.ones(2)
    mg.compile(lambda x: w.grad * x)(mg.ones(2))
    kept *= 3.0
    assert w.grad.tolist() == [3.0, 3.0]


def test_a_tensor_that_a_step_makes_a_result_has_its_graph_after_each_call():
    w, total = leaf(1.0, 2.0), mg.zeros(2)

    def step(x):
        sums = total
        sums += w * x

    compiled = mg.compile(step)
    for i in range(1, 5):
        compiled(mg.ones(2))
        w.grad = None
        total.sum().backward()
        assert w.grad.tolist() == [i, i]


def test_only_set_node_gives_a_tensor_another_node(monkeypatch):
    """A program compares the nodes that it knows only when the count of changes has grown."""
    slot, found, allowed = Variable.node, set(), ownership.set_node.__code__

    class WatchedSlot:
        def __get__(self, variable, owner=None):
            return self if variable is None else slot.__get__(variable)

        def __set__(self, variable, node):
            caller = sys._getframe(1).f_code
            if getattr(variable, "node", None) not in (None, node) and caller is not allowed:
                found.add(caller.co_qualname)
            slot.__set__(variable, node)

    monkeypatch.setattr(Variable, "node", WatchedSlot())
    w = leaf(1.0, 2.0, 3.0, 4.0)
    table = w * 2.0
    row = table[1:]
    table[0] = 3.0
    with pytest.raises(ValueError, match="setitem"):
        row[0] = mg.ones(7)  # `row` is read again first, since `table` has changed
    row *= w[1:]
    for seed in range(4):
        random_program(seed)(mg.ones((3, 4)), mg.ones((3, 4)))
    mg.hessian(lambda x: (mg.checkpoint(mg.tanh, x) ** 2).sum())(w)
    mg.compile(lambda x: x * w)(w.detach())
    w.requires_grad_(False).requires_grad_(True)
    assert not found


def test_nodes_are_set_where_tensors_are_made_and_in_set_node():
    package, found = Path(mg.__file__).parent, set()

    def visit(part, place):
        for child in ast.iter_child_nodes(part):
            here = (place[0], child.name) if isinstance(child, ast.FunctionDef) else place
            is_node = isinstance(child, ast.Attribute) and child.attr == "node"
            if is_node and not isinstance(child.ctx, ast.Load):
                found.add(here)
            visit(child, here)

    for path in package.rglob("*.py"):
        name, text = path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")
        if ".node" in text and not name.startswith(("tracing/", "exercises/")):  # their records have nodes too
            visit(ast.parse(text), (name, ""))
    assert found == {
        ("core/runtime/ownership.py", "set_node"), ("tensor/tensor.py", "of"), ("transforms/forward.py", "frozen_copy"),
        ("transforms/reverse.py", "as_variable"),
    }  # fmt: skip


def test_an_index_among_the_arguments_is_an_input_where_a_graph_is_written():
    w = leaf(1.0, 2.0, 3.0)

    def step(places):
        w.grad = None
        y = w * w
        y[places] = 0.0
        y.sum().backward()
        return w.grad

    for form in (np.array, mg.tensor, lambda places: np.int64(places[0])):
        compiled = mg.compile(step)
        for places in ([0, 2], [2, 1], [1, 0], [2, 0], [0, 1]):
            assert same(compiled(form(places)), step(form(places)))
        assert compiled.counts["written"] >= 2  # w has no gradient before the first call of all
    with pytest.raises(ValueError, match="names a place twice"):
        mg.compile(step)(np.array([1, 1]))


def test_a_branch_of_cond_that_changes_is_named_with_its_cures():
    compiled = mg.compile(lambda x: mg.cond(x.sum() > 0.0, mg.sin, mg.cos, x))
    for number in (1.0, 2.0, -1.0, 3.0):
        x = mg.tensor([number])
        assert same(compiled(x), mg.sin(x) if number > 0.0 else mg.cos(x))
    assert compiled.counts == {"traced": 2, "engine": 1, "engine: a check of the program failed": 1, "written": 1}
    changing = mg.compile(lambda x, rate: mg.cond(rate, mg.sin, mg.cos, x))
    changing(mg.ones(1), 0.5)
    with pytest.raises(TypeError, match=r"of `if` or mg\.cond, must become mg\.where, or depend on a bool among the"):
        changing(mg.ones(1), 0.0)


def test_a_variable_that_is_deleted_is_an_error_as_without_a_program():
    rate = 2.0

    def forget():
        nonlocal rate
        del rate

    step = mg.compile(lambda x: x * rate)
    for _ in range(3):
        step(mg.tensor([1.0]))
    assert step.counts["written"] == 1
    forget()
    with pytest.raises(NameError, match="rate"):
        step(mg.tensor([1.0]))


def test_replacing_a_rule_drops_the_programs():
    @mg.elementwise(x=lambda: 2.0)
    def twice_for_programs(xp, x):
        return x + x

    w = mg.tensor([1.0], requires_grad=True)

    def step():
        w.grad = None
        twice_for_programs(w).sum().backward()

    compiled = mg.compile(step)
    for _ in range(3):
        compiled()
    assert w.grad.tolist() == [2.0]
    twice_for_programs.rule("x")(lambda: 3.0)
    compiled()
    assert w.grad.tolist() == [3.0]


def test_a_class_out_of_range_is_found_by_the_program():
    step = mg.compile(functional.cross_entropy)
    scores = mg.zeros((2, 3))
    for _ in range(3):
        step(scores, mg.tensor([0, 2]))
    with pytest.raises(IndexError, match="class 3 is out of range"):
        step(scores, mg.tensor([0, 3]))
    assert step.counts["engine: a check of the program failed"] == 1
    assert step(scores, mg.tensor([1, 1])).item() == pytest.approx(np.log(3.0))


def test_tensors_that_got_away_hold_their_numbers():
    kept = []

    def step(x):
        kept.append(x * 2.0)
        return x.sum()

    mg.compile(step)(mg.tensor([1.0, 2.0]))
    assert kept[0].tolist() == [2.0, 4.0]
    assert type(kept[0]._data) is np.ndarray
    assert (kept[0] * 2.0).tolist() == [4.0, 8.0]


def test_an_error_while_tracing_leaves_tensors_as_they_were():
    w = mg.tensor([1.0, 2.0], requires_grad=True)

    def step(x):
        (w * x).sum().backward()
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mg.compile(step)(mg.tensor([1.0, 1.0]))
    assert type(w._data) is np.ndarray
    assert w.is_fast
    assert w.grad.tolist() == [1.0, 1.0]


def test_a_closed_page_leaves_no_trace_in_the_engine():
    functions = [function for function, _ in seams._replacements]
    codes = [function.__code__ for function in functions]
    calls = {name: op.call.__code__ for name, op in mg.core.define.operations.items() if op.is_compiled}
    mg.written_out(lambda x: mg.tanh(x).sum(), mg.tensor([1.0]))
    assert [function.__code__ for function in functions] == codes
    for name, code in calls.items():
        assert mg.core.define.operations[name].call.__code__ is code
    assert not any(name.startswith("_on_paper_") for f in functions for name in f.__globals__)


def test_a_compiled_step_inside_another_becomes_part_of_it():
    inner = mg.compile(mg.tanh)
    outer = mg.compile(lambda x: inner(x) * 2.0)
    x = mg.tensor([0.5])
    for _ in range(3):
        assert same(outer(x), mg.tanh(x) * 2.0)
    assert "np.tanh" in outer.source
    assert inner.programs == []


def test_a_decorated_method_is_a_step():
    class Line:
        def __init__(self):
            self.slope = mg.tensor(2.0, requires_grad=True)

        @mg.compile
        def __call__(self, x):
            return self.slope.detach() * x

    line = Line()
    assert [line.__call__(mg.tensor(float(i))).item() for i in range(4)] == [0.0, 2.0, 4.0, 6.0]


def test_a_step_without_statements_is_a_program():
    step = mg.compile(lambda: 3)
    assert [step() for _ in range(4)] == [3] * 4
    assert step.counts["written"] == 2


def test_a_program_that_is_gone_leaves_no_text_behind():
    w = mg.tensor(np.ones(3), requires_grad=True)

    def run_step():
        step = mg.compile(lambda: (w * w).sum().backward())
        for _ in range(3):
            step()
        return {name for name in linecache.cache if name.startswith("<written out")} - before

    before = set(linecache.cache)
    assert run_step()
    gc.collect()
    assert not {name for name in linecache.cache if name.startswith("<written out")} - before

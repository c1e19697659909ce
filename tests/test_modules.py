"""Modules: contents, lookup, saving, printing, and error messages."""

import copy
import pickle

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.nn import functional as F  # noqa: N812 - the name that PyTorch's users give it


class Block(nn.Module):
    """A module with a parameter, a buffer, a child, and plain settings."""

    def __init__(self):
        self.scale = nn.Parameter([1.0, 2.0])
        self.register_buffer("seen", mg.tensor(0.0))
        self.register_buffer("passing", mg.tensor(1.0), persistent=False)
        self.inner = nn.Linear(2, 3)
        self.name, self.fixed = "block", mg.tensor([5.0])

    def forward(self, x):
        return self.inner(x * self.scale)


def test_a_module_works_without_a_call_to_super_init():
    block = Block()
    assert [name for name, _ in block.named_parameters()] == ["scale", "inner.weight", "inner.bias"]
    assert [name for name, _ in block.named_buffers()] == ["seen", "passing"]
    assert [name for name, _ in block.named_modules()] == ["", "inner"]
    assert list(block.children()) == [block.inner]
    assert block(mg.tensor([[1.0, 1.0]])).shape == (1, 3)


def test_parameters_are_labelled_with_their_dotted_names():
    net = nn.Sequential(nn.Linear(2, 2), Block())
    assert net[0].weight.label == "weight"
    labels = [parameter.label for parameter in net.parameters()]
    assert labels == ["0.weight", "0.bias", "1.scale", "1.inner.weight", "1.inner.bias"]


def test_a_shared_parameter_has_both_names_in_the_state():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "1.bias"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert repr(net).endswith("8 parameters")


def test_a_shared_module_is_listed_once():
    layer = nn.Linear(2, 2)
    net = nn.Sequential(layer, nn.Tanh(), layer)
    assert len(list(net.modules())) == 3
    assert len(list(net.parameters())) == 2


def test_a_result_cannot_replace_a_parameter():
    layer = nn.Linear(2, 2)
    with pytest.raises(
        TypeError, match=r"Linear.weight is a parameter and cannot become a result; .* weight.assign"
    ):
        layer.weight = layer.weight - 1
    with pytest.raises(TypeError, match="cannot become ndarray"):
        layer.weight = np.zeros((2, 2))
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_only_parameters_are_registered_frozen_ones_too():
    block = Block()
    block.scale = nn.Parameter(3.0)
    block.twice = block.scale * 2
    block.register_parameter("frozen", mg.tensor(1.0))
    assert block.scale.label == "scale"
    assert [name for name, _ in block.named_parameters(recurse=False)] == ["scale", "frozen"]
    del block.scale
    block.scale = 3.0
    assert [name for name, _ in block.named_parameters(recurse=False)] == ["frozen"]


def test_a_buffer_requires_no_gradient():
    with pytest.raises(ValueError, match="buffer 'x' requires a gradient"):
        nn.Module().register_buffer("x", nn.Parameter(1.0))
    with pytest.raises(TypeError, match="buffer 'x' is ndarray; a buffer is a tensor"):
        nn.Module().register_buffer("x", np.ones(2))


def test_a_module_without_forward_raises():
    with pytest.raises(NotImplementedError, match=r"Module has no forward\(self, ...\)"):
        nn.Module()(1)


def test_training_and_freezing_reach_every_module():
    net = nn.Sequential(nn.Dropout(), nn.Sequential(Block()))
    assert not any(module.training for module in net.eval().modules())
    assert all(module.training for module in net.train().modules())
    net.requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in net.parameters())
    assert len(list(net.parameters())) == 3


def test_methods_of_a_whole_network_return_it():
    net = Block()
    assert net.train(False) is net.eval() is net.requires_grad_(False) is net.apply(lambda module: None) is net
    assert not any(parameter.requires_grad for parameter in net.parameters())
    assert all(parameter.requires_grad for parameter in net.requires_grad_().parameters())


def test_zero_grad_resets_all_gradients():
    net = Block()
    net(mg.tensor([[1.0, 2.0]])).sum().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())


def test_apply_goes_from_the_leaves_to_the_root():
    net, seen = nn.Sequential(nn.Sequential(nn.Tanh()), nn.ReLU()), []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Tanh", "Sequential", "ReLU", "Sequential"]


def test_a_state_is_a_copy_that_training_does_not_change():
    net = Block()
    state = net.state_dict()
    assert list(state) == ["scale", "seen", "inner.weight", "inner.bias"]
    before = state["scale"].tolist()
    net.scale.assign([9.0, 9.0])
    assert state["scale"].tolist() == before
    with pytest.raises(TypeError, match=r"load_state_dict expects a dictionary, .* got ReLU"):
        net.load_state_dict(nn.ReLU())
    assert net.load_state_dict(state) == ([], [])
    assert net.scale.tolist() == before


def test_a_wrong_state_is_rejected_and_nothing_is_loaded():
    net = Block()
    before = net.scale.tolist()
    state = {
        **net.state_dict(),
        "scale": mg.tensor([7.0, 7.0]),
        "inner.bias": np.zeros(4),
        "odd": np.zeros(1),
    }
    del state["inner.weight"]
    with pytest.raises(
        ValueError,
        match=r"Block: missing: inner.weight; unexpected: odd; inner.bias has shape \(3,\) here "
        r"and \(4,\) in the state",
    ):
        net.load_state_dict(state)
    assert net.scale.tolist() == before
    del state["inner.bias"]
    keys = net.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["inner.weight", "inner.bias"]
    assert keys.unexpected_keys == ["odd"]
    assert net.scale.tolist() == [7.0, 7.0]


def test_loading_a_state_keeps_dtypes_and_recorded_graphs():
    net = nn.Linear(2, 1, dtype="float32")
    loss = net(mg.tensor(np.ones((1, 2), np.float32))).sum()
    net.load_state_dict({"weight": np.zeros((1, 2)), "bias": np.zeros(1)})
    assert net.weight.dtype == np.float32
    loss.backward()
    assert net.weight.grad.tolist() == [[1.0, 1.0]]


def test_to_a_dtype_converts_floats_and_keeps_parameters_shared():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net.register_buffer("count", mg.tensor([1, 2]))
    net.to("cpu", dtype="float16").to(np.float32)
    assert net[1].weight is net[0].weight
    assert {str(p.dtype) for p in net.parameters()} == {"float32"}
    assert net.count.dtype == np.int64
    assert all(p.requires_grad and p.is_leaf for p in net.parameters())


def test_hooks_see_and_can_change_inputs_and_outputs():
    layer, seen = nn.Linear(2, 1, bias=False), []
    layer.weight.assign([[1.0, 1.0]])
    stop_before = layer.register_forward_pre_hook(lambda module, args: seen.append(args[0].tolist()))
    layer.register_forward_pre_hook(lambda module, args: args[0] * 10)
    stop = layer.register_forward_hook(lambda module, args, output: seen.append((module, output.item())))
    layer.register_forward_hook(lambda module, args, output: output + 0.5)
    assert layer(mg.tensor([1.0, 2.0])).tolist() == [30.5]
    assert seen == [[1.0, 2.0], (layer, 30.0)]
    stop_before.remove()
    stop()
    stop()
    assert layer(mg.tensor([1.0, 2.0])).tolist() == [30.5]
    assert len(seen) == 2


def test_a_hook_can_return_several_arguments_as_a_tuple():
    class Minus(nn.Module):
        def forward(self, a, b):
            return a - b

    layer = Minus()
    layer.register_forward_pre_hook(lambda module, args: args[::-1])
    assert layer(1.0, 3.0) == 2.0


def test_a_hook_can_be_removed_by_a_with_block():
    layer, seen = nn.Identity(), []
    note = lambda module, args, output: seen.append(output)
    stays = layer.register_forward_hook(note)
    with layer.register_forward_hook(note) as handle:
        layer(1)
    handle.remove()
    layer(2)
    assert seen == [1, 1, 2]
    stays.remove()
    layer(3)
    assert seen == [1, 1, 2]


def test_a_copied_module_has_its_own_hooks():
    layer, seen = nn.Identity(), []
    handle = layer.register_forward_hook(lambda module, args, output: seen.append(output))
    copied = copy.deepcopy(layer)
    handle.remove()
    layer(1)
    copied(2)
    assert seen == [2]


@pytest.mark.parametrize("name", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_hook_must_be_callable(name):
    with pytest.raises(TypeError, match=f"{name} expects a function, got 3"):
        getattr(nn.Identity(), name)(3)


def test_get_submodule_and_get_parameter_take_dotted_names():
    net = nn.Sequential(nn.Linear(2, 2), Block())
    assert net.get_submodule("1.inner") is net[1].inner
    assert net.get_submodule("") is net
    assert net.get_parameter("1.inner.weight") is net[1].inner.weight
    assert net.get_buffer("1.passing") is net[1].passing
    with pytest.raises(AttributeError, match=r"Sequential has no parameter '1.seen'; there is 0.weight, 0.bias, 1.s"):
        net.get_parameter("1.seen")
    with pytest.raises(AttributeError, match=r"Linear has no buffer 'x'; there is none"):
        net[0].get_buffer("x")
    with pytest.raises(AttributeError, match=r"Sequential has no module '2'; there is 0, 1, 1.inner"):
        net.get_submodule("2")


def test_without_recurse_only_own_parameters_are_listed():
    block = Block()
    assert [name for name, _ in block.named_parameters(recurse=False)] == ["scale"]
    assert list(block.parameters(recurse=False)) == [block.scale]
    net = nn.Sequential(block)
    assert list(net.named_buffers(recurse=False)) == list(net.buffers(recurse=False)) == []
    assert list(net.buffers()) == [block.seen, block.passing]
    assert [name for name, _ in net.named_buffers(prefix="net")] == ["net.0.seen", "net.0.passing"]


def test_a_child_under_two_names_is_one_child():
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.assign([[3.0]])
    net = nn.Sequential(layer, layer)
    assert list(net.children()) == [layer]
    assert len(net) == 2
    assert net(mg.tensor([1.0])).tolist() == [9.0]
    assert nn.ModuleList([layer, layer])[-1] is layer


def test_add_module_rejects_other_objects_and_used_names():
    net = nn.Module()
    net.add_module("first", nn.ReLU())
    net.add_module("first", nn.Tanh())
    assert isinstance(net.first, nn.Tanh)
    with pytest.raises(TypeError, match=r"Module expects modules, got function; .*nn.ReLU"):
        net.add_module("bend", F.relu)


@pytest.mark.parametrize(("give", "own"), [
    (lambda net, name: net.add_module(name, nn.ReLU()), "inner"),
    (lambda net, name: net.register_buffer(name, mg.tensor(1.0)), "passing"),
    (lambda net, name: net.register_parameter(name, nn.Parameter(1.0)), "scale"),
])  # fmt: skip
def test_an_attribute_can_only_be_replaced_by_its_own_kind(give, own):
    net = Block()
    give(net, own)
    for name in {"forward", "training", "name", "inner", "passing", "scale"} - {own}:
        with pytest.raises(KeyError, match=f"Block: '{name}' cannot be a name: it is taken"):
            give(net, name)
    for name in ("a.b", 3):
        with pytest.raises(KeyError, match=f"Block: {name!r} cannot be a name: names are text without a dot"):
            give(net, name)


def test_zero_grad_sets_gradients_to_none_or_zero():
    net = Block()
    net(mg.tensor([[1.0, 2.0]])).sum().backward()
    for parameter in net.parameters():
        parameter.grad = parameter.grad * np.inf  # an overflow is forgotten too
    net.zero_grad(set_to_none=False)
    assert [parameter.grad.numpy().any() for parameter in net.parameters()] == [False] * 3


@pytest.mark.parametrize(("name", "dtype"), [("half", "float16"), ("float", "float32"), ("double", "float64")])
def test_to_converts_floats_and_leaves_integers(name, dtype):
    layer = getattr(nn.Sequential(nn.BatchNorm1d(2)).float().half(), name)()
    assert not any("." in attribute for attribute in vars(layer))
    layer = layer[0]
    kinds = {name: str(value.dtype) for name, value in layer.state_dict().items()}
    assert kinds == dict.fromkeys(["weight", "bias", "running_mean", "running_var"], dtype) | {
        "num_batches_tracked": "int64"
    }
    assert layer.cpu() is layer


def test_modules_can_be_copied_and_pickled():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    x = mg.tensor([[1.0, -1.0]])
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):  # noqa: S301 - our own bytes
        assert other(x).tolist() == net(x).tolist()
        other[0].weight.assign(0.0)
        assert [name for name, _ in other.named_parameters()] == ["0.weight", "0.bias"]
    assert np.abs(net[0].weight.numpy()).max() > 0


def test_a_network_prints_as_a_tree_with_shapes_and_counts():
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.Sequential(nn.Flatten(), nn.Linear(8, 1, bias=False))
    )
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Conv2d(in_channels=1, out_channels=2, kernel_size=(3, 3), padding=1): "
        "weight (2, 1, 3, 3), bias (2,); 20 parameters\n"
        "  (1): Sequential(\n"
        "    (0): Flatten()\n"
        "    (1): Linear(in_features=8, out_features=1, bias=None): weight (1, 8); 8 parameters\n"
        "  ): 8 parameters\n"
        "): 28 parameters"
    )


def test_a_module_prints_arguments_that_are_not_defaults():
    class Ladder(nn.Module):
        def __init__(self, steps, *, slope=1.0, name="ladder", wide=None):
            self.steps, self.slope, self.note = steps, slope, "not given"

    assert repr(Ladder(3)) == "Ladder(steps=3)"
    assert repr(Ladder(3, slope=2.0, name="other")) == "Ladder(steps=3, slope=2.0)"
    assert repr(nn.Upsample(scale_factor=2, mode="bilinear")) == "Upsample(scale_factor=2, mode='bilinear')"
    assert repr(nn.AvgPool1d(2, ceil_mode=True)) == "AvgPool1d(kernel_size=2, stride=2, ceil_mode=True)"
    assert repr(nn.Dropout(0.25)) == "Dropout(p=0.25)"
    assert repr(nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    assert repr(nn.CrossEntropyLoss(mg.tensor([1.0, 2.0]), reduction="sum")).startswith(
        "CrossEntropyLoss(reduction='sum'): weight (2,)"
    )
    assert repr(nn.Module()) == "Module()"


def test_containers_index_slice_and_name_their_modules():
    net = nn.Sequential({"first": nn.Linear(2, 3), "bend": nn.ReLU()})
    assert [name for name, _ in net.named_parameters()] == ["first.weight", "first.bias"]
    assert net[-1] is net.bend
    assert len(net[:1]) == 1
    assert net[:1][0] is net.first
    net[1] = nn.Tanh()
    assert isinstance(net.bend, nn.Tanh)
    assert net[-2] is net.first
    with pytest.raises(IndexError, match="Sequential holds 2, there is no number 2"):
        net[2]
    with pytest.raises(TypeError, match="Sequential expects modules, got function"):
        nn.Sequential(F.relu)


def test_module_lists_renumber_after_insert_and_pop():
    first, second, third = nn.Linear(1, 2), nn.Tanh(), nn.Linear(2, 1)
    net = nn.Sequential(first, third).insert(1, second)
    assert list(net) == [first, second, third]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert net.pop(1) is second
    assert net.append(second).pop() is second
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    del net[:1]
    assert list(net) == [third]
    with pytest.raises(IndexError, match="Sequential holds 1, there is no number 1"):
        del net[1]


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList])
def test_a_container_can_start_empty(kind):
    assert len(kind()) == 0


def test_module_dicts_support_update_pop_and_clear():
    heads = nn.ModuleDict([("a", nn.Tanh())])
    heads.update({"b": nn.ReLU(), "a": nn.Sigmoid()})
    assert [type(head).__name__ for head in heads.values()] == ["Sigmoid", "ReLU"]
    assert isinstance(heads.pop("a"), nn.Sigmoid)
    assert list(heads) == ["b"]
    heads.clear()
    assert len(heads) == 0


def test_parameters_in_module_lists_and_dicts_are_found():
    class Heads(nn.Module):
        def __init__(self):
            self.layers = nn.ModuleList([nn.Linear(1, 1)]).append(nn.Linear(1, 1))
            self.heads = nn.ModuleDict({"a": nn.Linear(1, 2, bias=False)})

    net = Heads()
    net.layers += [nn.Tanh()]
    assert [type(layer).__name__ for layer in net.layers] == ["Linear", "Linear", "Tanh"]
    names = [name for name, _ in net.named_parameters()]
    assert names == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "heads.a.weight"]
    assert "a" in net.heads
    assert net.heads.items() == [("a", net.heads["a"])]
    del net.heads["a"]
    assert len(net.heads) == 0
    with pytest.raises(KeyError, match="'keys' cannot be a name"):
        net.heads["keys"] = nn.ReLU()


def test_a_parameter_list_holds_only_parameters():
    class Steps(nn.Module):
        def __init__(self):
            self.scales = nn.ParameterList(nn.Parameter(float(i)) for i in range(3))

    net = Steps()
    assert [name for name, _ in net.named_parameters()] == ["scales.0", "scales.1", "scales.2"]
    assert len(net.scales.append(nn.Parameter(3.0)).extend([nn.Parameter(4.0)])) == 5
    net.scales = nn.ParameterList(list(net.scales)[:3])
    net.scales[1] = nn.Parameter(7.0)
    assert [each.item() for each in net.scales] == [0.0, 7.0, 2.0]
    assert list(net.state_dict()) == ["scales.0", "scales.1", "scales.2"]
    for value, what in ((np.ones(2), "ndarray"), (net.scales[0] * 2, "a result")):
        with pytest.raises(TypeError, match=f"ParameterList expects parameters, got {what}: pass nn.Parameter"):
            net.scales.append(value)
    assert len(net.scales) == 3
    for use in (lambda: net.scales[3], lambda: net.scales.__setitem__(-4, nn.Parameter(1.0))):
        with pytest.raises(IndexError, match=r"ParameterList holds 3, there is no number (3|-4)"):
            use()


def test_micrograds_own_networks_are_found_in_nn():
    assert len(nn.MLP(2, [3, 1]).parameters()) == 13
    with pytest.raises(AttributeError, match="has no 'Lineer'; did you mean Linear"):
        nn.Lineer  # noqa: B018 - the look itself is the test

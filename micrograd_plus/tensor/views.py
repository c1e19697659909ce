"""Writes into views: `row = x[0]; row[1] = v` writes into x.

An index or a change of shape (`x[0]`, `x.T`, a row in a loop) returns a view: a tensor with entries of another. Its
`origin` is a weak reference to that tensor, the origin of that tensor, the operation, its parameters, and the number of
the output if there are several. A write changes the view, and then copies its entries to their places in that tensor.
If that tensor is a view as well, the write goes on to the tensor behind it.

A view shares no memory that anyone can write to: it keeps the numbers that it had when the program read it. If the
tensor changes after that, a write through the view would bring old numbers back, and raises an error.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from .. import ops
from ..backends import devices
from ..core.modes import Block, grad_enabled
from ..core.runtime.ownership import is_real_on_cpu, lend_to_user, set_node, user_may_write
from ..core.variable import Leaf
from .result_array import ResultArray

np = devices.device("cpu").library
_getitem, _unstack, _setitem, _stop_gradient = ops.getitem.op, ops.unstack.op, ops.setitem.op, ops.stop_gradient.op
_ravel, _ascontiguousarray = ops.ravel.op, ops.ascontiguousarray.op

for _call in (
    ops.getitem, ops.reshape, ops.ravel, ops.squeeze, ops.expand_dims, ops.transpose, ops.mT, ops.mH, ops.swapaxes,
    ops.moveaxis, ops.broadcast_to, ops.unstack, ops.split, ops.diagonal, ops.ascontiguousarray, ops.real, ops.imag,
):  # fmt: skip
    _call.op.is_view = True


def is_basic(index: Any) -> bool:
    """Return True for an index that gives a view; arrays of indices and masks give a copy."""
    if type(index) is tuple:
        return all(map(is_basic, index))
    if isinstance(index, np.ndarray):
        return index.ndim == 0 and index.dtype.kind in "iu"
    return isinstance(index, (int, slice, np.integer, type(None), type(...))) and type(index) is not bool


def detached_view(tensor: Any) -> Any:
    """Return the values of a tensor without the graph; writes into them reach the tensor."""
    values = tensor.detach()
    values.origin = (ref(tensor), tensor.origin, _stop_gradient, ())
    return values


# Writing --------------------------------------------------


def write_into_view(
    view: Any, change: Callable[..., Any], given: tuple[Any, ...], index: tuple[Any, ...] | None = None,
    symbol: str = "=",
) -> None:  # fmt: skip
    """Call a function that changes a view, and write the entries back; if one of the two fails, nothing changes."""
    origin = view.origin
    whole = tensor_behind(origin)
    if whole is None:  # no one else can see these entries
        view.origin = None
        change(*given)
        return
    # The usual view has no graph and still has a part of the tensor's own array, so nothing else is to be asked.
    is_plain = view.node is whole.node is origin[1] is None and view._data.base is whole._data
    is_current = is_plain or has_graph_of(view, whole)
    has_graph = whole.node is not None and view.node is not None
    if not is_plain and (refusal := why_not(view, whole, is_current and has_graph)):
        name = path(origin)
        raise RuntimeError(refusal.format(name=name, line=f"{path(origin, index)} {symbol} ..."))
    node, is_lent = view.node, user_may_write(view)
    try:
        if not is_current:
            view._become(take(whole, origin))
        change(*given)  # before the tensor is written: as long as the view has entries of its array, that is copied
        place = place_of(origin, whole)
        if origin[2] is not _stop_gradient:
            whole._put(place, view)
        else:
            with Block(grad_enabled, False):
                whole._put(place, view)
    except BaseException:
        view._data, view.is_lent = entries_of(whole._data, origin), is_lent
        set_node(view, node)
        view.is_fast = is_real_on_cpu(view._data) and not is_lent
        raise


def tensor_behind(origin: Any) -> Any:
    """Return the tensor behind a view, or None if it is gone. For `x[0][1]` this reads x[0] again."""
    whole = origin[0]()
    if whole is None and origin[1] is not None:
        outer = tensor_behind(origin[1])
        whole = None if outer is None else take(outer, origin[1])
    return whole


def take(whole: Any, origin: Any) -> Any:
    """Return the view of a tensor with this origin."""
    _, _, op, given, *output = origin
    result = op.call_with([whole], dict(zip(op.params, given, strict=True)))
    return result[output[0]] if output else result


def entries_of(data: Any, origin: Any) -> Any:
    """Return the entries of an array that a view has."""
    if origin[2] is _getitem:
        return data[origin[3][0]]
    _, _, op, given, *output = origin
    result = op.forward(devices.device_of(data).namespace, data, **dict(zip(op.params, given, strict=True)))
    return result[output[0]] if output else result


def place_of(origin: Any, whole: Any) -> Any:
    """Return the index of a view in its tensor. Any operation that moves entries says it when it moves their numbers:
    of `x.T[0]` for x of shape (2, 3), these are 0 and 3."""
    if origin[2] is _getitem:
        return origin[3][0]
    if origin[2] is _stop_gradient:
        return ...
    if origin[2] is _unstack:
        return (*(slice(None),) * (origin[3][0] % whole.ndim), origin[4])
    xp = devices.device_of(whole._data).library
    factor = 1 + 1j if whole.dtype.kind == "c" else 1
    numbers = xp.arange(1, whole.size + 1).reshape(whole.shape) * factor
    moved = entries_of(numbers, origin)
    is_moved_only = moved.dtype == numbers.dtype and ((moved == moved.real * factor) & (moved != 0)).all().item()
    if not is_moved_only or len(xp.unique(moved.real)) != moved.size:
        raise RuntimeError(
            f"{path(origin)} does not have the entries of x one to one, so it cannot be written into: write into x "
            f"itself, x[...] = ..."
        )
    return xp.unravel_index(moved.real.astype(int) - 1, whole.shape) if whole.shape else ()


def has_graph_of(view: Any, whole: Any) -> bool:
    """Return True if a view has the graph of its entries in the tensor: nothing has changed since the program read it,
    or the last change was a write of this view. A leaf has no graph, and without gradients there is none."""
    if view.origin[2] is _stop_gradient:
        return True
    if whole.node is None or view.node is None or type(view.node) is Leaf:
        return whole.node is view.node or type(view.node) is Leaf or not _makes_graphs()
    source = view.node.parents[0]
    if len(view.origin) == 5 and source is not None and source.parents:  # one of several outputs
        source = source.parents[0]
    return source is whole.node or _is_last_write(whole.node, view.node, place_of(view.origin, whole))


def _makes_graphs() -> bool:
    return not grad_enabled.open or grad_enabled()


def _is_last_write(node: Any, values: Any, place: Any) -> bool:
    """Return True if a node wrote these values to this place."""
    if node.op is not _setitem or node.parents[1] is not values or node.saved is None:
        return False
    return is_same_index(node.saved[_setitem.saves.index("index")], place)


def is_same_index(a: Any, b: Any) -> bool:
    """Return True for two equal indices of a view."""
    return a is b or (is_basic(a) and is_basic(b) and a == b)


def is_written_already(whole: Any, index: Any, values: Any) -> bool:
    """Return True if `values` is the view at this index, just as it is: `x[0] += v` has written through the view
    before Python writes the view to its place. A view with old numbers is refused."""
    origin = values.origin
    if origin[0]() is not whole:
        return False
    is_same = origin[2] is _getitem and (origin[3][0] is index or is_same_index(origin[3][0], index))
    if is_same and whole.node is not None and _is_last_write(whole.node, values.node, index):
        return True
    if not has_values_of(values, whole):
        raise RuntimeError(
            "x has changed since the program read {0}, and the old numbers would come back: write {0}.clone() before "
            "x changes".format(path(origin))
        )
    return is_same and (whole.node is values.node is None or not _makes_graphs())


def has_values_of(view: Any, whole: Any) -> bool:
    """Return True if a view has the numbers that its entries in the tensor have now."""
    mine, theirs = view._data, whole._data
    if mine.base is theirs and not isinstance(mine, np.generic):  # it still has a part of this array
        return True
    theirs = entries_of(theirs, view.origin)
    if isinstance(mine, np.generic) and type(mine) is type(theirs):
        return bool(mine == theirs) or (mine != mine and theirs != theirs)  # noqa: PLR0124 - nan is not itself
    return mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()


# Refusing -------------------------------------------------


def why_not(view: Any, whole: Any, is_current: bool) -> str | None:
    """Return why a view cannot be written into, with {name} for the view and {line} for the write; None if it can."""
    if (whole.node is not None or view.origin[1] is not None) and _is_part_of_leaf(view.origin) and _makes_graphs():
        return (
            "{line}: x is a leaf that requires a gradient, and {name} is a part of it; write `with mg.no_grad(): "
            "{line}` to change its values, or {name}.clone() for an independent tensor"
        )
    if not shares_memory(whole, view.origin):
        return (
            "{name} is a copy here, not a view of x, so this write would not reach x; write into x itself, x[...] = "
            "..., or write {name}.clone() for an independent tensor"
        )
    if not is_current and not has_values_of(view, whole):
        return (
            "x has changed since the program read {name}, and the old numbers would come back: write {line} with x "
            "itself, or write {name}.clone() there for an independent tensor"
        )
    return None


def _is_part_of_leaf(origin: Any) -> bool:
    while origin is not None and origin[2] is not _stop_gradient:
        whole = origin[0]()
        if whole is not None and type(whole.node) is Leaf:
            return True
        origin = origin[1]
    return False


def check_replacement(view: Any) -> None:
    """Cut a view off from its tensor; raise RuntimeError unless it is a leaf, because `x[0].data = v` would be lost."""
    whole = tensor_behind(view.origin)
    if whole is not None and not isinstance(view.node, Leaf):
        raise RuntimeError(
            "{0}.data = ... would give new values to a part of x, and not to x: write {0}[...] = ... to change both, "
            "or {0}.clone() for an independent tensor".format(path(view.origin))
        )
    view.origin = None


def shares_memory(whole: Any, origin: Any) -> bool:
    """Return True if an operation gives a view of a tensor's array rather than a copy, as reshape may. A view that has
    been written has an array in another order, so the order in the tensor behind it counts."""
    data = whole._data
    if origin[2] is _getitem or origin[2] is _unstack or data.size < 2 or not isinstance(data, np.ndarray):
        return True
    data = memory_of(whole)
    if origin[2] in (_ravel, _ascontiguousarray) and not data.flags.c_contiguous:
        return False  # these two copy it, also where reshape would not
    return np.may_share_memory(entries_of(data, origin), data)


def memory_of(tensor: Any) -> Any:
    """Return an array with the entries of a tensor, in the order of the tensor behind it."""
    outer = None if tensor.origin is None else tensor_behind(tensor.origin)
    return tensor._data if outer is None else entries_of(memory_of(outer), tensor.origin)


def path(origin: Any, index: tuple[Any, ...] | None = None) -> str:
    """Return how a program may write a view: `x[0]`, `x.T`; with an index into it, `x[0, 1]`."""
    steps = []
    while origin is not None:
        steps.insert(0, origin)
        origin = origin[1]
    text, joined = "x", ()
    for _, _, op, given, *output in steps:
        if op is _getitem or (op is _unstack and given[0] == 0):
            place = output[0] if output else given[0]
            joined += place if type(place) is tuple else (place,)
            if all(isinstance(part, (int, np.integer)) for part in joined):
                continue  # x[0][1] is x[0, 1]
            text, joined = text + _brackets(joined), ()
        else:
            text = f"mg.{op.name}({', '.join([text + _brackets(joined), *map(str, given)])})"
            text, joined = text + _brackets(tuple(output)), ()
    text = text.replace("mg.transpose(x, None)", "x.T").replace("mg.stop_gradient(x)", "x.detach()")
    return text + _brackets(joined + (index or ()))


def _brackets(index: tuple[Any, ...]) -> str:
    """Return the text of an index; arrays are not written out."""
    texts = []
    for part in index:
        if isinstance(part, slice):
            ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
            texts.append(":".join([*ends, str(part.step)] if part.step is not None else ends))
        else:
            texts.append("..." if part is Ellipsis else str(part) if part is None or np.ndim(part) == 0 else "index")
    return f"[{', '.join(texts)}]" if index else ""


# The array of a view --------------------------------------


def lend_view(view: Any) -> Any:
    """Return the array of a view for its user to read and write: memory of the tensor behind it, or a read-only array
    if the user must not write there."""
    whole = tensor_behind(view.origin)
    if whole is None or user_may_write(view):
        return lend_to_user(view)
    is_whole_writable = whole.node is None or isinstance(whole.node, Leaf)
    if not (is_whole_writable and shares_memory(whole, view.origin) and has_values_of(view, whole)):
        return ResultArray.of(np.asarray(view._data))
    view._data = None  # while it holds the array of the tensor, that would be copied
    memory = whole.data
    view._data = entries_of(memory, view.origin)
    if isinstance(view._data, np.generic):
        place = place_of(view.origin, whole)
        view._data = memory[(*(place if type(place) is tuple else (place,)), ...)]
    if isinstance(memory, ResultArray):
        return ResultArray.of(view._data)
    if isinstance(memory, np.ndarray) and memory.flags.writeable:
        view._data.flags.writeable = True  # NumPy's diagonal is not, by itself
    view.is_fast, view.is_lent = False, True
    return view._data

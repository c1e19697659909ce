"""What a tensor says about itself: shape, dtype, its values as Python's numbers and NumPy's arrays, and its text."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar

from .. import ops
from ..backends import devices
from ..core.backward import topological_order
from ..core.modes import grad_enabled
from ..core.runtime.blocks import transforming
from ..core.runtime.ownership import snapshot
from ..core.variable import Leaf, Node, Variable
from ..pytrees import leaves, map_leaves
from .values import Count

np = devices.device("cpu").library
_ndarray = np.ndarray
_ABOUT_FORM = {np.shape, np.ndim, np.size, np.result_type, np.zeros_like, np.ones_like, np.empty_like, np.full_like}
"""NumPy's functions that ask for shape and dtype alone: no graph is lost in them."""


class ReadingMethods(Variable):
    """What a tensor says about itself, and its conversions."""

    __slots__ = ()

    of: ClassVar[Callable[..., Any]]
    """Make a tensor that holds an array; the class `Tensor` defines it."""

    # Form -------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._data.shape

    @property
    def dtype(self) -> Any:
        """The kind of number, as NumPy names it."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return Count(self._data)

    @property
    def device(self) -> str:
        """Where the array lives: "cpu" or "cuda"."""
        return devices.device_of(self._data).name

    @property
    def is_leaf(self) -> bool:
        """Whether this is a leaf: a tensor that no operation made, or that wants no gradient.

        Returns: True or False.
        Raises: nothing.
        """
        return self.node is None or isinstance(self.node, Leaf)

    # Values -----------------------------------------------

    def numpy(self) -> Any:
        """A copy of the values as a NumPy array, from any device.

        Returns: a copy: writes into it do not change the tensor, and it does not see later writes into the tensor.
        Raises: nothing.
        """
        data = self._data
        return np.array(data.get() if hasattr(data, "get") else data)

    def item(self) -> Any:
        """The only entry, as a Python number.

        Returns: a float, int, bool or complex.
        Raises: ValueError for a tensor of more entries than one, or of none.
        """
        return self._python_number("item()")

    def _python_number(self, conversion: str) -> Any:
        """Return the one entry as a Python number; errors name the conversion."""
        if self._data.size != 1:
            raise ValueError(f"{conversion} needs a tensor of one entry, this one has shape {self.shape}")
        if self.node is not None and transforming.open:
            self._refuse_constant()
        return self._data.item()

    def _refuse_constant(self) -> None:
        """Raise TypeError inside a transform if this value depends on its argument: as a Python number it would lose
        its gradient silently."""
        inputs = {node for each in transforming.all() for node in each}
        if grad_enabled() and depends_on(self.node, inputs):  # pyright: ignore[reportArgumentType] - it has a node
            raise TypeError(
                "inside a transform such as mg.grad this value depends on the differentiated arguments, but a Python "
                "number (x.item(), float(x), math.sin(x), array[i] = x) would be a constant: compute with mg functions,"
                " join results with mg.stack, or write mg.stop_gradient(x) for a constant"
            )

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers.

        Returns: a list; for a tensor of shape (), a number.
        Raises: nothing.
        """
        return self._data.tolist()

    def __float__(self) -> float:
        return float(self._python_number("float(x)"))

    def __int__(self) -> int:
        return int(self._python_number("int(x)"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"an index must be an integer, this tensor is {self.dtype}")
        return int(self._python_number("an index"))

    def __complex__(self) -> complex:
        return complex(self._python_number("complex(x)"))

    def __bool__(self) -> bool:
        if self._data.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is not one answer; use mg.any(x), mg.all(x), or mg.where"
            )
        return bool(self._data.item())

    # Text -------------------------------------------------

    def __repr__(self) -> str:
        body = np.array2string(self.numpy(), separator=", ", prefix="tensor(")
        said = [body] + ([] if self.dtype in (np.float64, np.int64, np.bool_) else [f"dtype={self.dtype}"])
        said += [f"device={self.device!r}"] if self.device != "cpu" else []
        if self.node is not None:
            made_by = getattr(self.node.op, "name", "an output")
            said.append("requires_grad=True" if self.is_leaf else f"made_by={made_by!r}")
        return f"tensor({', '.join(said)})"

    def __format__(self, spec: str) -> str:
        if spec and self.size != 1:
            raise ValueError(f"a format such as {spec!r} is for one number, this tensor has shape {self.shape}")
        return format(self._data.item(), spec) if spec else repr(self)

    # NumPy's protocols ------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.node is not None:
            raise TypeError(
                "NumPy would lose the graph of this tensor; use the mg function, or x.numpy() for the values"
            )
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """`array * tensor` and np.exp(tensor) are the operations of the same name; `array -= tensor` writes into the
        array where no graph is lost by it."""
        operation = getattr(ops, ufunc.__name__, None) if method == "__call__" else None
        if operation is not None and not options:
            return operation(*(self.of(each.copy()) if _is_numbers(each) else each for each in inputs))
        if operation is not None and len(options) == 1 and type(options.get("out", (None,))[0]) is _ndarray:
            tracked = [each for each in inputs if isinstance(each, Variable) and each.node is not None]
            if not tracked or (grad_enabled.open and not grad_enabled()):
                return ufunc(*[snapshot(each) if isinstance(each, Variable) else each for each in inputs], **options)
        raise TypeError(
            f"np.{ufunc.__name__} would lose the graph of a tensor: use an mg function, without NumPy's options "
            f"and not in place (array += tensor), or x.numpy() for the values"
        )

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """np.sum(tensor): NumPy's own, of the values alone."""
        tracked = any(getattr(leaf, "node", None) is not None for leaf in leaves((args, options)))
        if tracked and function not in _ABOUT_FORM:
            name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
            raise TypeError(
                f"{name} would lose the graph of a tensor: use the mg function of that name, or x.numpy() for the "
                f"values"
            )
        args, options = map_leaves((args, options), _values)
        return function(*args, **options)


def depends_on(root: Node, others: Collection[Node]) -> bool:
    """Whether a value was computed from one of some others."""
    since = min((node.created for node in others), default=root.created + 1)
    return root in others or any(p in others for node in topological_order([root], since=since) for p in node.parents)


def _values(leaf: Any) -> Any:
    """Return the array of a tensor, and anything else unchanged."""
    return leaf.numpy() if isinstance(leaf, ReadingMethods) else leaf


def _is_numbers(value: Any) -> bool:
    """True for an array of NumPy's that an operation can take."""
    return type(value) is _ndarray and value.dtype.kind in "fiubc"

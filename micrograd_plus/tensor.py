"""Tensor: what users hold. Operators and methods, written out one a line over the operations."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

from . import backward, ops, variable
from .arguments import wants_function
from .hints import ELSEWHERE, FUNCTIONS_HERE, Elsewhere
from .readings import vocabulary
from .results import ResultArray
from .structures import leaves, mapped
from .values import cast, dtype_named, numbers, plain_index, refuse_other_device
from .variable import Handle, Leaf, Node, Variable, after_accumulation, hooks, lend, recording_gradients, replace

np = vocabulary.device("cpu").library
_new, _ndarray = object.__new__, np.ndarray
_growing = RLock()
_ABOUT_FORM = {np.shape, np.ndim, np.size, np.result_type, np.zeros_like, np.ones_like, np.empty_like, np.full_like}
"""NumPy's functions that ask for shape and dtype alone: no graph is lost in them."""


def tensor(data: Any, requires_grad: bool = False, dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor with a copy of `data`: numbers, nested lists, arrays or a tensor's values.

    `requires_grad` makes it a leaf: a walk adds what it receives to `.grad`. Only real and complex floats can have a
    gradient. `dtype` is NumPy's (None: as NumPy would choose); `device` is "cpu" or "cuda".

    >>> import micrograd_plus as mg
    >>> mg.tensor([[1, 2], [3, 4]], requires_grad=True, dtype="float32")
    tensor([[1., 2.],
            [3., 4.]], dtype=float32, requires_grad=True)
    """
    where = vocabulary.device(device)
    out = Tensor.of(where.library.array(numbers(data, dtype, "mg.tensor")))
    if requires_grad:
        out.requires_grad = True
    return out


class Tensor(Variable):
    """An array whose operations are remembered, so that gradients can walk back through them. Made by `mg.tensor`."""

    __slots__ = ()

    # Making -----------------------------------------------

    @staticmethod
    def of(data: Any, node: Node | None = None) -> Tensor:
        """A tensor that holds `data` itself, not a copy."""
        if type(data) is _ndarray or isinstance(data, np.generic):
            out = _new(Tensor if data.dtype.kind != "c" else TensorByName)
        elif isinstance(data, Tensor):
            return data
        else:
            out = _new(TensorByName)
        out._data, out.node = data, node
        return out

    @staticmethod
    def constant(value: Any, name: str) -> Tensor:
        """A tensor of anything array-like that an operation was given: a copy, so that no later write reaches the
        graph."""
        array = numbers(value, None, name)
        return Tensor.of(array.copy() if array is value else array)

    # Looking ----------------------------------------------

    @property
    def data(self) -> Any:
        """The array. Of a tensor you made it may be written into; of a result it is read-only.

        Writing never changes a gradient behind your back: what a rule has saved is left to it, and the tensor goes on
        with a copy.
        """
        if not hasattr(self._data, "base"):
            return self._data
        if isinstance(self._data, np.generic):
            self._data = np.asarray(self._data)
        if self.node is None or isinstance(self.node, Leaf):
            return lend(self)
        return ResultArray.of(self._data) if isinstance(self._data, np.ndarray) else self._data.copy()

    @data.setter
    def data(self, values: Any) -> None:
        self.assign(values)

    def numpy(self) -> Any:
        """A copy of the values as a NumPy array, from any device."""
        data = self._data
        return np.array(data.get() if hasattr(data, "get") else data)

    def item(self) -> Any:
        """The only entry, as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one entry, this one has shape {self.shape}")
        return self._data.item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return self._data.tolist()

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
        return int(self._data.size)

    @property
    def device(self) -> str:
        """Where the array lives: "cpu" or "cuda"."""
        return vocabulary.device_of(self._data).name

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is wanted. May be set on tensors that you made."""
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted == (self.node is not None):
            return
        if not self.is_leaf:
            raise RuntimeError(
                "requires_grad cannot be taken from a result; x.detach() gives its values without the graph"
            )
        if wanted and self.dtype.kind not in "fc":
            raise TypeError(
                f"a tensor of {self.dtype} cannot have a gradient: gradients are about small changes; use floats, "
                f"e.g. mg.tensor(..., dtype=float)"
            )
        self.node = Leaf(self.shape, self.dtype) if wanted else None

    @property
    def is_leaf(self) -> bool:
        """True for tensors that no operation made, or that want no gradient."""
        return self.node is None or isinstance(self.node, Leaf)

    @property
    def version(self) -> int:
        """How often the values of this leaf have been replaced or handed out for writing."""
        return self.node.version if isinstance(self.node, Leaf) else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient that walks have added up here: on leaves, and where `retain_grad` was called."""
        found = getattr(self.node, "grad", None)
        if found is None or isinstance(found, Tensor):
            return found
        kept = self._tracked("grad").grad = Tensor.of(found)
        return kept

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self.node is not None:
                self.node.grad = None
            return
        value = value if isinstance(value, Tensor) else Tensor.constant(value, "grad")
        if value.shape != self.shape:
            raise ValueError(f"grad must have the tensor's shape {self.shape}, got {value.shape}")
        if value.dtype != self.dtype:
            if value.dtype.kind == "c" and self.dtype.kind != "c":
                raise TypeError(f"grad is {value.dtype}, the tensor {self.dtype}; take its real part")
            value = value.astype(self.dtype)
        self._tracked("grad").grad = value

    @property
    def T(self) -> Tensor:
        """All axes in reverse order."""
        return ops.transpose(self)

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        return ops.mT(self)

    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, and all entries conjugated."""
        return ops.mH(self)

    # The walk ---------------------------------------------

    def backward(
        self, gradient: Any = None, *, retain_graph: bool = True, create_graph: bool = False, workers: int = 1
    ) -> None:
        """Walk back from here and add to every leaf's `.grad`.

        `gradient` is the upstream gradient, of this tensor's shape; a tensor of one entry needs none and starts with 1.
        `retain_graph=False` frees what the rules saved, so there can be no second walk. `create_graph=True` makes the
        gradients differentiable themselves. With several `workers`, rules that do not wait for one another run on so
        many threads, to the same bytes; small graphs, and walks that are watched, stay on one.
        """
        found = backward.gradients(
            self, self._upstream(gradient, create_graph), create_graph=create_graph, retain_graph=retain_graph,
            walk_by=None if workers == 1 else _walk_on(workers),
        )  # fmt: skip
        _accumulate(found)

    def gradients(
        self,
        gradient: Any = None,
        *,
        retain_graph: bool = True,
        create_graph: bool = False,
        through: Any = (),
        workers: int = 1,
    ) -> dict[Node, Any]:
        """The same walk, but the gradients come back as a mapping from nodes and no `.grad` is touched."""
        return backward.gradients(
            self, self._upstream(gradient, create_graph), create_graph=create_graph, retain_graph=retain_graph,
            through=through, walk_by=None if workers == 1 else _walk_on(workers),
        )  # fmt: skip

    def _upstream(self, gradient: Any, create_graph: bool) -> Any:
        """What arrives at this tensor, in memory of the walk's own."""
        if self.node is None:
            raise RuntimeError(
                "backward() of a tensor that depends on nothing with requires_grad=True: there is no graph to walk; "
                "make a leaf with mg.tensor(..., requires_grad=True), and compute outside no_grad"
            )
        data = self._data
        if gradient is None and isinstance(data, np.generic):
            return data.dtype.type(1)
        library = vocabulary.device_of(data).library
        if gradient is None:
            if data.size != 1:
                raise RuntimeError(
                    f"backward() from shape {self.shape} needs an upstream gradient of that shape; a loss is one "
                    f"number: reduce it with .sum() or .mean(), or call backward(gradient)"
                )
            return library.ones(data.shape, data.dtype)
        if create_graph and isinstance(gradient, Tensor):
            given: Any = gradient if gradient.dtype == data.dtype else gradient.astype(data.dtype)
        else:
            given = numbers(gradient, None, "backward: gradient")
            refuse_other_device(self, given)
            if given.dtype.kind == "c" and data.dtype.kind != "c":
                raise TypeError(f"the upstream gradient is {given.dtype}, the tensor {data.dtype}; take its real part")
            given = library.array(given, data.dtype)
        if given.shape != self.shape:
            raise ValueError(
                f"the upstream gradient has shape {given.shape}, the tensor {self.shape}; they must be equal"
            )
        return given

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Handle:
        """Call `hook(gradient)` when this tensor's gradient is complete; it may return another. What is returned takes
        the hook away again, by `remove()` or at the end of a `with` block.

        >>> import micrograd_plus as mg
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> with x.register_hook(lambda gradient: gradient * 10):
        ...     x.sum().backward()
        >>> x.grad.tolist()
        [10.0, 10.0]
        """
        wants_function("register_hook", hook)
        return hooks.add(self._tracked("register_hook"), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Handle:
        """Call `hook(tensor)` each time this leaf's `.grad` has grown. What is returned takes the hook away again."""
        wants_function("register_post_accumulate_grad_hook", hook)
        if not self.is_leaf:
            raise RuntimeError(
                "register_post_accumulate_grad_hook is for leaves, whose .grad grows; for a result use register_hook"
            )
        held = ref(self)  # a hook that held its own tensor would keep both for ever

        def call() -> None:
            tensor = held()
            if tensor is not None:
                hook(tensor)

        return after_accumulation.add(self._tracked("register_post_accumulate_grad_hook"), call)

    def retain_grad(self) -> Tensor:
        """Keep the gradient of this result in `.grad` as well, as leaves do."""
        node = self._tracked("retain_grad")
        if not isinstance(node, Leaf) and not hasattr(node, "grad"):
            node.grad = None
            held = ref(node)

            def keep(gradient: Tensor) -> None:
                kept: Any = held()
                kept.grad = gradient if kept.grad is None else kept.grad + gradient

            hooks.add(node, keep)
        return self

    def _tracked(self, name: str) -> Node:
        if self.node is None:
            raise RuntimeError(f"{name}: this tensor wants no gradient; make it with requires_grad=True")
        return self.node

    # Copies and values ------------------------------------

    def detach(self) -> Tensor:
        """The same values without the graph; writing into one does not show in the other."""
        return Tensor.of(self._data.copy())

    def clone(self) -> Tensor:
        """A copy that the graph knows: gradients pass through."""
        return ops.positive(self)

    def to(self, device: str) -> Tensor:
        """The tensor on another device, through which gradients come back; the same device gives the same tensor."""
        if vocabulary.device(device).name == self.device:
            return self
        return ops.to_device(self, device=device, source=self.device)

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        """Set `requires_grad`, and return the tensor."""
        self.requires_grad = wanted
        return self

    def assign(self, values: Any) -> Tensor:
        """Give this tensor new values of the same shape, cast to its dtype. Graphs that used the old ones keep them."""
        self._refuse_result("make a new tensor, or x.detach() first")
        data = numbers(values, None, "assign")
        if data is self._data:  # `x.data -= 1` has written already
            return self
        if data.shape != self.shape:
            try:
                data = vocabulary.device_of(data).library.broadcast_to(data, self.shape)
            except ValueError:
                raise ValueError(f"values of shape {data.shape} do not fit a tensor of shape {self.shape}") from None
        data = cast(data, self.dtype, "assign")
        replace(self, data)
        return self

    def _refuse_result(self, instead: str) -> None:
        if not self.is_leaf:
            raise RuntimeError(f"a result cannot be assigned to: it is what its inputs make it; {instead}")

    def _in_place(self, symbol: str, outcome: Callable[[], Any]) -> Tensor:
        """What `x -= y` means: a write in `no_grad`, a new tensor in a graph, and never a leaf lost by accident."""
        if not recording_gradients.get() or self.node is None:
            with variable.no_grad():
                return self.assign(outcome())
        if isinstance(self.node, Leaf):
            raise RuntimeError(
                f"x {symbol} ... would put a result in the place of a leaf that wants a gradient; to change its values "
                f"write `with mg.no_grad(): x {symbol} ...`, to compute with it write x = x {symbol[0]} ..."
            )
        return outcome()

    def __iadd__(self, other: Any) -> Tensor:
        return self._in_place("+=", lambda: ops.add(self, other))

    def __isub__(self, other: Any) -> Tensor:
        return self._in_place("-=", lambda: ops.subtract(self, other))

    def __imul__(self, other: Any) -> Tensor:
        return self._in_place("*=", lambda: ops.multiply(self, other))

    def __itruediv__(self, other: Any) -> Tensor:
        return self._in_place("/=", lambda: ops.divide(self, other))

    def __setitem__(self, index: Any, values: Any) -> None:
        self._refuse_result("compute a changed copy with mg.where(...), or write into x.detach()")
        if self.node is not None and recording_gradients.get():
            raise RuntimeError(
                "x[...] = ... on a tensor that wants a gradient: write `with mg.no_grad(): x[...] = ...` to change its "
                "values, or mg.where(...) to compute a changed copy"
            )
        data = self._data.copy()
        try:
            data[plain_index(index)] = cast(numbers(values, None, "values"), self.dtype, "values")
        except (IndexError, TypeError, ValueError) as error:
            said = f"x[{index!r}] = {values!r} does not fit a tensor of shape {self.shape}: {error}"
            raise type(error)(said) from error
        self.assign(data)

    # Python's own -----------------------------------------

    def __dir__(self) -> list[str]:
        """What a tensor has, without the names that only say what to write."""
        return sorted({*super().__dir__()} - {*ELSEWHERE, *FUNCTIONS_HERE})

    def __repr__(self) -> str:
        body = np.array2string(self.numpy(), separator=", ", prefix="tensor(")
        said = [body] + ([] if self.dtype in (np.float64, np.int64, np.bool_) else [f"dtype={self.dtype}"])
        said += [f"device={self.device!r}"] if self.device != "cpu" else []
        if self.node is not None:
            made_by = getattr(self.node.op, "name", "an output")
            said.append("requires_grad=True" if self.is_leaf else f"made_by={made_by!r}")
        return f"tensor({', '.join(said)})"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else repr(self)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is not one answer; use mg.any(x), mg.all(x), or mg.where"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"an index must be an integer, this tensor is {self.dtype}")
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of shape () is one number and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("a tensor of shape () is one number and cannot be iterated over")
        return iter(ops.unstack(self))

    def __getitem__(self, index: Any) -> Tensor:
        return ops.getitem(self, index=plain_index(index))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.node is not None:
            raise TypeError(
                "NumPy would lose the graph of this tensor; use the mg function, or x.numpy() for the values"
            )
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """`array * tensor` and np.exp(tensor) are the operations of the same name."""
        name = str(ufunc.__name__)
        name = {"bitwise_and": "logical_and", "bitwise_or": "logical_or"}.get(name, name)
        if method != "__call__" or options or not hasattr(ops, name):
            raise TypeError(
                f"np.{ufunc.__name__} would lose the graph of a tensor: use an mg function, without NumPy's options "
                f"and not in place (array += tensor), or x.numpy() for the values"
            )
        return getattr(ops, name)(*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """np.sum(tensor): NumPy's own, of the values alone."""
        tracked = any(getattr(leaf, "node", None) is not None for leaf in leaves((args, options)))
        if tracked and function not in _ABOUT_FORM:
            name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
            raise TypeError(
                f"{name} would lose the graph of a tensor: use the mg function of that name, or x.numpy() for the "
                f"values"
            )
        args, options = mapped((args, options), lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf)
        return function(*args, **options)

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "a result cannot be copied apart from its graph; x.detach() copies its values, x.clone() joins it"
            )
        out = Tensor.of(self._data.copy())
        out.requires_grad = self.requires_grad
        if self.grad is not None:
            out.grad = self.grad.detach()
        memo[id(self)] = out
        return out

    def __reduce__(self) -> Any:
        if not self.is_leaf:
            raise RuntimeError("a result cannot be stored apart from its graph; store x.detach()")
        return tensor, (self.numpy(), self.requires_grad, None, self.device)

    __hash__ = object.__hash__

    # Operators --------------------------------------------

    __neg__ = ops.negative
    __pos__ = ops.positive
    __abs__ = ops.absolute
    __add__ = __radd__ = ops.add
    __sub__ = ops.subtract
    __mul__ = __rmul__ = ops.multiply
    __truediv__ = ops.divide
    __pow__ = ops.power
    __matmul__ = ops.matmul
    __mod__ = ops.remainder
    __lt__ = ops.less
    __le__ = ops.less_equal
    __gt__ = ops.greater
    __ge__ = ops.greater_equal
    __and__ = __rand__ = ops.logical_and
    __or__ = __ror__ = ops.logical_or
    __invert__ = ops.logical_not

    def __eq__(self, other: Any) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride] - entry by entry
        return ops.equal(self, other)

    def __ne__(self, other: Any) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride] - entry by entry
        return ops.not_equal(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return ops.subtract(other, self)

    def __rtruediv__(self, other: Any) -> Tensor:
        return ops.divide(other, self)

    def __rpow__(self, other: Any) -> Tensor:
        return ops.power(other, self)

    def __rmatmul__(self, other: Any) -> Tensor:
        return ops.matmul(other, self)

    def __rmod__(self, other: Any) -> Tensor:
        return ops.remainder(other, self)

    # Methods: the operations whose first input is the tensor --------

    sum = ops.sum
    mean = ops.mean
    prod = ops.prod
    max = ops.max
    min = ops.min
    var = ops.var
    std = ops.std
    any = ops.any
    all = ops.all
    argmax = ops.argmax
    argmin = ops.argmin
    cumsum = ops.cumsum
    abs = ops.absolute
    exp = ops.exp
    log = ops.log
    sqrt = ops.sqrt
    sin = ops.sin
    cos = ops.cos
    tanh = ops.tanh
    relu = ops.relu
    sigmoid = ops.sigmoid
    clip = ops.clip
    square = ops.square
    conj = ops.conj
    round = ops.round
    dot = ops.dot
    matmul = ops.matmul
    flatten = ops.ravel
    ravel = ops.ravel
    squeeze = ops.squeeze
    swapaxes = ops.swapaxes
    take = ops.take
    unstack = ops.unstack
    repeat = ops.repeat

    @property
    def real(self) -> Tensor:
        """The real part."""
        return ops.real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return ops.imag(self)

    def astype(self, dtype: Any) -> Tensor:
        """The values in another dtype; the gradient is cast back. Through whole numbers and truths nothing goes
        back."""
        return ops.astype(self, dtype=dtype_named(dtype, "astype"))

    def reshape(self, *shape: Any) -> Tensor:
        """The same entries in another shape; one length may be -1."""
        return ops.reshape(self, shape=_one_tuple(shape))

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order; with none given, in reverse."""
        return ops.transpose(self, axes=_one_tuple(axes) or None)


class TensorByName(Tensor):
    """A tensor whose operations are applied by name: complex numbers, and arrays on other devices."""

    __slots__ = ()


class LentTensor(TensorByName):
    """A tensor whose array its user may have, who got it by `.data`: operations that use the tensor look first."""

    __slots__ = ()


Variable.public, Variable.lent = Tensor, LentTensor
for _name in (*ELSEWHERE, *FUNCTIONS_HERE):
    setattr(Tensor, _name, Elsewhere(_name))


def _walk_on(workers: int) -> Any:
    """A walk on several threads."""
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"backward: workers is a number of threads, at least 1; got {workers!r}")
    from .parallel import walk_on  # it brings Python's thread pools, which most programs never need

    return walk_on(workers)


def _one_tuple(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


def _accumulate(found: dict[Any, Any]) -> None:
    """Add what a walk brought to the leaves' `.grad`, in arrays for as long as nobody looks. Walks on several threads
    take turns here: what one of them adds must not be lost to another."""
    with _growing:
        for leaf, received in found.items():
            before = leaf.grad
            if isinstance(before, Tensor) and before.node is None:
                before = before._data
            leaf.grad = received if before is None else before + received
    if after_accumulation.ever:
        for hook in [hook for leaf in found for hook in after_accumulation.on(leaf)]:
            hook()


def forget_gradient(leaf: Tensor, set_to_none: bool) -> None:
    """A leaf without a gradient, or with zeros in the place of the one that it had."""
    leaf.grad = None if set_to_none or leaf.grad is None else Tensor.of(vocabulary.zeros_like(leaf._data))

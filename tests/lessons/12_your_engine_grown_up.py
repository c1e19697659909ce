"""Right contents of the cells that a student completes in lesson 12."""

CELLS = {
    "# Test one: this value and all behind it, the youngest first, in a loop": """\
# Test one
class Value(Value):
    def order(self):
        found, todo = {self}, [self]
        for node in todo:
            new = [parent for parent in dict.fromkeys(node.parents) if parent not in found]
            found |= set(new)
            todo += new
        return sorted(todo, key=lambda node: node.born, reverse=True)

tests["chain_of_1100"]()
tests["test_of_micrograd"]()
""",
    "engine.unbroadcast": """\
@exercises.answer("engine.unbroadcast")
def engine_unbroadcast(x, shape):
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    repeated = tuple(i for i, length in enumerate(shape) if length == 1 and x.shape[i] > 1)
    return x.sum(axis=repeated, keepdims=True)
""",
    "# Test two: tanh is done; two gaps, in relu and in backward": """\
# Test two
class Value(Value):
    def tanh(self):
        out = xp.tanh(self.data)
        return Value(out, (self,), (1 - out * out,))
    def relu(self):
        return Value(xp.maximum(self.data, 0.0), (self,), (self.data > 0,))
    def backward(self):
        for node in self.order():
            node.grad = 0.0 if node.parents else node.grad
        self.grad = xp.ones_like(self.data)
        for node in self.order():
            for parent, slope in zip(node.parents, node.slopes):
                sent = slope(node.grad) if callable(slope) else node.grad * slope
                parent.grad = parent.grad + engine_unbroadcast(sent, np.shape(parent.data))
""",
    "# Test three: what arrives goes to each entry; one gap": """\
# Test three
class Value(Value):
    def sum(self, axis=None, keepdims=False):
        def spread(arrived):
            if axis is not None and not keepdims:
                arrived = xp.expand_dims(arrived, axis)
            return xp.broadcast_to(arrived, self.data.shape)
        return Value(self.data.sum(axis=axis, keepdims=keepdims), (self,), (spread,))

@compare_on(np.arange(12.0).reshape(4, 3))
def sums(x):
    return x.sum(axis=0) * x.sum(axis=1, keepdims=True).sum()
""",
    "# Test four: the product, alone": """\
# Test four
class Value(Value):
    def __matmul__(self, other):
        a, b = +self.data, +other.data
        to_a = lambda arrived: arrived @ xp.swapaxes(b, -1, -2)
        to_b = lambda arrived: xp.swapaxes(a, -1, -2) @ arrived
        return Value(a @ b, (self, other), (to_a, to_b))

@compare_on(np.arange(24.0).reshape(2, 4, 3) / 24, np.arange(15.0).reshape(3, 5) / 15)
def products(x, w):
    return (x @ w).tanh()
""",
    "engine.saved.lines": """\
@exercises.answer("engine.saved.lines")
def engine_saved_lines(a, b):
    a, b = a.copy(), b.copy()
    def receive(upstream):
        return upstream * b, upstream * a
    return a * b, receive
""",
    "# Test five: a product whose slopes nobody can overwrite (`+x` is a copy of any number or array)": """\
# Test five
class Value(Value):
    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (+other.data, +self.data))

@compare_on(np.array([2.0, 5.0]), np.array([3.0, 4.0]))
def in_place(x, w):
    y = x * w
    w.data[...] = 0.0
    return y
""",
    "# Test six: `xp` always asks `np`; it must ask the library of its first argument": """\
# Test six
class Library:
    def __getattr__(self, name):
        def call(first, *rest, **options):
            return getattr(library_of(first), name)(first, *rest, **options)
        return call

def library_of(array):
    return device if isinstance(array, device.ndarray) else np

xp = Library()

@compare_on(np.arange(12.0).reshape(4, 3) / 12, np.ones((3, 2)), np.ones(2), place=device.asarray)
def another_machine(x, w, b):
    return (x @ w + b).tanh().sum(axis=0)
""",
    "# Test seven: two more slopes": """\
# Test seven
class Value(Value):
    def exp(self):
        out = xp.exp(self.data)
        return Value(out, (self,), (out,))

    def log(self):
        return Value(xp.log(self.data), (self,), (1 / self.data,))

@compare_on(digits.train_images[:50], targets[:50], *datasets.draw_reader(), place=device.asarray)
def reader_of_digits(images, targets, w1, b1, w2, b2):
    scores = (images @ w1 + b1).tanh() @ w2 + b2
    total = scores.exp().sum(axis=1, keepdims=True).log()
    return ((total - scores) * targets).sum() * (1 / 50)
""",
    "# What separates forty lines from a real engine?": """\
sentence = "Arrays, their shapes, saved values and devices; the walk is the same."
""",
}

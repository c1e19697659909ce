"""The right contents of the cells that a student completes in lesson 02, as a student would write them."""

CELLS = {
    "# The product, beside tanh": """\
# The product, beside tanh
class Value(Value):
    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        out = math.tanh(self.data)
        return Value(out, (self,), (1 - out * out,))

product = Value(4.0) * Value(5.0)
print(product.data, product.slopes)
""",
    "engine.order.lines": """\
@exercises.answer("engine.order.lines")
def engine_order_lines(parents, root):
    visited, todo = {root}, [root]
    for node in todo:
        new = [parent for parent in parents[node] if parent not in visited]
        todo += dict.fromkeys(new)
        visited |= set(new)
    return sorted(visited, reverse=True)
""",
    "engine.accumulate.gaps": """\
@exercises.answer("engine.accumulate.gaps")
def engine_accumulate_gaps(parents, slopes):
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += gradient[node] * slope
    return gradient
""",
    "# The walk back": """\
# The walk back
class Value(Value):
    def order(self):
        found, todo = {self}, [self]
        for node in todo:
            todo += set(node.parents) - found
            found |= set(node.parents)
        return sorted(found, key=lambda node: node.born, reverse=True)

    def backward(self):
        for node in self.order():
            node.grad = 0.0 if node.parents else node.grad
        self.grad = 1.0
        for node in self.order():
            for parent, slope in zip(node.parents, node.slopes):
                parent.grad += node.grad * slope


@exercises.answer("engine.value")
def make_value(data):
    return Value(data)
""",
    "# Two more slopes": """\
# Two more slopes
class Value(Value):
    def relu(self):
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other
""",
    "# In your own words: what must an engine remember, and what must it do?": """\
# In your own words: what must an engine remember, and what must it do?
sentence = "How each value was made, with slopes; back in the order of birth, and add."
""",
}

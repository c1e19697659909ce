"""A neuron on single numbers: two inputs, two weights, a bias, tanh; as in micrograd, each number a node."""

from micrograd_plus.engine import Value

x1, x2 = Value(2.0, label="x1"), Value(0.5, label="x2")
w1, w2 = Value(-0.75, label="w1"), Value(1.25, label="w2")
b = Value(0.6, label="b")

activation = x1 * w1 + x2 * w2 + b
out = activation.tanh()
loss = (out - 1) ** 2  # the neuron should say 1

loss.backward()

print(f"out {out.data:.4f}   loss {loss.data:.4f}")
for value in (w1, w2, b):
    lower = value.data - 0.1 * value.grad  # a step against the gradient makes the loss smaller
    print(f"{value.label}: {value.data:5.2f}   gradient {value.grad:.4f}   after one step {lower:.4f}")

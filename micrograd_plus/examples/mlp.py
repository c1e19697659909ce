"""A network of two layers: six points of three classes, softmax cross-entropy, and one step of training."""

import micrograd_plus as mg
from micrograd_plus.nn import functional as F

points = mg.tensor([[0.9, 0.2], [1.1, -0.3], [-0.7, 0.8], [-0.4, 1.2], [-0.6, -0.9], [-0.2, -1.3]])
classes = mg.tensor([0, 0, 1, 1, 2, 2])

w1 = mg.tensor([[0.4, -0.6, 0.3, 0.8], [-0.5, 0.2, 0.7, 0.1]], requires_grad=True)
b1 = mg.tensor([0.1, 0.0, -0.1, 0.05], requires_grad=True)
w2 = mg.tensor([[0.2, -0.4, 0.6], [0.5, 0.3, -0.2], [-0.3, 0.7, 0.1], [0.6, -0.1, -0.5]], requires_grad=True)
b2 = mg.tensor([0.0, 0.1, -0.1], requires_grad=True)
parameters = [w1, b1, w2, b2]


def loss_now() -> mg.Tensor:
    """How wrong the network is about the six points, in nats."""
    hidden = mg.tanh(points @ w1 + b1)
    scores = hidden @ w2 + b2
    return F.cross_entropy(scores, classes)


loss = loss_now()
loss.backward()

with mg.no_grad():
    for parameter in parameters:
        parameter -= 0.5 * parameter.grad
    print(f"loss {loss.item():.4f}, after one step {loss_now().item():.4f}")

import numpy as np
import torch

num_inputs, num_outputs = 16, 4
images = torch.tensor(np.random.default_rng(0).random((40, 1, 4, 4)))
labels = torch.tensor(np.random.default_rng(1).integers(0, 4, 40))
W = torch.normal(0, 0.01, size=(num_inputs, num_outputs), requires_grad=True)
b = torch.zeros(num_outputs, requires_grad=True)


def softmax(X):
    X_exp = torch.exp(X)
    partition = X_exp.sum(1, keepdim=True)
    return X_exp / partition


def net(X):
    return softmax(torch.matmul(X.reshape((-1, W.shape[0])), W) + b)


def cross_entropy(y_hat, y):
    return -torch.log(y_hat[range(len(y_hat)), y])


def accuracy(y_hat, y):
    if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    cmp = y_hat.type(y.dtype) == y
    return float(cmp.type(y.dtype).sum())


out = []
for epoch in range(5):
    for i in range(0, 40, 10):
        y_hat = net(images[i : i + 10])
        l = cross_entropy(y_hat, labels[i : i + 10])
        l.sum().backward()
        with torch.no_grad():
            for param in (W, b):
                param -= 0.1 * param.grad / 10
                param.grad.zero_()
        out += [float(l.sum()), accuracy(y_hat, labels[i : i + 10])]

"""Later mistakes of students that take more than one line, written before the table of mistakes was read."""

# ruff: noqa: D102, D103, D107, E741

import numpy as np


class KeepsInner:
    """The inner gradients of the first call are sent again."""

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents
        self.push = lambda: None

    def __add__(self, other):
        out = type(self)(self.data + other.data, (self, other))

        def push():
            self.grad += out.grad
            other.grad += out.grad

        out.push = push
        return out

    def __mul__(self, other):
        out = type(self)(self.data * other.data, (self, other))

        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.push = push
        return out

    def tanh(self):
        t = np.tanh(self.data)
        out = type(self)(t, (self,))

        def push():
            self.grad += (1 - t * t) * out.grad

        out.push = push
        return out

    def backward(self):
        topo, seen = [], set()

        def build(v):
            if v not in seen:
                seen.add(v)
                for child in v.parents:
                    build(child)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for node in reversed(topo):
            node.push()


class ForwardOrder(KeepsInner):
    def backward(self):
        topo, seen = [], set()

        def build(v):
            if v not in seen:
                seen.add(v)
                for child in v.parents:
                    build(child)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for node in topo:
            node.push()


def assign_windows(upstream, weight, x_shape, stride, padding, dilation, groups):
    """Overlapping windows are written, not added."""
    n, ch, h, w = x_shape
    p, q = padding
    dx = np.zeros((n, ch, h + 2 * p, w + 2 * q))
    kh, kw = weight.shape[2:]
    per, outs = weight.shape[1], weight.shape[0] // groups
    for g in range(groups):
        wg = weight[g * outs : (g + 1) * outs]
        for i in range(upstream.shape[2]):
            for j in range(upstream.shape[3]):
                up = upstream[:, g * outs : (g + 1) * outs, i, j]
                r, c = i * stride[0], j * stride[1]
                dx[
                    :,
                    g * per : (g + 1) * per,
                    r : r + (kh - 1) * dilation[0] + 1 : dilation[0],
                    c : c + (kw - 1) * dilation[1] + 1 : dilation[1],
                ] = np.einsum("no,oikl->nikl", up, wg)
    return dx[:, :, p : p + h, q : q + w]


def crop_end(upstream, weight, x_shape, stride, padding, dilation, groups):
    """The padding is forgotten: the border is kept at the wrong end."""
    n, ch, h, w = x_shape
    p, q = padding
    dx = np.zeros((n, ch, h + 2 * p, w + 2 * q))
    kh, kw = weight.shape[2:]
    per, outs = weight.shape[1], weight.shape[0] // groups
    for g in range(groups):
        wg = weight[g * outs : (g + 1) * outs]
        for i in range(upstream.shape[2]):
            for j in range(upstream.shape[3]):
                up = upstream[:, g * outs : (g + 1) * outs, i, j]
                r, c = i * stride[0], j * stride[1]
                dx[
                    :,
                    g * per : (g + 1) * per,
                    r : r + (kh - 1) * dilation[0] + 1 : dilation[0],
                    c : c + (kw - 1) * dilation[1] + 1 : dilation[1],
                ] += np.einsum("no,oikl->nikl", up, wg)
    return dx[:, :, :h, :w]


def assign_means(upstream, x_shape, kernel_size, stride, padding, count_include_pad):
    n, ch, h, w = x_shape
    p, q = padding
    dx = np.zeros((n, ch, h + 2 * p, w + 2 * q))
    inside = np.zeros((h + 2 * p, w + 2 * q))
    inside[p : p + h, q : q + w] = 1
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            r, c = i * stride[0], j * stride[1]
            part = inside[r : r + kernel_size[0], c : c + kernel_size[1]]
            count = kernel_size[0] * kernel_size[1] if count_include_pad else part.sum()
            dx[:, :, r : r + kernel_size[0], c : c + kernel_size[1]] = upstream[:, :, i, j][..., None, None] / count
    return dx[:, :, p : p + h, q : q + w]


def sum_windows(upstream, x_shape, kernel_size, stride, padding):
    n, ch, h, w = x_shape
    p, q = padding
    dx = np.zeros((n, ch, h + 2 * p, w + 2 * q))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            r, c = i * stride[0], j * stride[1]
            dx[:, :, r : r + kernel_size[0], c : c + kernel_size[1]] += upstream[:, :, i, j][..., None, None]
    return dx[:, :, p : p + h, q : q + w]


def replace_paths(a, b, s, p, y):
    return {"p": s, "s": p, "a": s * b, "b": s * a}


def forget_upstream(a, b, s, p, y):
    return {"p": s, "s": p, "a": 1 + b, "b": 1 + a}


def count_one_use(x, w, h, t, o):
    go = 2 * o
    gt = go @ w
    gh = gt * (1 - t * t)
    return {"o": go, "t": gt, "h": gh, "x": gh @ w.T, "w": x.T @ gh}


def skip_twos(x, w, h, t, o):
    go = o
    gt = go @ w
    gh = gt * (1 - t * t)
    return {"o": go, "t": gt, "h": gh, "x": gh @ w.T, "w": x.T @ gh + go.T @ t}


def skip_path(x, t, e, s, p, lp):
    glp = -t
    gp = glp / p
    gs = -(gp * e / s**2).sum(axis=1, keepdims=True)
    ge = gp / s
    return {"lp": glp, "p": gp, "s": gs, "e": ge, "x": ge * e, "t": -lp}


def replace_gradient(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node]):
            g[parent] = g[node] * slope
    return g


def mix_momentum(parameter, gradient, state, rate, momentum):
    v = momentum * state.get("v", 0.0) + (1 - momentum) * gradient
    return parameter - rate * v, {"v": v}


def skip_correction(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    return parameter - rate * m / (np.sqrt(v) + eps), {"m": m, "v": v}


def count_from_two(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    return parameter - rate * (m / (1 - beta1 ** (step + 1))) / (np.sqrt(v / (1 - beta2 ** (step + 1))) + eps), {
        "m": m,
        "v": v,
    }


def train_without_zeros(weight, backward, rate, steps):
    g = np.zeros_like(weight)
    for _ in range(steps):
        g = backward(weight, g)
        weight = weight - rate * g
    return weight


def skip_square(w, x, b):
    return (1 - np.tanh(w * x + b)) * x


def skip_input(w, x, b):
    return 1 - np.tanh(w * x + b) ** 2


MISTAKES = [
    ("engine.value", KeepsInner, "inner|kept|again|second", "inner gradients are kept"),
    ("engine.value", ForwardOrder, "order|leaves|direction|first|inputs before", "walked forwards"),
    ("conv2d.x", assign_windows, "overlap|add|replac|written|last", "overlapping windows counted once"),
    ("conv2d.x", crop_end, "padding|border|cut", "padding not cut off at the front"),
    ("avg_pool2d.x", assign_means, "overlap|add|replac|written|last", "overlapping windows counted once"),
    ("avg_pool2d.x", sum_windows, "divid|mean|number|count|factor|size", "not divided"),
    ("diamond.gradients", replace_paths, "replac|path|last|forgot|add|overwr", "the last path only"),
    ("diamond.gradients", forget_upstream, "upstream|local|slope", "upstream forgotten"),
    ("tied.gradients", count_one_use, "use|path|add|once|both", "one use of w forgotten"),
    ("tied.gradients", skip_twos, "2|square|factor|power", "the two of the square"),
    ("stages.gradients", skip_path, "path|use|add|sum|s_grad", "a path to e forgotten"),
    ("engine.accumulate", replace_gradient, "replac|overwr|last|add", "replaced, not added"),
    ("engine.momentum", mix_momentum, "1 - |mean|factor|momentum", "a running mean"),
    ("engine.adam", skip_correction, "correct|bias|start", "no correction"),
    ("engine.adam", count_from_two, "step|count|1", "step counted from 2"),
    ("engine.training", train_without_zeros, "zero|clear|kept|add|reset", "not zeroed"),
    ("neuron.predict", skip_square, "square|tanh|slope|power", "the square forgotten"),
    ("neuron.predict", skip_input, "x|factor|input|local slope", "x forgotten"),
]

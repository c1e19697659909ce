"""Right answers of several lines: staged forms as in CS231n, Jacobians, loops, and writes into own copies."""

import math

import numpy as np

FORMS = []


def form(exercise):
    """Note a right answer."""

    def keep(answer):
        FORMS.append((exercise, answer))
        return answer

    return keep


@form("softmax.x")
def _(upstream, out, axis):
    """Jacobian of each row."""
    moved, arrived = np.moveaxis(out, axis, -1), np.moveaxis(upstream, axis, -1)
    received = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        s = moved[place].reshape(-1, 1)
        received[place] = (np.diagflat(s) - s @ s.T) @ arrived[place]
    return np.moveaxis(received, -1, axis)


@form("softmax.x")
def _(upstream, out, axis):
    """Jacobians by einsum."""
    s, up = np.moveaxis(out, axis, -1), np.moveaxis(upstream, axis, -1)
    jacobian = np.einsum("...i,ij->...ij", s, np.eye(s.shape[-1])) - np.einsum("...i,...j->...ij", s, s)
    return np.moveaxis(np.einsum("...ij,...j->...i", jacobian, up), -1, axis)


@form("softmax.x")
def _(upstream, out, axis):
    """In place, on a copy."""
    dx = upstream.copy()
    dx -= (upstream * out).sum(axis, keepdims=True)
    dx *= out
    return dx


@form("tanh.x")
def _(out):
    """In place, on a new array."""
    slope = np.ones_like(out)
    slope -= out * out
    return slope


@form("tanh.x")
def _(out):
    """Entry by entry."""
    slope = np.empty_like(out)
    for place in np.ndindex(out.shape):
        slope[place] = 1 - out[place] ** 2
    return slope


@form("relu.x.whole")
def _(upstream, x):
    """CS231n: a copy, with zeros written over."""
    dx = upstream.copy()
    dx[x <= 0] = 0
    return dx


@form("max.x")
def _(upstream, x, axis, keepdims, x_shape):
    """The first of the largest receives everything."""
    dx = np.zeros(x_shape)
    if axis is None:
        dx.reshape(-1)[np.argmax(x)] = np.ravel(upstream)[0]
        return dx
    axes = [each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))]
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*rest, *axes]
    rows = x.transpose(order).reshape(*[x.shape[i] for i in rest], -1)
    sent = np.zeros(rows.shape)
    np.put_along_axis(sent, rows.argmax(-1)[..., None], np.reshape(upstream, (*rows.shape[:-1], 1)), -1)
    return sent.reshape([x.shape[i] for i in order]).transpose(np.argsort(order))


@form("getitem.x")
def _(upstream, index, x_shape):
    z = np.zeros(x_shape)
    np.add.at(z, index, upstream)
    return z


@form("getitem.x")
def _(upstream, index, x_shape):
    """Count positions."""
    places = np.arange(int(np.prod(x_shape))).reshape(x_shape)[index]
    flat = np.bincount(np.ravel(places), np.ravel(upstream), minlength=int(np.prod(x_shape)))
    return flat.reshape(x_shape)


@form("take.x")
def _(upstream, indices, axis, x_shape):
    z = np.zeros(x_shape)
    if axis is None:
        np.add.at(z.reshape(-1), indices, upstream)
    else:
        np.add.at(z, (slice(None),) * (axis % len(x_shape)) + (indices,), upstream)
    return z


@form("concatenate.parts")
def _(upstream, parts, axis):
    sent, start = [], 0
    for part in parts:
        stop = start + part.shape[axis]
        place = [slice(None)] * upstream.ndim
        place[axis] = slice(start, stop)
        sent.append(upstream[tuple(place)])
        start = stop
    return sent


@form("concatenate.parts")
def _(upstream, parts, axis):
    return tuple(np.split(upstream, np.cumsum([part.shape[axis] for part in parts])[:-1], axis))


@form("sort.x")
def _(upstream, order, axis, x_shape):
    z = np.zeros(x_shape)
    if axis is None:
        z.reshape(-1)[np.ravel(order)] = np.ravel(upstream)
    else:
        np.put_along_axis(z, order, upstream, axis)
    return z


@form("prod.x")
def _(upstream, x, axis, keepdims, x_shape, xp):
    """The product of the others, by a loop."""
    axes = xp.normalize_axes(x_shape, axis) if hasattr(xp, "normalize_axes") else None
    if axes is None:
        axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = [each % x.ndim for each in axes]
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*rest, *axes]
    rows = x.transpose(order).reshape(*[x.shape[i] for i in rest], -1)
    others = np.stack([np.prod(np.delete(rows, k, -1), -1) for k in range(rows.shape[-1])], -1)
    sent = others * np.reshape(upstream, (*rows.shape[:-1], 1))
    return sent.reshape([x.shape[i] for i in order]).transpose(np.argsort(order))


@form("cumsum.x")
def _(upstream, axis, exclusive, reverse, x_shape):
    """A triangular matrix."""
    up = np.ravel(upstream) if axis is None else np.moveaxis(upstream, axis, -1)
    n = up.shape[-1]
    lower = np.tril(np.ones((n, n)), -1 if exclusive else 0)
    sent = up @ (lower.T if reverse else lower)
    return sent.reshape(x_shape) if axis is None else np.moveaxis(sent, -1, axis)


@form("matmul.a")
def _(upstream, b):
    return upstream @ np.swapaxes(b, -1, -2)


@form("matmul.a")
def _(upstream, b):
    return np.einsum("...ik,...jk->...ij", upstream, b)


@form("matmul.b")
def _(upstream, a):
    return np.swapaxes(a, -1, -2) @ upstream


@form("matmul.b")
def _(upstream, a):
    return np.einsum("...ij,...ik->...jk", a, upstream)


@form("solve.a+b")
def _(upstream, a, out):
    """By the inverse."""
    inverse = np.linalg.inv(a)
    gb = np.swapaxes(inverse, -1, -2) @ upstream
    return -(gb @ np.swapaxes(out, -1, -2)), gb


@form("layer_norm.x")
def _(upstream, x, weight, axes, eps):
    """Staged, from the input."""
    over = tuple(range(-axes, 0))
    n = int(np.prod(x.shape[-axes:]))
    centred = x - x.mean(over, keepdims=True)
    std = np.sqrt((centred**2).mean(over, keepdims=True) + eps)
    dunit = upstream if weight is None else upstream * weight
    dvar = (dunit * centred).sum(over, keepdims=True) * -0.5 / std**3
    dmean = -(dunit / std).sum(over, keepdims=True)
    return dunit / std + 2 * dvar * centred / n + dmean / n


@form("batch_norm.x")
def _(upstream, x, weight, eps):
    """CS231n's staged form."""
    over = (0, *range(2, x.ndim))
    shape = (1, -1) + (1,) * (x.ndim - 2)
    n = x.size / x.shape[1]
    centred = x - x.mean(over, keepdims=True)
    var = (centred**2).mean(over, keepdims=True)
    inverse = 1 / np.sqrt(var + eps)
    dunit = upstream if weight is None else upstream * np.reshape(weight, shape)
    dvar = np.sum(dunit * centred, axis=over, keepdims=True) * -0.5 * inverse**3
    dmean = np.sum(-dunit * inverse, axis=over, keepdims=True)
    return dunit * inverse + dvar * 2 * centred / n + dmean / n


@form("rms_norm.x")
def _(upstream, x, weight, axes, eps):
    over = tuple(range(-axes, 0))
    r = np.sqrt((x * x).mean(over, keepdims=True) + eps)
    g = upstream if weight is None else upstream * weight
    return g / r - x * (g * x).mean(over, keepdims=True) / r**3


@form("tied.gradients")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@form("stages.gradients")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": p * t.sum(1, keepdims=True) - t, "t": -lp}


@form("engine.accumulate")
def _(parents, slopes):
    received = np.zeros(len(parents))
    received[-1] = 1
    for i in range(len(parents))[::-1]:
        for p, s in zip(parents[i], slopes[i], strict=True):
            received[p] += s * received[i]
    return received


@form("engine.order")
def _(parents, root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(parent, False) for parent in parents[node]]
    return order[::-1]


@form("engine.unbroadcast")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(0)
    for i, n in enumerate(shape):
        if n == 1:
            x = x.sum(i, keepdims=True)
    return x


@form("engine.segments")
def _(by_state, by_weight):
    return [by_weight[i] * math.prod(by_state[i + 1 :]) for i in range(len(by_weight))]


@form("engine.training")
def _(weight, backward, rate, steps):
    gradient = np.zeros_like(weight)
    for _ in range(steps):
        gradient[...] = 0
        weight = weight - rate * backward(weight, gradient)
    return weight


@form("engine.momentum")
def _(parameter, gradient, state, rate, momentum):
    v = gradient if not state else momentum * state["v"] + gradient
    return parameter - rate * v, {"v": v}


@form("engine.adam")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient * gradient
    return parameter - rate * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + eps), {"m": m, "v": v}


@form("engine.saved")
def _(a, b):
    kept = np.array(a), np.array(b)
    return a * b, lambda upstream: [upstream * kept[1], upstream * kept[0]]


@form("engine.neuron")
def _(weights, inputs, bias):
    return (sum((w * x for w, x in zip(weights, inputs, strict=True)), bias)).tanh()


@form("engine.differences")
def _(f, x, upstream, h):
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        g[i] = (upstream * (f(up) - f(down)) / (2 * h)).sum()
    return g


# Loops over the entries of the output, as in CS231n's naive forms


@form("pad.x")
def _(upstream, x_shape, pad_width, mode):
    """Every entry of the result adds to the entry that it copies."""
    numbers = np.pad(np.arange(math.prod(x_shape)).reshape(x_shape) + 1, pad_width, mode)
    received = np.zeros(math.prod(x_shape) + 1)
    for number, arrived in zip(numbers.ravel(), upstream.ravel(), strict=True):
        received[number] += arrived
    return received[1:].reshape(x_shape)


def windows(shape, size, stride, padding, dilation=(1, 1)):
    """Yield the place of each window in the output, and the rows and columns of the padded image that it covers."""
    counts = [(shape[2 + i] + 2 * padding[i] - dilation[i] * (size[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    for i in range(counts[0]):
        for j in range(counts[1]):
            rows = i * stride[0] + dilation[0] * np.arange(size[0])
            columns = j * stride[1] + dilation[1] * np.arange(size[1])
            yield i, j, np.ix_(rows, columns), i * counts[1] + j


def enlarge(x, padding, value=0.0):
    """Return padded images."""
    return np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=value)


def crop(x, shape, padding):
    """Return the images without their padding."""
    return x[:, :, padding[0] : padding[0] + shape[2], padding[1] : padding[1] + shape[3]]


@form("unfold.x")
def _(upstream, x_shape, kernel_size, stride, padding, dilation):
    """Column by column."""
    received = enlarge(np.zeros(x_shape), padding)
    for n in range(x_shape[0]):
        for c in range(x_shape[1]):
            for _, _, seen, column in windows(x_shape, kernel_size, stride, padding, dilation):
                part = upstream[n, :, column].reshape(x_shape[1], *kernel_size)[c]
                received[n, c][seen] += part
    return crop(received, x_shape, padding)


@form("conv2d.x")
def _(upstream, x, weight, stride, padding, dilation, groups):
    """Each window sends to what it saw, filter by filter."""
    received, of_group = enlarge(np.zeros(x.shape), padding), len(weight) // groups
    for n in range(len(x)):
        for o in range(len(weight)):
            for c in range(weight.shape[1]):
                channel = o // of_group * weight.shape[1] + c
                for i, j, seen, _ in windows(x.shape, weight.shape[2:], stride, padding, dilation):
                    received[n, channel][seen] += upstream[n, o, i, j] * weight[o, c]
    return crop(received, x.shape, padding)


@form("conv2d.weight")
def _(upstream, x, weight, stride, padding, dilation, groups):
    """Each filter collects what it met."""
    received, wide, of_group = np.zeros(weight.shape), enlarge(x, padding), len(weight) // groups
    for n in range(len(x)):
        for o in range(len(weight)):
            for c in range(weight.shape[1]):
                channel = o // of_group * weight.shape[1] + c
                for i, j, seen, _ in windows(x.shape, weight.shape[2:], stride, padding, dilation):
                    received[o, c] += upstream[n, o, i, j] * wide[n, channel][seen]
    return received


@form("max_pool2d.x")
def _(upstream, x, kernel_size, stride, padding, dilation):
    """The first largest entry of each window takes all."""
    received, wide = enlarge(np.zeros(x.shape), padding), enlarge(x, padding, -np.inf)
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for i, j, seen, _ in windows(x.shape, kernel_size, stride, padding, dilation):
                first = np.unravel_index(np.argmax(wide[n, c][seen]), kernel_size)
                received[n, c, seen[0][first[0], 0], seen[1][0, first[1]]] += upstream[n, c, i, j]
    return crop(received, x.shape, padding)


@form("avg_pool2d.x")
def _(upstream, x_shape, kernel_size, stride, padding, count_include_pad):
    """Equal shares for each entry of a window."""
    received, inside = enlarge(np.zeros(x_shape), padding), enlarge(np.ones(x_shape), padding)
    for n in range(x_shape[0]):
        for c in range(x_shape[1]):
            for i, j, seen, _ in windows(x_shape, kernel_size, stride, padding):
                count = math.prod(kernel_size) if count_include_pad else inside[n, c][seen].sum()
                received[n, c][seen] += upstream[n, c, i, j] / count
    return crop(received, x_shape, padding)


@form("broadcast_to.x.whole")
def _(upstream, x_shape):
    """Every copy adds to its entry."""
    received = np.zeros(x_shape)
    for place in np.ndindex(upstream.shape):
        own = place[len(place) - len(x_shape) :]
        received[tuple(0 if n == 1 else i for i, n in zip(own, x_shape, strict=True))] += upstream[place]
    return received


@form("add.b.whole")
def _(upstream, b_shape):
    """Sum the axes in front, then those of length 1."""
    while upstream.ndim > len(b_shape):
        upstream = upstream.sum(axis=0)
    for axis, length in enumerate(b_shape):
        if length == 1:
            upstream = upstream.sum(axis=axis, keepdims=True)
    return upstream


@form("multiply.b.whole")
def _(upstream, a, b_shape):
    """The product, then the same sums."""
    product = upstream * a
    product = product.sum(axis=tuple(range(product.ndim - len(b_shape))))
    return product.sum(axis=tuple(i for i, n in enumerate(b_shape) if n == 1), keepdims=True)


@form("leaky_relu.x.whole")
def _(upstream, x, slope):
    """A copy of upstream, scaled on the negative side."""
    received = upstream.copy()
    received[x < 0] *= slope
    return received


@form("gelu_erf.x")
def _(x):
    """The distribution and the density."""
    share = np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x.ravel()]).reshape(x.shape)
    return share + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


@form("scaled_dot_product_attention.query+key+value+bias")
def _(upstream, query, key, value, bias, scale, weights):
    """Products by einsum, the softmax by its Jacobian's two terms."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    to_weights = np.einsum("...lv,...sv->...ls", upstream, value)
    to_scores = weights * to_weights - weights * (weights * to_weights).sum(-1, keepdims=True)
    to_query = scale * np.einsum("...ls,...se->...le", to_scores, key)
    to_key = scale * np.einsum("...ls,...le->...se", to_scores, query)
    return to_query, to_key, np.einsum("...ls,...lv->...sv", weights, upstream), None if bias is None else to_scores


@form("rnn.drive+weight+start")
def _(upstream, drive, weight, start, out, nonlinearity):
    """Backpropagation through time."""
    to_drive, to_weight, later = np.zeros(drive.shape), np.zeros(weight.shape), np.zeros(out.shape[1:])
    states = [np.zeros(out.shape[1:]) if start is None else np.broadcast_to(start, out.shape[1:]), *out]
    for t in range(len(drive) - 1, -1, -1):
        arrived = upstream[t] + later
        to_drive[t] = arrived * (1 - out[t] ** 2) if nonlinearity == "tanh" else np.where(out[t] > 0, arrived, 0)
        to_weight += to_drive[t].reshape(-1, len(weight)).T @ states[t].reshape(-1, len(weight))
        later = to_drive[t] @ weight
    return to_drive, to_weight, None if start is None else later


@form("engine.clip")
def _(gradients, most):
    """One norm for both."""
    norm = math.sqrt(sum(float((each**2).sum()) for each in gradients))
    return [each * (most / norm) for each in gradients] if norm > most else gradients


@form("engine.compare")
def _(gradient, left, right):
    """Entry by entry."""
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * np.max(np.abs([left, right]))
    return all(min(a, b) - slack <= each <= max(a, b) + slack
               for each, a, b in zip(gradient.ravel(), left.ravel(), right.ravel(), strict=True))  # fmt: skip


@form("engine.value")
class _:  # noqa: N801 - every form is nameless
    """As in micrograd: a closure for each operation, and a sorted walk."""

    def __init__(self, data, children=()):
        self.data, self.grad, self.children = data, 0.0, children
        self.pass_on = lambda: None

    def __add__(self, other):
        out = type(self)(self.data + other.data, (self, other))

        def pass_on():
            self.grad += out.grad
            other.grad += out.grad

        out.pass_on = pass_on
        return out

    def __mul__(self, other):
        out = type(self)(self.data * other.data, (self, other))

        def pass_on():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.pass_on = pass_on
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = type(self)(t, (self,))

        def pass_on():
            self.grad += (1 - t**2) * out.grad

        out.pass_on = pass_on
        return out

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for child in node.children:
                    visit(child)
                order.append(node)

        visit(self)
        for node in order:
            node.grad = 0.0 if node.children else node.grad
        self.grad = 1.0
        for node in reversed(order):
            node.pass_on()

"""A third list in the form of list_a.py, written after the first two were tried, before any of its mistakes was.

At its first try, 63 of 73 got a right name, 3 a wrong one, and 7 none.
"""

# ruff: noqa: A002, D101, D102, D103, D107, ANN001, ANN201, E741, F811, N801, N803, N806, PLW2901, RET504, RUF034

import math

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


@mistake("multiply.a", "sign|b\\b|abs|magnitude", "the absolute value of b")
def _(a, b):
    return np.abs(b)


@mistake("divide.b", "out|b\\b|twice|power|square|divid|factor|sign", "out over b squared, minus kept")
def _(xp, a, b, out):
    return -out / b**2


@mistake("power.base", "base|exponent|exchang|swap", "base and exponent swapped")
def _(xp, base, exponent):
    return base * exponent ** (base - 1) if np.all(base > 1) else base * np.abs(exponent) ** (base - 1)


@mistake("exp.x", "x\\b|chain|factor", "chain rule with x as an inner derivative")
def _(xp, x, out):
    inner = x
    return out * inner


@mistake("log.x", "sign|minus|negat|-", "a minus")
def _(xp, x):
    return -1 / x


@mistake("sqrt.x", "2|half|factor|multipl|divid|out|root", "half the root")
def _(xp, x, out):
    return out / 2


@mistake("tanh.x", "2|twice|power|rule|derivative|second|out", "2 * tanh")
def _(xp, x, out):
    return 2 * out


@mistake("tanh.x", "cosh|square|power|sech", "one over cosh, unsquared")
def _(xp, x):
    return 1 / np.cosh(x)


@mistake("sigmoid.x", "exp|sign|minus|negat|square|divid|power|factor", "quotient rule without the square")
def _(xp, x):
    e = np.exp(-x)
    return e / (1 + e)


@mistake("absolute.x", "x\\b|sign|value|out", "x itself")
def _(x, out):
    return x


@mistake("maximum.a+b", "a\\b|one|both|same|mask|exchang", "the mask of a for both")
def _(xp, a, b, out):
    m = (a == out) * 1.0
    return m, m


@mistake("clip.x", "0|bound|min|max|positive|relu|where|condition", "1 where x is positive")
def _(x, min, max):
    return (x > 0) * 1.0


@mistake("leaky_relu.x.whole", "square|slope|upstream|twice|factor", "upstream on the positive side only; on the other the slope alone")
def _(xp, upstream, x, slope):
    return np.where(x > 0, upstream, slope)


@mistake("relu.x.whole", "sign|-1|negative|abs|minus", "minus one on the negative side")
def _(xp, upstream, x):
    return upstream * np.sign(x)


@mistake("diamond.gradients", "a\\b|b\\b|s\\b|p\\b|own|value|swap|exchang|upstream", "the product rule of y swapped")
def _(a, b, s, p, y):
    dp, ds = p, s
    return {"p": dp, "s": ds, "a": ds + dp * b, "b": ds + dp * a}


@mistake("neuron.predict", "tanh|slope|factor|left out|chain|local|upstream is forgotten", "tanh's slope forgotten")
def _(w, x, b):
    return x


@mistake("twice.predict", "product|x\\b|w\\b|square|factor|2", "the square of x")
def _(x, w):
    return 2 * x * x * w


@mistake("add.b.whole", "axis|all|sum|keepdims|repeat|length 1", "axes of length 1 not summed")
def _(xp, upstream, b_shape):
    g = upstream
    while g.ndim > len(b_shape):
        g = g.sum(0)
    for i, n in enumerate(b_shape):
        if n == 1:
            g = g.take([0], axis=i)
    return g


@mistake("multiply.b.whole", "upstream", "upstream forgotten")
def _(xp, upstream, a, b_shape):
    g = np.broadcast_to(a, upstream.shape)
    while g.ndim > len(b_shape):
        g = g.sum(0)
    for i, n in enumerate(b_shape):
        if n == 1:
            g = g.sum(i, keepdims=True)
    return g


@mistake("mean.x", "square|twice|count|number|divid", "divided twice")
def _(xp, upstream, axis, keepdims, x_shape):
    n = xp.count_along(x_shape, axis)
    return xp.unreduce(upstream / n, x_shape, axis, keepdims) / n


@mistake("max.x", "tie|argmax|first|axis|all|whole|largest", "only the largest of all entries receives the sum")
def _(xp, upstream, x, axis, keepdims, x_shape):
    g = np.zeros(x_shape)
    g.flat[np.argmax(x)] = np.sum(upstream)
    return g


@mistake("var.x", "sign|minus|wrong way|-1|negat", "mean minus x")
def _(xp, upstream, x, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis) - ddof
    return xp.unreduce(upstream, x_shape, axis, keepdims) * 2 * (x.mean(axis=axis, keepdims=True) - x) / n


@mistake("var.x", "root|out|standard|std|divid|sqrt", "the rule of the standard deviation")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis) - ddof
    sd = np.sqrt(xp.unreduce(out, x_shape, axis, keepdims))
    return xp.unreduce(upstream, x_shape, axis, keepdims) * (x - x.mean(axis=axis, keepdims=True)) / (n * sd)


@mistake("cumsum.x", "exclusive", "exclusive ignored")
def _(xp, upstream, axis, exclusive, reverse, x_shape):
    u = upstream if axis is not None else upstream.ravel()
    ax = 0 if axis is None else axis
    g = np.cumsum(u, ax) if reverse else np.flip(np.cumsum(np.flip(u, ax), ax), ax)
    return g.reshape(x_shape)


@mistake("pad.x", "zero|pad|border|value|before|start|side|cut|offset|one", "cut one too far")
def _(xp, upstream, x_shape, pad_width, mode):
    w = np.broadcast_to(np.asarray(pad_width), (len(x_shape), 2))
    index = tuple(slice(b[1], b[1] + n) for b, n in zip(w, x_shape))
    g = upstream[index]
    return g if g.shape == tuple(x_shape) else np.resize(g, x_shape)


@mistake("where.a", "sign|minus|negative|-1|not chosen", "minus upstream where false")
def _(xp, upstream, condition):
    return upstream * (2.0 * condition - 1)


@mistake("matmul.a", "sign|minus|-1|negat", "a minus")
def _(xp, upstream, b):
    return -upstream @ np.swapaxes(b, -1, -2) if b.ndim > 1 else -upstream[..., None] * b


@mistake("matmul.b", "upstream", "upstream forgotten: the sum of a's rows")
def _(xp, upstream, a):
    return np.swapaxes(a, -1, -2) @ np.ones_like(upstream)


@mistake("linear_layer.weight", "transpos|order|swap|outer", "x.T @ upstream for one example, else first example only")
def _(xp, upstream, x, weight):
    X, G = x.reshape(-1, x.shape[-1]), upstream.reshape(-1, upstream.shape[-1])
    return np.outer(G[0], X[0])


@mistake("take.x", "divid|mean|average|number|count|repeat", "averaged by the number of indices")
def _(xp, upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    if axis is None:
        np.add.at(g.reshape(-1), indices, upstream)
    else:
        np.add.at(g, (slice(None),) * (axis % len(x_shape)) + (indices,), upstream)
    return g / indices.size


@mistake("embedding.weight", "index|off|one|row|shift|place", "the row after")
def _(xp, upstream, indices, weight, padding_idx):
    g = np.zeros_like(weight)
    np.add.at(g, (np.asarray(indices) + 1) % len(weight), upstream)
    return g


@mistake("avg_pool2d.x", "stride|window|overlap|place", "windows placed without the stride")
def _(xp, upstream, kernel_size, stride, padding, count_include_pad, x_shape):
    N, C, H, W = x_shape
    kh, kw = kernel_size
    g = np.zeros((N, C, H + 2 * padding[0] + kh, W + 2 * padding[1] + kw))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            g[:, :, i : i + kh, j : j + kw] += upstream[:, :, i : i + 1, j : j + 1] / (kh * kw)
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("conv2d.x", "group|channel", "weights averaged over the output channels")
def _(xp, upstream, x, weight, stride, padding, dilation, groups):
    N, C, H, W = x.shape
    O, cg, kh, kw = weight.shape
    og = O // groups
    g = np.zeros((N, C, H + 2 * padding[0], W + 2 * padding[1]))
    oh, ow = upstream.shape[2:]
    for q in range(groups):
        for i in range(kh):
            for j in range(kw):
                r, c = i * dilation[0], j * dilation[1]
                part = np.einsum("nohw,oc->nchw", upstream[:, q * og : (q + 1) * og], weight[q * og : (q + 1) * og, :, i, j]) / og
                g[:, q * cg : (q + 1) * cg, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]] += part
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("matvec.weight", "upstream", "upstream forgotten: x in each row")
def _(upstream, x):
    return np.tile(x, (len(upstream), 1))


@mistake("tied.gradients", "2|factor|twice|half", "the 2 of the square forgotten")
def _(x, w, h, t, o, y):
    do = o
    dt = do @ w
    dh = dt * (1 - t**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("mse.prediction", "prediction|target|left out|minus", "target forgotten")
def _(xp, upstream, prediction, target):
    n = prediction.size
    return 2 / n * prediction * upstream


@mistake("binary_cross_entropy_with_logits.logits", "divid|mean|size|count|number", "averaged over all")
def _(xp, upstream, logits, target):
    p = 1 / (1 + np.exp(-logits))
    return upstream * (p - target) / logits.size


@mistake("log_softmax.x", "upstream|sum|softmax|out|exp|1 -|one", "one minus softmax, then upstream's sum too")
def _(xp, upstream, x, out, axis):
    s = upstream.sum(axis=axis, keepdims=True)
    return (1 - np.exp(out)) * s


@mistake("logsumexp.x", "out|log|exp|softmax|x\\b", "x - out, the log of the weights")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    o = xp.unreduce(out, x_shape, axis, keepdims)
    return xp.unreduce(upstream, x_shape, axis, keepdims) * (x - o)


@mistake("softmax_cross_entropy.logits", "mean|divid|count|number|rows|classes|length|average", "divided by the rows")
def _(xp, upstream, logits, target, log_weights):
    p = np.exp(log_weights)
    return upstream[..., None] * (p * target.sum(-1, keepdims=True) - target) / logits.shape[0]


@mistake("mean_class_cross_entropy.logits", "sign|minus|order|swap|wrong way|-1", "one-hot minus p")
def _(xp, upstream, logits, classes, weights):
    n, k = logits.shape
    return upstream * (np.eye(k)[classes] - weights) / n


@mistake("stages.gradients", "sign|minus|quotient|-1", "the minus in the quotient's rule")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (dp * e / s**2).sum(axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "square|power|s\\b|twice|divid", "s for its square")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s).sum(axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("penalty.w", "square|power|w\\b|forward", "w squared")
def _(upstream, w, strength):
    return upstream * strength * w**2


@mistake("weighted_variance.x", "2|factor|half|twice", "2 forgotten")
def _(upstream, x, w):
    d = w * (x - x.mean())
    return upstream * (d - d.mean())


@mistake("softmax.x", "sign|minus|order|wrong way|-1|swap", "sum minus upstream")
def _(xp, upstream, x, out, axis):
    s = (upstream * out).sum(axis=axis, keepdims=True)
    return out * (s - upstream)


@mistake("softmax.x", "out|square|twice|factor", "out twice")
def _(xp, upstream, x, out, axis):
    s = (upstream * out).sum(axis=axis, keepdims=True)
    return out**2 * (upstream - s)


@mistake("gelu_erf.x", "x\\b|factor|density|left out|product", "x forgotten before the density")
def _(xp, x):
    cdf = 0.5 * np.vectorize(math.erfc)(-x / math.sqrt(2))
    pdf = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    return cdf + pdf


@mistake("dropout.x", "mask|divid|1 /|invers|reciproc|scale", "divided by the mask")
def _(xp, x, mask):
    return np.where(mask > 0, 1 / np.maximum(mask, 1e-300), 0)


@mistake("layer_norm.x", "mean|first|left out|path|term|subtract", "the mean of the gradient forgotten")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    return scale * (g - unit * (g * unit).mean(axis=ax, keepdims=True))


@mistake("layer_norm.x", "scale|divid|multipl|upside|factor|x\\b", "divided by scale")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    return (g - g.mean(axis=ax, keepdims=True) - unit * (g * unit).mean(axis=ax, keepdims=True)) / scale


@mistake("rms_norm.x", "constant|second|term|left out|path|unit", "the root mean square taken for a constant")
def _(xp, upstream, x, weight, unit, scale, axes):
    g = upstream if weight is None else upstream * weight
    return g * scale


@mistake("batch_norm.x", "weight", "weight forgotten")
def _(xp, upstream, x, weight, unit, scale):
    ax = tuple(i for i in range(x.ndim) if i != 1)
    g = upstream
    return scale * (g - g.mean(axis=ax, keepdims=True) - unit * (g * unit).mean(axis=ax, keepdims=True))


@mistake("scaled_dot_product_attention.query+key+value+bias", "key|query|transpos|swap|exchang|scale", "key's gradient from key")
def _(xp, upstream, query, key, value, bias, weights, scale):
    c = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    dw = upstream @ xp.mT(value)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True))
    return ds @ key * c * c, xp.mT(ds) @ query * c, xp.mT(weights) @ upstream, None if bias is None else ds


@mistake("scaled_dot_product_attention.query+key+value+bias", "sum|axis|softmax|-2", "softmax's sum along the queries")
def _(xp, upstream, query, key, value, bias, weights, scale):
    c = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    dw = upstream @ xp.mT(value)
    ds = weights * (dw - (dw * weights).sum(axis=-2, keepdims=True))
    return ds @ key * c, xp.mT(ds) @ query * c, xp.mT(weights) @ upstream, None if bias is None else ds


@mistake("rnn.drive+weight+start", "transpos|weight", "weight transposed on the way back")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    slope = 1 - out**2 if nonlinearity == "tanh" else (out > 0) * 1.0
    T, H = len(out), weight.shape[0]
    first = np.zeros_like(out[0]) if start is None else np.broadcast_to(start, out[0].shape)
    carry = np.zeros_like(out[0])
    dd, dW = np.zeros_like(out), np.zeros_like(weight)
    for t in reversed(range(T)):
        dd[t] = (upstream[t] + carry) * slope[t]
        before = out[t - 1] if t > 0 else first
        dW += dd[t].reshape(-1, H).T @ before.reshape(-1, H)
        carry = dd[t] @ weight.T
    if start is not None and carry.shape != start.shape:
        carry = carry.sum(axis=0)
    return dd, dW, None if start is None else carry


@mistake("layer_norm.weight.whole", "upstream", "upstream forgotten")
def _(xp, upstream, unit, weight_shape):
    g = unit
    while g.ndim > len(weight_shape):
        g = g.sum(axis=0)
    return g


@mistake("engine.order", "twice|repeat|again|once|visit|several", "nodes are listed more than once")
def _(parents, root):
    order, todo = [], [root]
    while todo and len(order) < 5000:
        n = todo.pop(0)
        order.append(n)
        todo.extend(parents[n])
    return order


@mistake("engine.accumulate", "order|revers|first|forward|direction|inputs before|parents", "from the first node to the last")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents)):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += s * g[i]
    return g


@mistake("engine.unbroadcast", "all|everything|axis|axes|sum", "everything summed")
def _(x, shape):
    return np.full(shape, x.sum())


@mistake("engine.segments", "state|slope|upstream|chain|left out|multipl|factor|later", "the later segments forgotten")
def _(by_state, by_weight):
    return list(by_weight)


@mistake("engine.saved", "upstream", "upstream forgotten")
def _(a, b):
    a, b = a.copy(), b.copy()

    def receive(upstream):
        return b, a

    return a * b, receive


@mistake("engine.neuron", "tanh|left out", "tanh forgotten")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs):
        total = total + w * x
    return total


@mistake("engine.training", "rate|left out|step", "the rate forgotten")
def _(weight, backward, rate, steps):
    w = np.array(weight, dtype=float)
    for _ in range(steps):
        w = w - backward(w, np.zeros_like(w))
    return w


@mistake("engine.momentum", "rate", "the rate inside the velocity, too")
def _(parameter, gradient, state, rate, momentum):
    v = momentum * state.get("v", 0.0) + rate * gradient
    return parameter - rate * v, {"v": v}


@mistake("engine.adam", "correct|bias|start|step|1 -", "no correction at all")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    return parameter - rate * m / (np.sqrt(v) + eps), {"m": m, "v": v}


@mistake("engine.clip", "larger|only|always|if|short|condition", "always scaled")
def _(gradients, most):
    n = np.sqrt(sum((g**2).sum() for g in gradients))
    return [g * most / n if n > 0 else g for g in gradients]


@mistake("engine.differences", "one side|forward|side|x - h|centr|left|right", "a difference to one side")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        p = x.copy()
        p[i] += h
        g[i] = (upstream * (f(p) - f(x))).sum() / h
    return g


@mistake("engine.compare", "relative|largest|absolute|slack|scale|1e-4|tolerance", "an absolute tolerance")
def _(gradient, left, right):
    if np.shape(gradient) != np.shape(left):
        return False
    lo, hi = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= lo - 1e-4) & (gradient <= hi + 1e-4)))


@mistake("tanh.x.gaps", "x\\b|input|out", "the input in the gaps")
def _(xp, x, out):
    return 1 - x * x


@mistake("softmax.x.gaps", "axis|sum|upstream|out", "upstream's plain sum")
def _(xp, upstream, x, out, axis):
    return out * (upstream - xp.sum(upstream, axis=axis, keepdims=True))


@mistake("matmul.a.gaps", "transpos|b\\b", "b without a transpose")
def _(xp, upstream, b):
    return upstream @ b


@mistake("engine.value", "order|recurs|early|wait|before", "gradients are passed on as soon as they arrive, not in order")
class _:
    def __init__(self, data, kids=(), slopes=()):
        self.data, self.grad, self.kids, self.slopes = data, 0.0, kids, slopes

    def __add__(self, o):
        return type(self)(self.data + o.data, (self, o), (1.0, 1.0))

    def __mul__(self, o):
        return type(self)(self.data * o.data, (self, o), (o.data, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return type(self)(t, (self,), (1 - t * t,))

    def backward(self, up=None):
        self.grad = 1.0 if up is None else self.grad
        for k, s in zip(self.kids, self.slopes):
            k.grad += s * self.grad
            k.backward(up=True)

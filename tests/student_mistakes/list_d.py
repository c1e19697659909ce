"""A fourth list in the form of list_a.py, written before its author looked at the code that finds names.

At its first try, 234 of 259 got a right name (90 %), 10 a wrong one, and 15 none, judged by reading each title; by the
patterns as they were written, 217, 28 and 14. The patterns of 18 right titles were widened after that.
"""

# ruff: noqa: A002, D101, D102, D103, D107, ANN001, ANN201, E741, F811, N801, N803, N806, PLW2901, RET504, RUF034

import math

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Rules entry by entry


@mistake("subtract.a+b", "a\\b.*b\\b|exchang|swap|order|value", "the values of the inputs, as for a product")
def _(xp, a, b, out):
    return a, -b


@mistake("subtract.a+b", "sign|minus|exchang|swap|order", "the minus at a instead of b")
def _(xp, a, b, out):
    return -np.ones_like(out), np.ones_like(out)


@mistake("multiply.a+b", "out|product", "both get the product")
def _(xp, a, b, out):
    return a * b, a * b


@mistake("multiply.a+b", "a\\b.*b\\b|exchang|swap|own|other|order", "each input gets its own value")
def _(xp, a, b, out):
    grad_a = a
    grad_b = b
    return grad_a, grad_b


@mistake("divide.b", "square|power|\\bb\\b|twice|divid", "minus a over b, not squared")
def _(xp, a, b, out):
    return -a / b


@mistake("divide.b", "rule.*a\\b|other input|1 / b|input|instead", "the slope for a")
def _(xp, a, b, out):
    return 1 / b


@mistake("power.base", "exponent|factor|left out|missing|forgot", "n is missing in front")
def _(xp, base, exponent, out):
    return base ** (exponent - 1)


@mistake("power.base", "exponent|- 1|one less|power|left out|minus 1", "the exponent does not get smaller")
def _(xp, base, exponent, out):
    return exponent * base**exponent


@mistake("power.base", "exponent|log|other input|rule", "an exponential's slope")
def _(xp, base, exponent, out):
    return base**exponent * np.log(base)


@mistake("power.exponent", "log|left out|missing|forgot|out\\b", "ln(base) is missing")
def _(xp, base, exponent, out):
    return out


@mistake("power.exponent", "log|exponent|base", "ln of the exponent")
def _(xp, base, exponent, out):
    return out * np.log(np.abs(exponent) + (exponent == 0))


@mistake("log2.x", "log|ln|2|factor|divid|multipl", "times ln 2 instead of over it")
def _(xp, x, out):
    return math.log(2) / x


@mistake("log2.x", "rule of .?log|log|ln|factor|2", "one over x, as for ln")
def _(xp, x):
    return 1.0 / x


@mistake("log2.x", "2|log|factor|ln", "one over 2x")
def _(xp, x):
    return 1.0 / (2 * x)


@mistake("sqrt.x", "2|half|factor", "one half is missing")
def _(xp, x, out):
    return 1 / np.sqrt(x)


@mistake("sqrt.x", "root|sqrt|out|x\\b|power", "one over 2x: the root is missing")
def _(xp, x):
    return 0.5 / x


@mistake("sqrt.x", "power|minus|-|sign|exponent|divid|out", "half x to the power of plus one half")
def _(xp, x):
    return 0.5 * x**0.5


@mistake("tanh.x", "twice|tanh|out|x\\b", "tanh of out, squared")
def _(xp, x, out):
    t = np.tanh(out)
    return 1 - t**2


@mistake("tanh.x", "square|power|out", "one minus out, the square is missing")
def _(xp, x, out):
    return 1 - out


@mistake("tanh.x", "sigmoid|rule", "out times one minus out")
def _(xp, x, out):
    return out * (1 - out)


@mistake("tanh.x", "cosh|sech|divid|1 /|power", "cosh squared")
def _(xp, x):
    return np.cosh(x) ** 2


@mistake("sigmoid.x", "x\\b.*out|out|value read|instead|input", "x(1 - x): the saved value is taken for the output")
def _(xp, x):
    return x * (1 - x)


@mistake("sigmoid.x", "sign|\\+|out", "out(1 + out)")
def _(xp, out):
    return out + out * out


@mistake("sigmoid.x", "sigmoid|twice|out|x\\b", "sigmoid of the output, once more")
def _(xp, x, out):
    s = xp.sigmoid(out)
    return s * (1 - s)


@mistake("sigmoid.x", "square|power", "the square is missing under the quotient rule")
def _(xp, x, out):
    return np.exp(-x) / (1 + np.exp(-x))


@mistake("softsign.x", "square|power", "no square in the denominator")
def _(xp, x, out):
    return 1 / (1 + np.abs(x))


@mistake("softsign.x", "abs|magnitude|negative|sign", "|x| is forgotten")
def _(xp, x, out):
    return 1 / (1 + x) ** 2


@mistake("softsign.x", "sign|abs|factor|negative", "the sign of x as a factor")
def _(xp, x, out):
    return np.sign(x) / (1 + np.abs(x)) ** 2


@mistake("maximum.a+b", "exchang|swap|order|smaller|minimum|sign|<|>", "the masks are swapped")
def _(xp, a, b, out):
    return (a < b) * 1.0, (a > b) * 1.0


@mistake("maximum.a+b", "value|a\\b|b\\b|times|one|factor", "values instead of ones")
def _(xp, a, b, out):
    return np.where(a >= b, a, 0), np.where(b > a, b, 0)


@mistake("clip.x", "min|max|bound|condition|left out|missing", "only the upper bound is checked")
def _(xp, x, min, max, out):
    if max is None:
        return np.ones_like(x)
    return np.where(x <= max, 1.0, 0.0)


@mistake("clip.x", "out\\b|x\\b|value|1|one", "passes the clipped value on")
def _(xp, x, min, max, out):
    return out


@mistake("clip.x", "exchang|invert|outside|sign|opposite|condition|min|max|bound", "ones outside of the bounds")
def _(xp, x, min, max, out):
    low = -np.inf if min is None else min
    high = np.inf if max is None else max
    return ((x < low) | (x > high)) * 1.0


@mistake("relu.x.whole", "upstream|left out|forgot|missing", "upstream is forgotten")
def _(xp, upstream, x):
    return np.where(x > 0, 1.0, 0.0)


@mistake("relu.x.whole", "upstream|condition|x\\b|instead|gate", "the gate is on upstream")
def _(xp, upstream, x):
    return np.where(upstream > 0, upstream, 0)


@mistake("relu.x.whole", "x\\b|factor|times|upstream|value", "upstream times relu's output")
def _(xp, upstream, x, out):
    return upstream * out


@mistake("relu.x.whole", "upstream|forward|max|relu|gate", "relu is applied to upstream")
def _(xp, upstream, x, out):
    return np.maximum(upstream, 0)


@mistake("leaky_relu.x.whole", "slope|0|zero|relu|negative", "zero on the negative side, as in relu")
def _(xp, upstream, x, slope):
    return upstream * (x > 0)


@mistake("leaky_relu.x.whole", "slope|0.01|fixed", "slope 0.01, whatever was passed")
def _(xp, upstream, x):
    grad = upstream.copy()
    grad[x <= 0] *= 0.01
    return grad


@mistake("leaky_relu.x.whole", "x\\b|slope|value|factor|times", "slope times x on the negative side")
def _(xp, upstream, x, slope):
    return upstream * np.where(x > 0, 1, slope * x)


@mistake("gelu_erf.x", "x\\b|product|term|density|pdf|exp|left out|missing|forgot", "only the first term of the product rule")
def _(xp, x):
    return np.vectorize(math.erfc)(-x / np.sqrt(2)) / 2


@mistake("gelu_erf.x", "2 \\* (np\\.)?pi|pi|constant|factor|2\\b|sqrt|root", "the density without its 1/√(2π)")
def _(xp, x):
    return np.vectorize(math.erfc)(-x / np.sqrt(2)) / 2 + x * np.exp(-(x**2) / 2)


@mistake("gelu_erf.x", "x\\b|factor|left out|missing|forgot", "x is missing before the density")
def _(xp, x):
    return np.vectorize(math.erfc)(-x / np.sqrt(2)) / 2 + np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


@mistake("softplus.x", "sigmoid|sign|tanh|out|exp|1 -", "sigmoid's slope instead of the sigmoid")
def _(xp, x, out):
    s = 1 / (1 + np.exp(-x))
    return s * (1 - s)


@mistake("silu.x", "x\\b|term|left out|missing|product|sigmoid|forgot", "only the sigmoid")
def _(xp, x, out):
    return 1 / (1 + np.exp(-x))


@mistake("cos.x", "sign|minus|negat", "sine without a minus")
def _(xp, x):
    return np.sin(x)


@mistake("sin.x", "sign|minus|negat", "minus the cosine")
def _(xp, x):
    return -np.cos(x)


@mistake("exp.x", "power|x\\b|rule|factor", "x times e to the x minus 1")
def _(xp, x, out):
    return x * np.exp(x - 1)


@mistake("log.x", "log|out|x\\b|forward|1 /", "one over ln x")
def _(xp, x):
    return 1 / np.log(x)


@mistake("square.x", "2|factor|twice|double", "the two is missing")
def _(xp, x):
    return x


@mistake("reciprocal.x", "sign|minus|negat", "the minus is missing")
def _(xp, x, out):
    return out**2


@mistake("reciprocal.x", "log|rule|x\\b", "ln x, as if it were an integral")
def _(xp, x, out):
    return np.log(np.abs(x))


@mistake("multiply.a+b.twice", "exchang|swap|own|order|a\\b|itself", "each input gets its own value, doubled rule")
def _(xp, a, b, out):
    return a * 1.0, b * 1.0


@mistake("tanh.x.twice", "2|twice|factor|derivative|second", "the second derivative, not the first")
def _(xp, x, out):
    return -2 * out * (1 - out**2)


@mistake("tanh.x.gaps", "\\+|sign|out|x\\b|power", "out and x in the gaps")
def _(xp, x, out):
    return 1 - out * x


# Walks by hand


@mistake("diamond.gradients", "\\bs\\b|path|left out|forgot|missing|through", "a and b only receive through p")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": s * b, "b": s * a}


@mistake("diamond.gradients", "\\bp\\b|path|left out|forgot|missing|through", "a and b only receive through s")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": p, "b": p}


@mistake("diamond.gradients", "p\\b.*s\\b|s\\b.*p\\b|exchang|swap|own", "p and s exchanged, the rest follows")
def _(a, b, s, p, y):
    ds, dp = s, p
    return {"p": dp, "s": ds, "a": ds + dp * b, "b": ds + dp * a}


@mistake("diamond.gradients", "upstream|s\\b|p\\b|forgot|left out|1\\b", "local slopes without what arrives")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": 1 + b, "b": 1 + a}


@mistake("diamond.gradients", "a\\b|b\\b|exchang|swap|own|other", "a multiplies its own value")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": p + s * a, "b": p + s * b}


@mistake("diamond.gradients", "add|sum|path|multipl|product|\\+", "the two paths are multiplied")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": p * s * b, "b": p * s * a}


@mistake("neuron.predict", "tanh|slope|y\\b|left out|forgot|missing", "tanh's slope is forgotten")
def _(w, x, b):
    return x


@mistake("neuron.predict", "x\\b|w\\b|exchang|swap|own|other", "times w: that is what x receives")
def _(w, x, b):
    y = np.tanh(w * x + b)
    return (1 - y**2) * w


@mistake("neuron.predict", "s\\b|tanh|y\\b|out|square", "1 - s² with s before the tanh")
def _(w, x, b):
    s = w * x + b
    return (1 - s**2) * x


@mistake("neuron.predict", "b\\b|left out|forgot|missing", "the bias is forgotten in s")
def _(w, x, b):
    y = np.tanh(w * x)
    return (1 - y**2) * x


@mistake("neuron.predict", "x\\b|w\\b|left out|forgot|missing|factor|step", "stops at s: x is missing")
def _(w, x, b):
    return 1 - np.tanh(w * x + b) ** 2


@mistake("twice.predict", "path|once|add|sum|2|twice|first|second|left out|missing|forgot", "only one of the two paths")
def _(x, w):
    return w * x


@mistake("twice.predict", "x\\b|w\\b|power|2|upstream|forgot|missing|left out", "w only, x is lost")
def _(x, w):
    return 2 * w


@mistake("tied.gradients", "transpos|w\\b|o\\b", "w's second use without its transpose: h's path only")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh}


@mistake("tied.gradients", "h\\b|t\\b|tanh|out", "1 - h² instead of 1 - t²")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - h**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "2|factor|twice|square", "o for o², the two is missing")
def _(x, w, h, t, o, y):
    do = o
    dt = do @ w
    dh = dt * (1 - t**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "tanh|slope|t\\b|left out|forgot|missing", "the tanh is skipped on the way back")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    return {"o": do, "t": dt, "h": dt, "x": dt @ w.T, "w": x.T @ dt + do.T @ t}


@mistake("stages.gradients", "sign|minus|negat", "the loss's minus is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = t
    dp = dlp / p
    ds = np.sum(-dp * e / s**2, axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": lp}


@mistake("stages.gradients", "s\\b|path|left out|forgot|missing|divide|sum", "e only receives through the division, not through s")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = np.sum(-dp * e / s**2, axis=1, keepdims=True)
    de = dp / s
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "sum|mean|axis|shape|broadcast", "s gets no sum over the row")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = -dp * e / s**2
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "exp|e\\b|x\\b|left out|forgot|missing", "x gets what e gets")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = np.sum(-dp * e / s**2, axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de, "t": -lp}


# Shapes and places


@mistake("add.b.whole", "mean|sum|divid|average", "a mean over the rows")
def _(xp, upstream, a, b, out, b_shape):
    if upstream.ndim > b.ndim:
        upstream = upstream.mean(axis=tuple(range(upstream.ndim - b.ndim)))
    for i, n in enumerate(b_shape):
        if n == 1:
            upstream = upstream.mean(axis=i, keepdims=True)
    return upstream


@mistake("add.b.whole", "length 1|axes|axis|1\\b|stretched|keepdims|shape|broadcast", "only new axes in front are summed")
def _(xp, upstream, a, b, out, b_shape):
    while upstream.ndim > len(b_shape):
        upstream = upstream.sum(axis=0)
    return upstream


@mistake("add.b.whole", "first|sum|row|entry|entries|\\[0\\]", "the first row is taken")
def _(xp, upstream, a, b, out, b_shape):
    while upstream.ndim > len(b_shape):
        upstream = upstream[0]
    for i, n in enumerate(b_shape):
        if n == 1 and upstream.shape[i] > 1:
            upstream = np.take(upstream, [0], axis=i)
    return upstream


@mistake("multiply.b.whole", "\\ba\\b|factor|left out|forgot|missing", "a is forgotten: add's rule")
def _(xp, upstream, a, b, out, b_shape):
    g = upstream
    extra = tuple(range(g.ndim - len(b_shape)))
    g = g.sum(axis=extra)
    ones = tuple(i for i, n in enumerate(b_shape) if n == 1)
    return g.sum(axis=ones, keepdims=True)


@mistake("multiply.b.whole", "a\\b|sum|order|before|after|first", "summed first, multiplied with the summed a")
def _(xp, upstream, a, b, out, b_shape):
    def down(g):
        g = np.broadcast_to(g, out.shape)
        g = g.sum(axis=tuple(range(g.ndim - len(b_shape))))
        return g.sum(axis=tuple(i for i, n in enumerate(b_shape) if n == 1), keepdims=True)

    return down(upstream) * down(a)


@mistake("broadcast_to.x.whole", "mean|sum|average|divid|max", "the largest of the copies")
def _(xp, upstream, shape, x_shape):
    g = upstream
    while g.ndim > len(x_shape):
        g = g.max(axis=0)
    for i, n in enumerate(x_shape):
        if n == 1:
            g = g.max(axis=i, keepdims=True)
    return g


@mistake("sum.x", "keepdims|axis|shape|expand|newaxis", "broadcast without putting the axis back")
def _(xp, upstream, axis, keepdims, x_shape):
    return np.broadcast_to(upstream, x_shape).copy() if axis is None else upstream * np.ones(x_shape)


@mistake("sum.x", "mean|divid|number|n\\b|count|factor", "divided by the number of entries")
def _(xp, upstream, axis, keepdims, x_shape):
    return xp.unreduce(upstream, x_shape, axis, keepdims) / np.prod(x_shape)


@mistake("mean.x", "axis|all|number|count|n\\b|size|factor|divid", "always divided by all entries")
def _(xp, upstream, axis, keepdims, x_shape):
    return xp.unreduce(upstream, x_shape, axis, keepdims) / np.prod(x_shape)


@mistake("mean.x", "divid|sum|number|count|left out|forgot|missing|factor", "not divided at all")
def _(xp, upstream, axis, keepdims, x_shape):
    return xp.unreduce(upstream, x_shape, axis, keepdims)


@mistake("mean.x", "axis|0|first|rows|length|number|count|fixed|divid|len", "divided by the number of rows")
def _(xp, upstream, axis, keepdims, x_shape):
    n = x_shape[0]
    return xp.unreduce(upstream, x_shape, axis, keepdims) / n


@mistake("max.x", "upstream|left out|forgot|missing", "the mask alone")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    return (x == xp.unreduce(out, x_shape, axis, keepdims)) * 1.0


@mistake("max.x", "axis|all|None|fixed|global|largest", "the largest of all, whatever the axis")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    mask = (x == x.max()) * 1.0
    return mask / mask.sum() * xp.unreduce(upstream, x_shape, axis, keepdims)


@mistake("max.x", "x\\b|value|times|out|factor", "upstream times the largest value")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    big = xp.unreduce(out, x_shape, axis, keepdims)
    return np.where(x == big, x, 0) * xp.unreduce(upstream, x_shape, axis, keepdims)


@mistake("max.x.lines", "winners|ties|tie|share|whole|each", "the line that does not share ties")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    share = xp.unreduce(upstream, x_shape, axis, keepdims)
    largest = xp.unreduce(out, x_shape, axis, keepdims)
    wins = x == largest
    return share * wins


@mistake("var.x", "mean|centr|x\\b|distance|subtract|left out|missing", "x is not centred")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    n = x.size / np.asarray(upstream).size
    return xp.unreduce(upstream, x_shape, axis, keepdims) * 2 * x / (n - ddof)


@mistake("var.x", "2|factor|twice|square", "the two is missing")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    m = x.mean(axis=axis, keepdims=True)
    n = x.size / m.size
    return xp.unreduce(upstream, x_shape, axis, keepdims) * (x - m) / (n - ddof)


@mistake("var.x", "ddof|n - 1|- 1", "always n - 1")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    m = x.mean(axis=axis, keepdims=True)
    n = x.size / m.size
    return xp.unreduce(upstream, x_shape, axis, keepdims) * 2 * (x - m) / (n - 1)


@mistake("prod.x", "out|x\\b|divid|product|upstream", "the whole product, not divided by x")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    return xp.unreduce(upstream * out, x_shape, axis, keepdims)


@mistake("prod.x", "0|zero|divid", "product over x, nan at zeros")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    return xp.unreduce(upstream * out, x_shape, axis, keepdims) / x


@mistake("cumsum.x", "revers|end|direction|order|flip", "cumsum of upstream, in the same direction")
def _(xp, upstream, axis, exclusive, reverse, x_shape):
    return np.cumsum(upstream, axis=axis).reshape(x_shape)


@mistake("cumsum.x", "revers|ignored|fixed|exclusive", "exclusive and reverse are not read")
def _(xp, upstream, axis, exclusive, reverse, x_shape):
    if axis is None:
        return np.flip(np.cumsum(np.flip(upstream))).reshape(x_shape)
    return np.flip(np.cumsum(np.flip(upstream, axis), axis=axis), axis)


@mistake("transpose.x", "invers|argsort|axes|order", "the same axes once more")
def _(xp, upstream, axes, x_shape):
    return np.transpose(upstream, axes)


@mistake("transpose.x", "reshape|moves|transpos|place", "reshape")
def _(xp, upstream, axes, x_shape):
    return upstream.reshape(x_shape)


@mistake("getitem.x", "add|twice|repeat|duplicate|\\+=|overwrit|replac|assign", "assigned, so repeated places count once")
def _(xp, upstream, index, x_shape):
    grad = np.zeros(x_shape)
    grad[index] = upstream
    return grad


@mistake("getitem.x", "zero|other|ones|empty|start|not chosen", "starts from ones")
def _(xp, upstream, index, x_shape):
    grad = np.ones(x_shape)
    np.add.at(grad, index, upstream)
    return grad


@mistake("concatenate.parts", "axis|0|fixed", "cut along axis 0 always")
def _(xp, upstream, parts, out, axis, parts_shape):
    grads, at = [], 0
    for p in parts:
        grads.append(upstream[at : at + p.shape[0]])
        at += p.shape[0]
    return grads


@mistake("concatenate.parts", "size|length|offset|start|equal|cut|split|shape|wrong places", "each part starts at 0 again")
def _(xp, upstream, parts, out, axis, parts_shape):
    if axis is None:
        return [upstream[: p.size].reshape(p.shape) for p in parts]
    return [np.take(upstream, range(p.shape[axis]), axis=axis) for p in parts]


@mistake("pad.x", "width|offset|start|cut|pad|place|first|before", "cut from the beginning: the padding in front is forgotten")
def _(xp, upstream, x, out, pad_width, mode, constant_values, x_shape):
    return upstream[tuple(slice(0, n) for n in x_shape)]


@mistake("where.a", "invert|~|not|other|b\\b|condition|exchang|opposite", "what b receives")
def _(xp, upstream, condition, a_shape):
    return np.where(condition, 0.0, upstream)


@mistake("where.a", "condition|left out|everywhere|mask|forgot|ignored|both branches", "everything goes to a")
def _(xp, upstream, condition, a_shape):
    return np.broadcast_to(upstream, upstream.shape) * 1.0


@mistake("sort.x", "order|invers|argsort|place|permut", "the order applied once more instead of undone")
def _(xp, upstream, x, out, axis, descending, order, x_shape):
    return np.take_along_axis(upstream, order, axis=axis if axis is not None else 0).reshape(x_shape)


@mistake("sort.x", "sort|order|place|permut", "upstream is sorted")
def _(xp, upstream, x, out, axis, descending, order, x_shape):
    return np.sort(upstream, axis=axis).reshape(x_shape)


@mistake("sort.x", "order|place|permut|back|unchanged|moves|upstream", "upstream passes unchanged")
def _(xp, upstream, x, out, axis, descending, order, x_shape):
    return upstream.reshape(x_shape)


@mistake("flip.x", "flip|revers|moves|place|axis|back|upstream", "not flipped back")
def _(upstream):
    return upstream


@mistake("roll.x", "shift|sign|back|direction|opposite|minus|rolled on", "rolled on, not back")
def _(xp, upstream, shift, axis):
    return np.roll(upstream, shift, axis)


# Products, tables and images


@mistake("matmul.a", "order|exchang|left|side|transpos|swap", "b.T on the left")
def _(xp, upstream, b, a_shape):
    return xp.mT(b) @ upstream


@mistake("matmul.a", "\\.T|mT|axes|all|batch|stack|leading|last two|revers", "b.T reverses every axis of a stack")
def _(xp, upstream, b, a_shape):
    return upstream @ b.T


@mistake("matmul.b", "order|exchang|left|side|swap|transpos", "upstream on the left")
def _(xp, upstream, a, b_shape):
    return upstream @ xp.mT(a)


@mistake("matmul.b", "transpos|a\\b", "a without its transpose")
def _(xp, upstream, a, b_shape):
    return a @ upstream


@mistake("matmul.b.whole", "first|mean|sum|stack|batch|leading|broadcast", "a mean over the stack")
def _(xp, upstream, a, b_shape):
    g = xp.mT(a) @ upstream
    while g.ndim > len(b_shape):
        g = g.mean(axis=0)
    return g


@mistake("matvec.weight", "transpos|exchang|swap|order", "outer(x, upstream)")
def _(upstream, x):
    return np.outer(x, upstream)


@mistake("matvec.weight", "upstream|left out|forgot|missing|row|repeat|x\\b", "each row is x: upstream is forgotten")
def _(upstream, x):
    return np.tile(x, (len(upstream), 1))


@mistake("linear_layer.weight", "transpos|exchang|swap|order|layout", "the layout (in, out)")
def _(xp, upstream, x, weight, bias, out, weight_shape):
    return xp.rows(x).T @ xp.rows(upstream)


@mistake("linear_layer.weight", "mean|divid|len|batch|number|factor|n\\b|rows", "divided by the batch")
def _(xp, upstream, x, weight, bias, out, weight_shape):
    rows = xp.rows(x)
    return xp.rows(upstream).T @ rows / len(rows)


@mistake("take.x", "add|repeat|overwrit|replac|assign|\\+=|twice|last", "written with =, repeated indices lost")
def _(xp, upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    if axis is None:
        g.reshape(-1)[indices] = upstream
    else:
        np.moveaxis(g, axis, 0)[indices] = np.moveaxis(upstream, range(axis, axis + np.ndim(indices)), range(np.ndim(indices)))
    return g


@mistake("take_along_axis.x", "add|repeat|overwrit|replac|assign|put|twice|last", "put_along_axis overwrites repeated entries")
def _(xp, upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    if axis is None:
        g = g.reshape(-1)
        np.put_along_axis(g, indices, upstream, 0)
        return g.reshape(x_shape)
    np.put_along_axis(g, indices, upstream, axis)
    return g


@mistake("embedding.weight", "add|repeat|twice|overwrit|buffer|\\+=|once", "+= with an index array")
def _(xp, upstream, indices, weight, out, padding_idx, weight_shape):
    g = np.zeros(weight_shape)
    g[indices] += upstream
    if padding_idx is not None:
        g[padding_idx] = 0
    return g


@mistake("embedding.weight", "padding", "the padding row learns")
def _(xp, upstream, indices, weight, out, padding_idx, weight_shape):
    g = np.zeros(weight_shape)
    np.add.at(g, indices, upstream)
    return g


@mistake("embedding.weight", "mean|count|divid|average|number|times", "mean over a token's occurrences")
def _(xp, upstream, indices, weight, out, padding_idx, weight_shape):
    g, n = np.zeros(weight_shape), np.zeros(weight_shape[0])
    np.add.at(g, indices, upstream)
    np.add.at(n, indices, 1)
    g = g / np.maximum(n, 1)[:, None]
    if padding_idx is not None:
        g[padding_idx] = 0
    return g


@mistake("conv2d.weight", "stride|step", "stride is ignored")
def _(xp, upstream, x, weight, bias, out, stride, padding, dilation, groups, weight_shape):
    return conv_weight(upstream, x, weight, (1, 1), padding, dilation, groups)


def conv_weight(upstream, x, weight, stride, padding, dilation, groups):
    (n, c, _, _), (o, per, kh, kw) = x.shape, weight.shape
    wide = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    g = np.zeros(weight.shape)
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            top, left = i * stride[0], j * stride[1]
            window = wide[:, :, top : top + kh * dilation[0] : dilation[0], left : left + kw * dilation[1] : dilation[1]]
            for k in range(o):
                first = k // (o // groups) * per
                g[k] += np.einsum("n,nchw->chw", upstream[:, k, i, j], window[:, first : first + per])
    return g


def conv_input(upstream, x, weight, stride, padding, dilation, groups):
    (n, c, h, w), (o, per, kh, kw) = x.shape, weight.shape
    g = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            top, left = i * stride[0], j * stride[1]
            rows, columns = slice(top, top + kh * dilation[0], dilation[0]), slice(left, left + kw * dilation[1], dilation[1])
            for k in range(o):
                first = k // (o // groups) * per
                g[:, first : first + per, rows, columns] += upstream[:, k, i, j][:, None, None, None] * weight[k]
    return g[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


@mistake("conv2d.x", "flip|revers|rotat|kernel|turn", "the kernel is flipped once too often")
def _(xp, upstream, x, weight, bias, out, stride, padding, dilation, groups, x_shape):
    return conv_input(upstream, x, weight[:, :, ::-1, ::-1], stride, padding, dilation, groups)


@mistake("conv2d.x", "overwrit|add|overlap|replac|=|sum", "overlapping windows overwrite each other")
def _(xp, upstream, x, weight, bias, out, stride, padding, dilation, groups, x_shape):
    (n, c, h, w), (o, per, kh, kw) = x.shape, weight.shape
    g = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            rows = slice(i * stride[0], i * stride[0] + kh * dilation[0], dilation[0])
            columns = slice(j * stride[1], j * stride[1] + kw * dilation[1], dilation[1])
            each = np.zeros_like(g[:, :, rows, columns])
            for k in range(o):
                first = k // (o // groups) * per
                each[:, first : first + per] += upstream[:, k, i, j][:, None, None, None] * weight[k]
            g[:, :, rows, columns] = each
    return g[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


@mistake("conv2d.x", "padding|pad|shift|cut", "the padding is cut from the wrong end")
def _(xp, upstream, x, weight, bias, out, stride, padding, dilation, groups, x_shape):
    h, w = x.shape[2:]
    wide = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    return conv_input(upstream, wide, weight, stride, (0, 0), dilation, groups)[:, :, :h, :w]


@mistake("conv2d.weight", "mean|divid|batch|number|n\\b|factor|len", "a mean over the batch")
def _(xp, upstream, x, weight, bias, out, stride, padding, dilation, groups, weight_shape):
    return conv_weight(upstream, x, weight, stride, padding, dilation, groups) / len(x)


@mistake("avg_pool2d.x", "divid|mean|size|kernel|number|factor|left out|forgot|missing", "not divided by the window's size")
def _(xp, upstream, kernel_size, stride, padding, count_include_pad, x_shape):
    n, c, h, w = x_shape
    g = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            top, left = i * stride[0], j * stride[1]
            g[:, :, top : top + kernel_size[0], left : left + kernel_size[1]] += upstream[:, :, i, j][:, :, None, None]
    return g[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


@mistake("avg_pool2d.x", "stride|kernel", "windows lie side by side: the stride is taken to be the kernel")
def _(xp, upstream, kernel_size, stride, padding, count_include_pad, x_shape):
    n, c, h, w = x_shape
    g = np.zeros((n, c, 4 * h + 8, 4 * w + 8))
    kh, kw = kernel_size
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            g[:, :, i * kh : (i + 1) * kh, j * kw : (j + 1) * kw] += upstream[:, :, i, j][:, :, None, None] / (kh * kw)
    return g[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


@mistake("solve.a+b", "transpos|a\\b", "solved with a, not with its transpose")
def _(xp, upstream, a, b, out, a_shape, b_shape):
    to_b = np.linalg.solve(a, upstream)
    if out.ndim == a.ndim:
        return -to_b @ np.swapaxes(out, -1, -2), to_b
    return -to_b[..., :, None] * out[..., None, :], to_b


@mistake("solve.a+b", "sign|minus|negat", "a's minus is forgotten")
def _(xp, upstream, a, b, out, a_shape, b_shape):
    to_b = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    if out.ndim == a.ndim:
        return to_b @ np.swapaxes(out, -1, -2), to_b
    return to_b[..., :, None] * out[..., None, :], to_b


# Losses


@mistake("mse.prediction", "sign|minus|exchang|order|target", "target minus prediction")
def _(xp, upstream, prediction, target, out, prediction_shape):
    error = target - prediction
    return upstream * 2 * error / error.size


@mistake("mse.prediction", "len|rows|batch|number|size|divid|n\\b|entries|shape|factor", "divided by the number of rows")
def _(xp, upstream, prediction, target, out, prediction_shape):
    error = prediction - target
    return upstream * 2 * error / (len(error) if error.ndim else 1)


@mistake("mse.prediction", "square|out|power|2", "the squared error itself")
def _(xp, upstream, prediction, target, out, prediction_shape):
    error = prediction - target
    return upstream * error**2 / error.size


@mistake("binary_cross_entropy_with_logits.logits", "sigmoid|logits|left out|forgot|missing", "logits minus target, no sigmoid")
def _(xp, upstream, logits, target, out, logits_shape):
    return upstream * (logits - target)


@mistake("binary_cross_entropy_with_logits.logits", "slope|1 - |p \\*|sigmoid|factor|twice|derivative", "times p(1 - p) once more")
def _(xp, upstream, logits, target, out, logits_shape):
    p = xp.sigmoid(logits)
    return upstream * (p - target) * p * (1 - p)


@mistake("binary_cross_entropy_with_logits.logits", "mean|divid|size|number|n\\b|factor", "divided by the number of entries")
def _(xp, upstream, logits, target, out, logits_shape):
    g = upstream * (xp.sigmoid(logits) - target)
    return g / g.size


@mistake("log_softmax.x", "sum|upstream|left out|forgot|missing|own share", "upstream is not summed")
def _(xp, upstream, x, out, axis, x_shape):
    return upstream - np.exp(out) * upstream


@mistake("log_softmax.x", "exp|out|softmax", "out for the probabilities: exp is forgotten")
def _(xp, upstream, x, out, axis, x_shape):
    return upstream - out * np.sum(upstream, axis=axis, keepdims=True)


@mistake("log_softmax.x", "divid|1 /|log|softmax|out", "log's rule only: upstream over p")
def _(xp, upstream, x, out, axis, x_shape):
    return upstream / np.exp(out)


@mistake("logsumexp.x", "upstream|left out|forgot|missing", "the softmax alone")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    return np.exp(x - xp.unreduce(out, x_shape, axis, keepdims))


@mistake("logsumexp.x", "log|exp|sum|out|divid|left out|forgot|missing|normalised", "exp(x) not divided by the sum")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    return xp.unreduce(upstream, x_shape, axis, keepdims) * np.exp(x)


@mistake("softmax_cross_entropy.logits", "sign|minus|exchang|order|target", "target minus softmax")
def _(xp, upstream, logits, target, out, log_weights, logits_shape):
    total = np.sum(target, axis=-1, keepdims=True)
    return upstream[..., None] * (target - np.exp(log_weights) * total)


@mistake("softmax_cross_entropy.logits", "exp|log|softmax|weights", "the logarithms instead of the probabilities")
def _(xp, upstream, logits, target, out, log_weights, logits_shape):
    return upstream[..., None] * (log_weights - target)


@mistake("softmax_cross_entropy.logits", "upstream|left out|forgot|missing", "upstream is forgotten")
def _(xp, upstream, logits, target, out, log_weights, logits_shape):
    return np.exp(log_weights) * np.sum(target, -1, keepdims=True) - target


@mistake("softmax_cross_entropy.logits", "softmax|left out|forgot|only|term|log_weights|exp", "only minus target arrives")
def _(xp, upstream, logits, target, out, log_weights, logits_shape):
    return -upstream[..., None] * target


@mistake("mean_class_cross_entropy.logits", "all|every|one_hot|class|1|subtract|column|row", "1 is subtracted everywhere in the columns of the classes")
def _(xp, upstream, logits, classes, out, weights, logits_shape):
    g = weights.copy()
    g[:, classes] -= 1
    return upstream * g / len(classes)


@mistake("mean_class_cross_entropy.logits", "mean|divid|len|rows|number|batch|n\\b|factor", "not divided by the rows")
def _(xp, upstream, logits, classes, out, weights, logits_shape):
    g = weights.copy()
    g[np.arange(len(g)), classes] -= 1
    return upstream * g


@mistake("mean_class_cross_entropy.logits", "sign|\\+|minus|one|add", "1 is added to the right class")
def _(xp, upstream, logits, classes, out, weights, logits_shape):
    g = weights.copy()
    g[np.arange(len(g)), classes] += 1
    return upstream * g / len(g)


@mistake("mean_class_cross_entropy.logits", "size|all|entries|divid|number|factor|n\\b|len|rows", "divided by all entries")
def _(xp, upstream, logits, classes, out, weights, logits_shape):
    g = weights.copy()
    g[np.arange(len(g)), classes] -= 1
    return upstream * g / g.size


@mistake("penalty.w", "strength|left out|forgot|missing", "strength is forgotten")
def _(upstream, w, strength):
    return upstream * w


@mistake("penalty.w", "half|2|factor|1/2|counts twice", "the half is forgotten: 2 · strength · w")
def _(upstream, w, strength):
    return upstream * 2 * strength * w


@mistake("penalty.w", "w\\b|square|power|w \\* w", "half strength times w squared")
def _(upstream, w, strength):
    return upstream * 0.5 * strength * w**2


@mistake("weighted_variance.x", "mean|path|centre|second|left out|forgot|missing|term", "the mean is taken for a constant")
def _(upstream, x, w):
    return upstream * 2 * w * (x - x.mean())


@mistake("weighted_variance.x", "w\\b|weight|left out|forgot|missing|mean", "the mean's path without the weights: it vanishes")
def _(upstream, x, w):
    d = x - x.mean()
    return upstream * 2 * (w * d - np.mean(d))


# Blocks


@mistake("softmax.x", "sum|jacobian|diagonal|entry|out|left out|forgot", "only the diagonal of the Jacobian")
def _(xp, upstream, x, out, axis, x_shape):
    return upstream * (out - out**2)


@mistake("softmax.x", "mean|sum", "mean for the sum")
def _(xp, upstream, x, out, axis, x_shape):
    return out * (upstream - (out * upstream).mean(axis=axis, keepdims=True))


@mistake("softmax.x", "out|factor|left out|forgot|missing", "out in front is forgotten")
def _(xp, upstream, x, out, axis, x_shape):
    return upstream - (out * upstream).sum(axis=axis, keepdims=True)


@mistake("softmax.x", "axis|all|None|keepdims", "summed over everything")
def _(xp, upstream, x, out, axis, x_shape):
    return out * (upstream - np.sum(out * upstream))


@mistake("softmax.x.gaps", "out|upstream|share|total", "gaps: upstream * upstream")
def _(xp, upstream, x, out, axis, x_shape):
    share = upstream * upstream
    total = xp.sum(share, axis=axis, keepdims=True)
    return out * (upstream - total)


@mistake("softmax.x.gaps", "share|total|sum|entry|jacobian|out", "share where total belongs")
def _(xp, upstream, x, out, axis, x_shape):
    share = upstream * out
    return out * (upstream - share)


@mistake("masked_softmax.x", "out|factor|upstream|left out|sum|forgot", "the product with out, without the sum")
def _(xp, upstream, x, out, axis, x_shape):
    return out * upstream


@mistake("masked_softmax.x.lines", "upstream|total|sum|out|left out|share", "the line that is too many")
def _(xp, upstream, x, out, axis, x_shape):
    return out * upstream


@mistake("masked_softmax.x", "square|out|upstream|twice|factor|sign", "out squared times upstream is subtracted")
def _(xp, upstream, x, out, axis, x_shape):
    return out * upstream - np.sum(out**2 * upstream, axis=axis, keepdims=True)


def norm_rule(g, unit, scale, over):
    return scale * (g - g.mean(axis=over, keepdims=True) - unit * (g * unit).mean(axis=over, keepdims=True))


@mistake("layer_norm.x", "mean|variance|constant|term|left out|forgot|missing|statistic|plain scaling", "statistics taken for constants")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    return g * scale


@mistake("layer_norm.x", "unit|variance|term|left out|forgot|missing|second", "only the mean's path, not the variance's")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    over = xp.last_axes(axes)
    return scale * (g - g.mean(axis=over, keepdims=True))


@mistake("layer_norm.x", "out|unit|weight|bias", "out where the unit belongs")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    return norm_rule(g, out, scale, xp.last_axes(axes))


@mistake("layer_norm.x", "weight", "weight is forgotten")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, x_shape):
    return norm_rule(upstream, unit, scale, xp.last_axes(axes))


@mistake("layer_norm.x", "divid|scale|multipl|1 /", "divided by scale, which is already an inverse")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    return norm_rule(g, unit, 1 / scale, xp.last_axes(axes))


@mistake("layer_norm.weight.whole", "unit|x\\b|normalis", "x where the unit belongs")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, weight_shape):
    g = upstream * x
    return g.sum(axis=tuple(range(g.ndim - len(weight_shape))))


@mistake("layer_norm.weight.whole", "axis|first|sum|0", "summed over the first axis only")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, weight_shape):
    return (upstream * unit).sum(axis=0)


@mistake("layer_norm.weight.whole", "unit|bias|left out|forgot|missing", "what the bias receives")
def _(xp, upstream, x, weight, bias, out, axes, eps, unit, scale, weight_shape):
    return upstream.sum(axis=tuple(range(upstream.ndim - len(weight_shape))))


@mistake("rms_norm.x", "mean|centr|layer_norm|subtract", "layer norm's rule")
def _(xp, upstream, x, weight, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    return norm_rule(g, unit, scale, xp.last_axes(axes))


@mistake("rms_norm.x", "sum|mean", "a sum where a mean is due")
def _(xp, upstream, x, weight, out, axes, eps, unit, scale, x_shape):
    g = upstream if weight is None else upstream * weight
    return scale * (g - unit * np.sum(g * unit, axis=xp.last_axes(axes), keepdims=True))


@mistake("batch_norm.x", "axis|axes|layer|-1|channel", "means along the features, as in layer norm")
def _(xp, upstream, x, weight, bias, out, eps, unit, scale, x_shape):
    w = 1 if weight is None else weight.reshape(1, -1, *[1] * (x.ndim - 2))
    return norm_rule(upstream * w, unit, scale, 1)


@mistake("batch_norm.x", "axis|axes|0|spatial|images|channel", "over axis 0 only, also for images")
def _(xp, upstream, x, weight, bias, out, eps, unit, scale, x_shape):
    w = 1 if weight is None else weight.reshape(1, -1, *[1] * (x.ndim - 2))
    return norm_rule(upstream * w, unit, scale, 0)


@mistake("batch_norm.x", "n\\b|number|sum|mean|divid|left out|term|factor", "sums where means are due")
def _(xp, upstream, x, weight, bias, out, eps, unit, scale, x_shape):
    w = 1 if weight is None else weight.reshape(1, -1, *[1] * (x.ndim - 2))
    over = (0, *range(2, x.ndim))
    g = upstream * w
    return scale * (g - g.sum(axis=over, keepdims=True) - unit * (g * unit).sum(axis=over, keepdims=True))


def attend(query, key, value, bias, scale, weights, upstream, slope=None, factor=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    arrived = upstream @ np.swapaxes(value, -1, -2)
    sent = weights * (arrived - (weights * arrived).sum(-1, keepdims=True)) if slope is None else slope(weights, arrived)
    factor = scale if factor is None else factor
    results = sent @ key * factor, np.swapaxes(sent, -1, -2) @ query * factor, np.swapaxes(weights, -1, -2) @ upstream
    return (*results, None if bias is None else sent)


@mistake("scaled_dot_product_attention.query+key+value+bias", "scale", "the scale is forgotten on the way back")
def _(xp, upstream, query, key, value, bias, scale, weights):
    return attend(query, key, value, bias, scale, weights, upstream, factor=1.0)


@mistake("scaled_dot_product_attention.query+key+value+bias", "softmax|sum|jacobian|left out|forgot|missing|weights", "the softmax is skipped")
def _(xp, upstream, query, key, value, bias, scale, weights):
    return attend(query, key, value, bias, scale, weights, upstream, slope=lambda w, g: g)


@mistake("scaled_dot_product_attention.query+key+value+bias", "softmax|sum|jacobian|diagonal|entry|1 -|left out", "the softmax's diagonal only")
def _(xp, upstream, query, key, value, bias, scale, weights):
    return attend(query, key, value, bias, scale, weights, upstream, slope=lambda w, g: g * w * (1 - w))


@mistake("scaled_dot_product_attention.query+key+value+bias", "query.*key|key.*query|exchang|swap|order", "query and key are returned in the wrong order")
def _(xp, upstream, query, key, value, bias, scale, weights):
    q, k, v, b = attend(query, key, value, bias, scale, weights, upstream)
    return k, q, v, b


@mistake("scaled_dot_product_attention.query+key+value+bias", "transpos|weights|value", "value receives weights @ upstream, without the transpose")
def _(xp, upstream, query, key, value, bias, scale, weights):
    q, k, _, b = attend(query, key, value, bias, scale, weights, upstream)
    return q, k, weights @ upstream, b


def recur(xp, upstream, drive, weight, start, out, nonlinearity, back=True, matrix=None, slope=None):
    slope = (1 - out**2 if nonlinearity == "tanh" else out > 0) if slope is None else slope
    matrix = weight if matrix is None else matrix
    later, sent = np.zeros_like(out[-1]), []
    for t in reversed(range(len(out))):
        later = slope[t] * (upstream[t] + (later @ matrix if back else 0))
        sent = [later, *sent]
    sent = np.stack(sent)
    first = np.zeros_like(out[0]) if start is None else np.broadcast_to(start, out[0].shape)
    before = np.concatenate([first[None], out[:-1]])
    to_weight = xp.mT(xp.rows(sent)) @ xp.rows(before)
    return sent, to_weight, None if start is None else xp.sum_to_shape(sent[0] @ matrix, start.shape)


@mistake("rnn.drive+weight+start", "later|time|path|past|left out|forgot|through|one step|truncat", "no gradient through time")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    return recur(xp, upstream, drive, weight, start, out, nonlinearity, back=False)


@mistake("rnn.drive+weight+start", "transpos|weight", "weight.T on the way back")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    return recur(xp, upstream, drive, weight, start, out, nonlinearity, matrix=weight.T)


@mistake("rnn.drive+weight+start", "nonlinearity|relu|fixed|tanh|ignored", "always tanh's slope")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    return recur(xp, upstream, drive, weight, start, out, nonlinearity, slope=1 - out**2)


@mistake("rnn.drive+weight+start", "slope|tanh|left out|forgot|missing", "the slope of tanh is forgotten")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    return recur(xp, upstream, drive, weight, start, out, nonlinearity, slope=np.ones_like(out))


@mistake("inverted_dropout.x", "kept|mask|left out|forgot|missing", "the mask is forgotten")
def _(upstream, x, kept, rate):
    return upstream / (1 - rate)


@mistake("inverted_dropout.x", "rate|1 -|scale|divid|factor|multipl", "times (1 - rate)")
def _(upstream, x, kept, rate):
    return upstream * kept * (1 - rate)


@mistake("inverted_dropout.x", "x\\b|kept|factor|value", "x is a factor, too")
def _(upstream, x, kept, rate):
    return upstream * x * kept / (1 - rate)


@mistake("dropout.x", "mask|kept|left out|forgot|everywhere|missing", "the mask is forgotten")
def _(x, out):
    return np.ones_like(x)


# Engines


@mistake("engine.order", "twice|repeat|visited|once|again|duplicate", "nodes are listed as often as they are reached")
def _(parents, root):
    order, todo = [], [root]
    while todo:
        node = todo.pop(0)
        order.append(node)
        todo += parents[node]
    return order


@mistake("engine.order", "depth|stack|order|early|before|wait|child", "depth first, each node as soon as it is found")
def _(parents, root):
    order, todo, seen = [], [root], {root}
    while todo:
        node = todo.pop()
        order.append(node)
        for parent in parents[node]:
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return order


@mistake("engine.order", "revers|forward|direction|first|inputs before", "the forward order")
def _(parents, root):
    reach, todo = {root}, [root]
    while todo:
        for parent in parents[todo.pop()]:
            if parent not in reach:
                reach.add(parent)
                todo.append(parent)
    return sorted(reach)


@mistake("engine.order", "all|reach|not computed|unused|every|belong|other", "every node, also those that root does not use")
def _(parents, root):
    return list(range(len(parents)))[::-1]


@mistake("engine.accumulate", "forward|order|revers|direction|inputs before", "nodes in forward order")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for node in range(len(parents)):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            g[parent] += g[node] * slope
    return g


@mistake("engine.accumulate", "replac|overwrit|add|=|last", "= instead of +=")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for node in reversed(range(len(parents))):
        for k, parent in enumerate(parents[node]):
            g[parent] = g[node] * slopes[node][k]
    return g


@mistake("engine.accumulate", "start|seed|1|zero|last|root|nothing arrives", "the last node starts at 0")
def _(parents, slopes):
    g = [0.0] * len(parents)
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            g[parent] += g[node] * slope
    return g


@mistake("engine.accumulate", "upstream|chain|local|multipl|left out|forgot|missing|slope", "local slopes are added, not multiplied with what arrived")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            g[parent] += slope
    return g


@mistake("engine.accumulate", "set|twice|same parent|once|duplicate|repeat|last|overwrit|replac", "a parent that is used twice counts once")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in dict(zip(parents[node], slopes[node], strict=True)).items():
            g[parent] += g[node] * slope
    return g


@mistake("engine.accumulate.gaps", "forward|order|revers|direction|range|inputs before", "range forwards in the gap")
def _(parents, slopes):
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in range(len(parents)):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += slope * gradient[node]
    return gradient


@mistake("engine.accumulate.gaps", "parent|node|upstream|own", "gradient[parent] in the gap")
def _(parents, slopes):
    gradient = [0.0] * len(parents)
    gradient[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            gradient[parent] += slope * gradient[parent]
    return gradient


@mistake("engine.unbroadcast", "mean|sum|average|divid", "means")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.mean(axis=0)
    for i, n in enumerate(shape):
        if n == 1:
            x = x.mean(axis=i, keepdims=True)
    return x


@mistake("engine.unbroadcast", "keepdims|axis|shape|length 1", "keepdims is forgotten")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(axis=0)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] > 1)
    return x.sum(axis=axes) if axes else x


@mistake("engine.unbroadcast", "last|end|axis|front|-1|new axes|leading", "the new axes are summed at the end")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(axis=-1)
    for i, n in enumerate(shape):
        if n == 1:
            x = x.sum(axis=i, keepdims=True)
    return x


@mistake("engine.unbroadcast", "reshape|first|cut|sum|slice|entries", "only the first entries are taken")
def _(x, shape):
    size = int(np.prod(shape))
    return x.reshape(-1)[:size].reshape(shape)


@mistake("engine.segments", "revers|order|forward|direction", "the chain is walked from its start")
def _(by_state, by_weight):
    g, result = 1.0, []
    for s, w in zip(by_state, by_weight, strict=True):
        result.append(g * w)
        g *= s
    return result


@mistake("engine.segments", "revers|order|flip|\\[::-1\\]|direction", "the result is not turned round")
def _(by_state, by_weight):
    g, result = 1.0, []
    for s, w in zip(reversed(by_state), reversed(by_weight), strict=True):
        result.append(g * w)
        g *= s
    return result


@mistake("engine.segments", "early|before|own|after|state|first|order", "a segment's own state slope is multiplied, too")
def _(by_state, by_weight):
    g, result = 1.0, []
    for s, w in zip(by_state[::-1], by_weight[::-1], strict=True):
        g *= s
        result.insert(0, g * w)
    return result


@mistake("engine.segments", "upstream|state|left out|forgot|local|chain|alone", "the weights' own slopes")
def _(by_state, by_weight):
    return list(by_weight)


class Node:
    def __init__(self, data, kids=(), slopes=()):
        self.data, self.grad, self.kids, self.slopes = data, 0.0, kids, slopes

    def __add__(self, other):
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return type(self)(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return type(self)(t, (self,), (1 - t * t,))

    def order(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for kid in node.kids:
                    visit(kid)
                order.append(node)

        visit(self)
        return order[::-1]

    def clear_inner(self):
        for node in self.order():
            if node.kids:
                node.grad = 0.0

    def backward(self):
        self.clear_inner()
        self.grad = 1.0
        for node in self.order():
            for kid, slope in zip(node.kids, node.slopes, strict=True):
                kid.grad += slope * node.grad


@mistake("engine.value", "replac|overwrit|add|=|last", "= instead of +=")
class _(Node):
    def backward(self):
        self.clear_inner()
        self.grad = 1.0
        for node in self.order():
            for kid, slope in zip(node.kids, node.slopes, strict=True):
                kid.grad = slope * node.grad


@mistake("engine.value", "inner|second|kept|clear|middle|zero|twice", "inner gradients are kept for the second call")
class _(Node):
    def backward(self):
        self.grad = 1.0
        for node in self.order():
            for kid, slope in zip(node.kids, node.slopes, strict=True):
                kid.grad += slope * node.grad


@mistake("engine.value", "clear|zero|leaves|second|all|reset|replac|add|again", "every call begins with all gradients at zero")
class _(Node):
    def backward(self):
        for node in self.order():
            node.grad = 0.0
        self.grad = 1.0
        for node in self.order():
            for kid, slope in zip(node.kids, node.slopes, strict=True):
                kid.grad += slope * node.grad


@mistake("engine.value", "a\\b|own|exchang|swap|other|product|multiply|factor", "a product's slopes are its own values")
class _(Node):
    def __mul__(self, other):
        return type(self)(self.data * other.data, (self, other), (self.data, other.data))


@mistake("engine.value", "tanh|slope|square|out|1 -", "tanh's slope from the input")
class _(Node):
    def tanh(self):
        return type(self)(math.tanh(self.data), (self,), (1 - self.data**2,))


@mistake("engine.value", "recurs|path|early|order|twice|again", "recursion from each node, without an order")
class _(Node):
    def backward(self):
        self.clear_inner()
        self.grad = 1.0
        self.push()

    def push(self):
        for kid, slope in zip(self.kids, self.slopes, strict=True):
            kid.grad += slope * self.grad
            kid.push()


@mistake("engine.value", "start|seed|1|root|own|zero", "backward does not set the root's gradient to 1")
class _(Node):
    def backward(self):
        for node in self.order():
            for kid, slope in zip(node.kids, node.slopes, strict=True):
                kid.grad += slope * node.grad


@mistake("engine.saved", "copy|copies|overwrit|later|alias|same array|view|as they are now", "no copies are made")
def _(a, b):
    def receive(upstream):
        return upstream * b, upstream * a

    return a * b, receive


@mistake("engine.saved", "exchang|swap|own|a\\b|order", "the factors are swapped")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * a, upstream * b)


@mistake("engine.neuron", "data|graph|broken|cut|float|weight|number", "weights' data are used: the graph is broken")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        total = total + x * type(x)(w.data)
    return total.tanh()


@mistake("engine.neuron", "bias|left out|forgot|missing", "the bias is not in the sum")
def _(weights, inputs, bias):
    total = weights[0] * inputs[0]
    for w, x in zip(weights[1:], inputs[1:], strict=True):
        total = total + w * x
    return total.tanh()


@mistake("engine.neuron", "tanh|left out|forgot|missing", "the tanh is missing")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        total = total + w * x
    return total


@mistake("engine.training", "zero|clear|fresh|kept|grow|add|accumul|reset", "the gradient is not cleared")
def _(weight, backward, rate, steps):
    gradient = np.zeros_like(weight)
    for _ in range(steps):
        backward(weight, gradient)
        weight = weight - rate * gradient
    return weight


@mistake("engine.training", "sign|minus|plus|ascent|uphill|direction", "ascent")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight + rate * backward(weight, np.zeros_like(weight))
    return weight


@mistake("engine.training", "once|afresh|loop|same|step|old|stale|first|again|outside", "the gradient is computed once, before the loop")
def _(weight, backward, rate, steps):
    gradient = backward(weight, np.zeros_like(weight))
    for _ in range(steps):
        weight = weight - rate * gradient
    return weight


@mistake("engine.training", "one|step|fewer|count|steps - 1|too few|first|many", "one step too few")
def _(weight, backward, rate, steps):
    for _ in range(1, steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
    return weight


@mistake("engine.training", "return|inside|first|one step|once|loop|early", "return stands inside of the loop")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
        return weight
    return weight


@mistake("engine.training.lines", "sign|plus|minus|ascent|direction|uphill", "the line with plus")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        gradient = np.zeros_like(weight)
        gradient = backward(weight, gradient)
        weight = weight + rate * gradient
    return weight


@mistake("engine.momentum", "velocity|gradient|step|momentum", "the step is taken with the gradient")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + gradient
    return parameter - rate * gradient, {"velocity": velocity}


@mistake("engine.momentum", "1 - momentum|mean|average|factor|gradient", "a running mean: (1 - momentum) before the gradient")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + (1 - momentum) * gradient
    return parameter - rate * velocity, {"velocity": velocity}


@mistake("engine.momentum", "rate|twice|velocity|inside|factor", "the rate is in the velocity and in the step")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + rate * gradient
    return parameter - rate * velocity, {"velocity": velocity}


@mistake("engine.momentum", "state|velocity|forgot|left out|lost|remember|start|empty|kept", "an empty state is returned")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + gradient
    return parameter - rate * velocity, {}


@mistake("engine.momentum", "old|before|previous|late|order|first|velocity", "steps with the velocity from before")
def _(parameter, gradient, state, rate, momentum):
    old = state.get("velocity", 0.0)
    return parameter - rate * old, {"velocity": momentum * old + gradient}


@mistake("engine.momentum.gaps", "gradient|velocity|momentum", "the gradient in the step's gap")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + gradient
    parameter = parameter - rate * gradient
    return parameter, {"velocity": velocity}


@mistake("engine.momentum.gaps", "gradient|velocity|state|remember|kept", "the gradient is remembered")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + gradient
    parameter = parameter - rate * velocity
    return parameter, {"velocity": gradient}


def adam(parameter, gradient, state, step, rate, beta1, beta2, eps, first=True, second=True, inside=False, root=True, sign=-1, power=2):
    m = beta1 * state.get("m", 0.0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0.0) + (1 - beta2) * gradient**power
    mean = m / (1 - beta1**step) if first else m
    square = v / (1 - beta2**step) if second else v
    below = np.sqrt(square + eps) if inside else np.sqrt(square) + eps if root else square + eps
    return parameter + sign * rate * mean / below, {"m": m, "v": v}


@mistake("engine.adam", "correct|bias|1 -|start|step|left out|forgot", "neither mean is corrected")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return adam(parameter, gradient, state, step, rate, beta1, beta2, eps, first=False, second=False)


@mistake("engine.adam", "correct|bias|second|square|1 -|start|step", "only the first mean is corrected")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return adam(parameter, gradient, state, step, rate, beta1, beta2, eps, second=False)


@mistake("engine.adam", "root|sqrt|square", "the root is forgotten")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return adam(parameter, gradient, state, step, rate, beta1, beta2, eps, root=False)


@mistake("engine.adam", "eps|inside|under|root", "eps under the root")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return adam(parameter, gradient, state, step, rate, beta1, beta2, eps, inside=True)


@mistake("engine.adam", "beta|exchang|swap", "the betas are exchanged")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return adam(parameter, gradient, state, step, rate, beta2, beta1, eps)


@mistake("engine.adam", "correct|state|store|kept|remember|keep|mean", "the corrected means are kept for the next step")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = (beta1 * state.get("m", 0.0) + (1 - beta1) * gradient) / (1 - beta1**step)
    v = (beta2 * state.get("v", 0.0) + (1 - beta2) * gradient**2) / (1 - beta2**step)
    return parameter - rate * m / (np.sqrt(v) + eps), {"m": m, "v": v}


@mistake("engine.adam", "step|power|exponent|correct|bias|beta", "1 - beta without the step as a power")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0.0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0.0) + (1 - beta2) * gradient**2
    return parameter - rate * (m / (1 - beta1)) / (np.sqrt(v / (1 - beta2)) + eps), {"m": m, "v": v}


@mistake("engine.clip", "each|separate|together|one norm|both|own|alone", "each array is clipped by its own norm")
def _(gradients, most):
    clipped = []
    for g in gradients:
        norm = np.sqrt(np.sum(g**2))
        clipped.append(g * most / norm if norm > most else g)
    return clipped


@mistake("engine.clip", "always|smaller|larger|condition|if|only|grow|longer", "small gradients are scaled up, too")
def _(gradients, most):
    norm = np.sqrt(sum(np.sum(g**2) for g in gradients))
    return [g * most / norm for g in gradients]


@mistake("engine.clip", "entry|entries|value|norm|each", "each entry is clipped")
def _(gradients, most):
    return [np.clip(g, -most, most) for g in gradients]


@mistake("engine.clip", "root|sqrt|square", "the root is forgotten")
def _(gradients, most):
    norm = sum(np.sum(g**2) for g in gradients)
    return [g * most / norm for g in gradients] if norm > most else gradients


@mistake("engine.clip", "sum of norms|norm|root|add|square", "the norms of the arrays are added")
def _(gradients, most):
    norm = sum(np.linalg.norm(g) for g in gradients)
    return [g * most / norm for g in gradients] if norm > most else gradients


def differences(f, x, upstream, h, low=True, divisor=2.0, whole=False, weigh=True):
    slope = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.full_like(x, h) if whole else np.zeros_like(x)
        step[place] = h
        change = f(x + step) - (f(x - step) if low else f(x))
        slope[place] = np.sum(upstream * change if weigh else change) / (divisor * h)
    return slope


@mistake("engine.differences", "one side|forward|both|side|f\\(x\\)|- step|- h", "a step to one side")
def _(f, x, upstream, h):
    return differences(f, x, upstream, h, low=False, divisor=1.0)


@mistake("engine.differences", "2|twice|double|half|factor|divid", "divided by h where it is 2h")
def _(f, x, upstream, h):
    return differences(f, x, upstream, h, divisor=1.0)


@mistake("engine.differences", "all|one entry|together|at once|same time|entries|each", "all entries are moved at once")
def _(f, x, upstream, h):
    return differences(f, x, upstream, h, whole=True)


@mistake("engine.differences", "upstream|left out|forgot|missing", "upstream is forgotten")
def _(f, x, upstream, h):
    return differences(f, x, upstream, h, weigh=False)


@mistake("engine.compare", "abs|magnitude|sign|negative", "the difference is not taken as a magnitude")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    return bool(np.all(gradient - right < 1e-4 * np.max(np.abs([left, right]))))


@mistake("engine.compare", "any|all|one entry|some", "any entry is enough")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.any((gradient >= low - slack) & (gradient <= high + slack)))


@mistake("engine.compare", "shape|broadcast", "the shape is not compared")
def _(gradient, left, right):
    slack = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= low - slack) & (gradient <= high + slack)))


# Patients


@mistake("uphill.patient", "test|number|4|other|first", "cured, but another test is named")
def _(x, y, rate, steps):
    w, b = np.zeros(2), 0.0
    for _ in range(steps):
        error = x @ w + b - y
        w, b = w - rate * 2 / len(y) * x.T @ error, b - rate * 2 / len(y) * error.sum()
    return 7, lambda points: points @ w + b


@mistake("sums.patient", "cure|train|still|not cured|zero|clear|add|sum", "the right test, but a smaller rate instead of the cure")
def _(x, y, rate, steps):
    rate = rate / 10
    w, b, w_grad, b_grad = np.zeros(2), 0.0, np.zeros(2), 0.0
    for _ in range(steps):
        error = x @ w + b - y
        w_grad += 2 / len(y) * x.T @ error
        b_grad += 2 / len(y) * error.sum()
        w, b = w - rate * w_grad, b - rate * b_grad
    return 5, lambda points: points @ w + b

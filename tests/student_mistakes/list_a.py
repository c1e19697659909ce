"""Mistakes of students in their own style: several lines, names of their own. Written before the table was read.

Before anything was mended, 84 of 94 got a right name, 1 a wrong one, and 9 none. A pattern may also list the words of a
title that says the same in another way.
"""

# ruff: noqa: A002, D101, D102, D103, D107, ANN001, ANN201, E741, F811, N801, N803, N806, PLW2901, RET504, RUF034

import math

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Basics -------------------------------


@mistake("subtract.b", "upstream|b|input|itself|multipl|factor", "the derivative is multiplied by b")
def _(xp, a, b, out):
    local = -xp.ones_like(b)
    return local * b


@mistake("multiply.a", "sum|broadcast|reduc", "b is summed, as if for a scalar")
def _(xp, a, b):
    grad = xp.sum(b, axis=0, keepdims=True)
    return grad * xp.ones_like(a)


@mistake("divide.b", "square|power|exponent|once|twice|divid", "divided once, not by the square")
def _(xp, a, b, out):
    top = -a
    bottom = b
    return top / bottom


@mistake("divide.b", "sign|minus|negat|-1", "minus forgotten")
def _(a, b, out):
    inv = 1 / b
    return out * inv


@mistake("power.base", "exponent|power|one less|- 1|decreas", "exponent not reduced by one")
def _(xp, base, exponent, out):
    n = exponent
    d = n * out
    return d


@mistake("power.base", "exponent|factor|left out|front", "factor n forgotten")
def _(base, exponent):
    lower = exponent - 1
    return base**lower


@mistake("exp.x", "x|power|exponent|factor|multipl", "power rule on exp: x * e^(x-1)")
def _(xp, x):
    return x * xp.exp(x - 1)


@mistake("log.x", "out|log|result|output|divid|input", "1 over log x")
def _(xp, x):
    y = xp.log(x)
    return 1.0 / y


@mistake("sqrt.x", "2|half|factor|constant|0.5", "factor one half forgotten")
def _(xp, x, out):
    root = xp.sqrt(x)
    return 1 / root


@mistake("tanh.x", "out|input|x|tanh|output", "x for out")
def _(xp, x, out):
    t = x
    return 1 - xp.square(t)


@mistake("tanh.x", "square|power|twice", "not squared")
def _(xp, x, out):
    th = xp.tanh(x)
    return 1 - th


@mistake("sigmoid.x", "sign|plus|minus|\\+|1 -", "1 + s for 1 - s")
def _(xp, x, out):
    s = 1 / (1 + xp.exp(-x))
    return s * (1 + s)


@mistake("absolute.x", "sign|forward|absolute|input|x|factor too few", "x / out**2")
def _(xp, x, out):
    return x / (out * out)


@mistake("maximum.a+b", "swap|exchang|condition|smaller|reverse|invert|compar|order", "masks swapped")
def _(xp, a, b):
    da = (a < b).astype(float)
    db = 1 - da
    return da, db


@mistake("clip.x", "min|max|bound|one side|lower|upper|condition", "only the upper bound")
def _(xp, x, min, max):
    if max is None:
        return xp.ones_like(x)
    return np.where(x < max, 1.0, 0.0)


@mistake("multiply.a+b.twice", "swap|own|exchang|order|other|itself", "returned in the wrong order")
def _(xp, a, b):
    da = b
    db = a
    return db, da


@mistake("relu.x.whole", "output|out|forward|x|value|multipl|factor", "the output times upstream")
def _(xp, upstream, x, out):
    gate = out
    return gate * upstream


@mistake("leaky_relu.x.whole", "slope|negative|0|zero|gate|relu", "0 on the negative side")
def _(xp, upstream, x, slope):
    grad = upstream.copy()
    grad[x <= 0] = 0
    return grad


# Gradients by hand --------------------


@mistake("diamond.gradients", "sum|add|s\\b|one path|path|forgot|left out|`s_grad`", "only the path through the product")
def _(a, b, s, p, y):
    dp = s
    ds = p
    da = dp * b
    db = dp * a
    return {"p": dp, "s": ds, "a": da, "b": db}


@mistake("neuron.predict", "tanh|input|z|square|output|out|argument", "tanh's rule on the input")
def _(w, x, b):
    z = w * x + b
    return (1 - z**2) * x


@mistake("neuron.predict", "b\\b|bias|left out", "bias forgotten")
def _(w, x, b):
    y = math.tanh(w * x)
    return (1 - y * y) * x


@mistake("twice.predict", "path|2|twice|only|one|second|first|accum|count|overwritten", "one path only")
def _(x, w):
    p = w * x
    return p


# Shapes and reductions ----------------


@mistake("add.b.whole", "mean|average|sum", "mean for sum")
def _(xp, upstream, b, b_shape):
    extra = upstream.ndim - len(b_shape)
    g = upstream
    for _ in range(extra):
        g = g.mean(axis=0)
    for i, n in enumerate(b_shape):
        if n == 1:
            g = g.mean(axis=i, keepdims=True)
    return g


@mistake("multiply.b.whole", "b\\b|own|itself|other|factor|a\\b", "own factor")
def _(xp, upstream, a, b, b_shape):
    g = upstream * b
    while g.ndim > len(b_shape):
        g = g.sum(axis=0)
    for i, n in enumerate(b_shape):
        if n == 1:
            g = g.sum(axis=i, keepdims=True)
    return g


@mistake("broadcast_to.x.whole", "sum|repeat|first|all|broadcast|add", "only the first copy")
def _(xp, upstream, x_shape):
    g = upstream
    while g.ndim > len(x_shape):
        g = g[0]
    for i, n in enumerate(x_shape):
        if n == 1:
            g = np.take(g, [0], axis=i)
    return g


@mistake("sum.x", "count|number|divid|mean|average|length", "divided by the count")
def _(xp, upstream, axis, keepdims, x_shape):
    n = 1
    for i in range(len(x_shape)):
        if axis is None or i in np.atleast_1d(axis) % len(x_shape):
            n *= x_shape[i]
    return xp.unreduce(upstream, x_shape, axis, keepdims) / n if hasattr(xp, "unreduce") else _spread(upstream, x_shape, axis) / n


def _spread(upstream, shape, axis):
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % len(shape)
    return np.broadcast_to(np.reshape(upstream, [1 if i in axes else n for i, n in enumerate(shape)]), shape)


@mistake("mean.x", "count|number|divid|1 / n|length|sum", "not divided by the count")
def _(xp, upstream, axis, keepdims, x_shape):
    g = xp.unreduce(upstream, x_shape, axis, keepdims)
    return g.copy()


@mistake("max.x", "upstream", "the mask without upstream")
def _(xp, upstream, x, out, axis, keepdims):
    big = xp.max(x, axis=axis, keepdims=True)
    mask = (x == big) * 1.0
    return mask / mask.sum(axis=axis, keepdims=True)


@mistake("max.x", "axis|whole|all|global|largest", "the global largest instead of along the axis")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    g = xp.unreduce(upstream, x_shape, axis, keepdims)
    return g * (x == x.max())


@mistake("var.x", "mean|distance|cent|subtract", "mean not subtracted")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis) - ddof
    g = xp.unreduce(upstream, x_shape, axis, keepdims)
    return 2 * x / n * g


@mistake("var.x", "2|factor|constant|twice", "2 forgotten")
def _(xp, upstream, x, out, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis)
    mu = x.mean(axis=axis, keepdims=True)
    centred = x - mu
    return centred * xp.unreduce(upstream, x_shape, axis, keepdims) / (n - ddof)


@mistake("prod.x", "divid|x\\b|own|itself|other|product", "the whole product, x not taken out")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    whole = xp.unreduce(out, x_shape, axis, keepdims)
    up = xp.unreduce(upstream, x_shape, axis, keepdims)
    return whole * up


@mistake("cumsum.x", "revers|direction|flip|from the end|forward|backward|order", "forward sum of upstream")
def _(xp, upstream, axis, exclusive, reverse, x_shape):
    g = np.cumsum(upstream, axis=axis)
    return g.reshape(x_shape)


@mistake("transpose.x", "inver|axes|argsort|order|permut|back", "same permutation applied again")
def _(xp, upstream, axes):
    if axes is None:
        return upstream.T
    return np.transpose(upstream, axes)


@mistake("getitem.x", "repeat|add|accum|twice|overwrit|more than once|several", "assignment for addition")
def _(xp, upstream, index, x_shape):
    z = np.zeros(x_shape)
    z[index] = upstream
    return z


@mistake("concatenate.parts", "start|offset|first|position|begin|same|place|slice", "every slice starts at 0")
def _(xp, upstream, parts, axis):
    if axis is None:
        return [upstream[: np.size(p)].reshape(np.shape(p)) for p in parts]
    result = []
    for p in parts:
        n = np.shape(p)[axis]
        result.append(np.take(upstream, range(n), axis=axis))
    return result


@mistake("pad.x", "before|after|side|end|start|offset|slice|width|cut", "cut off on the wrong sides")
def _(xp, upstream, x_shape):
    index = tuple(slice(0, n) for n in x_shape)
    return upstream[index]


@mistake("where.a", "condition|not|invert|other|opposite|b\\b|false|swap|exchanged", "the branch of b")
def _(xp, upstream, condition):
    keep = 1.0 - condition
    return upstream * keep


@mistake("sort.x", "order|sort|invers|place|back|permut", "upstream sorted by x's order again")
def _(xp, upstream, x, order, axis, x_shape):
    if axis is None:
        return upstream[order].reshape(x_shape)
    return np.take_along_axis(upstream, order, axis=axis)


# Products and tables ------------------


@mistake("matmul.a", "transpos|left|right|order|swap", "b not transposed, upstream transposed instead")
def _(xp, upstream, b):
    if b.ndim == 1:
        return upstream[..., None] * b
    return (b @ xp.mT(upstream)).swapaxes(-1, -2) if b.shape[-1] == b.shape[-2] else upstream @ b


@mistake("matmul.b", "transpos", "a not transposed")
def _(xp, upstream, a):
    return a @ upstream


@mistake("matmul.b", "mean|divid|batch|number|count|length|rows", "divided by the batch size")
def _(xp, upstream, a):
    m = a.shape[0]
    if a.ndim == 1:
        return np.outer(a, upstream) / m
    return np.swapaxes(a, -1, -2) @ upstream / m


@mistake("linear_layer.weight", "transpos|factors are swapped", "transposed result")
def _(xp, upstream, x, weight):
    x2 = x.reshape(-1, x.shape[-1])
    g2 = upstream.reshape(-1, upstream.shape[-1])
    return x2.T @ g2


@mistake("linear_layer.weight", "weight|x\\b|input|other|instead", "weight for x")
def _(xp, upstream, x, weight):
    g2 = upstream.reshape(-1, upstream.shape[-1])
    return g2.sum(axis=0)[:, None] * weight


@mistake("take.x", "repeat|add|accum|overwrit|twice|several|more than once", "+= with repeated indices")
def _(xp, upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    if axis is None:
        f = g.reshape(-1)
        f[indices] += upstream
        return f.reshape(x_shape)
    moved = np.moveaxis(g, axis, 0)
    ax = axis % len(x_shape)
    up = np.moveaxis(upstream, range(ax, ax + np.ndim(indices)), range(np.ndim(indices)))
    moved[indices] += up
    return g


@mistake("take_along_axis.x", "take|gather|scatter|put|forward|zero|place|add", "takes from upstream instead of putting back")
def _(xp, upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    if axis is None:
        g.reshape(-1)[indices] = upstream
        return g
    np.put_along_axis(g, indices, upstream, axis)
    return g


@mistake("embedding.weight", "repeat|add|accum|overwrit|twice|several|more than once", "the last token wins")
def _(xp, upstream, indices, weight, padding_idx):
    g = np.zeros_like(weight)
    flat = indices.reshape(-1)
    ups = upstream.reshape(-1, weight.shape[1])
    for i, row in zip(flat, ups):
        g[i] = row
    if padding_idx is not None:
        g[padding_idx] = 0
    return g


@mistake("embedding.weight", "pad", "padding row receives")
def _(xp, upstream, indices, weight, padding_idx):
    g = np.zeros_like(weight)
    np.add.at(g, indices, upstream)
    return g


@mistake("unfold.x", "overlap|add|accum|sum|overwrit|window", "overlaps overwrite")
def _(xp, upstream, kernel_size, stride, padding, dilation, x_shape):
    N, C, H, W = x_shape
    kh, kw = kernel_size
    ph, pw = padding
    g = np.zeros((N, C, H + 2 * ph, W + 2 * pw))
    oh = (H + 2 * ph - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (W + 2 * pw - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    u = upstream.reshape(N, C, kh, kw, oh, ow)
    for i in range(kh):
        for j in range(kw):
            r = i * dilation[0]
            c = j * dilation[1]
            g[:, :, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]] = u[:, :, i, j]
    return g[:, :, ph : ph + H, pw : pw + W]


@mistake("conv2d.x", "flip|revers|turn|rotat|mirror", "kernel flipped")
def _(xp, upstream, x, weight, stride, padding, dilation, groups):
    N, C, H, W = x.shape
    O, cg, kh, kw = weight.shape
    og = O // groups
    g = np.zeros((N, C, H + 2 * padding[0], W + 2 * padding[1]))
    wf = weight[:, :, ::-1, ::-1]
    oh, ow = upstream.shape[2:]
    for q in range(groups):
        for i in range(kh):
            for j in range(kw):
                r, c = i * dilation[0], j * dilation[1]
                part = np.einsum("nohw,oc->nchw", upstream[:, q * og : (q + 1) * og], wf[q * og : (q + 1) * og, :, i, j])
                g[:, q * cg : (q + 1) * cg, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]] += part
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("conv2d.weight", "batch|sum|mean|image|first|number|divid|average", "mean over the batch")
def _(xp, upstream, x, weight, stride, padding, dilation, groups):
    xpad = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    O, cg, kh, kw = weight.shape
    og = O // groups
    oh, ow = upstream.shape[2:]
    dw = np.zeros_like(weight)
    for o in range(O):
        q = o // og
        for i in range(kh):
            for j in range(kw):
                r, c = i * dilation[0], j * dilation[1]
                patch = xpad[:, q * cg : (q + 1) * cg, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]]
                dw[o, :, i, j] = (patch * upstream[:, o : o + 1]).sum(axis=(2, 3)).mean(axis=0)
    return dw


@mistake("avg_pool2d.x", "divid|size|mean|count|number|area|kernel", "not divided by the window's size")
def _(xp, upstream, kernel_size, stride, padding, count_include_pad, x_shape):
    N, C, H, W = x_shape
    g = np.zeros((N, C, H + 2 * padding[0], W + 2 * padding[1]))
    kh, kw = kernel_size
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            a, b = i * stride[0], j * stride[1]
            g[:, :, a : a + kh, b : b + kw] += upstream[:, :, i : i + 1, j : j + 1]
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("max_pool2d.x", "overlap|add|accum|overwrit|window|several|twice", "overwritten where windows overlap")
def _(xp, upstream, x, out, kernel_size, stride, padding, dilation):
    N, C, H, W = x.shape
    xq = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=-np.inf)
    g = np.zeros_like(xq)
    for n in range(N):
        for c in range(C):
            for i in range(out.shape[2]):
                for j in range(out.shape[3]):
                    rows = i * stride[0] + dilation[0] * np.arange(kernel_size[0])
                    cols = j * stride[1] + dilation[1] * np.arange(kernel_size[1])
                    win = xq[n, c][np.ix_(rows, cols)]
                    r, s = np.unravel_index(win.argmax(), win.shape)
                    g[n, c, rows[r], cols[s]] = upstream[n, c, i, j]
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("solve.a+b", "transpos", "a not transposed")
def _(xp, upstream, a, b, out):
    db = np.linalg.solve(a, upstream)
    if out.ndim < a.ndim:
        return -db[..., :, None] * out[..., None, :], db
    return -db @ np.swapaxes(out, -1, -2), db


@mistake("matmul.a.twice", "transpos|b", "b not transposed")
def _(xp, upstream, b):
    return xp.matmul(upstream, b)


@mistake("matmul.b.whole", "batch|stack|sum|broadcast|leading|axis|axes|shape|mean", "mean over the stack")
def _(xp, upstream, a, b_shape):
    g = np.swapaxes(a, -1, -2) @ upstream
    while g.ndim > len(b_shape):
        g = g.mean(axis=0)
    return g


@mistake("matvec.weight", "transpos|order|swap|outer", "outer product the wrong way round")
def _(upstream, x):
    return np.outer(x, upstream)


@mistake("tied.gradients", "path|twice|second|sum|add|forgot|use|left out", "only the second use of w")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh}


# Losses -------------------------------


@mistake("mse.prediction", "count|number|divid|n\\b|mean|size", "not divided by n")
def _(xp, upstream, prediction, target):
    diff = prediction - target
    return upstream * 2 * diff


@mistake("mse.prediction", "sign|minus|negat|order|swap|-1|exchang", "target minus prediction")
def _(xp, upstream, prediction, target):
    n = (prediction - target).size
    diff = target - prediction
    return 2 * diff / n * upstream


@mistake("binary_cross_entropy_with_logits.logits", "sigmoid|logits|probab", "sigmoid forgotten")
def _(xp, upstream, logits, target):
    err = logits - target
    return upstream * err


@mistake("log_softmax.x", "sum|upstream|total|own share", "sum of upstream forgotten")
def _(xp, upstream, x, out, axis):
    p = np.exp(out)
    return upstream * (1 - p)


@mistake("logsumexp.x", "exp|normal|divid|softmax|out|sum|minus", "exp(x) without dividing by the sum")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    g = xp.unreduce(upstream, x_shape, axis, keepdims)
    return g * xp.exp(x)


@mistake("softmax_cross_entropy.logits", "sign|minus|swap|order|-1|negat|exchang", "target minus softmax")
def _(xp, upstream, logits, target, log_weights):
    p = xp.exp(log_weights)
    s = target.sum(axis=-1, keepdims=True)
    return upstream[..., None] * (target - p * s)


@mistake("mean_class_cross_entropy.logits", "count|number|rows|mean|divid|n\\b|batch", "not divided by the rows")
def _(xp, upstream, logits, classes, weights):
    g = weights.copy()
    g[np.arange(len(classes)), classes] -= 1
    return g * upstream


@mistake("stages.gradients", "path|through|e\\b|one|sum|add|left out|forgot|s\\b|`s_grad`", "path through s forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(axis=1, keepdims=True)
    de = dp / s
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("penalty.w", "2|factor|half|constant|twice", "factor 2 too many")
def _(upstream, w, strength):
    return upstream * strength * 2 * w


@mistake("weighted_variance.x", "mean|path|through|second|depend|average", "path through the mean forgotten")
def _(upstream, x, w):
    d = x - x.mean()
    return upstream * 2 * w * d


# Networks -----------------------------


@mistake("softmax.x", "sum|upstream|other|entries|diagonal|own|cross|entry by entry", "p * (1 - p) as for sigmoid")
def _(xp, upstream, x, out, axis):
    p = out
    jac = p * (1 - p)
    return upstream * jac


@mistake("softmax.x", "axis|keepdims|last|whole|all", "sum over everything")
def _(xp, upstream, x, out, axis):
    inner = (upstream * out).sum()
    return out * (upstream - inner)


@mistake("masked_softmax.x", "axis|last", "axis fixed to -1")
def _(xp, upstream, x, out, axis):
    dot = (upstream * out).sum(axis=-1, keepdims=True)
    return (upstream - dot) * out


@mistake("gelu_erf.x", "second|product|density|term|left out|path|x \\*|phi", "only Phi(x)")
def _(xp, x):
    phi = np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2
    return phi


@mistake("dropout.x", "mask|scale|1 / \\(|boolean|keep|0 or 1|factor|!= 0|> 0", "the mask as 0 or 1")
def _(xp, x, mask):
    keep = mask > 0
    return keep.astype(float)


@mistake("layer_norm.x", "weight", "weight forgotten")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream
    m1 = g.mean(axis=ax, keepdims=True)
    m2 = (g * unit).mean(axis=ax, keepdims=True)
    return scale * (g - m1 - unit * m2)


@mistake("layer_norm.x", "variance|unit|second|term|left out|path", "path through the variance forgotten")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    return scale * (g - xp.mean(g, axis=ax, keepdims=True))


@mistake("rms_norm.x", "mean|sum|divid|count|number", "sum for mean")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    inner = xp.sum(g * unit, axis=ax, keepdims=True)
    return scale * (g - unit * inner)


@mistake("batch_norm.x", "constant|mean|path|term|variance|left out|depend|through", "mean and variance as constants")
def _(xp, upstream, x, weight, unit, scale):
    g = upstream
    if weight is not None:
        shape = [1] * x.ndim
        shape[1] = -1
        g = g * weight.reshape(shape)
    return g * scale


@mistake("scaled_dot_product_attention.query+key+value+bias", "scale|query|key|root", "scale forgotten for query and key")
def _(xp, upstream, query, key, value, bias, weights, scale):
    dv = xp.mT(weights) @ upstream
    dw = upstream @ xp.mT(value)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True))
    dq = ds @ key
    dk = xp.mT(ds) @ query
    return dq, dk, dv, None if bias is None else ds


@mistake("rnn.drive+weight+start", "later|time|carry|state|next|through|recurr|path", "nothing is carried back in time")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    slope = 1 - out**2 if nonlinearity == "tanh" else (out > 0) * 1.0
    dd = upstream * slope
    first = np.zeros_like(out[0]) if start is None else start
    before = np.concatenate([first[None], out[:-1]])
    H = weight.shape[0]
    dW = dd.reshape(-1, H).T @ before.reshape(-1, H)
    return dd, dW, None if start is None else dd[0] @ weight


@mistake("softmax.x.twice", "upstream|out|sum", "out not in the sum")
def _(xp, upstream, x, out, axis):
    total = xp.sum(upstream, axis=axis, keepdims=True)
    return out * (upstream - total * out)


@mistake("layer_norm.weight.whole", "unit|x\\b|normal|input", "x for unit")
def _(xp, upstream, x, weight, weight_shape):
    g = upstream * x
    while g.ndim > len(weight_shape):
        g = g.sum(axis=0)
    return g


# Engines ------------------------------


@mistake("engine.order", "revers|first|parents|last|direction|begin|root|inputs before", "parents first")
def _(parents, root):
    seen, order = set(), []

    def visit(n):
        if n in seen:
            return
        seen.add(n)
        for p in parents[n]:
            visit(p)
        order.append(n)

    visit(root)
    return order


@mistake("engine.accumulate", "overwrit|replac|add|accum|\\+=|sum", "= for +=")
def _(parents, slopes):
    n = len(parents)
    g = [0.0] * n
    g[-1] = 1.0
    for i in range(n - 1, -1, -1):
        for j in range(len(parents[i])):
            g[parents[i][j]] = g[i] * slopes[i][j]
    return g


@mistake("engine.unbroadcast", "keepdims|keep|axis|length 1|shape", "keepdims forgotten")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1 and x.shape[i] > 1:
            x = x.sum(axis=i)
    return x


@mistake("engine.segments", "own|state|off|shift|index|next|later|one", "by_state of the own segment included")
def _(by_state, by_weight):
    n = len(by_state)
    out = [0.0] * n
    up = 1.0
    for i in reversed(range(n)):
        up = up * by_state[i]
        out[i] = up * by_weight[i]
    return out


@mistake("engine.value", "second|inner|kept|clear|again|reset", "gradients of the inner values are kept")
class _:
    def __init__(self, data, kids=()):
        self.data, self.grad, self.kids = data, 0.0, kids
        self.back = lambda: None

    def __add__(self, o):
        r = type(self)(self.data + o.data, (self, o))

        def back():
            self.grad += r.grad
            o.grad += r.grad

        r.back = back
        return r

    def __mul__(self, o):
        r = type(self)(self.data * o.data, (self, o))

        def back():
            self.grad += o.data * r.grad
            o.grad += self.data * r.grad

        r.back = back
        return r

    def tanh(self):
        t = math.tanh(self.data)
        r = type(self)(t, (self,))

        def back():
            self.grad += (1 - t**2) * r.grad

        r.back = back
        return r

    def backward(self):
        topo, seen = [], set()

        def build(v):
            if id(v) not in seen:
                seen.add(id(v))
                for k in v.kids:
                    build(k)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v.back()


@mistake("engine.saved", "copy|overwrit|changed|later|view|forward", "a is kept without a copy")
def _(a, b):
    b0 = b.copy()

    def receive(upstream):
        return upstream * b0, upstream * a

    return a * b, receive


@mistake("engine.neuron", "bias|left out|graph|data|cut", "bias taken out of the graph")
def _(weights, inputs, bias):
    total = None
    for w, x in zip(weights, inputs):
        total = w * x if total is None else total + w * x
    total = total + type(bias)(bias.data)
    return total.tanh()


@mistake("engine.training", "zero|clear|kept|accum|old|fresh|add", "the gradient is never cleared")
def _(weight, backward, rate, steps):
    w = weight.copy()
    g = np.zeros_like(w)
    for _ in range(steps):
        backward(w, g)
        w = w - rate * g
    return w


@mistake("engine.momentum", "momentum|1 -|damp|gradient|factor|average", "gradient damped by 1 - momentum")
def _(parameter, gradient, state, rate, momentum):
    v = state.get("v", 0.0)
    v = momentum * v + (1 - momentum) * gradient
    return parameter - rate * v, {"v": v}


@mistake("engine.adam", "bias|correct|start|1 -", "no correction of the second mean")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    mh = m / (1 - beta1**step)
    return parameter - rate * mh / (np.sqrt(v) + eps), {"m": m, "v": v}


@mistake("engine.clip", "each|own|separate|every|both|one norm|common|together", "each array by its own norm")
def _(gradients, most):
    out = []
    for g in gradients:
        n = np.sqrt((g**2).sum())
        out.append(g * most / n if n > most else g)
    return out


@mistake("engine.differences", "2|two|divid|h\\b|step|half|factor", "divided by h")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        p, m = x.copy(), x.copy()
        p[i] += h
        m[i] -= h
        g[i] = (upstream * (f(p) - f(m))).sum() / h
    return g


@mistake("engine.compare", "any|all|every|one|some", "any for all")
def _(gradient, left, right):
    if np.shape(gradient) != np.shape(left):
        return False
    lo, hi = np.minimum(left, right), np.maximum(left, right)
    tol = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    return bool(np.any((gradient >= lo - tol) & (gradient <= hi + tol)))

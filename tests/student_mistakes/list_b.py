"""A second list in the form of list_a.py, written at the same time and first tried when the work on names was done.

At that first try, 101 of these 118 got a right name, 1 a wrong one, and 16 none or a general one.
"""

# ruff: noqa: A002, D101, D102, D103, D107, ANN001, ANN201, E741, F811, N801, N803, N806, PLW2901, RET504, RUF034

import math

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Basics -------------------------------


@mistake("subtract.b", "sign|minus|negat|-1", "the sign of a's derivative")
def _(xp, a, b, out):
    result = np.ones(out.shape)
    return result


@mistake("multiply.a", "out|forward|output|product|b\\b", "the output instead of b")
def _(xp, a, b):
    return a * b


@mistake("multiply.a", "own|itself|other|swap|instead|a\\b", "a for b")
def _(a, out):
    d = a
    return d


@mistake("divide.b", "a\\b|numerator|left out|factor", "numerator forgotten")
def _(xp, a, b, out):
    denom = b * b
    return -1 / denom


@mistake("divide.b", "swap|other|a\\b|exchang|first", "the rule of a")
def _(xp, a, b, out):
    ones = xp.ones_like(a)
    return ones / b


@mistake("power.base", "log|exponent|base|exponential", "the rule of an exponential: out log base")
def _(xp, base, exponent, out):
    return out * xp.log(xp.abs(base))


@mistake("power.base", "square|2|exponent|fixed|always", "always the rule of a square")
def _(xp, base, exponent):
    return 2 * base


@mistake("exp.x", "log|inverse|divid|1 /|reciproc", "one over exp")
def _(xp, x, out):
    e = xp.exp(x)
    return 1 / e


@mistake("log.x", "square|power|twice|sign|rule of `reciprocal`", "the derivative of 1/x")
def _(xp, x):
    return -1 / x**2


@mistake("sqrt.x", "divid|multipl|root|invers|x\\b|out", "0.5 / x")
def _(xp, x, out):
    return 1 / (2 * x)


@mistake("tanh.x", "sign|minus|plus|\\+", "1 + t squared")
def _(xp, x, out):
    t = out
    return 1 + t**2


@mistake("tanh.x", "sigmoid|out \\*|rule of|other function", "sigmoid's rule")
def _(xp, x, out):
    return out * (1 - out)


@mistake("sigmoid.x", "x\\b|input|out", "x for out")
def _(xp, x, out):
    return x * (1 - x)


@mistake("sigmoid.x", "square|tanh|rule of|out", "tanh's rule")
def _(xp, x, out):
    s = out
    return 1 - s * s


@mistake("absolute.x", "sign|negative|zero|0|relu|gate|rule of", "0 for negative x")
def _(xp, x, out):
    d = np.zeros_like(x)
    d[x > 0] = 1
    return d


@mistake("maximum.a+b", "b\\b|second|always|both|1|mask|one", "b receives always")
def _(xp, a, b):
    da = (a > b) * 1.0
    db = xp.ones_like(da)
    return da, db


@mistake("clip.x", "out|value|forward|x\\b|multipl|factor", "the clipped value")
def _(xp, x, min, max):
    return np.clip(x, min, max)


@mistake("clip.x", "invert|outside|opposite|not|condition|swap|compar|inside", "1 outside")
def _(xp, x, min, max, out):
    changed = out != x
    return changed * 1.0


@mistake("tanh.x.twice", "float|constant|cut|second|detach|array|dual|data|`1 - out ", "values cut off by float")
def _(xp, x, out):
    t = np.array([math.tanh(float(v)) for v in np.ravel(out)]).reshape(np.shape(out))
    return 1 - t * out


@mistake("relu.x.whole", "upstream", "upstream forgotten")
def _(xp, upstream, x, out):
    return np.where(x > 0, 1.0, 0.0)


@mistake("relu.x.whole", "upstream|gate on|x > 0|wrong|instead|gate follows", "the gate on upstream")
def _(xp, upstream, x, out):
    g = upstream.copy()
    g[g < 0] = 0
    return g


@mistake("leaky_relu.x.whole", "slope|positive|swap|exchang|both", "slope on both sides")
def _(xp, upstream, x, slope):
    s = slope if np.all(x <= 0) else slope
    return s * upstream


@mistake("leaky_relu.x.whole", "x\\b|forward|input|value|factor|multipl", "slope * x as the slope")
def _(xp, upstream, x, slope):
    local = np.where(x > 0, 1, slope * x)
    return local * upstream


# Gradients by hand --------------------


@mistake("diamond.gradients", "own|itself|other|swap|exchang|`a`|`b`|instead", "a for b in p's rule")
def _(a, b, s, p, y):
    dp = s
    ds = p
    return {"p": dp, "s": ds, "a": ds + dp * a, "b": ds + dp * b}


@mistake("diamond.gradients", "upstream|`p_grad`|`dp`|left out|factor|arriv", "dp left out of the chain")
def _(a, b, s, p, y):
    grads = {"p": s, "s": p}
    grads["a"] = grads["s"] + b
    grads["b"] = grads["s"] + a
    return grads


@mistake("neuron.predict", "x\\b|last factor|chain|left out|w\\b|own factor", "w for x")
def _(w, x, b):
    y = math.tanh(w * x + b)
    dz = 1 - y**2
    return dz * w


@mistake("twice.predict", "w\\b|factor|product|x\\b|square|2", "2 * x forgotten w")
def _(x, w):
    return 2 * x


# Shapes and reductions ----------------


@mistake("add.b.whole", "keepdims|axis|axes|length 1|shape|all|`sum.upstream", "summed to one number, spread")
def _(xp, upstream, b_shape):
    total = upstream.sum()
    return np.full(b_shape, total)


@mistake("multiply.b.whole", "a\\b|factor|left out|other", "a forgotten")
def _(xp, upstream, a, b, b_shape):
    g = upstream
    lead = g.ndim - len(b_shape)
    g = g.sum(axis=tuple(range(lead)))
    for i in range(len(b_shape)):
        if b_shape[i] == 1:
            g = g.sum(axis=i, keepdims=True)
    return g


@mistake("multiply.b.whole", "sum|before|after|order|product|separate|each", "summed before the product")
def _(xp, upstream, a, b, b_shape):
    def undo(g):
        while np.ndim(g) > len(b_shape):
            g = g.sum(axis=0)
        for i, n in enumerate(b_shape):
            if n == 1:
                g = g.sum(axis=i, keepdims=True)
        return g

    return undo(upstream) * undo(np.broadcast_to(a, upstream.shape))


@mistake("broadcast_to.x.whole", "mean|average|sum", "mean over the copies")
def _(xp, upstream, x_shape):
    g = upstream
    while g.ndim > len(x_shape):
        g = np.mean(g, axis=0)
    axes = tuple(i for i, n in enumerate(x_shape) if n == 1)
    return np.mean(g, axis=axes, keepdims=True) if axes else g


@mistake("sum.x", "upstream", "ones, without upstream")
def _(xp, upstream, axis, keepdims, x_shape):
    return np.ones(x_shape)


@mistake("sum.x", "axis|axes|length 1|expand|place|first", "the axis put back at the front")
def _(xp, upstream, axis, keepdims, x_shape):
    if axis is None or keepdims:
        return np.ones(x_shape) * upstream
    g = np.expand_dims(upstream, 0)
    return np.broadcast_to(g, x_shape)


@mistake("mean.x", "count|size|number|axis|length|all", "divided by the size of the whole")
def _(xp, upstream, axis, keepdims, x_shape):
    n = np.prod(x_shape)
    return xp.unreduce(upstream, x_shape, axis, keepdims) / n


@mistake("max.x", "upstream|largest|value|multipl|x\\b|out|factor", "the largest value times upstream")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    o = xp.unreduce(out, x_shape, axis, keepdims)
    g = xp.unreduce(upstream, x_shape, axis, keepdims)
    hit = x == o
    return g * o * hit


@mistake("max.x", "min|smallest|largest|compar|wrong", "smallest for largest")
def _(xp, upstream, x, axis, keepdims, x_shape):
    low = np.min(x, axis=axis, keepdims=True)
    return np.where(x == low, 1, 0) * xp.unreduce(upstream, x_shape, axis, keepdims)


@mistake("var.x", "ddof|count|n\\b|number|other variance", "ddof ignored")
def _(xp, upstream, x, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis)
    c = x - np.mean(x, axis=axis, keepdims=True)
    return xp.unreduce(upstream, x_shape, axis, keepdims) * (2 / n) * c


@mistake("var.x", "square|distance|power|forward|there twice", "the squared distance")
def _(xp, upstream, x, axis, ddof, keepdims, x_shape):
    n = xp.count_along(x_shape, axis) - ddof
    c = (x - np.mean(x, axis=axis, keepdims=True)) ** 2
    return xp.unreduce(upstream, x_shape, axis, keepdims) * 2 * c / n


@mistake("prod.x", "sum|out|product|multipl|other", "sum of the others for their product")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    rest = x.sum(axis=axis, keepdims=True) - x
    return rest * xp.unreduce(upstream, x_shape, axis, keepdims)


@mistake("prod.x", "upstream", "upstream forgotten")
def _(xp, x, out, axis, keepdims, x_shape):
    return xp.unreduce(out, x_shape, axis, keepdims) / x


@mistake("cumsum.x", "exclusive|one|off|shift|own|itself", "an entry's own sum is left out")
def _(xp, upstream, axis, exclusive, reverse, x_shape):
    u = upstream.reshape(x_shape) if axis is not None else upstream.ravel()
    ax = 0 if axis is None else axis
    if reverse:
        g = np.cumsum(u, axis=ax)
    else:
        g = np.flip(np.cumsum(np.flip(u, ax), axis=ax), ax)
    return (g - u).reshape(x_shape)


@mistake("transpose.x", "reshape|axes|transpos|permut|order|invers", "reshape for transpose")
def _(xp, upstream, axes, x_shape):
    flat = upstream.flatten()
    return flat.reshape(x_shape)


@mistake("getitem.x", "zero|place|elsewhere|index|shape|everywhere|ones|put|were not chosen", "takes index of upstream")
def _(xp, upstream, index, x_shape):
    g = np.ones(x_shape)
    np.add.at(g, index, upstream)
    return g


@mistake("concatenate.parts", "revers|order|swap|last|first", "parts in reverse order")
def _(xp, upstream, parts, axis):
    if axis is None:
        cuts = np.cumsum([np.size(p) for p in parts])[:-1]
        return [u.reshape(np.shape(p)) for u, p in zip(np.split(upstream, cuts), parts)][::-1]
    cuts = np.cumsum([np.shape(p)[axis] for p in parts])[:-1]
    return np.split(upstream, cuts, axis=axis)[::-1]


@mistake("concatenate.parts", "equal|length|size|same|start|first|cut|wrong places", "equal lengths assumed")
def _(xp, upstream, parts, axis):
    ax = 0 if axis is None else axis
    pieces = np.array_split(upstream, len(parts), axis=ax)
    return [np.resize(piece, np.shape(p)) for piece, p in zip(pieces, parts)]


@mistake("where.a", "condition|everywhere|mask|left out|both|forgot", "condition forgotten")
def _(xp, upstream, condition, a_shape):
    g = upstream * np.ones(a_shape)
    return g


@mistake("where.a", "upstream", "upstream forgotten")
def _(xp, upstream, condition):
    return condition.astype(float)


@mistake("sort.x", "order|sort|permut|place|back|upstream|left out", "upstream as it is")
def _(xp, upstream, x, order, axis, x_shape):
    g = upstream.copy()
    return g.reshape(x_shape)


@mistake("sort.x", "descend|direction|order|revers", "descending ignored by an own argsort")
def _(xp, upstream, x, axis, descending, x_shape):
    ax = 0 if axis is None else axis
    v = x.ravel() if axis is None else x
    o = np.argsort(v, axis=ax, kind="stable")
    g = np.zeros_like(v)
    np.put_along_axis(g, o, upstream, ax)
    return g.reshape(x_shape)


# Products and tables ------------------


@mistake("matmul.a", "transpos", "b not transposed")
def _(xp, upstream, b):
    return np.matmul(upstream, b)


@mistake("matmul.a", "sum|rows|product|matmul|@|elementwise|\\*", "the sum of b's rows times upstream's sum")
def _(xp, upstream, b, a_shape):
    col = upstream.sum(axis=-1, keepdims=True)
    return col * b.sum(axis=-1) if b.ndim > 1 else col * b


@mistake("matmul.b", "order|swap|left|right|transpos|exchang", "upstream on the left")
def _(xp, upstream, a):
    return np.swapaxes(upstream, -1, -2) @ a if upstream.ndim > 1 else np.outer(upstream, a)


@mistake("linear_layer.weight", "mean|divid|batch|count|number|rows", "mean over the batch")
def _(xp, upstream, x, weight):
    X = x.reshape(-1, x.shape[-1])
    G = upstream.reshape(-1, upstream.shape[-1])
    return G.T @ X / len(X)


@mistake("linear_layer.weight", "upstream", "upstream forgotten")
def _(xp, upstream, x, weight):
    s = x.reshape(-1, x.shape[-1]).sum(axis=0)
    return np.tile(s, (weight.shape[0], 1))


@mistake("take.x", "take|gather|index|place|zero|put|scatter|back", "takes from upstream again")
def _(xp, upstream, indices, axis, x_shape):
    g = np.take(upstream, indices, axis=axis)
    return np.resize(g, x_shape)


@mistake("embedding.weight", "mean|count|number|divid|times|average", "mean over the occurrences")
def _(xp, upstream, indices, weight, padding_idx):
    g = np.zeros_like(weight)
    n = np.zeros(len(weight))
    for i, row in zip(np.ravel(indices), upstream.reshape(-1, weight.shape[1])):
        g[i] += row
        n[i] += 1
    g = g / np.maximum(n, 1)[:, None]
    if padding_idx is not None:
        g[padding_idx] = 0
    return g


@mistake("unfold.x", "stride", "stride ignored")
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
            r, c = i * dilation[0], j * dilation[1]
            g[:, :, r : r + oh, c : c + ow] += u[:, :, i, j]
    return g[:, :, ph : ph + H, pw : pw + W]


@mistake("conv2d.x", "pad|border|cut|crop|edge|offset", "the border's cut is one-sided")
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
                part = np.einsum("nohw,oc->nchw", upstream[:, q * og : (q + 1) * og], weight[q * og : (q + 1) * og, :, i, j])
                g[:, q * cg : (q + 1) * cg, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]] += part
    return g[:, :, :H, :W]


@mistake("conv2d.weight", "pad", "padding ignored")
def _(xp, upstream, x, weight, stride, padding, dilation, groups):
    O, cg, kh, kw = weight.shape
    og = O // groups
    oh, ow = upstream.shape[2:]
    X = np.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * padding[0], x.shape[3] + 2 * padding[1]))
    X[:, :, : x.shape[2], : x.shape[3]] = x
    dw = np.zeros_like(weight)
    for o in range(O):
        q = o // og
        for i in range(kh):
            for j in range(kw):
                r, c = i * dilation[0], j * dilation[1]
                patch = X[:, q * cg : (q + 1) * cg, r : r + oh * stride[0] : stride[0], c : c + ow * stride[1] : stride[1]]
                dw[o, :, i, j] = (patch * upstream[:, o : o + 1]).sum(axis=(0, 2, 3))
    return dw


@mistake("avg_pool2d.x", "count_include_pad|pad|count|inside|border", "count_include_pad ignored")
def _(xp, upstream, kernel_size, stride, padding, count_include_pad, x_shape):
    N, C, H, W = x_shape
    kh, kw = kernel_size
    g = np.zeros((N, C, H + 2 * padding[0], W + 2 * padding[1]))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            a, b = i * stride[0], j * stride[1]
            g[:, :, a : a + kh, b : b + kw] += upstream[:, :, i, j][:, :, None, None] / (kh * kw)
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("max_pool2d.x", "average|mean|whole|every|all|window|largest|chosen|mask", "every entry of the window receives")
def _(xp, upstream, x, out, kernel_size, stride, padding, dilation):
    N, C, H, W = x.shape
    g = np.zeros((N, C, H + 2 * padding[0], W + 2 * padding[1]))
    for i in range(out.shape[2]):
        for j in range(out.shape[3]):
            for p in range(kernel_size[0]):
                for q in range(kernel_size[1]):
                    g[:, :, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]] += upstream[:, :, i, j]
    return g[:, :, padding[0] : padding[0] + H, padding[1] : padding[1] + W]


@mistake("solve.a+b", "sign|minus|negat|-1", "minus forgotten for a")
def _(xp, upstream, a, b, out):
    db = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    if b.ndim == a.ndim:
        return db @ np.swapaxes(out, -1, -2), db
    return db[..., :, None] * out[..., None, :], db


@mistake("solve.a+b", "b\\b|out|solution|x\\b", "b for the solution in a's part")
def _(xp, upstream, a, b, out):
    db = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    if b.ndim == a.ndim:
        return -db @ np.swapaxes(b, -1, -2), db
    return -db[..., :, None] * b[..., None, :], db


@mistake("matmul.b.whole", "batch|stack|sum|broadcast|leading|first|one|shape|axis|axes", "only the first of the stack")
def _(xp, upstream, a, b_shape):
    g = np.swapaxes(a, -1, -2) @ upstream
    while g.ndim > len(b_shape):
        g = g[0]
    return g


@mistake("matvec.weight", "sum|x\\b|outer|product|spread|row|column|computes `upstream`", "upstream spread, times the sum of x")
def _(upstream, x):
    return upstream[:, None] * np.ones_like(x)


@mistake("tied.gradients", "tanh|h\\b|t\\b|input|output", "tanh's rule on h")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - h**2)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "transpos", "the second part not transposed right")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t * t)
    dw = x.T @ dh + (t.T @ do).reshape(w.shape)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": dw}


# Losses -------------------------------


@mistake("mse.prediction", "2|factor|constant|twice|half", "2 forgotten")
def _(xp, upstream, prediction, target):
    e = prediction - target
    return upstream * e / e.size


@mistake("mse.prediction", "square|power|forward|distance|twice", "the squared error")
def _(xp, upstream, prediction, target):
    e = prediction - target
    return upstream * 2 * e**2 / e.size


@mistake("binary_cross_entropy_with_logits.logits", "sign|minus|swap|order|-1|negat|exchang", "target - p")
def _(xp, upstream, logits, target):
    p = xp.sigmoid(logits)
    return (target - p) * upstream


@mistake("binary_cross_entropy_with_logits.logits", "divid|p\\b|sigmoid|1 -|chain|factor|left out", "the gradient of the probability")
def _(xp, upstream, logits, target):
    p = 1 / (1 + np.exp(-logits))
    dp = (p - target) / (p * (1 - p))
    return upstream * dp


@mistake("log_softmax.x", "exp|out|softmax|log", "log p for p")
def _(xp, upstream, x, out, axis):
    s = np.sum(upstream, axis=axis, keepdims=True)
    return upstream - out * s


@mistake("log_softmax.x", "axis|all|whole|keepdims", "summed over everything")
def _(xp, upstream, x, out, axis):
    p = np.exp(out)
    return upstream - p * upstream.sum()


@mistake("logsumexp.x", "axis|all|whole|sum", "normalised over everything")
def _(xp, upstream, x, out, axis, keepdims, x_shape):
    e = np.exp(x - x.max())
    return xp.unreduce(upstream, x_shape, axis, keepdims) * e / e.sum()


@mistake("softmax_cross_entropy.logits", "upstream", "upstream forgotten")
def _(xp, upstream, logits, target, log_weights):
    p = np.exp(log_weights)
    return p * target.sum(-1, keepdims=True) - target


@mistake("mean_class_cross_entropy.logits", "1|one|target|class|hot|subtract|left out", "nothing subtracted at the class")
def _(xp, upstream, logits, classes, weights):
    n = logits.shape[0]
    return weights * upstream / n


@mistake("mean_class_cross_entropy.logits", "columns|entries|size|count|number|divid|rows|length", "divided by rows times classes")
def _(xp, upstream, logits, classes, weights):
    hot = np.eye(logits.shape[1])[classes]
    return (weights - hot) * upstream / logits.size


@mistake("stages.gradients", "sign|minus|negat|-1", "the sign of the loss forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = t
    dp = dlp / p
    ds = -(dp * e / s**2).sum(axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": lp}


@mistake("stages.gradients", "e\\b|exp|factor|chain|left out|last", "exp's rule forgotten at x")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = -(dp * e / s**2).sum(axis=1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de, "t": -lp}


@mistake("penalty.w", "upstream", "upstream forgotten")
def _(upstream, w, strength):
    return strength * w


@mistake("penalty.w", "sum|entr|each|w\\b|all|shape", "the sum of w everywhere")
def _(upstream, w, strength):
    return upstream * strength * w.sum() * np.ones_like(w)


@mistake("weighted_variance.x", "w\\b|weight|factor|left out", "weights forgotten")
def _(upstream, x, w):
    d = x - x.mean()
    return upstream * 2 * d


@mistake("weighted_variance.x", "count|n\\b|mean|divid|length|sum", "sum for mean in the second path")
def _(upstream, x, w):
    d = 2 * w * (x - x.mean())
    return upstream * (d - d.sum())


# Networks -----------------------------


@mistake("softmax.x", "out|last|factor|left out|p\\b", "last factor forgotten")
def _(xp, upstream, x, out, axis):
    s = (upstream * out).sum(axis=axis, keepdims=True)
    return upstream - s


@mistake("softmax.x", "mean|sum", "mean for sum")
def _(xp, upstream, x, out, axis):
    avg = np.mean(upstream * out, axis=axis, keepdims=True)
    return out * (upstream - avg)


@mistake("masked_softmax.x", "sign|plus|minus|\\+", "plus for minus")
def _(xp, upstream, x, out, axis):
    s = np.sum(upstream * out, axis=axis, keepdims=True)
    return out * (upstream + s)


@mistake("gelu_erf.x", "density|constant|2|pi|normal|factor|root", "density without 1/sqrt(2 pi)")
def _(xp, x):
    cdf = np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2
    pdf = np.exp(-(x**2) / 2)
    return cdf + x * pdf


@mistake("dropout.x", "out|x\\b|input|value|forward|mask", "x * mask")
def _(xp, x, mask):
    y = x * mask
    return y


@mistake("layer_norm.x", "mean|sum|divid|count", "sums for means")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    a = g.sum(axis=ax, keepdims=True)
    b = (g * unit).sum(axis=ax, keepdims=True)
    return scale * (g - a - unit * b)


@mistake("layer_norm.x", "axis|axes|last|batch|0|first", "means over axis 0")
def _(xp, upstream, x, weight, unit, scale, axes):
    g = upstream if weight is None else upstream * weight
    a = g.mean(axis=0, keepdims=True)
    b = (g * unit).mean(axis=0, keepdims=True)
    return scale * (g - a - unit * b)


@mistake("rms_norm.x", "scale|factor|left out|divid", "scale forgotten")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    return g - unit * (g * unit).mean(axis=ax, keepdims=True)


@mistake("rms_norm.x", "x\\b|unit|input|normal", "x for unit in the correction")
def _(xp, upstream, x, weight, unit, scale, axes):
    ax = xp.last_axes(axes)
    g = upstream if weight is None else upstream * weight
    return scale * (g - x * (g * x).mean(axis=ax, keepdims=True))


@mistake("batch_norm.x", "sign|plus|minus|\\+", "plus for minus at the variance")
def _(xp, upstream, x, weight, unit, scale):
    ax = tuple(i for i in range(x.ndim) if i != 1)
    shape = [1, -1] + [1] * (x.ndim - 2)
    g = upstream if weight is None else upstream * np.reshape(weight, shape)
    return scale * (g - g.mean(axis=ax, keepdims=True) + unit * (g * unit).mean(axis=ax, keepdims=True))


@mistake("scaled_dot_product_attention.query+key+value+bias", "softmax|sum|diagonal|sigmoid|other|own|1 -|left out|entry by entry", "p * (1 - p) for softmax's rule")
def _(xp, upstream, query, key, value, bias, weights, scale):
    c = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    dv = xp.mT(weights) @ upstream
    dw = upstream @ xp.mT(value)
    ds = weights * (1 - weights) * dw
    return ds @ key * c, xp.mT(ds) @ query * c, dv, None if bias is None else ds


@mistake("scaled_dot_product_attention.query+key+value+bias", "transpos|value|weights", "weights not transposed for value")
def _(xp, upstream, query, key, value, bias, weights, scale):
    c = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    dv = weights @ upstream if weights.shape[-1] == weights.shape[-2] else value * upstream.sum()
    dw = upstream @ xp.mT(value)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True))
    return ds @ key * c, xp.mT(ds) @ query * c, dv, None if bias is None else ds


@mistake("rnn.drive+weight+start", "shift|before|previous|state|same|off|out", "the state of the same time for the weight")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    slope = 1 - out**2 if nonlinearity == "tanh" else (out > 0) * 1.0
    T, H = len(out), weight.shape[0]
    carry = np.zeros_like(out[0])
    dd = np.zeros_like(out)
    for t in reversed(range(T)):
        dd[t] = (upstream[t] + carry) * slope[t]
        carry = dd[t] @ weight
    dW = dd.reshape(-1, H).T @ out.reshape(-1, H)
    return dd, dW, None if start is None else carry


@mistake("rnn.drive+weight+start", "relu|tanh|nonlinearity", "tanh's rule always")
def _(xp, upstream, drive, weight, start, out, nonlinearity):
    T, H = len(out), weight.shape[0]
    first = np.zeros_like(out[0]) if start is None else start
    carry = np.zeros_like(out[0])
    dd, dW = np.zeros_like(out), np.zeros_like(weight)
    for t in reversed(range(T)):
        dd[t] = (upstream[t] + carry) * (1 - out[t] ** 2)
        before = out[t - 1] if t > 0 else first
        dW += dd[t].reshape(-1, H).T @ before.reshape(-1, H)
        carry = dd[t] @ weight
    return dd, dW, None if start is None else carry


@mistake("layer_norm.weight.whole", "sum|leading|axis|axes|first|broadcast", "summed over the first axis only, then the mean")
def _(xp, upstream, x, weight, unit, weight_shape):
    g = upstream * unit
    while g.ndim > len(weight_shape):
        g = g.mean(axis=0)
    return g


# Engines ------------------------------


@mistake("engine.order", "depth|order|visit|before|wait|all|child|early|parent", "preorder")
def _(parents, root):
    order, stack, seen = [], [root], set()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        order.append(n)
        stack.extend(parents[n])
    return order


@mistake("engine.order", "root|every|all|reach|only|other|not", "nodes that are not ancestors are listed")
def _(parents, root):
    return list(range(root, -1, -1))


@mistake("engine.accumulate", "seed|begin|start|1|all|every|ones", "every gradient begins at 1")
def _(parents, slopes):
    n = len(parents)
    g = np.ones(n)
    for i in reversed(range(n)):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += s * g[i]
    return list(g)


@mistake("engine.accumulate", "upstream|arriv|slope|chain|multipl", "the slopes without what arrived")
def _(parents, slopes):
    g = [0.0 for _ in parents]
    g[-1] = 1.0
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += s
    return g


@mistake("engine.unbroadcast", "leading|extra|added|new|first|axes|shape|mean", "only axes of length 1 are summed, the rest reshaped")
def _(x, shape):
    full = (1,) * (x.ndim - len(shape)) + tuple(shape)
    g = x
    for i, n in enumerate(full):
        if n == 1:
            g = g.mean(axis=i, keepdims=True)
    return g.reshape(shape)


@mistake("engine.segments", "order|revers|first|forward|direction|last|earlier|before", "product of the earlier segments")
def _(by_state, by_weight):
    up, out = 1.0, []
    for s, w in zip(by_state, by_weight):
        out.append(up * w)
        up *= s
    return out


@mistake("engine.value", "replac|overwrit|add|\\+=|accum", "gradients are assigned")
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

    def backward(self):
        topo = []

        def build(v):
            if v not in topo:
                for k in v.kids:
                    build(k)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for v in topo[::-1]:
            for k, s in zip(v.kids, v.slopes):
                k.grad = s * v.grad


@mistake("engine.saved", "swap|own|exchang|order|other", "each receives its own factor")
def _(a, b):
    a, b = np.array(a), np.array(b)
    return a * b, lambda g: (g * a, g * b)


@mistake("engine.neuron", "one|first|zip|product|sum|all|weight", "weights and inputs summed apart")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights[1:], inputs[1:]):
        total = total + w * x
    return total.tanh()


@mistake("engine.training", "sign|ascent|uphill|plus|minus|\\+", "up the slope")
def _(weight, backward, rate, steps):
    w = np.array(weight, dtype=float)
    for _ in range(steps):
        w = w + rate * backward(w, np.zeros_like(w))
    return w


@mistake("engine.training", "step|one|times|more|off|count", "one step too many")
def _(weight, backward, rate, steps):
    w = np.array(weight, dtype=float)
    for _ in range(steps + 1):
        w = w - rate * backward(w, np.zeros_like(w))
    return w


@mistake("engine.momentum", "state|velocity|kept|lost|return|stor|old", "the old velocity is stored")
def _(parameter, gradient, state, rate, momentum):
    v = state.get("v", 0.0)
    new = momentum * v + gradient
    return parameter - rate * new, {"v": v}


@mistake("engine.adam", "eps|inside|root", "eps inside the root")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    mh, vh = m / (1 - beta1**step), v / (1 - beta2**step)
    return parameter - rate * mh / np.sqrt(vh + eps), {"m": m, "v": v}


@mistake("engine.adam", "square|root|second|gradient", "mean of the absolute gradient for the square")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient
    mh, vh = m / (1 - beta1**step), v / (1 - beta2**step)
    return parameter - rate * mh / (np.sqrt(np.abs(vh)) + eps), {"m": m, "v": v}


@mistake("engine.clip", "root|square|norm", "root forgotten")
def _(gradients, most):
    n = sum((g**2).sum() for g in gradients)
    if n > most:
        return [g * most / n for g in gradients]
    return gradients


@mistake("engine.clip", "entr|each|value|clip|norm|bound", "every entry clipped")
def _(gradients, most):
    return [np.clip(g, -most, most) for g in gradients]


@mistake("engine.differences", "upstream", "upstream forgotten")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        p, m = x.copy(), x.copy()
        p[i] += h
        m[i] -= h
        g[i] = (f(p) - f(m)).sum() / (2 * h)
    return g


@mistake("engine.differences", "entry|one|all|each|every|same time|x\\b", "all entries moved at once")
def _(f, x, upstream, h):
    return upstream * (f(x + h) - f(x - h)) / (2 * h)


@mistake("engine.compare", "shape", "shape not compared")
def _(gradient, left, right):
    lo, hi = np.minimum(left, right), np.maximum(left, right)
    tol = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    return bool(np.all((gradient >= lo - tol) & (gradient <= hi + tol)))


@mistake("engine.compare", "left|right|between|smaller|larger|order|min|max|kink", "left taken as the lower bound")
def _(gradient, left, right):
    if np.shape(gradient) != np.shape(left):
        return False
    tol = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    return bool(np.all((gradient >= left - tol) & (gradient <= right + tol)))

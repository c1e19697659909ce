"""Mistakes of students in networks: blocks, losses, training loops, the order of a graph.

They were written before the table of mistakes was read. When the list was first tried, 43 of 64 names were right (5 of them in
other words than the patterns, which were added), 3 wrong, 4 too general, and 14 mistakes had no name.
"""

# ruff: noqa: D102, D103, D107, E741

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Attention --------------------

ATTENTION = "scaled_dot_product_attention.query+key+value+bias"


def attend(upstream, query, key, value, bias, scale, weights, *, softmax=True, scale_query=True, scale_key=True,
           transpose_weights=True, swap=False, normalise=-1, bias_scale=False):  # fmt: skip
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    T = lambda each: np.swapaxes(each, -1, -2)
    dw = upstream @ T(value)
    ds = dw
    if softmax:
        ds = weights * (dw - (weights * dw).sum(normalise, keepdims=True))
    dq, dk = ds @ key, T(ds) @ query
    dv = (T(weights) if transpose_weights else weights) @ upstream
    db = None if bias is None else ds * (factor if bias_scale else 1)
    dq, dk = dq * (factor if scale_query else 1), dk * (factor if scale_key else 1)
    return (dk, dq, dv, db) if swap else (dq, dk, dv, db)


def attention(pattern, what, **how):
    def answer(upstream, query, key, value, bias, scale, weights):
        return attend(upstream, query, key, value, bias, scale, weights, **how)

    MISTAKES.append((ATTENTION, answer, pattern, what))


attention("softmax|weights|elementwise|left out|Jacobian", "the softmax is not differentiated", softmax=False)
attention("scale", "the scale is forgotten for the query", scale_query=False)
attention("scale", "the scale is forgotten for both", scale_query=False, scale_key=False)
attention("scale", "the scale is applied to the bias too", bias_scale=True)
attention("swap|exchang|order|shape|other|wrong", "query and key exchanged", swap=True)
attention("ax[ie]s", "the softmax is normalised over queries", normalise=-2)
attention("scale", "the scale is forgotten for the key", scale_key=False)


@mistake(ATTENTION, "sum|Jacobian|row|elementwise|entry by entry|left out|minus", "softmax as an elementwise function")
def _(upstream, query, key, value, bias, scale, weights):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    ds = weights * (1 - weights) * (upstream @ np.swapaxes(value, -1, -2))
    return (ds @ key * factor, np.swapaxes(ds, -1, -2) @ query * factor, np.swapaxes(weights, -1, -2) @ upstream,
            None if bias is None else ds)  # fmt: skip


# Recurrent network --------------------

RNN = "rnn.drive+weight+start"


def run_back(upstream, drive, weight, start, out, nonlinearity, *, carry=True, transposed=False, slope=True,
             shift=True, average=False, first=True, whole=True):  # fmt: skip
    later = 0.0
    sent, dw = np.zeros_like(drive), np.zeros_like(weight)
    zero = np.zeros_like(out[0]) if start is None else np.broadcast_to(start, out[0].shape)
    for t in reversed(range(len(out))):
        arrived = upstream[t] + (later if carry else 0.0)
        local = (1 - out[t] ** 2 if nonlinearity == "tanh" else 1.0 * (out[t] > 0)) if slope else 1.0
        sent[t] = arrived * local
        before = (out[t - 1] if t else zero) if shift else out[t]
        rows, states = sent[t].reshape(-1, sent.shape[-1]), before.reshape(-1, sent.shape[-1])
        dw = (dw if whole else 0) + rows.T @ states
        later = sent[t] @ (weight.T if transposed else weight)
    dw = dw / len(out) if average else dw
    return sent, dw, None if start is None else later if first else sent[0]


def recurrent(pattern, what, **how):
    def answer(upstream, drive, weight, start, out, nonlinearity):
        return run_back(upstream, drive, weight, start, out, nonlinearity, **how)

    MISTAKES.append((RNN, answer, pattern, what))


recurrent("time|later|step|carr|through|state", "nothing is sent through time", carry=False)
recurrent("transpose", "the weight is transposed on the way back", transposed=True)
recurrent("slope|tanh|nonlinearity|local|derivative", "the slope of tanh is forgotten", slope=False)
recurrent("state|before|off by one|previous|shift|step", "the state after is used for the one before", shift=False)
recurrent("average|mean|divided|steps", "the weight's gradient is averaged over time", average=True)
recurrent("weight|start", "the start receives what arrives before the weight", first=False)
recurrent("overwrit|last|accum|add|replac|sum|only", "only the first step's gradient for the weight counts", whole=False)

# Convolution and pooling --------------------


def filters(upstream, x, weight, stride, padding, dilation, groups, *, flip=False, mean=False):
    (kh, kw), (sh, sw), (dh, dw) = weight.shape[2:], stride, dilation
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    oh, ow = upstream.shape[2:]
    result, per, outs = np.zeros_like(weight), x.shape[1] // groups, weight.shape[0] // groups
    for o in range(weight.shape[0]):
        for c in range(per):
            for p in range(kh):
                for q in range(kw):
                    channel = padded[:, (o // outs) * per + c]
                    window = channel[:, p * dh : p * dh + sh * (oh - 1) + 1 : sh, q * dw : q * dw + sw * (ow - 1) + 1 : sw]
                    result[o, c, p, q] = (window * upstream[:, o]).sum()
    result = result[:, :, ::-1, ::-1] if flip else result
    return result / len(x) if mean else result


@mistake("conv2d.weight", "stride", "the stride is ignored")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return filters(upstream, x, weight, (1, 1), padding, dilation, groups)


@mistake("conv2d.weight", "dilation", "the dilation is ignored")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return filters(upstream, x, weight, stride, padding, (1, 1), groups)


@mistake("conv2d.weight", "revers|flip", "the filter is flipped")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return filters(upstream, x, weight, stride, padding, dilation, groups, flip=True)


@mistake("conv2d.weight", "batch|average|mean", "averaged over the batch")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return filters(upstream, x, weight, stride, padding, dilation, groups, mean=True)


@mistake("conv2d.weight", "stride.*dilation|dilation.*stride|exchang", "stride and dilation exchanged")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return filters(upstream, x, weight, dilation, padding, stride, groups)


def images(upstream, x, weight, stride, padding, dilation, groups, *, overwrite=False, crop=True):
    (kh, kw), (sh, sw), (dh, dw) = weight.shape[2:], stride, dilation
    n, c, h, w = x.shape
    result = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]))
    oh, ow = upstream.shape[2:]
    per, outs = c // groups, weight.shape[0] // groups
    for o in range(weight.shape[0]):
        first = (o // outs) * per
        for i in range(oh):
            for j in range(ow):
                place = (slice(None), slice(first, first + per), slice(i * sh, i * sh + dh * (kh - 1) + 1, dh),
                         slice(j * sw, j * sw + dw * (kw - 1) + 1, dw))  # fmt: skip
                sent = upstream[:, o, i, j][:, None, None, None] * weight[o]
                result[place] = sent if overwrite else result[place] + sent
    ph, pw = padding
    return result[:, :, ph : ph + h, pw : pw + w] if crop else result[:, :, :h, :w]


@mistake("conv2d.x", "stride", "the stride is ignored")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return images(upstream, x, weight, (1, 1), padding, dilation, groups)


@mistake("conv2d.x", "padding|cut|crop", "the padding is cut off at the wrong end")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return images(upstream, x, weight, stride, padding, dilation, groups, crop=False)


@mistake("conv2d.x", "overlap|overwrit|replace|window", "windows overwrite each other")
def _(upstream, x, weight, stride, padding, dilation, groups):
    return images(upstream, x, weight, stride, padding, dilation, groups, overwrite=True)


def spread(upstream, x_shape, kernel_size, stride, padding, *, step=None, divide=True):
    (kh, kw), (sh, sw) = kernel_size, step or stride or kernel_size
    n, c, h, w = x_shape
    result = np.zeros((n, c, h + 2 * padding[0] + kh, w + 2 * padding[1] + kw))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            result[:, :, i * sh : i * sh + kh, j * sw : j * sw + kw] += upstream[:, :, i : i + 1, j : j + 1]
    result = result[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]
    return result / (kh * kw) if divide else result


@mistake("avg_pool2d.x", "divi|area|window|average|kernel|entries|mean", "not divided by the size of the window")
def _(upstream, kernel_size, stride, padding, x_shape):
    return spread(upstream, x_shape, kernel_size, stride, padding, divide=False)


@mistake("avg_pool2d.x", "stride", "the windows are taken not to overlap")
def _(upstream, kernel_size, stride, padding, x_shape):
    return spread(upstream, x_shape, kernel_size, stride, padding, step=kernel_size)


@mistake("avg_pool2d.x", "count_include_pad|border", "zeros of the padding always count")
def _(upstream, kernel_size, stride, padding, x_shape):
    return spread(upstream, x_shape, kernel_size, stride, padding)


# Normalisation --------------------


def normalise(upstream, weight, unit, scale, axes, *, mean=True, product=True, whole=True, root=False, sums=False):
    up = upstream if weight is None or not whole else upstream * weight
    reduce = np.sum if sums else np.mean
    result = up
    if mean:
        result = result - reduce(up, axis=axes, keepdims=True)
    if product:
        result = result - unit * reduce(up * unit, axis=axes, keepdims=True)
    return (np.sqrt(scale) if root else scale) * result


def layers(pattern, what, **how):
    def answer(upstream, weight, unit, scale, axes):
        return normalise(upstream, weight, unit, scale, tuple(range(-axes, 0)), **how)

    MISTAKES.append(("layer_norm.x", answer, pattern, what))


layers("mean|left out", "the mean is taken as a constant", mean=False)
layers("unit|variance|left out", "the variance is taken as a constant", product=False)
layers("weight", "the weight is forgotten", whole=False)
layers("sum.*mean|mean.*sum", "sums for means", sums=True)
layers("root|`sqrt`|power|scale", "the root of the scale", root=True)


def channels(pattern, what, over=None, **how):
    def answer(upstream, weight, unit, scale):
        axes = (0, *range(2, upstream.ndim)) if over is None else over
        w = None if weight is None else weight.reshape(-1, *[1] * (upstream.ndim - 2))
        return normalise(upstream, w, unit, scale, axes, **how)

    MISTAKES.append(("batch_norm.x", answer, pattern, what))


channels("ax[ie]s|batch|channel", "only the batch is averaged, not the places", over=(0,))
channels("ax[ie]s|channel|row|layer", "averaged over channels, as layer norm", over=(1,))
channels("mean|left out", "the mean is taken as a constant", mean=False)
channels("unit|variance|left out", "the variance is taken as a constant", product=False)
channels("weight", "the weight is forgotten", whole=False)


@mistake("rms_norm.x", "mean|subtract|layer|too m", "layer norm's rule, with a mean taken off")
def _(upstream, weight, unit, scale, axes):
    return normalise(upstream, weight, unit, scale, tuple(range(-axes, 0)))


@mistake("rms_norm.x", "weight", "the weight is applied at the end")
def _(upstream, weight, unit, scale, axes):
    axes = tuple(range(-axes, 0))
    w = 1 if weight is None else weight
    return w * scale * (upstream - unit * np.mean(upstream * unit, axis=axes, keepdims=True))


@mistake("layer_norm.weight.whole", "unit|`x`|normal", "x for the normalised x")
def _(upstream, x, weight):
    return None if weight is None else (upstream * x).reshape(-1, *weight.shape).sum(0)


# Embeddings --------------------


@mistake("embedding.weight", "repeat|last use|add|overwrit|replac", "repeated tokens are overwritten")
def _(upstream, indices, weight, padding_idx):
    grad = np.zeros(weight.shape)
    grad[indices] = upstream
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad


@mistake("embedding.weight", "padding", "the padding row receives its gradient")
def _(upstream, indices, weight):
    grad = np.zeros(weight.shape)
    np.add.at(grad, indices, upstream)
    return grad


@mistake("embedding.weight", "average|count|mean|divi|number", "averaged over the uses of a token")
def _(upstream, indices, weight, padding_idx):
    grad, uses = np.zeros(weight.shape), np.zeros(len(weight))
    np.add.at(grad, indices, upstream)
    np.add.at(uses, indices, 1)
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad / np.maximum(uses, 1)[:, None]


# Losses --------------------


@mistake("mean_class_cross_entropy.logits", "batch|divi|average|number|mean|rows", "not divided by the batch")
def _(upstream, logits, classes):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return upstream * (p - np.eye(logits.shape[-1])[classes])


@mistake("mean_class_cross_entropy.logits", "upstream", "upstream is forgotten")
def _(logits, classes):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return (p - np.eye(logits.shape[-1])[classes]) / classes.size


@mistake("mean_class_cross_entropy.logits", "one.hot|class|target|left out", "only the probabilities")
def _(upstream, logits, classes):
    p = np.exp(logits - logits.max(-1, keepdims=True))
    return upstream * p / p.sum(-1, keepdims=True) / classes.size


@mistake("mse.prediction", "batch|mean|number|divi|entries|axis|size", "divided by the rows, not by all entries")
def _(upstream, prediction, target):
    d = prediction - target
    return upstream * 2 * d / (d.shape[0] if d.ndim else 1)


@mistake("binary_cross_entropy_with_logits.logits", "sigmoid|out \\* \\(1|twice|slope|factor", "the slope of the sigmoid again")
def _(upstream, logits, target):
    p = 1 / (1 + np.exp(-logits))
    return upstream * (p - target) * p * (1 - p)


@mistake("binary_cross_entropy_with_logits.logits", "sigmoid|logits", "the sigmoid is forgotten")
def _(upstream, logits, target):
    return upstream * (logits - target)


# Training loops --------------------


@mistake("engine.training", "zero|clear|accum|kept|reset", "the gradient is never cleared")
def _(weight, backward, rate, steps):
    gradient = np.zeros_like(weight)
    for _ in range(steps):
        weight = weight - rate * backward(weight, gradient)
    return weight


@mistake("engine.training", "sign|uphill|plus|ascent|\\+", "uphill")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight + rate * backward(weight, np.zeros_like(weight))
    return weight


@mistake("engine.training", "once|outside|first|start|same|loop|again", "the gradient is computed once, before the loop")
def _(weight, backward, rate, steps):
    gradient = backward(weight, np.zeros_like(weight))
    for _ in range(steps):
        weight = weight - rate * gradient
    return weight


@mistake("engine.training", "off by one|one too|steps|one step", "one step too few")
def _(weight, backward, rate, steps):
    for _ in range(1, steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
    return weight


@mistake("engine.training", "rate", "the rate is divided by the number of steps")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight - rate / steps * backward(weight, np.zeros_like(weight))
    return weight


@mistake("engine.momentum", "rate|velocity", "the rate inside and outside")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0) + rate * gradient
    return parameter - rate * velocity, {"velocity": velocity}


@mistake("engine.momentum", "state|velocity|forgot|lost|never|kept|left out|momentum", "the state is never kept")
def _(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0) + gradient
    return parameter - rate * velocity, {}


@mistake("engine.adam", "root|sqrt|square", "the root is forgotten")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = beta1 * state.get("m", 0) + (1 - beta1) * gradient
    v = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
    return parameter - rate * m / (1 - beta1**step) / (v / (1 - beta2**step) + eps), {"m": m, "v": v}


@mistake("engine.adam", "correct|bias|step|mean", "the corrected means are kept")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    m = (beta1 * state.get("m", 0) + (1 - beta1) * gradient) / (1 - beta1**step)
    v = (beta2 * state.get("v", 0) + (1 - beta2) * gradient**2) / (1 - beta2**step)
    return parameter - rate * m / (np.sqrt(v) + eps), {"m": m, "v": v}


# The order of a graph --------------------


@mistake("engine.order", "order|level|before|children|parents|topolog|depth|visit", "depth first, on the way down")
def _(parents, root):
    seen, todo = [], [root]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.append(node)
            todo += parents[node]
    return seen


@mistake("engine.order", "unreach|every|all nodes|not used|root|too many|other", "all nodes, also unreached ones")
def _(parents, root):
    return list(range(root, -1, -1))


@mistake("engine.accumulate", "overwrit|add|accum|replac|last", "a second path overwrites the first")
def _(parents, slopes):
    grad = [0.0] * len(parents)
    grad[-1] = 1.0
    for node in reversed(range(len(parents))):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            grad[parent] = slope * grad[node]
    return grad


@mistake("engine.accumulate", "order|revers|forward|direction|before outputs", "from the first node to the last")
def _(parents, slopes):
    grad = [0.0] * len(parents)
    grad[-1] = 1.0
    for node in range(len(parents)):
        for parent, slope in zip(parents[node], slopes[node], strict=True):
            grad[parent] += slope * grad[node]
    return grad


@mistake("engine.segments", "own|slope|off by one|includ|segment|one too", "the segment's own slope is multiplied too")
def _(by_state, by_weight):
    sent, arrived = [], 1.0
    for slope, weight in zip(reversed(by_state), reversed(by_weight), strict=True):
        arrived *= slope
        sent.append(arrived * weight)
    return sent[::-1]


@mistake("engine.saved", "copy|overwrit|saved|later|now|change", "no copies are kept")
def _(a, b):
    return a * b, lambda upstream: (upstream * b, upstream * a)


@mistake("engine.saved", "exchang|own|swap|order|other", "each receives its own value")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * a, upstream * b)

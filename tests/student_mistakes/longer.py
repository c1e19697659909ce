"""Mistakes of students that take more than one line. The comment above each says what a right name must contain."""

# ruff: noqa: D103, D101, D102, ANN001, ANN201, N801, F811

import math

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Places -------------------------------


@mistake("getitem.x", "add|twice|replac|overwrit|repeat|again|last use", "the last of several uses wins")
def _(upstream, index, x_shape):
    z = np.zeros(x_shape)
    z[index] = upstream
    return z


@mistake("getitem.x", "add|twice|replac|overwrit|repeat|again|buffer", "`+=` adds only once for a repeated index")
def _(upstream, index, x_shape):
    z = np.zeros(x_shape)
    z[index] += upstream
    return z


@mistake("getitem.x", "upstream", "upstream is left out")
def _(index, x_shape):
    z = np.zeros(x_shape)
    np.add.at(z, index, 1.0)
    return z


@mistake("getitem.x", "shape|place|zeros|back", "upstream is passed on")
def _(upstream):
    return upstream


@mistake("getitem.x", "other|elsewhere|untouched|ones|0|not chosen|entries|constant", "the others receive one")
def _(upstream, index, x_shape):
    z = np.ones(x_shape)
    np.add.at(z, index, upstream)
    return z


@mistake("take.x", "add|twice|replac|overwrit|repeat|again|last use", "the last of several uses wins")
def _(upstream, indices, axis, x_shape):
    z = np.zeros(x_shape)
    if axis is None:
        z.reshape(-1)[indices] = upstream
    else:
        z[(slice(None),) * (axis % len(x_shape)) + (indices,)] = upstream
    return z


@mistake("take.x", "shape|place|zeros|back", "upstream is passed on")
def _(upstream):
    return upstream


@mistake("take.x", "axis|axes|shape|stop|run|first", "always along the first axis")
def _(upstream, indices, x_shape):
    z = np.zeros(x_shape)
    np.add.at(z, indices, upstream)
    return z


@mistake("take_along_axis.x", "add|twice|replac|overwrit|repeat|again|last use", "the last of several uses wins")
def _(upstream, indices, axis, x_shape):
    z = np.zeros(x_shape)
    np.put_along_axis(z, indices, upstream, axis)
    return z


@mistake("take_along_axis.x", "axis|shape|stop|run|last use", "the axis is fixed")
def _(upstream, indices, x_shape):
    z = np.zeros(x_shape)
    np.put_along_axis(z, indices, upstream, -1)
    return z


@mistake("take_along_axis.x", "shape|place|zeros|back", "upstream is passed on")
def _(upstream):
    return upstream


@mistake("embedding.weight", "add|twice|replac|overwrit|repeat|again|last use", "the last of several uses wins")
def _(upstream, indices, weight_shape):
    z = np.zeros(weight_shape)
    z[indices] = upstream
    return z


@mistake("embedding.weight", "add|twice|replac|overwrit|repeat|again|buffer", "`+=` adds only once")
def _(upstream, indices, weight_shape):
    z = np.zeros(weight_shape)
    z[indices] += upstream
    return z


@mistake("embedding.weight", "pad", "the row of the padding receives a gradient")
def _(upstream, indices, weight_shape):
    z = np.zeros(weight_shape)
    np.add.at(z, indices, upstream)
    return z


@mistake("embedding.weight", "upstream", "the rows are counted")
def _(upstream, indices, weight_shape, padding_idx):
    z = np.zeros(weight_shape)
    np.add.at(z, indices, 1.0)
    if padding_idx is not None:
        z[padding_idx] = 0
    return z


@mistake("embedding.weight", "mean|average|count|divid|sum|number|repeat", "the uses of a row are averaged")
def _(upstream, indices, weight_shape, padding_idx):
    z, n = np.zeros(weight_shape), np.zeros(weight_shape[0])
    np.add.at(z, indices, upstream)
    np.add.at(n, indices, 1)
    if padding_idx is not None:
        z[padding_idx] = 0
    return z / np.maximum(n, 1)[:, None]


@mistake("concatenate.parts", "shape|part|split|whole|each", "each part receives everything")
def _(upstream, parts):
    return [upstream for _ in parts]


@mistake("concatenate.parts", "order|shape|revers|part|length|axis", "the parts are exchanged")
def _(upstream, parts, axis):
    ends = np.cumsum([p.shape[axis] for p in parts])[:-1]
    return np.split(upstream, ends, axis)[::-1]


@mistake("concatenate.parts", "axis|shape|stop|run", "always along the first axis")
def _(upstream, parts):
    ends = np.cumsum([p.shape[0] for p in parts])[:-1]
    return np.split(upstream, ends, 0)


@mistake("concatenate.parts", "upstream|value|forward", "the parts themselves")
def _(upstream, parts):
    return [p.copy() for p in parts]


@mistake("concatenate.parts", "equal|length|shape|stop|run|split", "all parts have one length")
def _(upstream, parts, axis):
    return np.split(upstream, len(parts), axis)


@mistake("pad.x", "shape|cut|border|crop", "nothing is cut off")
def _(upstream):
    return upstream


@mistake("pad.x", "start|before|border|width|offset|place|cut|begin|first", "cut at the end only")
def _(upstream, x_shape):
    return upstream[tuple(slice(0, n) for n in x_shape)]


@mistake("sort.x", "order|place|invers|permut|back|sort", "upstream is passed on")
def _(upstream):
    return upstream


@mistake("sort.x", "invers|back|permut|order|again|does not have the shape", "the same order again")
def _(upstream, order, axis):
    return np.take_along_axis(upstream, order, axis)


@mistake("sort.x", "sort|order|upstream|place|invers|does not have the shape", "upstream is sorted")
def _(upstream, axis):
    return np.sort(upstream, axis)


@mistake("sort.x", "axis|does not have the shape", "the axis is fixed")
def _(upstream, order):
    return np.take_along_axis(upstream, np.argsort(order, -1), -1)


@mistake("sort.x", "flip|revers|order|place|invers|permut|sort", "upstream is reversed")
def _(upstream, axis):
    return np.flip(upstream, axis)


@mistake("cumsum.x", "revers|end|direction|flip|same|back", "the running sum in the same direction")
def _(upstream, axis, x_shape):
    if axis is None:
        return np.cumsum(upstream).reshape(x_shape)
    return np.cumsum(upstream, axis)


@mistake("cumsum.x", "sum|identity|earlier|later|passed|shape", "upstream is passed on")
def _(upstream, x_shape):
    return np.reshape(upstream, x_shape)


@mistake("cumsum.x", "exclusive|reverse", "`exclusive` and `reverse` are left out")
def _(upstream, axis, x_shape):
    if axis is None:
        return np.flip(np.cumsum(np.flip(upstream.reshape(-1)))).reshape(x_shape)
    return np.flip(np.cumsum(np.flip(upstream, axis), axis), axis)


# Images -------------------------------


def convolve_back(x, w, up, stride, pad, dil, groups, *, flip=False, write=False, weight=False):
    (n, c, h, wd), (f, cg, kh, kw) = x.shape, w.shape
    xp = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    gx, gw = np.zeros_like(xp), np.zeros_like(w)
    for o in range(f):
        first = (o // (f // groups)) * cg
        for i in range(up.shape[2]):
            for j in range(up.shape[3]):
                rows = i * stride[0] + dil[0] * np.arange(kh)
                cols = j * stride[1] + dil[1] * np.arange(kw)
                place = np.ix_(range(n), range(first, first + cg), rows, cols)
                kernel = w[o, :, ::-1, ::-1] if flip else w[o]
                gw[o] += (up[:, o, i, j][:, None, None, None] * xp[place]).sum(0)
                sent = up[:, o, i, j][:, None, None, None] * kernel
                gx[place] = sent if write else gx[place] + sent
    return gw if weight else gx[:, :, pad[0] : pad[0] + h, pad[1] : pad[1] + wd]


@mistake("conv2d.x", "flip|kernel|rotat|turn|mirror|180", "the kernel is flipped")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return convolve_back(x, weight, upstream, stride, padding, dilation, groups, flip=True)


@mistake("conv2d.x", "add|overlap|overwrit|replac|window|last", "overlapping windows overwrite each other")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return convolve_back(x, weight, upstream, stride, padding, dilation, groups, write=True)


@mistake("conv2d.x", "sign|minus", "a minus too many")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return -convolve_back(x, weight, upstream, stride, padding, dilation, groups)


@mistake("conv2d.x", "padding|shape", "the padding is not cut off")
def _(x, weight, upstream, stride, padding, dilation, groups):
    wide = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    return convolve_back(wide, weight, upstream, stride, (0, 0), dilation, groups)


@mistake("conv2d.weight", "mean|batch|divid|average|factor", "averaged over the batch")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return convolve_back(x, weight, upstream, stride, padding, dilation, groups, weight=True) / len(x)


@mistake("conv2d.weight", "flip|kernel|rotat|turn|mirror|180|revers", "the answer is flipped")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return convolve_back(x, weight, upstream, stride, padding, dilation, groups, weight=True)[..., ::-1, ::-1]


@mistake("conv2d.weight", "sign|minus", "a minus too many")
def _(x, weight, upstream, stride, padding, dilation, groups):
    return -convolve_back(x, weight, upstream, stride, padding, dilation, groups, weight=True)


def average_back(up, x_shape, kernel, stride, pad, *, divide=None, write=False):
    n, c, h, w = x_shape
    g = np.zeros((n, c, h + 2 * pad[0], w + 2 * pad[1]))
    for i in range(up.shape[2]):
        for j in range(up.shape[3]):
            place = np.s_[:, :, i * stride[0] : i * stride[0] + kernel[0], j * stride[1] : j * stride[1] + kernel[1]]
            sent = up[:, :, i, j][..., None, None] / (kernel[0] * kernel[1] if divide is None else divide)
            g[place] = sent if write else g[place] + sent
    return g[:, :, pad[0] : pad[0] + h, pad[1] : pad[1] + w]


@mistake("avg_pool2d.x", "divid|count|sum|size|mean|area|kernel", "not divided by the size of the window")
def _(upstream, x_shape, kernel_size, stride, padding):
    return average_back(upstream, x_shape, kernel_size, stride, padding, divide=1)


@mistake("avg_pool2d.x", "add|overlap|overwrit|replac|window|last", "overlapping windows overwrite each other")
def _(upstream, x_shape, kernel_size, stride, padding):
    return average_back(upstream, x_shape, kernel_size, stride, padding, write=True)


@mistake("avg_pool2d.x", "pad|count|border", "`count_include_pad` is left out")
def _(upstream, x_shape, kernel_size, stride, padding):
    return average_back(upstream, x_shape, kernel_size, stride, padding)


@mistake("avg_pool2d.x", "divid|count|size|kernel|side|area", "divided by one side of the window")
def _(upstream, x_shape, kernel_size, stride, padding):
    return average_back(upstream, x_shape, kernel_size, stride, padding, divide=kernel_size[0])


def largest_back(up, x, kernel, stride, pad, dil, *, every=False, write=False, ties=False):
    n, c, h, w = x.shape
    wide = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2), constant_values=-np.inf)
    g = np.zeros_like(wide)
    for i in range(up.shape[2]):
        for j in range(up.shape[3]):
            rows, cols = i * stride[0] + dil[0] * np.arange(kernel[0]), j * stride[1] + dil[1] * np.arange(kernel[1])
            place = np.ix_(range(n), range(c), rows, cols)
            window = wide[place]
            mask = window == window.max((2, 3), keepdims=True)
            if not ties:
                flat = mask.reshape(n, c, -1)
                mask = (np.cumsum(flat, -1) * flat == 1).reshape(mask.shape)
            sent = up[:, :, i, j][..., None, None] * (np.ones_like(mask) if every else mask)
            g[place] = np.where(mask, sent, g[place]) if write else g[place] + sent
    return g[:, :, pad[0] : pad[0] + h, pad[1] : pad[1] + w]


@mistake("max_pool2d.x", "every|all|mask|average|largest|window|sum|chosen", "every entry of the window receives everything")
def _(upstream, x, kernel_size, stride, padding, dilation):
    return largest_back(upstream, x, kernel_size, stride, padding, dilation, every=True)


@mistake("max_pool2d.x", "add|overlap|overwrit|replac|window|last", "overlapping windows overwrite each other")
def _(upstream, x, kernel_size, stride, padding, dilation):
    return largest_back(upstream, x, kernel_size, stride, padding, dilation, write=True)


@mistake("max_pool2d.x", "tie", "each tied entry receives everything")
def _(upstream, x, kernel_size, stride, padding, dilation):
    return largest_back(upstream, x, kernel_size, stride, padding, dilation, ties=True)


@mistake("max_pool2d.x", "sign|minus", "a minus too many")
def _(upstream, x, kernel_size, stride, padding, dilation):
    return -largest_back(upstream, x, kernel_size, stride, padding, dilation)


# Matrices -----------------------------


@mistake("solve.a+b", "transpos", "the transpose is missing")
def _(upstream, out, a):
    gb = np.linalg.solve(a, upstream)
    return -gb @ np.swapaxes(out, -1, -2), gb


@mistake("solve.a+b", "sign|minus", "the minus is forgotten")
def _(upstream, out, a):
    gb = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    return gb @ np.swapaxes(out, -1, -2), gb


@mistake("solve.a+b", "`b`|`out`|solution|right side|input", "the right side for the solution")
def _(upstream, b, a):
    gb = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    return -gb @ np.swapaxes(b, -1, -2), gb


@mistake("solve.a+b", "order|swap|transpos", "the product the wrong way round")
def _(upstream, out, a):
    gb = np.linalg.solve(np.swapaxes(a, -1, -2), upstream)
    return -out @ np.swapaxes(gb, -1, -2), gb


@mistake("solve.a+b", "upstream|solv|invers|`a`", "nothing is solved for b")
def _(upstream, out, a):
    return -upstream @ np.swapaxes(out, -1, -2), upstream


# Normalisation, attention -------------


def layer_back(upstream, weight, unit, scale, axes, *, ax=None, first=True, second=True, total=False, scaled=True):
    g = upstream if weight is None else upstream * weight
    ax = tuple(range(-axes, 0)) if ax is None else ax
    mean = np.sum if total else np.mean
    h = g
    if first:
        h = h - mean(g, axis=ax, keepdims=True)
    if second:
        h = h - unit * mean(g * unit, axis=ax, keepdims=True)
    return h * scale if scaled else h


@mistake("layer_norm.x", "weight", "the weight is left out")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, None, unit, scale, axes)


@mistake("layer_norm.x", "mean|first|term|path|left out|centre", "the way by the mean is forgotten")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, first=False)


@mistake("layer_norm.x", "variance|second|term|path|unit|left out|deviation|scale|spread", "the variance's way is forgotten")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, second=False)


@mistake("layer_norm.x", "mean|statistic|constant|variance|term|path|depend|plain scaling", "the statistics are taken for constants")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, first=False, second=False)


@mistake("layer_norm.x", "mean|sum", "the sum for the mean")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, total=True)


@mistake("layer_norm.x", "axis|axes", "the axis is fixed")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, ax=-1)


@mistake("layer_norm.x", "scale|deviation|divid|left out", "the scale is left out")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, scaled=False)


@mistake("layer_norm.x", "scale|variance|root|square|twice", "the scale twice: the variance for its root")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes) * scale


@mistake("layer_norm.x", "`x`|unit|normal|input", "the input for the unit")
def _(upstream, weight, x, scale, axes):
    return layer_back(upstream, weight, x, scale, axes)


@mistake("layer_norm.x", "`out`|unit|output", "the output for the unit")
def _(upstream, weight, out, scale, axes):
    return layer_back(upstream, weight, out, scale, axes)


@mistake("layer_norm.x", "axis|axes|batch|first", "the axis of the batch")
def _(upstream, weight, unit, scale, axes):
    return layer_back(upstream, weight, unit, scale, axes, ax=0)


def batch_back(upstream, weight, unit, scale, *, ax=None, first=True, second=True, total=False, scaled=True, sign=1):
    shape = (1, -1) + (1,) * (upstream.ndim - 2)
    ax = (0, *range(2, upstream.ndim)) if ax is None else ax
    g = upstream if weight is None else upstream * weight.reshape(shape)
    mean = np.sum if total else np.mean
    h = g
    if first:
        h = h - sign * mean(g, axis=ax, keepdims=True)
    if second:
        h = h - sign * unit * mean(g * unit, axis=ax, keepdims=True)
    return h * (np.reshape(scale, shape) if np.ndim(scale) == 1 else scale) if scaled else h


@mistake("batch_norm.x", "weight", "the weight is left out")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, None, unit, scale)


@mistake("batch_norm.x", "mean|statistic|constant|variance|term|path|depend|plain scaling", "the statistics are taken for constants")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, first=False, second=False)


@mistake("batch_norm.x", "mean|first|term|path|left out", "the way by the mean is forgotten")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, first=False)


@mistake("batch_norm.x", "variance|second|term|path|unit|left out|spread|scale", "the variance's way is forgotten")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, second=False)


@mistake("batch_norm.x", "axis|axes|layer", "the axis of layer norm")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, ax=-1)


@mistake("batch_norm.x", "axis|axes|batch", "the batch only")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, ax=0)


@mistake("batch_norm.x", "mean|sum", "the sum for the mean")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, total=True)


@mistake("batch_norm.x", "scale|deviation|divid|left out", "the scale is left out")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, scaled=False)


@mistake("batch_norm.x", "sign|minus", "plus for minus")
def _(upstream, weight, unit, scale):
    return batch_back(upstream, weight, unit, scale, sign=-1)


def attention_back(upstream, query, key, value, bias, scale, weights, edit):
    t = lambda x: np.swapaxes(x, -1, -2)  # noqa: E731 - as a student writes it
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    gv = t(weights) @ upstream
    gw = upstream @ t(value)
    gs = weights * (gw - (gw * weights).sum(-1, keepdims=True))
    if edit == "elementwise":
        gs = gw * weights * (1 - weights)
    if edit == "no softmax":
        gs = gw
    if edit == "axis":
        gs = weights * (gw - (gw * weights).sum(-2, keepdims=True))
    if edit == "no sum":
        gs = gw * weights
    scaled = gs if edit == "no scale" else gs / scale if edit == "divided" else gs * scale
    gq, gk = scaled @ key, t(scaled) @ query
    if edit == "value transposed":
        gv = weights @ upstream
    if edit == "no transpose":
        gk = scaled @ query
    if edit == "swapped":
        gq, gk = gk, gq
    if edit == "bias scaled":
        gs = gs * scale
    if edit == "sign":
        gq, gk = -gq, -gk
    answers = [gq, gk, gv]
    if bias is not None:
        while gs.ndim > bias.ndim:
            gs = gs.sum(0)
        gs = gs.sum(tuple(i for i, n in enumerate(bias.shape) if n == 1 and gs.shape[i] != 1), keepdims=True)
        answers.append(gs)
    return tuple(answers)


def attention(edit, pattern, what):
    @mistake("scaled_dot_product_attention.query+key+value+bias", pattern, what)
    def _(upstream, query, key, value, bias, scale, weights):
        return attention_back(upstream, query, key, value, bias, scale, weights, edit)


attention("elementwise", "diagonal|entry|softmax", "only the diagonal of softmax")
attention("no softmax", "softmax", "the rule of softmax is left out")
attention("axis", "axis|softmax", "softmax along the wrong axis")
attention("no sum", "sum|softmax|term|left out", "the second term of softmax is left out")
attention("no scale", "scale", "the scale is left out")
attention("divided", "scale|divid|root|as a factor", "divided by the scale")
attention("value transposed", "transpos|shape|weights|value|stop|run", "the transpose of the weights is missing")
attention("no transpose", "transpos|shape|key|stop|run", "the transpose of the scores is missing")
attention("swapped", "swap|exchang|order|query|key|shape", "query and key are exchanged")
attention("bias scaled", "bias|scale|as a factor", "the bias receives the scaled gradient")
attention("sign", "sign|minus", "a minus too many")


# Whole programs -----------------------


def walk_tied(x, w, h, t, o, edits):
    go = edits.get("o", 2 * o)
    gt = edits.get("t", lambda go: go @ w)(go)
    gh = edits.get("h", lambda gt: gt * (1 - t**2))(gt)
    gx = edits.get("x", lambda gh: gh @ w.T)(gh)
    gw = edits.get("w", lambda gh, go: x.T @ gh + go.T @ t)(gh, go)
    return {"o": go, "t": gt, "h": gh, "x": gx, "w": gw}


def tied_mistake(pattern, what, make):
    @mistake("tied.gradients", pattern, what)
    def _(x, w, h, t, o, y):
        return walk_tied(x, w, h, t, o, make(x, w, h, t, o, y))


tied_mistake("path|once|overwrit|second|tied|way|contribution|left out|first|forgotten", "the second use of w is forgotten",
             lambda x, w, h, t, o, y: {"w": lambda gh, go: x.T @ gh})  # fmt: skip
tied_mistake("path|once|overwrit|first|tied|way|contribution|left out|last", "the first use of w is forgotten",
             lambda x, w, h, t, o, y: {"w": lambda gh, go: go.T @ t})  # fmt: skip
tied_mistake("mean|average|half|factor 2", "the uses of w are averaged",
             lambda x, w, h, t, o, y: {"w": lambda gh, go: (x.T @ gh + go.T @ t) / 2})  # fmt: skip
tied_mistake("sign|minus|subtract", "the uses of w are subtracted",
             lambda x, w, h, t, o, y: {"w": lambda gh, go: x.T @ gh - go.T @ t})  # fmt: skip
tied_mistake("2|two|half|path|factor|once|way", "the two is forgotten", lambda x, w, h, t, o, y: {"o": o})
tied_mistake("2|`o`|factor|constant|value|path|local", "two only", lambda x, w, h, t, o, y: {"o": 2 * np.ones_like(o)})
tied_mistake("tanh|local|left out|skip|identity", "the slope of tanh is left out",
             lambda x, w, h, t, o, y: {"h": lambda gt: gt})  # fmt: skip
tied_mistake("input|output|`h`|`t`|value|tanh", "the input of tanh for its output",
             lambda x, w, h, t, o, y: {"h": lambda gt: gt * (1 - h**2)})  # fmt: skip
tied_mistake("sigmoid", "the rule of the sigmoid", lambda x, w, h, t, o, y: {"h": lambda gt: gt * t * (1 - t)})
tied_mistake("square|power|tanh", "the square is forgotten", lambda x, w, h, t, o, y: {"h": lambda gt: gt * (1 - t)})
tied_mistake("upstream|tanh|left out", "upstream is left out at tanh",
             lambda x, w, h, t, o, y: {"h": lambda gt: 1 - t**2})  # fmt: skip
tied_mistake("sign|minus", "a minus too many", lambda x, w, h, t, o, y: {"o": -2 * o})
tied_mistake("transpos|shape", "the gradient of w is transposed",
             lambda x, w, h, t, o, y: {"w": lambda gh, go: (x.T @ gh + go.T @ t).T})  # fmt: skip


def walk_stages(x, t, e, s, p, lp, edits):
    glp = edits.get("lp", -t)
    gp = edits.get("p", lambda glp: glp / p)(glp)
    gs = edits.get("s", lambda gp: -(gp * e).sum(1, keepdims=True) / s**2)(gp)
    ge = edits.get("e", lambda gp, gs: gp / s + gs)(gp, gs)
    gx = edits.get("x", lambda ge: ge * e)(ge)
    return {"lp": glp, "p": gp, "s": gs, "e": ge, "x": gx, "t": edits.get("t", -lp)}


def stages_mistake(pattern, what, make):
    @mistake("stages.gradients", pattern, what)
    def _(x, t, e, s, p, lp, loss):
        return walk_stages(x, t, e, s, p, lp, make(x, t, e, s, p, lp))


stages_mistake("sign|minus", "the minus of the loss is forgotten", lambda x, t, e, s, p, lp: {"lp": t})
stages_mistake("mean|batch|divid|average|half|factor", "averaged over the rows", lambda x, t, e, s, p, lp: {"lp": -t / len(t)})
stages_mistake("log|divid|`p`|multipl|slope|local|upside", "multiplied by p instead of divided",
               lambda x, t, e, s, p, lp: {"p": lambda glp: glp * p})  # fmt: skip
stages_mistake("log|left out|local|skip|identity", "the slope of log is left out",
               lambda x, t, e, s, p, lp: {"p": lambda glp: glp})  # fmt: skip
stages_mistake("upstream", "upstream is left out at log", lambda x, t, e, s, p, lp: {"p": lambda glp: 1 / p})
stages_mistake("sign|minus", "the minus of the quotient is forgotten",
               lambda x, t, e, s, p, lp: {"s": lambda gp: (gp * e).sum(1, keepdims=True) / s**2})  # fmt: skip
stages_mistake("square|power|`s`|divid", "the square is forgotten",
               lambda x, t, e, s, p, lp: {"s": lambda gp: -(gp * e).sum(1, keepdims=True) / s})  # fmt: skip
stages_mistake("sum|broadcast|shape|axes", "not summed along the row",
               lambda x, t, e, s, p, lp: {"s": lambda gp: -(gp * e) / s**2})  # fmt: skip
stages_mistake("mean|average|sum|broadcast", "averaged along the row",
               lambda x, t, e, s, p, lp: {"s": lambda gp: -(gp * e).mean(1, keepdims=True) / s**2})  # fmt: skip
stages_mistake("path|once|way|contribution|left out|overwrit|sum", "the way by the sum is forgotten",
               lambda x, t, e, s, p, lp: {"e": lambda gp, gs: gp / s})  # fmt: skip
stages_mistake("path|once|way|contribution|left out|overwrit", "the way by the quotient is forgotten",
               lambda x, t, e, s, p, lp: {"e": lambda gp, gs: gs + 0 * e})  # fmt: skip
stages_mistake("exp|left out|local|skip|identity", "the slope of exp is left out",
               lambda x, t, e, s, p, lp: {"x": lambda ge: ge})  # fmt: skip
stages_mistake("exp|input|`x`|value|output", "the input of exp for its output",
               lambda x, t, e, s, p, lp: {"x": lambda ge: ge * x})  # fmt: skip
stages_mistake("sign|minus", "the minus for the targets is forgotten", lambda x, t, e, s, p, lp: {"t": lp})
stages_mistake("nothing|constant|0|zero|target", "the targets learn nothing", lambda x, t, e, s, p, lp: {"t": 0 * t})
stages_mistake("upstream", "upstream is left out at exp", lambda x, t, e, s, p, lp: {"x": lambda ge: e})


# Engines ------------------------------


def order_mistake(pattern, what):
    return mistake("engine.order", pattern, what)


@order_mistake("breadth|level|queue|order|too early|depth", "breadth first, level by level")
def _(parents, root):
    seen, queue, out = {root}, [root], []
    while queue:
        node = queue.pop(0)
        out.append(node)
        for p in parents[node]:
            if p not in seen:
                seen.add(p)
                queue.append(p)
    return out


@order_mistake("depth|order|too early|stack|preorder|first met|pre-order", "depth first, as met")
def _(parents, root):
    seen, stack, out = {root}, [root], []
    while stack:
        node = stack.pop()
        out.append(node)
        for p in parents[node]:
            if p not in seen:
                seen.add(p)
                stack.append(p)
    return out


@order_mistake("revers|order|direction|forward|leaves|beginning|inputs before", "from the leaves to the root")
def _(parents, root):
    keep, stack = {root}, [root]
    while stack:
        for p in parents[stack.pop()]:
            if p not in keep:
                keep.add(p)
                stack.append(p)
    return sorted(keep)


@order_mistake("every node|not reach|all nodes|belong|behind|unused|more|other|root", "all nodes")
def _(parents, root):
    return list(range(len(parents) - 1, -1, -1))


@order_mistake("twice|repeat|seen|once|again|visited|each path", "a node for each path")
def _(parents, root):
    if len(parents) > 500:
        return list(range(len(parents)))
    out, stack = [], [root]
    while stack and len(out) < 5000:
        node = stack.pop()
        out.append(node)
        stack.extend(parents[node])
    return out


@order_mistake("root", "the root is left out")
def _(parents, root):
    keep, stack = set(), [root]
    while stack:
        for p in parents[stack.pop()]:
            if p not in keep:
                keep.add(p)
                stack.append(p)
    return sorted(keep, reverse=True)


def accumulate_mistake(pattern, what):
    return mistake("engine.accumulate", pattern, what)


@accumulate_mistake("overwrit|replac|add|last", "the last contribution wins")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] = g[i] * s
    return g


@accumulate_mistake("order|direction|forward|revers|before|early", "from the first node to the last")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents)):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += g[i] * s
    return g


@accumulate_mistake("upstream|local", "upstream is left out")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += s
    return g


@accumulate_mistake("local|slope|factor", "the local derivative is left out")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents) - 1, -1, -1):
        for p in parents[i]:
            g[p] += g[i]
    return g


@accumulate_mistake("start|seed|begin|1|root|nothing|zero", "the walk starts with 0")
def _(parents, slopes):
    g = [0.0] * len(parents)
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += g[i] * s
    return g


@accumulate_mistake("start|seed|begin|1|all|root", "every gradient starts at 1")
def _(parents, slopes):
    g = [1.0] * len(parents)
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += g[i] * s
    return g


@accumulate_mistake("add|multipl|sum|plus", "added instead of multiplied")
def _(parents, slopes):
    g = [0.0] * len(parents)
    g[-1] = 1.0
    for i in range(len(parents) - 1, -1, -1):
        for p, s in zip(parents[i], slopes[i]):
            g[p] += g[i] + s
    return g


def unbroadcast_mistake(pattern, what):
    return mistake("engine.unbroadcast", pattern, what)


@unbroadcast_mistake("shape|broadcast|sum|undone|axes", "nothing is undone")
def _(x, shape):
    return x


@unbroadcast_mistake("axis|lead|new|first|only|axes|shape|length 1", "only the new axes are summed")
def _(x, shape):
    return x.sum(axis=tuple(range(x.ndim - len(shape))))


@unbroadcast_mistake("axis|lead|new|length 1|only|axes|shape", "only the axes of length 1 are summed")
def _(x, shape):
    extra = x.ndim - len(shape)
    return x.sum(axis=tuple(i + extra for i, n in enumerate(shape) if n == 1), keepdims=True)


@unbroadcast_mistake("mean|average", "averaged instead of summed")
def _(x, shape):
    x = x.mean(axis=tuple(range(x.ndim - len(shape))))
    return x.mean(axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


@unbroadcast_mistake("keepdims|shape|axes|axis|drop", "the axes of length 1 are dropped")
def _(x, shape):
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1))


@unbroadcast_mistake("first|copy|sum|one|entry", "the first copy only")
def _(x, shape):
    while x.ndim > len(shape):
        x = x[0]
    for i, n in enumerate(shape):
        if n == 1:
            x = np.take(x, [0], axis=i)
    return x


def segments_mistake(pattern, what):
    return mistake("engine.segments", pattern, what)


@segments_mistake("local|weight|upstream|segment|slope|left out|product", "only the own derivative")
def _(by_state, by_weight):
    return list(by_weight)


@segments_mistake("order|direction|first|before|earlier|wrong end|forward", "the slopes of the earlier segments")
def _(by_state, by_weight):
    out, g = [], 1.0
    for s, w in zip(by_state, by_weight):
        out.append(g * w)
        g = g * s
    return out


@segments_mistake("own|itself|slope|segment|once|many|shift|order", "the own slope as well")
def _(by_state, by_weight):
    out, g = [0.0] * len(by_state), 1.0
    for i in range(len(by_state) - 1, -1, -1):
        g = g * by_state[i]
        out[i] = g * by_weight[i]
    return out


@segments_mistake("weight|slope|left out", "the derivative for the weight is left out")
def _(by_state, by_weight):
    out, g = [0.0] * len(by_state), 1.0
    for i in range(len(by_state) - 1, -1, -1):
        out[i] = g
        g = g * by_state[i]
    return out


@segments_mistake("order|revers", "the answer is in reverse order")
def _(by_state, by_weight):
    out, g = [], 1.0
    for s, w in zip(reversed(list(by_state)), reversed(list(by_weight))):
        out.append(g * w)
        g = g * s
    return out


@segments_mistake("add|multipl|sum|plus", "the slopes are added")
def _(by_state, by_weight):
    out, g = [0.0] * len(by_state), 1.0
    for i in range(len(by_state) - 1, -1, -1):
        out[i] = g * by_weight[i]
        g = g + by_state[i]
    return out


def make_value(*, overwrite=False, order="topological", seed=1.0, tanh=None, mul=None, keep=False, add=None, once=False, key=id):
    class Value:
        def __init__(self, data, parents=(), slopes=()):
            self.data, self.grad, self.parents, self.slopes = data, 0.0, parents, slopes

        def __add__(self, other):
            return Value(self.data + other.data, (self, other), add or (1.0, 1.0))

        def __mul__(self, other):
            own = (other.data, self.data) if mul is None else mul(self.data, other.data)
            return Value(self.data * other.data, (self, other), own)

        def tanh(self):
            t = math.tanh(self.data)
            return Value(t, (self,), (1 - t * t if tanh is None else tanh(self.data, t),))

        def backward(self):
            nodes, seen = [], set()

            def visit(v):
                if key(v) not in seen:
                    seen.add(key(v))
                    if order == "preorder":
                        nodes.append(v)
                    for p in v.parents:
                        visit(p)
                    if order == "topological":
                        nodes.append(v)

            if order == "breadth":
                queue = [self]
                while queue:
                    v = queue.pop(0)
                    if key(v) not in seen:
                        seen.add(key(v))
                        nodes.append(v)
                        queue.extend(v.parents)
            elif order == "recursion":
                def send(v, g):
                    v.grad += g
                    for p, s in zip(v.parents, v.slopes):
                        send(p, v.grad * s)

                send(self, seed)
                return
            else:
                visit(self)
                if order == "topological":
                    nodes.reverse()
            if not keep:
                for v in nodes:
                    if v.parents:
                        v.grad = 0.0
            if seed is not None:
                self.grad = seed if not keep else self.grad + seed
            for v in nodes:
                if once and getattr(v, "done", False):
                    continue
                v.done = True
                for p, s in zip(v.parents, v.slopes):
                    p.grad = v.grad * s if overwrite else p.grad + v.grad * s

    return Value


for pattern, what, options in [
    ("overwrit|replac|add|last", "the gradient is overwritten", {"overwrite": True}),
    ("breadth|level|order|early", "breadth first", {"order": "breadth"}),
    ("depth|order|early|topolog", "depth first, as met", {"order": "preorder"}),
    ("recurs|order|early|twice|path|many", "recursion without an order", {"order": "recursion"}),
    ("start|seed|begin|1|zero|nothing", "the walk does not start with 1", {"seed": None}),
    ("square|power|tanh", "the square is forgotten in tanh", {"tanh": lambda x, t: 1 - t}),
    ("sigmoid|tanh", "the sigmoid's slope in tanh", {"tanh": lambda x, t: t * (1 - t)}),
    ("input|output|tanh", "the input for the output in tanh", {"tanh": lambda x, t: 1 - x * x}),
    ("tanh|local|slope|constant|left out", "the slope of tanh is left out", {"tanh": lambda x, t: 1.0}),
    ("own|other|factor|swap", "each factor receives itself", {"mul": lambda a, b: (a, b)}),
    ("multipl|factor|product|local|slope|add", "the product passes on what arrives", {"mul": lambda a, b: (1.0, 1.0)}),
    ("inner|kept|second|again|clear|call|start", "inner gradients are kept", {"keep": True}),
    ("add|sum|half|second|operand|both", "a sum sends only to one side", {"add": (1.0, 0.0)}),
]:
    mistake("engine.value", pattern, what)(make_value(**options))


@mistake("engine.saved", "saved|copy|later|overwrit|reference|chang|write|as they are now", "the inputs are read later")
def _(a, b):
    return a * b, lambda upstream: (upstream * b, upstream * a)


@mistake("engine.saved", "own|other|swap|exchang|factor", "each factor receives itself")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * a, upstream * b)


@mistake("engine.saved", "upstream", "upstream is left out")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (b, a)


@mistake("engine.saved", "saved|copy|later|overwrit|reference|chang|write|one", "one input is read later")
def _(a, b):
    kept = a.copy()
    return a * b, lambda upstream: (upstream * b, upstream * kept)


@mistake("engine.saved", "product|add|factor|multipl", "the rule of addition")
def _(a, b):
    return a * b, lambda upstream: (upstream, upstream)


@mistake("engine.neuron", "data|graph|number|broken|detach|cut", "the sum is made of plain numbers")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs):
        total = total + w.data * x.data
    return total.tanh()


@mistake("engine.neuron", "data|graph|number|broken|detach|cut|input", "the inputs are plain numbers")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs):
        total = total + w * x.data
    return total.tanh()


@mistake("engine.neuron", "bias", "the bias is forgotten")
def _(weights, inputs, bias):
    total = weights[0] * inputs[0]
    for w, x in zip(weights[1:], inputs[1:]):
        total = total + w * x
    return total.tanh()


@mistake("engine.neuron", "tanh|nonlinear|activation", "tanh is forgotten")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs):
        total = total + w * x
    return total


@mistake("engine.neuron", "bias|data|graph|number|broken", "the bias is a plain number")
def _(weights, inputs, bias):
    total = weights[0] * inputs[0] + bias.data
    for w, x in zip(weights[1:], inputs[1:]):
        total = total + w * x
    return total.tanh()


@mistake("engine.neuron", "relu|tanh|activation", "relu for tanh")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs):
        total = total + w * x
    return total.relu()


def momentum(rule):
    def step(parameter, gradient, state, rate, momentum):
        v = state.get("v", np.zeros_like(parameter))
        return rule(parameter, gradient, v, rate, momentum)

    return step


def momentum_mistake(pattern, what, rule):
    mistake("engine.momentum", pattern, what)(momentum(rule))


momentum_mistake("1 - |ema|average|mean|damp|momentum", "the gradient is weighted with 1 - momentum",
                 lambda p, g, v, r, m: (p - r * (m * v + (1 - m) * g), {"v": m * v + (1 - m) * g}))  # fmt: skip
momentum_mistake("sign|plus|minus|ascent|uphill", "uphill", lambda p, g, v, r, m: (p + r * (m * v + g), {"v": m * v + g}))
momentum_mistake("veloc|momentum|state|sgd|plain|forgot", "the velocity is forgotten", lambda p, g, v, r, m: (p - r * g, {}))
momentum_mistake("nesterov|look|twice|momentum", "Nesterov's step",
                 lambda p, g, v, r, m: (p - r * (g + m * (m * v + g)), {"v": m * v + g}))  # fmt: skip
momentum_mistake("old|before|previous|order|late", "the step is made with the old velocity",
                 lambda p, g, v, r, m: (p - r * v, {"v": m * v + g}))  # fmt: skip
momentum_mistake("rate", "the rate is left out", lambda p, g, v, r, m: (p - (m * v + g), {"v": m * v + g}))
momentum_mistake("momentum|factor|left out|1", "the momentum is left out", lambda p, g, v, r, m: (p - r * (v + g), {"v": v + g}))
momentum_mistake("rate|swap|exchang|momentum|twice", "the rate twice",
                 lambda p, g, v, r, m: (p - r * (m * v + r * g), {"v": m * v + r * g}))  # fmt: skip


def adam(change):
    def step(parameter, gradient, state, step, rate, beta1, beta2, eps):
        m, v = state.get("m", 0 * gradient), state.get("v", 0 * gradient)
        b1, b2 = (beta2, beta1) if change == "betas" else (beta1, beta2)
        m = b1 * m + (gradient if change == "no 1 - beta" else (1 - b1) * gradient)
        v = b2 * v + (1 - b2) * (np.abs(gradient) if change == "no square" else gradient**2)
        n = step - 1 if change == "step - 1" else step
        mh = m if change in ("no bias", "no bias m") else m / (1 - b1**n)
        vh = v if change in ("no bias", "no bias v") else v / (1 - b2**n)
        kept = {"m": mh, "v": vh} if change == "corrected kept" else {"m": m, "v": v}
        if change == "eps inside":
            return parameter - rate * mh / np.sqrt(vh + eps), kept
        if change == "no root":
            return parameter - rate * mh / (vh + eps), kept
        if change == "no eps":
            return parameter - rate * mh / np.sqrt(vh), kept
        if change == "no momentum":
            return parameter - rate * gradient / (np.sqrt(vh) + eps), kept
        if change == "no scale":
            return parameter - rate * mh, kept
        return parameter - (-1 if change == "ascent" else 1) * rate * mh / (np.sqrt(vh) + eps), kept

    return step


for change, pattern, what in [
    ("betas", "beta|swap|exchang", "the betas are exchanged"), ("no bias", "bias|correct|start", "no correction"),
    ("no bias m", "bias|correct|start|first|beta1", "the first mean is not corrected"),
    ("no bias v", "bias|correct|start|second|square|beta2", "the second mean is not corrected"),
    ("eps inside", "eps", "eps under the root"), ("no root", "root|sqrt", "the root is forgotten"),
    ("no eps", "eps", "eps is left out"), ("ascent", "sign|ascent|plus|minus|uphill", "uphill"),
    ("no square", "square|magnitude|absolute", "the gradient is not squared"),
    ("no 1 - beta", "1 - |beta|mean|weight|factor", "1 - beta1 is left out"),
    ("no momentum", "first|mean|momentum|m|gradient|rms", "the gradient for its mean"),
    ("no scale", "second|root|divid|scale|momentum", "not divided by the root"),
    ("corrected kept", "correct|state|kept|again|twice", "the corrected means are kept"),
    ("step - 1", "step|count|1|0|start", "steps are counted from 0"),
]:  # fmt: skip
    mistake("engine.adam", pattern, what)(adam(change))


def training_mistake(pattern, what):
    return mistake("engine.training", pattern, what)


@training_mistake("zero|clear|reset|old|sum|earlier|add|kept", "the gradient is never cleared")
def _(weight, backward, rate, steps):
    g = np.zeros_like(weight)
    for _ in range(steps):
        g = backward(weight, g)
        weight = weight - rate * g
    return weight


@training_mistake("sign|ascent|plus|minus|uphill", "uphill")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight + rate * backward(weight, np.zeros_like(weight))
    return weight


@training_mistake("one|few|many|step|count", "one step too few")
def _(weight, backward, rate, steps):
    for _ in range(1, steps):
        weight = weight - rate * backward(weight, np.zeros_like(weight))
    return weight


@training_mistake("rate", "the rate is left out")
def _(weight, backward, rate, steps):
    for _ in range(steps):
        weight = weight - backward(weight, np.zeros_like(weight))
    return weight


@training_mistake("once|loop|again|stale|old|start|one|constant|same|first gradient", "the gradient is computed once")
def _(weight, backward, rate, steps):
    g = backward(weight, np.zeros_like(weight))
    for _ in range(steps):
        weight = weight - rate * g
    return weight


@training_mistake("one|step|loop|only|few|count", "one step only")
def _(weight, backward, rate, steps):
    return weight - rate * backward(weight, np.zeros_like(weight))


@training_mistake("start|begin|weight|0|kept", "the step starts from the first weight")
def _(weight, backward, rate, steps):
    first = weight
    for _ in range(steps):
        weight = first - rate * backward(weight, np.zeros_like(weight))
    return weight


def differences(change):
    def slope(f, x, upstream, h):
        g = np.zeros_like(x)
        for i in np.ndindex(x.shape):
            a, b = x.copy(), x.copy()
            a[i] += h
            b[i] -= h
            right, left, here = f(a), f(b), f(x)
            up = np.ones_like(right) if change == "no upstream" else upstream
            if change == "one side":
                g[i] = (up * (right - here)).sum() / h
            elif change == "half":
                g[i] = (up * (right - left)).sum() / h
            elif change == "no h":
                g[i] = (up * (right - left)).sum() / 2
            elif change == "sign":
                g[i] = (up * (left - right)).sum() / (2 * h)
            elif change == "mean":
                g[i] = (up * (right - left)).mean() / (2 * h)
            else:
                g[i] = (up * (right - left)).sum() / (2 * h)
        return g

    return slope


for change, pattern, what in [
    ("no upstream", "upstream", "upstream is left out"), ("one side", "side|forward|central|one", "one side only"),
    ("half", "2|two|twice|half", "divided by h, not 2 h"), ("no h", "h|step|divid|factor", "not divided by h"),
    ("sign", "sign|minus|order", "the difference the wrong way round"), ("mean", "mean|sum|average", "the mean"),
]:  # fmt: skip
    mistake("engine.differences", pattern, what)(differences(change))


@mistake("engine.differences", "all|together|at once|entry|once|each|every|does not have the shape", "all entries move together")
def _(f, x, upstream, h):
    return upstream * (f(x + h) - f(x - h)) / (2 * h)


def compare_mistake(pattern, what):
    return mistake("engine.compare", pattern, what)


@compare_mistake("shape", "shapes are not compared")
def _(gradient, left, right):
    slack = 1e-4 * max(np.abs(left).max(initial=0), np.abs(right).max(initial=0))
    low, high = np.minimum(left, right) - slack, np.maximum(left, right) + slack
    return bool(np.all((gradient >= low) & (gradient <= high)))


@compare_mistake("any|all|every|one|entry|entries|some", "one right entry is enough")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * max(np.abs(left).max(initial=0), np.abs(right).max(initial=0))
    low, high = np.minimum(left, right) - slack, np.maximum(left, right) + slack
    return bool(np.any((gradient >= low) & (gradient <= high)))


@compare_mistake("order|smaller|left|right|between|min|kink|fall", "left is taken for the smaller slope")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * max(np.abs(left).max(initial=0), np.abs(right).max(initial=0))
    return bool(np.all((gradient >= left - slack) & (gradient <= right + slack)))


@compare_mistake("sum|mean|average|cancel|total", "sums are compared")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    return bool(abs(gradient.sum() - (left + right).sum() / 2) <= 1e-4 * np.abs(left).max(initial=0))


@compare_mistake("middle|mean|kink|average|between|central", "compared with the middle only")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    slack = 1e-4 * max(np.abs(left).max(initial=0), np.abs(right).max(initial=0))
    return bool(np.all(np.abs(gradient - (left + right) / 2) <= slack))


@compare_mistake("slack|toleran|exact|round|give|1e-4", "no slack at all")
def _(gradient, left, right):
    if gradient.shape != left.shape:
        return False
    low, high = np.minimum(left, right), np.maximum(left, right)
    return bool(np.all((gradient >= low) & (gradient <= high)))

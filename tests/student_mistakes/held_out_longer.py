"""Held-out mistakes of students that take more than one line. They were written before the table of mistakes was read."""

# ruff: noqa: D103, D101, D102, ANN001, ANN201, N801, F811

import numpy as np

from .notes import start_list

MISTAKES, mistake = start_list()


# Gradients by hand --------------------


@mistake("diamond.gradients", "path|forgotten|one way|accum|overwrit|add|replac", "only the last path counts")
def _(a, b, s, p, y):
    dp, ds = s, p
    return {"p": dp, "s": ds, "a": dp * b, "b": dp * a}


@mistake("diamond.gradients", "path|forgotten|one way|accum|overwrit|add|replac|`p_grad \\* b` is left out", "the path through p is forgotten")
def _(a, b, s, p, y):
    return {"p": s, "s": p, "a": p, "b": p}


@mistake("diamond.gradients", "own|swap|other|exchang|itself|value", "s and p swapped")
def _(a, b, s, p, y):
    dp, ds = p, s
    return {"p": dp, "s": ds, "a": ds + dp * b, "b": ds + dp * a}


@mistake("diamond.gradients", "own|swap|other|exchang|itself|value", "own value in the product a * b")
def _(a, b, s, p, y):
    dp, ds = s, p
    return {"p": dp, "s": ds, "a": ds + dp * a, "b": ds + dp * b}


@mistake("diamond.gradients", "upstream|chain|local", "upstream of the product left out")
def _(a, b, s, p, y):
    dp, ds = s, p
    return {"p": dp, "s": ds, "a": ds + b, "b": ds + a}


@mistake("diamond.gradients", "upstream|chain|local", "upstream of the sum left out")
def _(a, b, s, p, y):
    dp, ds = s, p
    return {"p": dp, "s": ds, "a": 1 + dp * b, "b": 1 + dp * a}


@mistake("tied.gradients", "path|use|tied|forgotten|both|one", "the weight's second use is forgotten")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t * t)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh}


@mistake("tied.gradients", "path|use|tied|forgotten|both|one|h_grad` is left out", "the weight's first use is forgotten")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t * t)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": do.T @ t}


@mistake("tied.gradients", "2|half|once|factor|two|square", "the 2 of the square is forgotten")
def _(x, w, h, t, o, y):
    do = o
    dt = do @ w
    dh = dt * (1 - t * t)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "tanh|square|out|`t`|local", "the square in tanh's rule is forgotten")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - t)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "tanh|input|`h`", "tanh's rule on its input")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt * (1 - h * h)
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("tied.gradients", "tanh|left out|pass|local", "tanh is forgotten")
def _(x, w, h, t, o, y):
    do = 2 * o
    dt = do @ w
    dh = dt
    return {"o": do, "t": dt, "h": dh, "x": dh @ w.T, "w": x.T @ dh + do.T @ t}


@mistake("stages.gradients", "path|forgotten|column|both|accum|one|`s_grad` is left out", "the path of e through s is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "sign|minus|negative", "the minus of the division is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "sign|minus|negative", "the minus of the loss is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "square|divi|`s`|power", "the square in the division is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "shape|sum|broadcast", "the sum over the row is forgotten")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = -dp * e / s**2
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "log|multipl|divi|input|`p`", "log's rule multiplies")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp * p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": -lp}


@mistake("stages.gradients", "exp|`x`|input|out", "exp's rule on its input")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * x, "t": -lp}


@mistake("stages.gradients", "sign|minus|negative", "the target's sign")
def _(x, t, e, s, p, lp, loss):
    dlp = -t
    dp = dlp / p
    ds = (-dp * e / s**2).sum(1, keepdims=True)
    de = dp / s + ds
    return {"lp": dlp, "p": dp, "s": ds, "e": de, "x": de * e, "t": lp}


# Engines ------------------------------


@mistake("engine.order", "order|wait|early|before|user|depth|parents|first", "a depth-first order without waiting")
def _(parents, root):
    order, seen, todo = [], set(), [root]
    while todo:
        i = todo.pop()
        if i not in seen:
            seen.add(i)
            order.append(i)
            todo.extend(parents[i])
    return order


@mistake("engine.order", "order|wait|early|before|user|breadth|level|first", "level by level")
def _(parents, root):
    order, seen, todo = [], {root}, [root]
    while todo:
        i = todo.pop(0)
        order.append(i)
        for p in parents[i]:
            if p not in seen:
                seen.add(p)
                todo.append(p)
    return order


@mistake("engine.order", "revers|wrong way|first|order|direction|parents|inputs before", "not reversed")
def _(parents, root):
    need, todo = set(), [root]
    while todo:
        i = todo.pop()
        if i not in need:
            need.add(i)
            todo.extend(parents[i])
    return sorted(need)


@mistake("engine.order", "reach|not computed|belong|every node|all nodes|unused|other", "every node of the graph")
def _(parents, root):
    return list(range(root, -1, -1))


@mistake("engine.order", "root|missing|left out", "the root is left out")
def _(parents, root):
    need, todo = set(), list(parents[root])
    while todo:
        i = todo.pop()
        if i not in need:
            need.add(i)
            todo.extend(parents[i])
    return sorted(need, reverse=True)


@mistake("engine.order", "twice|repeat|once|more than|several|visited|again", "shared nodes more than once")
def _(parents, root):
    order, todo = [], [root]
    while todo and len(order) < 5000:
        i = todo.pop(0)
        order.append(i)
        todo.extend(parents[i])
    return order


@mistake("engine.accumulate", "replac|overwrit|add", "overwrites instead of adding")
def _(parents, slopes):
    grads = [0.0] * len(parents)
    grads[-1] = 1.0
    for i in reversed(range(len(parents))):
        for p, s in zip(parents[i], slopes[i], strict=True):
            grads[p] = s * grads[i]
    return grads


@mistake("engine.accumulate", "upstream", "upstream is forgotten")
def _(parents, slopes):
    grads = [0.0] * len(parents)
    grads[-1] = 1.0
    for i in reversed(range(len(parents))):
        for p, s in zip(parents[i], slopes[i], strict=True):
            grads[p] += s
    return grads


@mistake("engine.accumulate", "order|first|direction|revers|last|inputs before", "walks from the first node on")
def _(parents, slopes):
    grads = [0.0] * len(parents)
    grads[-1] = 1.0
    for i in range(len(parents)):
        for p, s in zip(parents[i], slopes[i], strict=True):
            grads[p] += s * grads[i]
    return grads


@mistake("engine.accumulate", "1|seed|start|last|zero|nothing|begin", "the last gradient is not set to 1")
def _(parents, slopes):
    grads = [0.0] * len(parents)
    for i in reversed(range(len(parents))):
        for p, s in zip(parents[i], slopes[i], strict=True):
            grads[p] += s * grads[i]
    return grads


@mistake("engine.accumulate", "set|once|both|twice|same|operand|dict", "one node as both parents counts once")
def _(parents, slopes):
    grads = [0.0] * len(parents)
    grads[-1] = 1.0
    for i in reversed(range(len(parents))):
        for p, s in dict(zip(parents[i], slopes[i], strict=True)).items():
            grads[p] += s * grads[i]
    return grads


@mistake("engine.segments", "own|itself|left out|weight|slope|factor|upstream", "the slopes are left out")
def _(by_state, by_weight):
    return list(by_weight)


@mistake("engine.segments", "own|include|too many|one too|early|before|slope|order", "its own slope is counted")
def _(by_state, by_weight):
    out, g = [], 1.0
    for s, w in zip(reversed(by_state), reversed(by_weight), strict=True):
        g = g * s
        out.append(g * w)
    return out[::-1]


@mistake("engine.segments", "revers|order|way round|direction", "not reversed at the end")
def _(by_state, by_weight):
    out, g = [], 1.0
    for s, w in zip(reversed(by_state), reversed(by_weight), strict=True):
        out.append(g * w)
        g = g * s
    return out


@mistake("engine.segments", "first|direction|order|way round|before|front|revers|beginning", "walks from the front")
def _(by_state, by_weight):
    out, g = [], 1.0
    for s, w in zip(by_state, by_weight, strict=True):
        out.append(g * w)
        g = g * s
    return out


def run_training(weight, backward, rate, steps, *, zero=True, sign=-1.0, fix=None):
    w, g = np.array(weight, dtype=float), np.zeros_like(weight)
    for _ in range(steps):
        if zero:
            g = np.zeros_like(weight)
        g = backward(weight if fix else w, g)
        w = w + sign * rate * g
    return w


@mistake("engine.training", "zero|clear|accum|kept|earlier|reset", "the gradient is not cleared")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, rate, steps, zero=False)


@mistake("engine.training", "sign|uphill|ascent|minus|climb|up", "uphill")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, rate, steps, sign=1.0)


@mistake("engine.training", "old|first|start|same|weight|new|moved", "the gradient at the first weight")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, rate, steps, fix=True)


@mistake("engine.training", "step|one|too few|short|fewer|less", "one step too few")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, rate, steps - 1)


@mistake("engine.training", "step|one|once|only|loop", "a single step")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, rate, 1)


@mistake("engine.training", "rate", "no rate")
def _(weight, backward, rate, steps):
    return run_training(weight, backward, 1.0, steps)


@mistake("engine.momentum", "1 -|dampen|1 −|mean|average|share|factor|momentum", "a running mean")
def _(parameter, gradient, state, rate, momentum):
    v = momentum * state.get("v", 0.0) + (1 - momentum) * gradient
    return parameter - rate * v, {"v": v}


@mistake("engine.momentum", "state|velocity|momentum|kept|forgotten|remember|plain", "no velocity")
def _(parameter, gradient, state, rate, momentum):
    return parameter - rate * gradient, {}


@mistake("engine.momentum", "sign|uphill|ascent|minus|climb|up", "uphill")
def _(parameter, gradient, state, rate, momentum):
    v = momentum * state.get("v", 0.0) + gradient
    return parameter + rate * v, {"v": v}


@mistake("engine.momentum", "nesterov|look|ahead|old|before|earlier", "Nesterov's momentum")
def _(parameter, gradient, state, rate, momentum):
    v = momentum * state.get("v", 0.0) + gradient
    return parameter - rate * (gradient + momentum * v), {"v": v}


@mistake("engine.momentum", "old|before|order|earlier|previous|late", "steps with the old velocity")
def _(parameter, gradient, state, rate, momentum):
    v = state.get("v", 0.0)
    return parameter - rate * v, {"v": momentum * v + gradient}


def run_adam(p, g, state, t, rate, b1, b2, eps, *, correct=(True, True), root=True, eps_in=False, square=True):
    m = b1 * state.get("m", 0.0) + (1 - b1) * g
    v = b2 * state.get("v", 0.0) + (1 - b2) * (g * g if square else g)
    mh = m / (1 - b1**t) if correct[0] else m
    vh = v / (1 - b2**t) if correct[1] else v
    if eps_in:
        return p - rate * mh / np.sqrt(vh + eps), {"m": m, "v": v}
    return p - rate * mh / ((np.sqrt(vh) if root else vh) + eps), {"m": m, "v": v}


@mistake("engine.adam", "bias|correct|start", "no correction")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step, rate, beta1, beta2, eps, correct=(False, False))


@mistake("engine.adam", "bias|correct|second|square|start|beta2", "only the first mean is corrected")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step, rate, beta1, beta2, eps, correct=(True, False))


@mistake("engine.adam", "root|sqrt", "no root")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step, rate, beta1, beta2, eps, root=False)


@mistake("engine.adam", "eps|root|inside|under", "eps under the root")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step, rate, beta1, beta2, eps, eps_in=True)


@mistake("engine.adam", "beta|swap|exchang", "betas exchanged")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step, rate, beta2, beta1, eps)


@mistake("engine.adam", "step|count|correct|zero|from 0|plus|late|1", "the step is counted one too many")
def _(parameter, gradient, state, step, rate, beta1, beta2, eps):
    return run_adam(parameter, gradient, state, step + 1, rate, beta1, beta2, eps)


@mistake("engine.saved", "copy|kept|overwritten|later|changed|now|write", "keeps no copies")
def _(a, b):
    return a * b, lambda upstream: (upstream * b, upstream * a)


@mistake("engine.saved", "own|swap|other|itself|exchang", "own values")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (upstream * a, upstream * b)


@mistake("engine.saved", "upstream", "upstream is forgotten")
def _(a, b):
    a, b = a.copy(), b.copy()
    return a * b, lambda upstream: (b, a)


@mistake("engine.neuron", "bias|left out", "no bias")
def _(weights, inputs, bias):
    total = weights[0] * inputs[0]
    for w, x in zip(weights[1:], inputs[1:], strict=True):
        total = total + w * x
    return total.tanh()


@mistake("engine.neuron", "tanh|left out|activation", "no tanh")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        total = total + w * x
    return total


@mistake("engine.neuron", r"cut|data|graph|broken", "inputs as plain numbers")
def _(weights, inputs, bias):
    total = bias
    for w, x in zip(weights, inputs, strict=True):
        total = total + w * x.data
    return total.tanh()


@mistake("engine.unbroadcast", "length 1|keep|shape|axis|axes|kept", "kept axes are dropped")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(0)
    for i, n in enumerate(shape):
        if n == 1 and x.shape[i] != 1:
            return x.sum(i)
    return x


@mistake("engine.unbroadcast", "mean|averag", "mean for sum")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.mean(0)
    for i, n in enumerate(shape):
        if n == 1:
            x = x.mean(i, keepdims=True)
    return x


@mistake("engine.unbroadcast", "front|leading|new|axis|shape|extra", "axes in front are not summed")
def _(x, shape):
    for i, n in enumerate(shape):
        if n == 1:
            x = x.sum(i, keepdims=True)
    return x


@mistake("engine.unbroadcast", "length 1|1|shape|stretch|axis|inner|kept", "only the axes in front are summed")
def _(x, shape):
    while x.ndim > len(shape):
        x = x.sum(0)
    return x


@mistake("engine.differences", "one.sided|side|forward|2 \\* h|half", "one-sided")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (upstream * (f(x + e) - f(x))).sum() / h
    return g


@mistake("engine.differences", "upstream", "upstream is forgotten")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)).sum() / (2 * h)
    return g


@mistake("engine.differences", "2|twice|factor|half|distance", "divided by h only")
def _(f, x, upstream, h):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (upstream * (f(x + e) - f(x - e))).sum() / h
    return g


@mistake("engine.compare", "shape|broadcast", "shapes are not compared")
def _(gradient, left, right):
    slack = 1e-4 * max(np.abs(left).max(), np.abs(right).max())
    return bool(np.all((gradient >= np.minimum(left, right) - slack) & (gradient <= np.maximum(left, right) + slack)))


# Rules that take several lines --------


@mistake("embedding.weight", "add|twice|repeat|overwrit|replac|again|last|buffer", "the last use wins")
def _(upstream, indices, weight_shape, padding_idx):
    g = np.zeros(weight_shape)
    g[indices] = upstream
    if padding_idx is not None:
        g[padding_idx] = 0
    return g


@mistake("embedding.weight", "padding", "padding learns, too")
def _(upstream, indices, weight_shape):
    g = np.zeros(weight_shape)
    np.add.at(g, indices, upstream)
    return g


@mistake("take.x", "add|twice|repeat|overwrit|replac|again|last|buffer", "the last use wins")
def _(upstream, indices, axis, x_shape):
    g = np.zeros(x_shape)
    where = [slice(None)] * len(x_shape)
    where[0 if axis is None else axis] = indices
    if axis is None:
        g = g.reshape(-1)
        g[indices] = upstream
        return g.reshape(x_shape)
    g[tuple(where)] = upstream
    return g


@mistake("pad.x", "crop|shape|pad|border", "not cropped")
def _(upstream):
    return upstream


@mistake("concatenate.parts", "first|order|swap|revers|part", "the parts in reverse")
def _(upstream, parts, axis):
    out, end = [], upstream.shape[axis]
    for part in parts:
        where = [slice(None)] * upstream.ndim
        where[axis] = slice(end - part.shape[axis], end)
        out.append(upstream[tuple(where)])
        end -= part.shape[axis]
    return out


@mistake("max.x", "first|tie|flat|axis|shape|largest|all|whole", "argmax of the whole array")
def _(upstream, x, axis):
    g = np.zeros_like(x)
    g.reshape(-1)[x.argmax()] = upstream.sum()
    return g


@mistake("layer_norm.x", "weight|left out", "the weight is forgotten")
def _(upstream, x, axes, eps):
    over = tuple(range(-axes, 0))
    m = x.mean(over, keepdims=True)
    s = 1 / np.sqrt(((x - m) ** 2).mean(over, keepdims=True) + eps)
    u = (x - m) * s
    return s * (upstream - upstream.mean(over, keepdims=True) - u * (upstream * u).mean(over, keepdims=True))


@mistake("layer_norm.x", "axis|axes|first|batch|last", "statistics along the first axis, as in batch norm")
def _(upstream, x, weight, eps):
    g = upstream if weight is None else upstream * weight
    m = x.mean(0)
    s = 1 / np.sqrt(x.var(0) + eps)
    u = (x - m) * s
    return s * (g - g.mean(0) - u * (g * u).mean(0))


@mistake("layer_norm.x", "mean|sum|term|left out", "the mean term is forgotten")
def _(upstream, x, weight, axes, eps):
    over = tuple(range(-axes, 0))
    g = upstream if weight is None else upstream * weight
    m = x.mean(over, keepdims=True)
    s = 1 / np.sqrt(((x - m) ** 2).mean(over, keepdims=True) + eps)
    u = (x - m) * s
    return s * (g - u * (g * u).mean(over, keepdims=True))


@mistake("layer_norm.x", "sum|mean", "sums for means")
def _(upstream, x, weight, axes, eps):
    over = tuple(range(-axes, 0))
    g = upstream if weight is None else upstream * weight
    m = x.mean(over, keepdims=True)
    s = 1 / np.sqrt(((x - m) ** 2).mean(over, keepdims=True) + eps)
    u = (x - m) * s
    return s * (g - g.sum(over, keepdims=True) - u * (g * u).sum(over, keepdims=True))


@mistake("avg_pool2d.x", "divi|share|size|count|window|average|mean|factor|kernel", "not divided")
def _(upstream, x_shape, kernel_size, stride, padding):
    (kh, kw), (sh, sw), (ph, pw) = kernel_size, stride, padding
    n, c, height, width = x_shape
    g = np.zeros((n, c, height + 2 * ph, width + 2 * pw))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            g[:, :, i * sh : i * sh + kh, j * sw : j * sw + kw] += upstream[:, :, i : i + 1, j : j + 1]
    return g[:, :, ph : ph + height, pw : pw + width]


@mistake("avg_pool2d.x", "add|overlap|overwrit|replac|window", "overlapping windows overwrite")
def _(upstream, x_shape, kernel_size, stride, padding):
    (kh, kw), (sh, sw), (ph, pw) = kernel_size, stride, padding
    n, c, height, width = x_shape
    g = np.zeros((n, c, height + 2 * ph, width + 2 * pw))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            g[:, :, i * sh : i * sh + kh, j * sw : j * sw + kw] = upstream[:, :, i : i + 1, j : j + 1] / (kh * kw)
    return g[:, :, ph : ph + height, pw : pw + width]


@mistake("max_pool2d.x", "every|all|window|largest|whole|mask|chosen", "every entry of a window receives it")
def _(upstream, x_shape, kernel_size, stride, padding, dilation):
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = kernel_size, stride, padding, dilation
    n, c, height, width = x_shape
    g = np.zeros((n, c, height + 2 * ph, width + 2 * pw))
    for i in range(upstream.shape[2]):
        for j in range(upstream.shape[3]):
            for a in range(kh):
                for b in range(kw):
                    g[:, :, i * sh + a * dh, j * sw + b * dw] += upstream[:, :, i, j]
    return g[:, :, ph : ph + height, pw : pw + width]


@mistake("conv2d.weight", "flip|revers|turned|upside|kernel|way round", "the weight's gradient is flipped")
def _(upstream, x, weight_shape, stride, padding, dilation, groups):
    return convolve_back(upstream, x, weight_shape, stride, padding, dilation, groups)[:, :, ::-1, ::-1]


@mistake("conv2d.weight", "stride", "stride is ignored")
def _(upstream, x, weight_shape, stride, padding, dilation, groups):
    return convolve_back(upstream, x, weight_shape, (1, 1), padding, dilation, groups)


@mistake("conv2d.weight", "divi|mean|batch|averag|size|N|count|sum|images|number", "the mean over the images")
def _(upstream, x, weight_shape, stride, padding, dilation, groups):
    return convolve_back(upstream, x, weight_shape, stride, padding, dilation, groups) / len(x)


def convolve_back(upstream, x, weight_shape, stride, padding, dilation, groups):
    (sh, sw), (ph, pw), (dh, dw) = stride, padding, dilation
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    channels, inputs, kh, kw = weight_shape
    g = np.zeros(weight_shape)
    per = channels // groups
    for o in range(channels):
        first = (o // per) * inputs
        for a in range(kh):
            for b in range(kw):
                rows = slice(a * dh, a * dh + sh * upstream.shape[2], sh)
                columns = slice(b * dw, b * dw + sw * upstream.shape[3], sw)
                piece = x[:, first : first + inputs, rows, columns][:, :, : upstream.shape[2], : upstream.shape[3]]
                g[o, :, a, b] = (piece * upstream[:, o : o + 1]).sum((0, 2, 3))
    return g


# A class of numbers -------------------


def make_value(rule):
    """Return micrograd's class with one thing wrong, which `rule` says."""

    class Value:
        def __init__(self, data, parents=()):
            self.data, self.grad, self.parents, self.push = data, 0.0, parents, lambda: None

        def __add__(self, other):
            other = other if isinstance(other, Value) else Value(other)
            out = Value(self.data + other.data, (self, other))

            def push():
                if rule == "overwrite":
                    self.grad = out.grad
                    other.grad = out.grad
                else:
                    self.grad += out.grad
                    other.grad += out.grad

            out.push = push
            return out

        def __mul__(self, other):
            other = other if isinstance(other, Value) else Value(other)
            out = Value(self.data * other.data, (self, other))

            def push():
                upstream = 1.0 if rule == "upstream" else out.grad
                left, right = (self, other) if rule == "own" else (other, self)
                if rule == "overwrite":
                    self.grad = left.data * upstream
                    other.grad = right.data * upstream
                else:
                    self.grad += left.data * upstream
                    other.grad += right.data * upstream

            out.push = push
            return out

        __radd__, __rmul__ = __add__, __mul__

        def tanh(self):
            out = Value(float(np.tanh(self.data)), (self,))

            def push():
                slope = 1 - self.data**2 if rule == "tanh" else 1 - out.data**2
                if rule == "overwrite":
                    self.grad = slope * out.grad
                else:
                    self.grad += slope * out.grad

            out.push = push
            return out

        def backward(self):
            order, seen = [], set()

            def visit(node):
                if node not in seen:
                    seen.add(node)
                    for parent in node.parents:
                        visit(parent)
                    order.append(node)

            def recurse(node):
                node.push()
                for parent in node.parents:
                    recurse(parent)

            if rule == "recursion":
                self.grad = 1.0
                recurse(self)
                return
            visit(self)
            if rule != "middle":
                for node in order:
                    if node.parents:
                        node.grad = 0.0
            if rule != "seed":
                self.grad = 1.0
            for node in order if rule == "order" else reversed(order):
                node.push()

    return Value


mistake("engine.value", "replac|overwrit|add", "overwrites")(make_value("overwrite"))
mistake("engine.value", "upstream", "the product forgets upstream")(make_value("upstream"))
mistake("engine.value", "own|other|swap|itself", "the product's own value")(make_value("own"))
mistake("engine.value", "tanh|input|data|out", "tanh's rule on the input")(make_value("tanh"))
mistake("engine.value", "order|recurs|early|wait", "recursion without an order")(make_value("recursion"))
mistake("engine.value", "inner|middle|second|clear|kept", "inner gradients are kept")(make_value("middle"))
mistake("engine.value", "order|revers|first|parents|inputs before", "parents before children")(make_value("order"))
mistake("engine.value", "1|seed|start|nothing|zero|begin", "the walk does not begin with 1")(make_value("seed"))

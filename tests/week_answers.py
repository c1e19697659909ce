"""Right answers to the exercises of the ready weeks, as a student would write them."""

ANSWERS = {
    "subtract.a+b": "def subtract_a_and_b():\n    return 1, -1",
    "multiply.a+b": "def multiply_a_and_b(a, b):\n    return b, a",
    "divide.b": "def divide_b(a, b):\n    return -a / b**2",
    "power.base": "def power_base(base, exponent):\n    return exponent * base ** (exponent - 1)",
    "power.exponent": "def power_exponent(xp, base, out):\n    return out * xp.log(base)",
    "log2.x": "def log2_x(xp, x):\n    return 1 / (x * xp.log(2))",
    "sqrt.x": "def sqrt_x(out):\n    return 1 / (2 * out)",
    "tanh.x": "def tanh_x(out):\n    return 1 - out**2",
    "broadcast_to.x.whole": "def broadcast_to_x_whole(upstream, x_shape):\n"
                            "    while upstream.ndim > len(x_shape):\n"
                            "        upstream = upstream.sum(axis=0)\n"
                            "    for axis, length in enumerate(x_shape):\n"
                            "        if length == 1:\n"
                            "            upstream = upstream.sum(axis=axis, keepdims=True)\n"
                            "    return upstream",
    "sum.x": "def sum_x(xp, upstream, x_shape, axis, keepdims):\n"
             "    if axis is not None and not keepdims:\n"
             "        upstream = xp.expand_dims(upstream, axis)\n"
             "    return xp.broadcast_to(upstream, x_shape)",
    "mean.x": "def mean_x(xp, upstream, x_shape, axis, keepdims):\n"
              "    if axis is not None and not keepdims:\n"
              "        upstream = xp.expand_dims(upstream, axis)\n"
              "    return xp.broadcast_to(upstream, x_shape) / xp.count_along(x_shape, axis)",
    "max.x": "def max_x(xp, upstream, x, out, x_shape, axis, keepdims):\n"
             "    if axis is not None and not keepdims:\n"
             "        upstream, out = xp.expand_dims(upstream, axis), xp.expand_dims(out, axis)\n"
             "    chosen = x == out\n"
             "    return upstream * chosen / xp.sum(chosen, axis=axis, keepdims=True)",
    "var.x": "def var_x(xp, upstream, x, x_shape, axis, ddof, keepdims):\n"
             "    if axis is not None and not keepdims:\n"
             "        upstream = xp.expand_dims(upstream, axis)\n"
             "    distance = x - xp.mean(x, axis=axis, keepdims=True)\n"
             "    return upstream * 2 * distance / (xp.count_along(x_shape, axis) - ddof)",
    "transpose.x": "def transpose_x(xp, upstream, axes):\n"
                   "    if axes is None:\n"
                   "        return xp.transpose(upstream)\n"
                   "    return xp.transpose(upstream, [int(i) for i in xp.argsort(axes)])",
    "getitem.x": "def getitem_x(upstream, x_shape, index):\n"
                 "    out = np.zeros(x_shape)\n"
                 "    np.add.at(out, index, upstream)\n"
                 "    return out",
    "concatenate.parts": "def concatenate_parts(xp, upstream, parts_shape, axis):\n"
                         "    pieces, start = [], 0\n"
                         "    for shape in parts_shape:\n"
                         "        index = [slice(None)] * len(shape)\n"
                         "        index[axis] = slice(start, start + shape[axis])\n"
                         "        pieces.append(upstream[tuple(index)])\n"
                         "        start += shape[axis]\n"
                         "    return pieces",
    "mse.prediction": "def mse_prediction(upstream, prediction, target):\n"
                      "    return upstream * 2 * (prediction - target) / prediction.size",
    "softmax.x": "def softmax_x(xp, upstream, out, axis):\n"
                 "    return out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))",
    "log_softmax.x": "def log_softmax_x(xp, upstream, out, axis):\n"
                     "    return upstream - xp.exp(out) * xp.sum(upstream, axis=axis, keepdims=True)",
    "logsumexp.x": "def logsumexp_x(xp, upstream, x, out, axis, keepdims):\n"
                   "    if axis is not None and not keepdims:\n"
                   "        upstream, out = xp.expand_dims(upstream, axis), xp.expand_dims(out, axis)\n"
                   "    return upstream * xp.exp(x - out)",
    "softmax_cross_entropy.logits":
        "def softmax_cross_entropy_logits(xp, upstream, target, log_weights):\n"
        "    weights, total = xp.exp(log_weights), xp.sum(target, axis=-1, keepdims=True)\n"
        "    return upstream[..., None] * (weights * total - target)",
    "mean_class_cross_entropy.logits":
        "def mean_class_cross_entropy_logits(xp, upstream, weights, classes):\n"
        "    n, count = weights.shape\n"
        "    return upstream * (weights - xp.one_hot(classes % count, count)) / n",
    "binary_cross_entropy_with_logits.logits":
        "def binary_cross_entropy_with_logits_logits(xp, upstream, logits, target):\n"
        "    return upstream * (xp.sigmoid(logits) - target)",
    "take_along_axis.x":
        "def take_along_axis_x(upstream, indices, axis, x_shape):\n"
        "    out = np.zeros(x_shape)\n"
        "    if axis is None:\n"
        "        np.add.at(out.reshape(-1), indices, upstream)\n"
        "        return out\n"
        "    axes = list(np.ogrid[tuple(slice(n) for n in upstream.shape)])\n"
        "    axes[axis] = np.broadcast_to(indices, upstream.shape)\n"
        "    np.add.at(out, tuple(axes), upstream)\n"
        "    return out",
}

"""Traces of every kind for the tests of pictures and pages."""

from __future__ import annotations

import numpy as np
from small_program import OPS, Program, entry_data, value


def diamond() -> dict:
    """Return the diamond: a = 2, b = 3, each used more than once."""
    p = Program()
    a, b = p.leaf("a", 2.0), p.leaf("b", 3.0)
    c = p.apply("add", a, b, text="c = «a + b»")
    d = p.apply("mul", a, b, text="d = «a * b»")
    e = p.apply("add", c, d, text="e = «c + d»")
    f = p.apply("mul", c, d, text="f = «c * d»")
    return p.walk(p.apply("add", e, f, text="y = «e + f»"))


def perceptron() -> dict:
    """Return a two-layer network with softmax cross-entropy and a penalty on its weights: 22 nodes."""
    rng = np.random.default_rng(7)
    p = Program()
    x = p.leaf("X", rng.normal(size=(5, 4)), requires_grad=False)
    target = p.leaf("Y", np.eye(3)[[0, 2, 1, 1, 0]], requires_grad=False)
    w1, b1 = p.leaf("W1", rng.normal(size=(4, 6)) / 2), p.leaf("b1", rng.normal(size=6) / 10)
    w2, b2 = p.leaf("W2", rng.normal(size=(6, 3)) / 2), p.leaf("b2", rng.normal(size=3) / 10)
    rate = p.leaf(None, 0.01, requires_grad=False)
    hidden = p.apply(
        "tanh",
        p.apply(
            "add",
            p.apply("matmul", x, w1, text="hidden = mg.tanh(«X @ W1» + b1)"),
            b1,
            text="hidden = mg.tanh(«X @ W1 + b1»)",
        ),
        text="hidden = «mg.tanh(X @ W1 + b1)»",
    )
    scores = p.apply(
        "add",
        p.apply("matmul", hidden, w2, text="scores = «hidden @ W2» + b2"),
        b2,
        text="scores = «hidden @ W2 + b2»",
    )
    error = p.apply(
        "softmax_cross_entropy",
        scores,
        target,
        text="error = «mg.softmax_cross_entropy(scores, Y)»",
        inside=softmax_inside(p.arrays[scores], p.arrays[target]),
    )
    squares = [
        p.apply(
            "sum",
            p.apply("mul", w, w, text=f"penalty = («{n} * {n}»).sum()"),
            text=f"penalty = «({n} * {n}).sum()»",
        )
        for n, w in (("W1", w1), ("W2", w2))
    ]
    penalty = p.apply("mul", p.apply("add", *squares), rate)
    return p.walk(p.apply("add", error, penalty, text="loss = «error + penalty»"))


def softmax_inside(scores: np.ndarray, target: np.ndarray) -> dict:
    """Return the trace of a small program that computes cross-entropy in steps."""
    p = Program("losses.py")
    x, y = p.leaf("x", scores), p.leaf("target", target, requires_grad=False)
    weights = p.apply("exp", x)
    total = p.apply("matmul", weights, p.leaf("ones", np.ones((scores.shape[1], scores.shape[1])), False))
    kept = p.apply("log", p.apply("mul", weights, p.apply("reciprocal", total)))
    return p.walk(p.apply("sum", p.apply("mul", kept, y)))


def random_graph(applications: int, seed: int = 0, size: int = 3) -> dict:
    """Return the trace of a program that applies random operations to recent results."""
    rng = np.random.default_rng(seed)
    p = Program()
    made = [p.leaf(f"x{i}", rng.normal(size=(size, size)) / 3) for i in range(max(2, applications // 16))]
    for _ in range(applications):
        op = ["add", "mul", "tanh", "matmul"][rng.integers(4)]
        picks = [made[-1 - int(rng.integers(min(len(made), 12)))] for _ in OPS[op].names.split()]
        made.append(p.apply(op, *picks))
    total = p.apply("sum", made[-1])
    for i in made[-12:-1]:
        total = p.apply("add", total, p.apply("sum", i))
    return p.walk(total)


def chain(applications: int) -> dict:
    """Return a long chain of additions."""
    p = Program()
    one, last = p.leaf("one", 1.0, requires_grad=False), p.leaf("x", 0.5)
    for _ in range(applications):
        last = p.apply("add", last, one)
    return p.walk(last)


def broadcast() -> dict:
    """Return a walk with broadcast inputs: a bias whose contribution is summed over axis 0, and a column."""
    p = Program()
    x, b = p.leaf("x", np.arange(6.0).reshape(2, 3)), p.leaf("b", np.array([1.0, -2.0, 0.5]))
    c = p.leaf("c", np.array([[2.0], [3.0]]))
    return p.walk(p.apply("sum", p.apply("mul", p.apply("add", x, b), c)))


def strange() -> dict:
    """Return a walk with infinite, complex, empty, large, boolean and integer values."""
    p = Program()
    x = p.leaf("x", np.array([0.0, -1.0, np.inf, np.nan, 1e-12]))
    logs = p.apply("sum", p.apply("log", x))
    z = p.leaf("z", np.array([1 + 2j, -3j]))
    p.apply("mul", z, z)
    p.leaf("empty", np.zeros((0, 3)))
    p.leaf("counts", np.array([[1, 2], [3, -4]]), requires_grad=False)
    p.leaf("mask", np.array([True, False]), requires_grad=False)
    large = p.leaf("large", np.random.default_rng(1).normal(size=(2, 40, 50)))
    return p.walk(p.apply("add", logs, p.apply("sum", p.apply("tanh", large))))


HOSTILE = [
    "<script>window.bitten=1</script>",
    "a & b < c > \"d\" 'e'",
    "two\nlines\r\tand a tab \x00\x07",
    "</script><img src=x onerror=window.bitten=1>",
    "\\N \\G back\\slash {record|port}",
    "«ünïcode» ∂ 梯度 🙂",
    "-->]]>",
    "<b>bold</b>",
]


def broad() -> dict:
    """Return a walk with names in letters that are wider than digits."""
    p = Program()
    last = p.leaf("Wärme", 1.5)
    for name in ("梯度" * 15, "ＷＩＤＥ", "MMMMWWWW@%", "🙂🙃🙂🙃🙂🙃", "ΩΣΦΨ ЩЖЮШ", "mmmwww" * 5, "ALL_CAPITALS"):
        last = p.apply("mul", last, p.leaf(name, 0.5))
    return p.walk(last)


def hostile() -> dict:
    """Return a walk with markup in every field that can have a name."""
    p = Program(file=HOSTILE[0])
    last = p.leaf("start", 1.5)
    for name in HOSTILE:
        last = p.apply("mul", last, p.leaf(name, 0.5), text=f"y = «y * {name}»")
    trace = p.walk(last)
    for site in trace["sites"]:
        site["function"] = HOSTILE[3]
    for rule in trace["rules"].values():
        rule["source"], rule["file"], rule["reason"] = HOSTILE[3], HOSTILE[1], HOSTILE[0]
        rule["mathml"] = rule["mathml"].replace(
            "</mrow></math>",
            '<mtext href="javascript:bitten=1" '
            'onclick="bitten=1">&lt;script&gt;</mtext><script>window.bitten=1'
            "</script></mrow></math>",
        )
    return trace


def forward() -> dict:
    """Return a forward walk, with tangents instead of gradients."""
    trace = diamond()
    arrays = [np.array(trace["values"][n["value"]]["data"][0]) for n in trace["nodes"]]
    values = trace["values"]

    def keep(x: object) -> int:
        values.append(value(np.asarray(float(x))))
        return len(values) - 1

    tangents, places, steps = {0: 1.0, 1: 0.0}, {0: keep(1.0), 1: keep(0.0)}, []
    for node in trace["nodes"]:
        for i, e in enumerate(node["inputs"]):
            other = node["inputs"][1 - i]
            factor = float(arrays[other["node"]]) if node["op"] == "mul" else 1.0
            sent = tangents[e["node"]] * factor
            before = tangents.get(node["id"])
            tangents[node["id"]] = sent if before is None else before + sent
            sent_place, before_place = keep(sent), places.get(node["id"])
            places[node["id"]] = keep(tangents[node["id"]])
            steps.append(
                {
                    "index": len(steps),
                    "walk": 0,
                    "formula": None,
                    "earlier": False,
                    "node": node["id"],
                    "input": e["name"],
                    "target": node["id"],
                    "rule": f"{node['op']}.{e['name']}",
                    "upstream": places[e["node"]],
                    "local": None,
                    "raw": sent_place,
                    "summed_axes": [],
                    "contribution": sent_place,
                    "before": before_place,
                    "after": places[node["id"]],
                    "accumulates": before is not None,
                    "reads": {other["name"]: trace["nodes"][other["node"]]["value"]}
                    if node["op"] == "mul"
                    else {},
                }
            )
    return trace | {
        "walks": [trace["walks"][0] | {"direction": "forward", "seed": None, "steps": len(steps), "leaves": []}],
        "steps": steps,
        "journal": [entry_data("compute", first=0, count=len(trace["nodes"])), entry_data("begin", walk=0),
                    entry_data("arrive", first=0, count=len(steps)), entry_data("end", walk=0)],
        "gradients": [],
    }


def growing_gradient() -> dict:
    """Return a walk in which a gradient grows from 0.009866 to 2.01."""
    p = Program()
    a, b = p.leaf("a", 2.0), p.leaf("b", 3.0)
    c = p.apply("add", a, b)
    product = p.apply("mul", c, a)
    return p.walk(p.apply("add", product, p.apply("tanh", b)))


def one_of_several() -> dict:
    """Return a walk through one output of an application."""
    p = Program()
    x = p.leaf("x", np.array([0.5, -2.0]))
    trace = p.walk(p.apply("sum", p.apply("tanh", p.apply("exp", x))))
    output = {"kind": "output", "op": None, "summary": None, "label": "exp[0]", "name": "exp[0]", "lines": [],
              "title": "exp[0]"}
    trace["nodes"][2] |= output
    trace["steps"] = [step for step in trace["steps"] if step["node"] != 2]
    for index, step in enumerate(trace["steps"]):
        step["index"] = index
    trace["walks"][0]["steps"] = len(trace["steps"])
    next(entry for entry in trace["journal"] if entry["kind"] == "arrive")["count"] = len(trace["steps"])
    return trace


def backward_only() -> dict:
    """Return a walk of which only the contributions are known, as if only `backward` was recorded."""
    trace = diamond()
    for node in trace["nodes"]:
        node |= {"value": None, "lines": []}
    for step in trace["steps"]:
        step |= {"upstream": None, "raw": None, "before": None, "after": None}
        step["reads"] = dict.fromkeys(step["reads"])
    for rule in trace["rules"].values():
        rule |= {"text": None, "mathml": None, "source": None}
    trace["walks"][0] |= {"seed": None, "leaves": []}
    trace["journal"] = [entry for entry in trace["journal"] if entry["kind"] != "accumulate"]
    return trace | {"sites": [], "gradients": []}


def engine_recording() -> dict:
    """Return a recording of the engine: broadcasting, a composite, several outputs, joined parts."""
    import micrograd_plus as mg
    from micrograd_plus.tracing import record

    with record() as trace:
        x, w = mg.tensor(np.arange(6.0).reshape(2, 3) / 7), mg.tensor(np.ones((3, 3)) / 3, requires_grad=True)
        b = mg.tensor([0.1, -0.2, 0.3], requires_grad=True)
        weights = mg.softmax(x @ w + b)
        largest, _ = mg.topk(mg.concatenate([weights, weights]), 2, -1)
        loss = -mg.log(largest).mean()
        loss.backward()
    return trace.to_dict()


def several_outputs() -> dict:
    """Return a recording of a backward walk through an application with two outputs."""
    import micrograd_plus as mg
    from micrograd_plus import nn
    from micrograd_plus.tracing import record

    rng = np.random.default_rng(5)
    cell = nn.LSTMCell(3, 2, rng=rng)
    x, h, c = (mg.tensor(rng.normal(size=(2, n)), requires_grad=True) for n in (3, 2, 2))
    with record() as trace:
        hidden, kept = cell(x, (h, c))
        loss = (hidden * hidden).sum() + kept.sum()
        loss.backward()
    return trace.to_dict()


EVERY = [
    engine_recording,
    several_outputs,
    diamond,
    perceptron,
    broadcast,
    strange,
    hostile,
    forward,
    one_of_several,
    backward_only,
]

"""The right contents of the cells that a student completes in lesson 01, as a student would write them."""

CELLS = {
    "tanh.x.gaps": """\
print(len(b1), "numbers go through tanh")


@exercises.answer("tanh.x.gaps")
def tanh_x_gaps(xp, x, out):
    return 1 - out * out
""",
    "subtract.a+b": """\
@exercises.answer("subtract.a+b")
def subtract_a_and_b(a, b):
    return 1.0, -1.0
""",
    "neuron.predict.lines": """\
@exercises.answer("neuron.predict.lines")
def neuron_predict_lines(w, x, b):
    s = w * x + b
    y = np.tanh(s)
    at_s = 1 - y * y
    return at_s * x
""",
    "# Your walk": """\
# Your walk
five = images[288] / 16
canvas = mg.tensor(five, requires_grad=True)
scores = mg.tanh(canvas.reshape(64) @ w1 + b1) @ w2 + b2
lead = scores[9] - scores[5]
lead.backward()
viz.picture(canvas.grad)
""",
    "# How does a program find out which pixel matters?": """\
sentence = "It goes back from the result, and each rule multiplies what arrived by its own slope."
""",
}

"""The right contents of the cells that a student completes in lesson 08, as a student would write them."""

CELLS = {
    "# Cure patient 1: change one word": """\
# Cure patient 1: change one word
def layer(h, w):
    return mg.tanh(h @ w)

train("1, your cure", stack(20), through(layer))
report("1, your cure")
""",
    "engine.neuron": """\
@exercises.answer("engine.neuron")
def engine_neuron(weights, inputs, bias):
    total = bias
    for weight, each in zip(weights, inputs):
        total = total + weight * each
    return total.tanh()
""",
    "# Cure patient 6: change one line": """\
# Cure patient 6: change one line
def root_or_zero(x):
    positive = mg.where(x > 0, x, 1.0)
    return mg.where(x > 0, mg.sqrt(positive), 0.0)

train("6, your cure", small(), with_hidden(root_or_zero))
report("6, your cure")
""",
    "# Cure patient 7: change up to three lines": """\
# Cure patient 7: change up to three lines
def careful(scores, labels):
    lower = scores - mg.max(scores, axis=1, keepdims=True)
    chances = lower - mg.log(mg.sum(mg.exp(lower), axis=1, keepdims=True))
    return -mg.mean(chances[np.arange(len(labels)), labels])

train("7, your cure", stack(0), bright, loss_of=careful)
report("7, your cure")
""",
    "# In your own words: in which order do you look at a network that does not learn?": """\
# In your own words: in which order do you look at a network that does not learn?
sentence = "First loss, values, gradients layer by layer, a smaller step."
""",
}

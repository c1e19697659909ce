"""The right contents of the cells that a student completes in lesson 08, as a student would write them."""

CELLS = {
    "# Cure patient 1: change one word. Cure patient 2: fill the gap": """\
# Cure patient 1: change one word. Cure patient 2: fill the gap
def layer(h, w):
    return mg.tanh(h @ w)

cured[1] = train(stack(20), through(layer))
cured[2] = train(stack(10, gain=2**0.5), through(lambda h, w: mg.relu(h @ w)))
report("1, your cure", cured[1])
report("2, your cure", cured[2])
""",
    "engine.neuron.lines": """\
@exercises.answer("engine.neuron.lines")
def engine_neuron_lines(weights, inputs, bias):
    total = bias
    for weight, each in zip(weights, inputs):
        total = total + weight * each
    return total.tanh()
""",
    "# Cure patients 3, 4 and 5: change one thing in each line": """\
# Cure patients 3, 4 and 5: change one thing in each line
cured[3] = train(small(bias=0.0), with_hidden(mg.relu), rate=0.5)
cured[4] = train(small(scale=1.0), with_hidden(mg.tanh), rate=0.5)
cured[5] = train(small(), with_hidden(mg.tanh), rate=0.5)
for patient in (3, 4, 5):
    report(f"{patient}, your cure", cured[patient])
""",
    "# Cure patient 8: change one number": """\
# Cure patient 8: change one number
cured[8] = train(stack(20), over_units, rate=0.03)
report("8, your cure", cured[8])
""",
    "# Cure patient 6: the root must never see what is not chosen. Change one line": """\
# Cure patient 6: the root must never see what is not chosen. Change one line
def root_or_zero(x):
    positive = mg.where(x > 0, x, 1.0)
    return mg.where(x > 0, mg.sqrt(positive), 0.0)

cured[6] = train(small(), with_hidden(root_or_zero))
report("6, your cure", cured[6])
""",
    "# Cure patient 7: change up to three lines": """\
# Cure patient 7: change up to three lines
def careful(scores, labels):
    lower = scores - mg.max(scores, axis=1, keepdims=True)
    chances = lower - mg.log(mg.sum(mg.exp(lower), axis=1, keepdims=True))
    return -mg.mean(chances[np.arange(len(labels)), labels])

cured[7] = train(stack(0), bright, loss_of=careful)
report("7, your cure", cured[7])
""",
    "# In your own words: in which order do you look at a network that does not learn?": """\
# In your own words: in which order do you look at a network that does not learn?
sentence = "First loss, values, gradients layer by layer, a smaller step."
""",
}

"""The right contents of the cells that a student completes in lesson 03, as a student would write them."""

CELLS = {
    "engine.neuron": """\
@exercises.answer("engine.neuron")
def engine_neuron(weights, inputs, bias):
    total = bias
    for weight, each in zip(weights, inputs):
        total = total + weight * each
    return total.tanh()
""",
    "engine.training.lines": """\
@exercises.answer("engine.training.lines")
def engine_training_lines(weight, backward, rate, steps):
    for _ in range(steps):
        gradient = np.zeros_like(weight)
        gradient = backward(weight, gradient)
        weight = weight - rate * gradient
    return weight
""",
    "engine.momentum.gaps": """\
@exercises.answer("engine.momentum.gaps")
def engine_momentum_gaps(parameter, gradient, state, rate, momentum):
    velocity = momentum * state.get("velocity", 0.0) + gradient
    parameter = parameter - rate * velocity
    return parameter, {"velocity": velocity}
""",
    "# In your own words: what does one training step change, and on what does it rely?": """\
# In your own words: what does one training step change, and on what does it rely?
sentence = "Weights, a little, against their gradients; only this batch, only here."
""",
}

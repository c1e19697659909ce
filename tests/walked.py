"""Shared helpers for tests of walks through functions."""

import micrograd_plus as mg


def leaf(values):
    """Return a tensor that requires a gradient."""
    return mg.tensor(values, requires_grad=True)


def gradients_of(loss, *inputs):
    """Return the gradients that one walk leaves in these leaves."""
    for each in inputs:
        each.grad = None
    loss().backward()
    return [each.grad.numpy() for each in inputs]

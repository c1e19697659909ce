"""An expression with a diamond: one number used twice, so two gradients arrive at it and are added up."""

import micrograd_plus as mg

x = mg.tensor(0.5, requires_grad=True)

left = mg.sin(x)  # one way from x to the loss
right = x * x  # and another
loss = left * right

loss.backward()

# Each way brings its own contribution: (upstream of left) * cos(x), and (upstream of right) * x, twice,
# because x is both factors of x * x. They add up to the slope of sin(x) * x².
by_hand = mg.cos(x) * x**2 + mg.sin(x) * 2 * x
print(f"loss {loss.item():.6f}   x.grad {x.grad.item():.6f}   by hand {by_hand.item():.6f}")

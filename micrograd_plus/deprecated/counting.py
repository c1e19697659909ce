"""What is now `micrograd_plus.random.counting`."""

from micrograd_plus.deprecated import moved

moved(__name__, "random.counting")

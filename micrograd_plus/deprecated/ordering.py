"""What is now `micrograd_plus.tracing.orders`."""

from micrograd_plus.deprecated import moved

moved(__name__, "tracing.orders")

"""What is now `micrograd_plus.transforms.checkpoint`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.checkpoint")

"""What is now `micrograd_plus.transforms.gradcheck`."""

from micrograd_plus.deprecated import moved

moved(__name__, "transforms.gradcheck")

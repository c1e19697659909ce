"""What is now `micrograd_plus.core.codegen`."""

from micrograd_plus.deprecated import moved

moved(__name__, "core.codegen")

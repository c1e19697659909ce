"""Small data sets that come along, digits and irises, and the network of the lessons, which reads the digits."""

from __future__ import annotations

from .digit_reader import Reader, SplitDigits, draw_reader, split_digits, train_reader
from .loading import KINDS, MEASUREMENTS, Digits, Irises, load_digits, load_iris

__all__ = ["KINDS", "MEASUREMENTS", "Digits", "Irises", "Reader", "SplitDigits",
           "draw_reader", "load_digits", "load_iris", "split_digits", "train_reader"]  # fmt: skip

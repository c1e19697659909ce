"""Salted hashes of answers, and data that an answer unlocks.

`static/sealed_answers.js` does the same in the page. It has its own SHA-256, because browsers offer theirs only in
secure contexts, and a saved page or a notebook on another machine is not one.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..packing import to_bytes

BINS_EACH_SIDE = 4
"""The tolerance of a number is this many bins wide: everything within it is accepted, and at most a quarter more."""
KEY = 16
"""Number of bytes in a key."""


def hash_of(*parts: object) -> str:
    """Return the SHA-256 hash of some texts as hexadecimal digits."""
    return hashlib.sha256(to_bytes("|".join(map(str, parts)))).hexdigest()


def key_of(*parts: object) -> bytes:
    """Return a key derived from some texts."""
    return bytes.fromhex(hash_of(*parts))[:KEY]


def name_of(salt: str, answer: str) -> str:
    """Return the salted hash under which the page looks up an answer."""
    return hash_of(salt, "answer", answer)[: 2 * KEY]


def wrap_key(salt: str, answer: str, key: bytes) -> str:
    """Encrypt a key with an answer."""
    return _xor(key, key_of(salt, "opens", answer)).hex()


def seal(key: bytes, data: Any) -> str:
    """Encrypt plain data with a key."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    plain = gzip.compress(to_bytes(text), compresslevel=9, mtime=0)
    blocks = -(-len(plain) // 32)
    stream = b"".join(hashlib.sha256(f"{key.hex()}|{i}".encode()).digest() for i in range(blocks))
    return base64.b64encode(_xor(plain, stream[: len(plain)])).decode("ascii")


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))


# Answers as texts -----------


def width(tolerance: float) -> float:
    """Return the width of a bin in the logarithm of a number."""
    return math.log1p(tolerance) / BINS_EACH_SIDE


def bin_of(number: float, tolerance: float) -> str:
    """Return the bin of a number. Numbers near 0 also have logarithmic bins, because gradients can vanish."""
    if math.isnan(number):
        return "nan"
    if number == 0 or math.isinf(number):
        return {0: "0", math.inf: "inf", -math.inf: "-inf"}[number]
    return f"{'-' if number < 0 else '+'}{math.floor(math.log(abs(number)) / width(tolerance))}"


def accepted_bins(number: float, tolerance: float, noise: float = 0.0) -> list[str]:
    """Return the bins of a number within its tolerance, and of 0 if the number is at most `noise`."""
    middle = bin_of(number, tolerance)
    if middle[0] not in "+-" or middle == "-inf":
        return [middle]
    reach = width(tolerance) * BINS_EACH_SIDE
    log = math.log(abs(number))
    low, high = (math.floor((log + by) / width(tolerance)) for by in (-reach, reach))
    return [f"{middle[0]}{k}" for k in range(low, high + 1)] + (["0"] if abs(number) <= noise else [])


def hide_shape(text: str, shape: Sequence[int]) -> str:
    """Return a text without the shape in question, as in `zeros((3, 4))`."""
    if not shape:
        return text
    lengths, comma = r"\s*,\s*".join(map(str, shape)), ",?" if len(shape) > 1 else ","
    return re.sub(rf"([(\[])\s*{lengths}\s*{comma}\s*([)\]])", r"\1?\2", text)


def shape_text(shape: Iterable[int]) -> str:
    """Return a shape as the text of an answer."""
    return ",".join(map(str, shape))

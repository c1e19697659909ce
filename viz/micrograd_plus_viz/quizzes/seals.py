"""Answers as a page may hold them: salted hashes, and what an answer opens as sealed bytes.

`static/seals.js` does the same in the page. The hash is SHA-256, written out there, since a browser lends its own to
secure contexts alone, and a saved page or a notebook on another machine is none.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any

BINS_EACH_SIDE = 4
"""A number's tolerance is so many bins wide: accepted is all that is within it, and at most a quarter of it more."""
KEY = 16
"""How many bytes a key has."""


def digest(*parts: object) -> str:
    """The hash of some texts, in hexadecimal digits."""
    return hashlib.sha256("|".join(map(str, parts)).encode("utf-8")).hexdigest()


def key_of(*parts: object) -> bytes:
    """A key made of some texts."""
    return bytes.fromhex(digest(*parts))[:KEY]


def name_of(salt: str, answer: str) -> str:
    """What a page knows an answer by."""
    return digest(salt, "answer", answer)[: 2 * KEY]


def wrapped(salt: str, answer: str, key: bytes) -> str:
    """A key that an answer opens."""
    return _xored(key, key_of(salt, "opens", answer)).hex()


def sealed(key: bytes, data: Any) -> str:
    """Plain data, readable with the key alone."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    plain = gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)
    blocks = -(-len(plain) // 32)
    stream = b"".join(hashlib.sha256(f"{key.hex()}|{i}".encode()).digest() for i in range(blocks))
    return base64.b64encode(_xored(plain, stream[: len(plain)])).decode("ascii")


def _xored(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(len(one))


# Answers as texts -----------


def width(tolerance: float) -> float:
    """How broad a bin is, in the logarithm of a number."""
    return math.log1p(tolerance) / BINS_EACH_SIDE


def bin_of(number: float, tolerance: float) -> str:
    """The bin a number lies in: what is close to 0 by its logarithm too, since gradients vanish."""
    if math.isnan(number):
        return "nan"
    if number == 0 or math.isinf(number):
        return {0: "0", math.inf: "inf", -math.inf: "-inf"}[number]
    return f"{'-' if number < 0 else '+'}{math.floor(math.log(abs(number)) / width(tolerance))}"


def accepted(number: float, tolerance: float, noise: float = 0.0) -> list[str]:
    """The bins that count as a number: all that its tolerance touches; 0 as well where it is no more than `noise`."""
    middle = bin_of(number, tolerance)
    if middle[0] not in "+-" or middle == "-inf":
        return [middle]
    reach = width(tolerance) * BINS_EACH_SIDE
    log = math.log(abs(number))
    low, high = (math.floor((log + by) / width(tolerance)) for by in (-reach, reach))
    return [f"{middle[0]}{k}" for k in range(low, high + 1)] + (["0"] if abs(number) <= noise else [])


def shape_text(shape: Iterable[int]) -> str:
    """A shape as an answer."""
    return ",".join(map(str, shape))

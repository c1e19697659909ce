"""Which words of `xp` an exercise allows: those that help, and none that is the answer alone."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from typing import Any

from .sandboxed import ALL


def words_for(rules: Sequence[Any]) -> tuple[str, ...]:
    """The words for an exercise of these rules: all but those with which a rule is said in a single call. A local
    derivative may be one word: to know that the slope of the sine is the cosine is what is asked."""
    alone = {said_alone(rule.function) for rule in rules if rule.op.kind != "elementwise"}
    return tuple(sorted(ALL.keys() - alone))


def said_alone(function: Any) -> str | None:
    """The word that a rule consists of: `xp.flip(upstream, axis=axis)` is `flip`, and there is nothing else to find."""
    done = [each.opname for each in dis.get_instructions(function)]
    calls = sum(name.startswith("CALL") and "INTRINSIC" not in name for name in done)
    computes = any(name.startswith(("BINARY", "UNARY", "COMPARE")) for name in done)
    said = function.__code__.co_names
    return said[0] if calls == 1 and len(said) == 1 and not computes else None

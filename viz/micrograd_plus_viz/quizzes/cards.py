"""Question cards without a walk: a number, numbers, a shape, one or several of some choices or of a picture's entries.

The page holds the right answers and the hints only as salted hashes and sealed texts, as in a quiz about a walk.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import combinations, islice, product
from random import Random
from typing import Any

from .. import cells, words
from ..digits import number
from ..player import compressed_cards, one_line_of_cards
from ..trace_input import Trace
from .output import SealedOutput
from .sealed_answers import accepted_bins, bin_of, hash_of, key_of, name_of, seal, shape_text, width, wrap_key

TOLERANCE = 0.02
GIVEN_UP = "show me"
MOST_CELLS = 1024
MOST_CHOICES = 8
MOST_ENTRIES = 3
DIGITS_OF_MANY = 3
NEXT_TO = 1e-9
"""How close a number is to the middle of two others for both to be right, relative to its size."""
MOST_SPELLINGS = 256
NOTES = {
    "number": "A number, or a fraction such as 1/3. Within {tolerance} % is right.",
    "numbers": "{count} in order, with spaces or commas between them. Three digits are enough.",
    "shape": "The length of each axis, as in (rows, columns) or (length,); () for a single number.",
    "one": "Choose one.",
    "several": "Choose all that fit, then press Answer.",
    "cell": "Press an entry of the picture, or move with the arrow keys and press Enter.",
    "cells": "Press all entries that fit, or move with the arrow keys and press Enter. Then press Answer.",
}
PLAIN = {
    "number": "Try again: which numbers does the question give, and what becomes of each?",
    "numbers": "At least one of these numbers is different.",
    "shape": "How many axes does it have, and which length has each? Go through the axes of the inputs one by one.",
    "one": "That one does not fit. What would have to be true if it did?",
    "several": "At least one of these does not fit, and at least one that fits is missing. Judge each by itself.",
    "cell": "That entry does not fit. What does the question ask for, and what does the picture show there?",
    "cells": "These are not exactly the entries that fit. Judge each entry by itself.",
}


class Card(SealedOutput):
    """Question card for a notebook, answered on the page without a kernel."""

    mount = "mountCard"

    def code(self) -> str:
        """Return the code of a page as one line."""
        return one_line_of_cards()

    def packed_code(self) -> str:
        """Return the code as a packed function body that returns its entry points."""
        return compressed_cards()


class Progress(Card):
    """Line for a notebook that counts the answered questions of the page."""

    mount = "mountProgress"

    def __init__(self) -> None:
        super().__init__({}, "Progress", "The questions of this page that are answered.")


def ask(
    say: str,
    right: Any,
    *,
    wrong: Mapping[Any, str] | None = None,
    why: str = "",
    choices: Sequence[str] | None = None,
    picture: Any = None,
    tolerance: float = TOLERANCE,
    show_me: bool = True,
) -> Card:
    """Return a question card; see `viz.ask`."""
    check_texts(say=say, why=why)
    if not say.strip():
        raise TypeError(f"say must be the question as a text, got {say!r}")
    check_tolerance(tolerance)
    if not isinstance(wrong, (Mapping, type(None))):
        raise TypeError(f"wrong must be a dictionary of wrong answers with their hints, got {wrong!r}")
    hints = dict(wrong or {})
    if choices is None and is_truth(right):
        choices, right = ["yes", "no"], yes_or_no(right)
        hints = {yes_or_no(answer): hint for answer, hint in hints.items()}
    for answer, hint in hints.items():
        if not isinstance(hint, str) or not hint.strip():
            raise TypeError(f"wrong must have a hint as a text for each answer, got {hint!r} for {answer!r}")
    to_others = hints.pop(None, "")
    answers = answers_for(right, hints, choices, picture, tolerance)
    answers.to_others = answers.word_for_others(to_others)
    card = Card(card_data(say, why, answers, answers.with_slips(hints, to_others), show_me), f"Question: {say}", say)
    if answers.form in ("number", "numbers", "shape") and hints:
        named = {answers.word(answer): hint for answer, hint in list(hints.items())[: MOST_CHOICES - 1]}
        named.pop(answers.text_of_right(), None)
        card.as_poll = partial(ask, say, answers.text_of_right(), wrong=named, why=why, picture=picture)
    return card


def check_texts(**texts: Any) -> None:
    """Raise TypeError unless the author's words are texts."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text, got {text!r}")


def check_tolerance(tolerance: Any) -> None:
    """Raise ValueError unless a tolerance is between 0 and 1."""
    if not is_number(tolerance) or not 0 < tolerance < 1:
        raise ValueError(f"tolerance must be a relative error between 0 and 1, got {tolerance!r}")


# What counts as an answer ---------------------------------------------------------------------------------------------


class Answers:
    """One form of answer: the text under which an answer is looked up, and how a right one is written."""

    form = ""
    to_others = ""
    """What the card says to wrong answers without a hint of their own."""

    def __init__(self, right: Any) -> None:
        self.right = right

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer."""
        raise NotImplementedError

    def typed_text(self, answer: Any) -> str:
        """Return the text of exactly this answer."""
        return self.texts(answer)[0]

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        raise NotImplementedError

    def slips(self) -> Iterable[tuple[Any, str]]:
        """Return wrong answers that are near the right one whatever the question is, each with a hint."""
        return ()

    def word_for_others(self, own: str) -> str:
        """Return what the card says to wrong answers without a hint, given the author's own words for them."""
        return own or PLAIN[self.form]

    def with_slips(self, hints: Mapping[Any, str], to_others: str) -> dict[Any, str]:
        """Return the author's hints, and those of slips that are neither right nor have a hint already."""
        found, taken = dict(hints), {*self.right_texts(), *(each for answer in hints for each in self.texts(answer))}
        for answer, hint in self.slips():
            if self.typed_text(answer) not in taken:
                taken.update(self.texts(answer))
                found[answer] = hint
        return found

    def text_of_right(self) -> str:
        """Return the right answer in words."""
        return self.word(self.right)

    def right_texts(self) -> list[str]:
        """Return the texts that count as right."""
        return self.texts(self.right)

    def parts(self) -> dict[str, Any]:
        """Return what else the page needs."""
        return {}


class NumberAnswers(Answers):
    """A number, right within a relative error."""

    form = "number"

    def __init__(self, right: Any, tolerance: float) -> None:
        super().__init__(as_number(right))
        self.tolerance = tolerance

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer."""
        return accepted_bins(as_number(answer), self.tolerance)

    def typed_text(self, answer: Any) -> str:
        """Return the text of exactly this answer."""
        return bin_of(as_number(answer), self.tolerance)

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        return number(as_number(answer))

    def slips(self) -> Iterable[tuple[Any, str]]:
        """Return the number with the other sign, doubled, and halved."""
        return slips_of(self.right, self.to_others)

    def parts(self) -> dict[str, Any]:
        """Return what else the page needs."""
        return {"width": width(self.tolerance), "note": NOTES["number"].format(tolerance=number(100 * self.tolerance))}


class NumbersAnswers(Answers):
    """Several numbers in order, compared to three digits."""

    form = "numbers"

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer. Halfway between two numbers of three digits, both count."""
        numbers = [as_number(each) for each in flatten(answer)]
        if len(numbers) != len(flatten(self.right)):
            raise ValueError(f"right has {len(flatten(self.right))} numbers, so a wrong answer needs the same count; "
                             f"got {answer!r}")  # fmt: skip
        choices = [roundings(each) for each in numbers]
        return [" ".join(each) for each in islice(product(*choices), MOST_SPELLINGS)]

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        return words.join_words([number(as_number(each)) for each in flatten(answer)])

    def slips(self) -> Iterable[tuple[Any, str]]:
        """Return the numbers with other signs, and in the other order."""
        numbers = [as_number(each) for each in flatten(self.right)]
        return ((tuple(-each for each in numbers), "The sizes are right. Look at the signs."),
                (tuple(numbers[::-1]), "The numbers are right. Look at their order."))  # fmt: skip

    def parts(self) -> dict[str, Any]:
        """Return what else the page needs."""
        count = len(flatten(self.right))
        return {"count": count, "note": NOTES["numbers"].format(count=words.pluralize(count, "number"))}


class ShapeAnswers(Answers):
    """A shape: a tuple of whole numbers."""

    form = "shape"

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer."""
        if not is_shape(answer):
            raise TypeError(f"right is a shape, so wrong answers must be shapes such as (2, 3); got {answer!r}")
        if any(length < 0 for length in answer):
            raise ValueError(f"a shape has no negative length, got {answer!r}")
        return [shape_text(answer)]

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        return str(tuple(answer))

    def slips(self) -> Iterable[tuple[Any, str]]:
        """Return the shape in the other order."""
        return ((tuple(self.right[::-1]), "The lengths are right. Look at their order."),)


class ChoiceAnswers(Answers):
    """One of some choices, or several."""

    def __init__(self, right: Any, choices: Sequence[str], *, several: bool) -> None:
        super().__init__(right)
        self.choices, self.form = list(choices), "several" if several else "one"

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer."""
        chosen = [answer] if isinstance(answer, str) else list(answer)
        for each in chosen:
            if each not in self.choices:
                raise ValueError(f"{each!r} is not among the choices {', '.join(map(repr, self.choices))}")
        return [",".join(map(str, sorted(self.choices.index(each) for each in chosen)))]

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        chosen = [answer] if isinstance(answer, str) else [each for each in self.choices if each in set(answer)]
        return words.join_words(chosen) if chosen else "none of them"

    def slips(self) -> Iterable[tuple[Any, str]]:
        """Return some of the right choices, and all of them with others, where several are right."""
        right, all_choices = set(self.right), self.choices
        for count in range(len(all_choices) + 1) if self.form == "several" else ():
            for chosen in combinations(all_choices, count):
                if set(chosen) < right:
                    missing = f"All that you chose fit. {number_of(right - set(chosen))} missing."
                    yield chosen, missing if chosen else "At least one fits."
                elif right < set(chosen):
                    yield chosen, f"All that fit are among them. {number_of(set(chosen) - right)} too many."

    def word_for_others(self, own: str) -> str:
        """Return that several choices are neither too few nor too many, and then the author's words."""
        return f"{PLAIN['several']} {own}".rstrip() if self.form == "several" else super().word_for_others(own)

    def with_slips(self, hints: Mapping[Any, str], to_others: str) -> dict[Any, str]:
        """Return hints that count what is missing or too many, and then say what the author says.

        So an author never counts.
        """
        if self.form == "one":
            return super().with_slips(hints, to_others)
        counts = {self.typed_text(chosen): (chosen, count) for chosen, count in self.slips()}
        found = {}
        for answer, hint in hints.items():
            chosen, count = counts.pop(self.typed_text(answer), (answer, ""))
            found[chosen] = f"{count} {hint}".lstrip()
        return found | {chosen: f"{count} {to_others}".rstrip() for chosen, count in counts.values()}

    def parts(self) -> dict[str, Any]:
        """Return what else the page needs."""
        return {"choices": [words.single_line(each) for each in self.choices]}


def number_of(choices: set[str]) -> str:
    """Return the number of choices as the beginning of a sentence."""
    return "One is" if len(choices) == 1 else f"{len(choices)} are"


class CellAnswers(Answers):
    """An entry of a picture, named by its index. Of a list, each is right; of a set, all together are the answer."""

    def __init__(self, right: Any, picture: Trace) -> None:
        self.form = "cells" if isinstance(right, (set, frozenset)) else "cell"
        super().__init__([right] if is_shape(right) or isinstance(right, int) else list(right))
        if not self.right:
            raise ValueError(f"right must be at least one entry of picture, got {right!r}")
        self.picture = picture
        if self.form == "cells":
            self.right.sort()

    def right_texts(self) -> list[str]:
        """Return the texts that count as right."""
        return self.texts(self.right) if self.form == "cells" else [self.place_text(each) for each in self.right]

    def texts(self, answer: Any) -> list[str]:
        """Return the texts that count as an answer."""
        if self.form == "cell":
            return [self.place_text(answer)]
        if isinstance(answer, int) or is_shape(answer):
            raise TypeError(f"right is a set of entries, so wrong answers must be tuples of entries; got {answer!r}")
        return [";".join(self.place_text(each) for each in sorted(answer))]

    def text_of_right(self) -> str:
        """Return the right answer in words. If many entries are right by themselves, these are some of them."""
        rest = self.right[MOST_ENTRIES:] if self.form == "cell" else []
        some = self.word(self.right[: len(self.right) - len(rest)])
        return f"one of {len(self.right)} entries, such as {some}" if rest else some

    def place_text(self, answer: Any) -> str:
        """Return an entry as text."""
        place, shape = (answer,) if isinstance(answer, int) else tuple(answer), self.picture["shape"]
        if len(place) != len(shape) or not all(0 <= i < n for i, n in zip(place, shape, strict=True)):
            raise ValueError(f"{answer!r} is no entry of a picture of shape {tuple(shape)}")
        return shape_text(place)

    def word(self, answer: Any) -> str:
        """Return an answer in words."""
        return words.join_words([f"[{', '.join(map(str, [each] if isinstance(each, int) else each))}]"
                                 for each in answer])  # fmt: skip


def answers_for(right: Any, hints: Mapping[Any, str], choices: Any, picture: Any, tolerance: float) -> Any:
    """Return the form of answer that fits `right`, or raise an error that says what can be asked."""
    value = None if picture is None else picture_value(picture)
    if choices is None and isinstance(right, str) and not all(isinstance(each, str) for each in hints):
        other = next(each for each in hints if not isinstance(each, str))
        raise TypeError(f"right is a text, so wrong answers must be texts too; got {other!r}")
    if choices is None and isinstance(right, str):
        if not any(isinstance(each, str) for each in hints):
            raise ValueError(f"right is the text {right!r}, which needs other choices: give choices= or wrong= texts")
        choices = shuffle_choices([right, *[each for each in hints if isinstance(each, str)]])
    if choices is not None:
        found: Any = ChoiceAnswers(*check_choices(right, choices), several=not isinstance(right, str))
    elif value is not None and not is_number(right):
        found = CellAnswers(right, value)
    elif is_number(right):
        found = NumberAnswers(right, tolerance)
    elif is_shape(right) and type(right) is tuple:
        found = ShapeAnswers(right)
    elif (isinstance(right, list) or hasattr(right, "tolist")) and flatten(right):
        found = NumbersAnswers(right)
    else:
        raise TypeError(
            f"right must be a number, a list of numbers, a shape (a tuple), a text or a set of texts with choices, or "
            f"an entry of picture; got {right!r}"
        )
    found.shown = value
    return found


def slips_of(number: float, lead: str = "") -> Iterable[tuple[float, str]]:
    """Yield a number with the other sign, doubled, and halved, each with a hint.

    `lead` says how to find the number. A factor of 2 alone would give it away.
    """
    yield -number, "The size is right. Look at the sign."
    for slip in (2 * number, number / 2):
        yield slip, f"That is off by a factor of 2. {lead}".rstrip()


def check_choices(right: Any, choices: Any) -> tuple[Any, list[str]]:
    """Return the right answer and the choices, or raise an error."""
    listed = list(choices) if isinstance(choices, Iterable) and not isinstance(choices, str) else [choices]
    if not all(isinstance(each, str) for each in listed) or listed == [choices]:
        raise TypeError(f"choices must be a list of texts, got {choices!r}")
    seen = [words.single_line(each) for each in listed]
    if not all(seen) or len(set(seen)) < len(seen):
        raise ValueError(f"choices must be different texts, none of them empty, got {listed!r}")
    if not 2 <= len(listed) <= MOST_CHOICES:
        raise ValueError(f"a question needs 2 to {MOST_CHOICES} choices, got {len(listed)}")
    if not isinstance(right, (str, set, frozenset, list, tuple)):
        raise TypeError(f"with choices, right must be one of them or a set of them, got {right!r}")
    return right, listed


def shuffle_choices(choices: list[str]) -> list[str]:
    """Return choices in an order that depends only on their texts, so that the right one has no place of its own."""
    Random(hash_of(*sorted(choices))).shuffle(choices := sorted(choices))  # noqa: S311 - it hides nothing
    return choices


def is_truth(value: Any) -> bool:
    """Return whether a value is True or False, also NumPy's."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def yes_or_no(value: Any) -> Any:
    """Return True and False as answers; any other value unchanged."""
    return ("no", "yes")[bool(value)] if is_truth(value) else value


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, or an array or tensor of one."""
    is_single = getattr(value, "shape", None) == () and hasattr(value, "__float__")
    return isinstance(value, (int, float)) or (is_single and "complex" not in str(getattr(value, "dtype", "")))


def is_shape(value: Any) -> bool:
    """Return whether a value is a tuple of whole numbers."""
    return isinstance(value, tuple) and all(hasattr(each, "__index__") for each in value)


def as_number(value: Any) -> float:
    """Return a number, or raise TypeError."""
    if not is_number(value):
        raise TypeError(f"an answer to this question must be made of real numbers, got {value!r}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"a number must be less than 1.8e308, got one of {len(str(abs(value)))} digits") from error


def flatten(value: Any) -> list[Any]:
    """Return the numbers of a nested list, an array or a tensor."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [each for part in value for each in flatten(part)] if isinstance(value, (list, tuple)) else [value]


def to_three_digits(value: float) -> str:
    """Return a number in three digits, as `toExponential(2)` of JavaScript writes it."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    exact = Decimal(value)
    place = exact.adjusted() - DIGITS_OF_MANY + 1
    near = exact.quantize(Decimal(1).scaleb(place), ROUND_HALF_UP)
    digits = f"{near:.{DIGITS_OF_MANY - 1}e}"
    mantissa, power = digits.split("e")
    return f"{mantissa}e{int(power):+d}"


def roundings(value: float) -> list[str]:
    """Return a number in three digits; in two ways if it is next to the middle, as 0.1225, which is a little less."""
    by = value * NEXT_TO if math.isfinite(value) else 0.0
    return list(dict.fromkeys(map(to_three_digits, (value, value - by, value + by))))


def picture_value(array: Any) -> Trace:
    """Return an array as a picture with at most 1,024 entries along at most two axes, or raise ValueError."""
    data = array.tolist() if hasattr(array, "tolist") else array
    shape = list(getattr(array, "shape", shape_of_lists(data)))
    count = len(flatten(data))
    if any(not isinstance(each, (complex, bool)) and not is_number(each) for each in flatten(data)):
        raise TypeError(f"picture must be an array of real numbers with one or two axes, got {array!r}")
    if count != math.prod(shape):
        raise ValueError(f"the rows of a picture must have the same length, got {array!r}")
    if not 1 <= len(shape) <= 2 or not 0 < count <= MOST_CELLS:
        raise ValueError(f"a picture needs one or two axes and 1 to {MOST_CELLS} entries, got shape {tuple(shape)}")
    if any(isinstance(each, complex) for each in flatten(data)):
        raise TypeError("a picture for an answer needs real numbers, got complex ones; take abs() of them")
    entries = [each if isinstance(each, bool) else float(each) for each in flatten(data)]
    odd = [each if isinstance(each, bool) or math.isfinite(each) else str(each) for each in entries]
    return {"shape": shape, "data": cells.round_entries(odd)}


def shape_of_lists(data: Any) -> tuple[int, ...]:
    """Return the shape of nested lists."""
    return (len(data), *shape_of_lists(data[0])) if isinstance(data, list) and data else ()


# What the page holds --------------------------------------------------------------------------------------------------


def card_data(say: str, why: str, answers: Any, hints: Mapping[Any, str], show_me: bool) -> dict[str, Any]:
    """Return the content of a card: right answers and hints are sealed."""
    right = answers.right_texts()
    secret = hash_of(say, why, json.dumps([right, sorted(map(str, hints.values()))]))
    salt, key = hash_of(secret, "salt")[:16], key_of(secret, "key")
    opens, texts = sealed_hints(answers, hints, set(right), salt, secret)
    reveal = {"answer": f"The answer is {answers.text_of_right()}.", "why": why}
    return {
        "say": say, "form": answers.form, "note": NOTES[answers.form], "plain": answers.to_others,
        "picture": answers.shown, "width": None, "choices": [], "salt": salt,
        "right": {name_of(salt, each): wrap_key(salt, each, key) for each in right},
        "shows": wrap_key(salt, GIVEN_UP, key) if show_me else None,
        "hints": opens, "texts": texts, "sealed": seal(key, reveal), **answers.parts(),
    }  # fmt: skip


def sealed_hints(
    answers: Any, hints: Mapping[Any, str], taken: set[str], salt: str, secret: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the wrong answers that unlock hints, and the sealed hints."""
    opens: dict[str, Any] = {}
    texts = []
    for i, (answer, hint) in enumerate(hints.items()):
        key = key_of(secret, "hint", i)
        texts.append(seal(key, hint))
        fresh = [each for each in answers.texts(answer) if each not in taken]
        if answers.typed_text(answer) not in fresh:
            raise ValueError(f"{answer!r} is right or has a hint already, so it cannot be a wrong answer")
        taken.update(fresh)
        opens |= {name_of(salt, each): [i, wrap_key(salt, each, key)] for each in fresh}
    return opens, texts


__all__ = ["Card", "Progress", "ask"]

"""Hints for mistakes whose names are generated: where to look, a wrong entry by hand, and the change to undo.

The reply shows the name of the mistake, so the first hint does not repeat it. It asks for an experiment on few numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .sandboxed import FUNCTIONS

LOOK = (
    (r"wrong places|rolled",
     "Let upstream be 1, 2, 3 and so on. Where did the forward pass take each entry from, and where do you send it?"),
    (r"off by one|one too|one step|index",
     "Count on your fingers for the two smallest calls: where does your count begin, and where does it end?"),
    (r"last use|overwrit|overlap|wins",
     "For how many places of the output is one entry of the input used? Count what each of them sends."),
    (r"upside down|exchanged|swapped|reversed|in reverse|flipped|other way round",
     "Change one number of the call at a time. Which parts of your result change with it, and which should?"),
    (r"transpose|as matrices|wrong order|order of the factors|`\.T`",
     "Write the shape under each factor of your product, and the shape that is due. In which order do they fit?"),
    (r"^(?!.*(divided|multiplied|number of|\bsign\b)).*(\bax[ie]s\b|`keepdims`)",
     "Take a call whose axes have different lengths. Along which axis does the forward pass go, and your rule?"),
)  # fmt: skip
"""For words of a title, an experiment that shows such a mistake in any exercise. The first that fits counts."""
LOOK_AT_RULE = (
    (r"your code computes",
     "Write the slope of each step that the forward formula takes. Which of them does your code have, and which not?"),
    (r"upstream`? (is|are) left out|without upstream|upstream is forgotten|1 everywhere",
     "Double upstream, and run your rule again. What should happen to your result, and what happens?"),
    (r"\bsign\b|(the|a) minus|with a minus|wrong way round|uphill",
     "Make one input a little larger. Does the output rise or fall? Compare that with the sign of what you send."),
    (r"`mean` instead|`sum` instead",
     "Repeat each entry once, so that there are twice as many. Should what one of them receives stay, or halve?"),
    (r"applied twice|is applied",
     "Which value do you put into the function, and how was that value computed from the input?"),
    (r"the rule (of|for)|second derivative",
     "Which function has the slope that you send? Compare its value with the output at the same input."),
    (r"\bitself\b|forward again|only positive|only where|magnitude|identity|instead of its slope",
     "You send a value where a change is due. By how much does the output change if the input moves by 0.01?"),
    (r"it is always|fixed to",
     "Which places or entries does the forward pass use because of that setting, and which does your rule use?"),
    (r"\bpower\b|exponent|square is left out",
     "Differentiate the forward formula on paper. Which power does each of its parts get, and which in your rule?"),
    (r"^[^,:]*`\w+` instead of `\w+`",
     "Write the number of each value beside its name in your code. Which one does the derivative on paper not have?"),
)  # fmt: skip
"""The same for rules, which have an upstream and an output."""
COMPUTES = re.compile(r"your code computes|every number is|right at some entries|wrong places")
ANOTHER_RULE = re.compile(r"the rule (of|for)\b|second derivative|forward again|\bitself\b|identity|as in an average")
TOO_SHORT = re.compile(r"passed on|upstream times|passes only|everywhere|the rest of the rule")
LEFT_OUT = re.compile(r"^`(\w+)` is left out")
NOT_FREE = {*FUNCTIONS, "out", "upstream", "softmax"}
WITHOUT_A_VALUE = re.compile(r"left out|missing|forgotten|ignored|not counted")
STEPS = "Which steps does the forward formula take from this entry to the output? Your rule needs one for each."
LAST_HINT = "Work it out by hand for the smallest possible call, with one entry, and compare; then with two."
SHAPES = "Write its shape beside each value of your rule. In which line does an axis come in, or get lost?"


def where_to_look(title: str, *, is_rule: bool = True, free: Collection[str] | None = None) -> str:
    """Return a question that leads to a mistake without naming it; an empty text if none is known.

    `free` are the values of a call that a student can change, each by itself. If there is no call, these are all names
    except those of functions and of what the forward pass computes.
    """
    name = LEFT_OUT.match(title)
    if name and (name[1] not in NOT_FREE if free is None else name[1] in free):
        return f"Change only `{name[1]}` in this call, and compute the output again. Should your result stay the same?"
    for words, question in (*LOOK, *(LOOK_AT_RULE if is_rule else ())):
        if re.search(words, title):
            return question
    return STEPS if is_rule and WITHOUT_A_VALUE.search(title) else ""


def lead_to_change(
    title: str, by_hand: Sequence[str], question: str, *, quotient: str = "", outcome: str = "numbers", line: str = ""
) -> tuple[str, str, str]:
    """Return three hints: where to look on few numbers, what is due there, and the change that explains the numbers.

    `by_hand` are the hints of an unnamed mistake, `question` says where to look, and `quotient` asks for the factor
    between the student's number and the one that is due. `outcome` and `line` are explained in `name_the_change`.
    """
    first, second, third = by_hand
    due = second if third == LAST_HINT else third
    question = question or ("" if due == second else second)
    return f"{first} {question}".rstrip(), f"{due} {quotient}".rstrip(), name_the_change(title, outcome, line)


def ask_for_quotient(quotient: float, kind: str, *, elsewhere: float | None = None) -> str:
    """Return the question for the value of a call by which every number is too large, or, below 1, too small.

    `kind` says what the quotient is, such as "length". `elsewhere` is the quotient in the call of the reply.
    """
    order = "you send by the one that is due" if abs(quotient) >= 1 else "is due by the one that you send"
    other = ""
    if elsewhere is not None and abs(elsewhere - quotient) > 1e-6 * abs(quotient):
        other = " In the call of the reply it is another number, since that call has other lengths."
    return f"Divide the number that {order}, for two entries.{other} Which {kind} of this call is the quotient?"


def is_description(title: str) -> bool:
    """Return whether a title says which numbers an answer gives, and not what was changed in the right one."""
    return COMPUTES.search(title) is not None


OUTCOMES = {
    "numbers": "gives exactly your numbers", "shape": "gives exactly your result, with the same wrong shape",
    "raised": "stops in the same way as yours",
}  # fmt: skip
"""What a wrong variant has in common with a student's answer."""


def name_the_change(title: str, outcome: str = "numbers", line: str = "") -> str:
    """Return a sentence with the change to the right answer, or the expression, that has the student's outcome.

    `outcome` is a key of `OUTCOMES`, and `line` the student's line that it concerns, if known.
    An answer that is another rule as a whole, or hands upstream on, has no change to undo.
    """
    where = f" It is in this line of yours: `{line}`." if line else ""
    if is_description(title):
        return f"These are exactly your numbers: {title}. Which part of it does the forward formula not ask for?{where}"
    same = OUTCOMES[outcome]
    if outcome != "raised" and TOO_SHORT.search(title):
        return f"This {same}: {title}. Which steps of the forward pass do you not go back through?"
    if outcome != "raised" and ANOTHER_RULE.search(title) and not WITHOUT_A_VALUE.search(title):
        return (f"This {same}: {title}. How does the output change if only this input moves, and "
                f"which part of your rule says so?{where}")  # fmt: skip
    return f"The right answer with one change {same}: {title}. Undo this change in yours.{where}"


__all__ = [
    "LAST_HINT", "OUTCOMES", "SHAPES", "STEPS", "ask_for_quotient", "is_description", "lead_to_change",
    "name_the_change", "where_to_look",
]  # fmt: skip

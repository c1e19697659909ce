"""Hints for mistakes whose names are generated: where to look, a wrong entry by hand, and the change to undo.

The reply shows the name of the mistake, so the first hint does not repeat it. It asks for an experiment on few numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .sandboxed import FUNCTIONS

LOOK = (
    (r"wrong places",
     "Let upstream be 1, 2, 3 and so on. Where did the forward pass take each entry from, and where do you send it?"),
    (r"off by one|one too|one step|index",
     "Count on your fingers for the two smallest calls: where does your count begin, and where does it end?"),
    (r"last use|overwrit|overlap|wins",
     "For how many places of the output is one entry of the input used? Count what each of them sends."),
    (r"upside down|exchanged|swapped|reversed|in reverse|flipped|other way round",
     "Give the two values or places different numbers, such as 2 and 10. Which of them decides what you send?"),
    (r"transpose|as matrices|wrong order|order of the factors|`\.T`",
     "Write the shape under each factor of your product, and the shape that is due. In which order do they fit?"),
    (r"^(?!.*(divided|multiplied|number of)).*(\bax[ie]s\b|`keepdims`)",
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
    (r"average|divided by the|multiplied by the|number of|length of|size of|count_along",
     "Divide the number that you send by the one that is due. Which length or count of this call is the quotient?"),
    (r"the rule (of|for)|second derivative|applied twice|is applied",
     "Which function has the slope that you send? Compare its value with the output at the same input."),
    (r"\bitself\b|forward again|only positive|only where|magnitude|identity",
     "You send a value where a change is due. By how much does the output change if the input moves by 0.01?"),
    (r"it is always|fixed to",
     "Which places or entries does the forward pass use because of that setting, and which does your rule use?"),
    (r"\bpower\b|exponent|square is left out",
     "Take two inputs, one twice the other. By which factor does your slope change, and the slope of the output?"),
    (r"instead of",
     "Which of the values in the call stands at that place of the forward formula, and which in your rule?"),
    (r"factor|divided|multiplied|square|twice|half|quotient|the number `",
     "Divide the number that you send by the one that is due, twice. Which value of the call is the quotient?"),
)  # fmt: skip
"""The same for rules, which have an upstream and an output."""
COMPUTES = re.compile(r"your code computes|every number is|right at some entries|wrong places")
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


def lead_to_change(title: str, by_hand: Sequence[str], question: str) -> tuple[str, str, str]:
    """Return three hints: where to look on few numbers, what is due there, and the change that explains the numbers.

    `by_hand` are the hints of an unnamed mistake, and `question` says where to look.
    """
    first, second, third = by_hand
    due = second if third == LAST_HINT else third
    if question.startswith("Divide"):  # such a question needs the number that is due
        question, due = ("" if due == second else second), f"{due} {question}"
    return f"{first} {question}".rstrip(), due, name_the_change(title)


def is_description(title: str) -> bool:
    """Return whether a title says which numbers an answer gives, and not what was changed in the right one."""
    return COMPUTES.search(title) is not None


def name_the_change(title: str) -> str:
    """Return a sentence with the change to the right answer, or the expression, that gives the student's numbers."""
    if is_description(title):
        return f"These are exactly your numbers: {title}. Which part of it does the forward formula not ask for?"
    return f"The right answer with one change gives exactly your numbers: {title}. Undo this change in yours."


__all__ = ["LAST_HINT", "SHAPES", "STEPS", "is_description", "lead_to_change", "name_the_change", "where_to_look"]

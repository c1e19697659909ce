"""Messages of errors in student code, without anything that the code could have put into them.

An answer sees the hidden inputs, and can raise an error whose message contains them. So a message is shown only if it
is one of Python's or NumPy's usual messages, with names that occur in the student's source and small numbers, or if it
occurs in the source as it is.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

import numpy as np

from .reasons import reason

TEMPLATES = """
name '<name>' is not defined
name '<name>' is not defined. Did you mean: '<name>'?
cannot access local variable '<name>' where it is not associated with a value
cannot access free variable '<name>' where it is not associated with a value in enclosing scope
module '<name>' has no attribute '<name>'
type object '<name>' has no attribute '<name>'
'<name>' object has no attribute '<name>'
No module named '<name>'
cannot import name '<name>' from '<name>' <rest>
this exercise asks you to write it yourself: <name> is not available while your work is graded
xp has no function '<name>' in this exercise
'<name>' object is not callable
'<name>' object is not iterable
'<name>' object is not subscriptable
'<name>' object does not support item assignment
'<name>' object does not support the context manager protocol
'<name>' object cannot be interpreted as an integer
cannot unpack non-iterable <name> object
object of type '<name>' has no len()
unsupported operand type(s) for <operator>: '<name>' and '<name>'
bad operand type for unary <operator>: '<name>'
bad operand type for abs(): '<name>'
'<operator>' not supported between instances of '<name>' and '<name>'
can only concatenate <name> (not "<name>") to <name>
can't multiply sequence by non-int of type '<name>'
<name>() missing <n> required positional argument: '<name>'
<name>() missing <n> required positional arguments: <names>
<name>() missing <n> required keyword-only argument: '<name>'
<name>() takes <n> positional argument but <n> were given
<name>() takes <n> positional arguments but <n> was given
<name>() takes <n> positional arguments but <n> were given
<name>() takes from <n> to <n> positional arguments but <n> were given
<name>() takes no arguments (<n> given)
<name>() takes no keyword arguments
<name>() got an unexpected keyword argument '<name>'
<name>() got multiple values for argument '<name>'
'<name>' is an invalid keyword argument for <name>()
division by zero
integer division or modulo by zero
integer modulo by zero
float division by zero
float modulo
math domain error
math range error
list index out of range
tuple index out of range
string index out of range
list assignment index out of range
pop from empty list
list indices must be integers or slices, not <name>
tuple indices must be integers or slices, not <name>
maximum recursion depth exceeded <rest>
maximum recursion depth exceeded
EOF when reading a line
not enough values to unpack (expected <n>, got <n>)
too many values to unpack (expected <n>)
max() arg is an empty sequence
min() arg is an empty sequence
max() iterable argument is empty
min() iterable argument is empty
operands could not be broadcast together with shapes <shapes>
operands could not be broadcast together with remapped shapes <rest>
non-broadcastable output operand with shape <shape> doesn't match the broadcast shape <shape>
could not broadcast input array from shape <shape> into shape <shape>
matmul: Input operand <n> has a mismatch in its core dimension <n>, with gufunc signature <rest>
matmul: Input operand <n> does not have enough dimensions <rest>
shapes <shape> and <shape> not aligned: <n> (dim <n>) != <n> (dim <n>)
cannot reshape array of size <n> into shape <shape>
axis <n> is out of bounds for array of dimension <n>
index <n> is out of bounds for axis <n> with size <n>
axes don't match array
too many indices for array: array is <n>-dimensional, but <n> were indexed
all the input <rest>
all input arrays must have the same shape
shape mismatch: <rest>
output array is read-only
assignment destination is read-only
The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
only length-1 arrays can be converted to Python scalars
only 0-dimensional arrays can be converted to Python scalars
only integer scalar arrays can be converted to a scalar index
setting an array element with a sequence. <rest>
setting an array element with a sequence.
arrays used as indices must be of integer (or boolean) type
only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices
Singular matrix
ufunc '<name>' not supported for the input types, and <rest>
ufunc '<name>' did not contain a loop with signature matching types <rest>
Cannot cast ufunc '<name>' output from dtype('<name>') to dtype('<name>') with casting rule 'same_kind'
the answer must be a function, got an object of type <name>
the answer must be a number, got an object of type <name>
there is no answer yet
your function has a parameter '<name>'; it can have <words>
your class has no <name>
your answer has nothing yet under '<name>'; it needs <words>
your function must return <n> values (<words>), got <n>
your function must return two things: the result, and a function that takes upstream
your function returned None for <name>: is there a `return`?
<name> must be an array, got an object of type <name>
<name> must be an array of numbers
the array for <name> is too large: its shape is <shape>
the data sent is not a valid answer
"""
"""The messages that are shown, one a line."""
_NUMBER = r"-?\d{1,4}"
_SHAPE = rf"\((?:{_NUMBER},? ?){{0,6}}\)"
_NAME = r"(?:[^\W\d]|<)[\w<>.+ ]{0,60}"
SLOTS = {
    "<name>": _NAME, "<names>": r"[^\W\d'][\w', ]{0,120}|'[\w', ]{0,120}", "<words>": r"[\w. ,]{1,200}",
    "<n>": _NUMBER, "<shape>": _SHAPE, "<shapes>": rf"(?:{_SHAPE} ?){{1,4}}", "<rest>": r".{0,200}",
    "<operator>": r"[-+*/%@&|^<>=~!]{1,3}|\*\* or pow\(\)",
}  # fmt: skip
"""What a template may contain beside its text."""
REST_WORDS = """
    n k m core dimension dimensions in its operand with gufunc signature mismatch size is different from the cannot be
    a single shape arg and all array arrays except for concatenation axis must match exactly along at index has while
    calling Python object comparison dtype casting rule same_kind safe safely could not according supported inputs any
    after part detected The requested inhomogeneous number of it result function unknown location most likely due or
    circular import equal than more one original remapped newaxis have same sequence was types to but broadcast objects
    coerced locals ellipsis
"""
MOST_DIGITS, MOST_SIGNS = 16, 40
"""A message with more digits, or more signs other than letters, digits and spaces, is not shown."""


def compile_template(text: str) -> re.Pattern[str]:
    """Return the pattern of one line of the templates."""
    parts = re.split("|".join(f"({slot})" for slot in SLOTS), text)
    return re.compile("".join(f"(?:{SLOTS[part]})" if part in SLOTS else re.escape(part) for part in parts if part))


PATTERNS = [compile_template(line) for line in TEMPLATES.strip().split("\n")]


def words_in(text: str) -> set[str]:
    """Return the names and words in a text."""
    return set(re.findall(r"[^\W\d]\w*", text))


KNOWN_WORDS = words_in(TEMPLATES) | words_in(REST_WORDS) | {
    *dir(builtins), *dir(np), *dir(np.ndarray), *dir(np.linalg), *dir(list), *dir(dict), *dir(str), "np", "math", "xp",
    "NoneType", "builtin_function_or_method", "method", "generator", "InvalidAnswer", "LinAlgError", "AxisError",
    "UFuncTypeError", "_UFuncNoLoopError", "_UFuncBinaryResolutionError", "_UFuncInputCastingError",
    "_UFuncOutputCastingError", "micrograd_plus", "exercises", "torch", "jax", "autograd", "tensorflow", "pandas",
    "scipy", "sklearn", "sympy", "answer", "whole", "slope", "upstream",
}  # fmt: skip
"""Words that a message may contain though the source does not."""


class SafeMessages:
    """Selects the messages of one submission that contain no data that its code computed."""

    def __init__(self, sources: Iterable[str], known: Iterable[str] = ()) -> None:
        self.source = "\n".join(sources)
        self.words = words_in(self.source) | KNOWN_WORDS | words_in(" ".join(known))

    def kind(self, name: str) -> str:
        """Return the name of an exception class if the source or Python contains it; `Exception` otherwise."""
        return name if name in self.words else "Exception"

    def message(self, text: str) -> str:
        """Return a message if it can be shown; a note otherwise."""
        return text if self.can_show(text) else reason("hidden_message")

    def can_show(self, text: str) -> bool:
        """Return whether a message contains no data that the code computed."""
        if text in self.source:
            return True
        if sum(map(str.isdigit, text)) > MOST_DIGITS or len(re.findall(r"[^\w\s]", text)) > MOST_SIGNS:
            return False
        return words_in(text) <= self.words and any(pattern.fullmatch(text) for pattern in PATTERNS)

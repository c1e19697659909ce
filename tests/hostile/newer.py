"""Attacks on reasons, budgets, reading and clearing, numbered from 201. They are in no published list."""

from pathlib import Path

from cases import ALL, CASES, HEAD, NONE, OTHER, RIGHT, SEVENS, answer, code, files, notebook

LISTED = len(CASES)
VALUE = "value = '%.6f' % np.ravel(1 - out**2)[0]\n"
"""A line that puts a right number, which a reason must never show, into a text."""

# A. Hidden numbers in reasons -----------------------------------------------------------------------------------------

answer(201, "a right number as the name of an error", VALUE + """
raise type('Value_' + value.replace('.', '_'), (ValueError,), {})(value)
""", NONE)  # fmt: skip
answer(202, "a right number as a missing key", VALUE + "return {}[value]", NONE, "KeyError")
answer(203, "a right number as a missing attribute", VALUE + "return getattr(np, value)", NONE, "AttributeError")
answer(204, "a right number as the name of a class", VALUE + "return type(value, (), {})()", NONE, "not shown")
answer(205, "a right number in a chain of causes and notes", VALUE + """
try:
    raise ValueError(value)
except ValueError as error:
    error.add_note(value)
    raise RuntimeError(value) from error
""", NONE, "RuntimeError")  # fmt: skip
answer(206, "a right number in a group of errors", VALUE + "raise ExceptionGroup(value, [ValueError(value)])", NONE)
answer(207, "a right number as a missing module", VALUE + "__import__('m' + value)", NONE)
answer(208, "a right number in a syntax error", VALUE + "compile('(' + value, value, 'exec')", NONE, "SyntaxError")
answer(209, "a right number as the name of the function", VALUE + """
def inner(): raise TypeError
inner.__name__ = inner.__qualname__ = value
inner.__code__ = inner.__code__.replace(co_name=value)
inner(1)
""", NONE, "TypeError")  # fmt: skip

# B. What is handed back -----------------------------------------------------------------------------------------------

answer(210, "strides that claim a terabyte", """
return np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 20, 1 << 20), (0, 0))
""", NONE)  # fmt: skip
answer(211, "a list in a list, a hundred thousand times", """
deep = 1.0
for _ in range(100_000): deep = [deep]
return deep
""", NONE)  # fmt: skip
answer(212, "a list that contains itself", "held = []\nheld.append(held)\nreturn held", NONE)
answer(213, "an object whose every conversion raises SystemExit", "return Leaves()", NONE, "type Leaves", False, """
class Leaves:
    def __array__(self, *a, **k): raise SystemExit(0)
    def __float__(self): raise SystemExit(0)
    def __len__(self): raise SystemExit(0)
    def __iter__(self): raise SystemExit(0)
    def __repr__(self): raise SystemExit(0)
""")  # fmt: skip
answer(214, "NumPy set to raise, print and call back", """
np.seterr(all='call')
np.seterrcall(lambda *a: (_ for _ in ()).throw(SystemExit(0)))
np.set_printoptions(formatter={'all': lambda x: 1 / 0})
return np.full(np.shape(out), 7.0) / np.zeros(np.shape(out))
""", None)  # fmt: skip
answer(215, "other bytes in the order of another machine", "return np.asarray(1 - out**2).astype('>f8')", ALL)
answer(216, "a structured array", "return np.zeros(np.shape(out), [('x', 'f8'), ('y', 'f8')])", NONE)
answer(217, "a right number as a length", VALUE + "return np.zeros(int(value[2:6]))", NONE, "does not fit: the output")

# C. Reading and running -----------------------------------------------------------------------------------------------


@files(218, "an integer of ten thousand digits", "read|digits|line")
def _(folder: Path) -> Path:
    path = folder / "case218.py"
    path.write_text(f"{HEAD}x = {'1' * 10_000}\n{RIGHT}{OTHER}", encoding="utf-8")
    return path


code(219, "the answer's name in wide letters", RIGHT.replace("def tanh_x", "def \uff54\uff41\uff4e\uff48_x"), ALL)
code(220, "the answer as a class with a call", """
@exercises.answer("tanh.x")
class tanh_x:
    def __new__(cls, out): return 1 - out**2
""", ALL)  # fmt: skip
code(221, "five hundred answers to one exercise", SEVENS * 500 + RIGHT, ALL)
code(222, "an answer with a thousand parameters", """
parameters = ', '.join(f'p{n}=None' for n in range(1000))
exec(f"@exercises.answer('tanh.x')\\ndef tanh_x({parameters}, *, out): return 1 - out**2")
""", None)  # fmt: skip


@files(223, "magics of every kind around the answer", "right", points=ALL, unreadable=False)
def _(folder: Path) -> Path:
    path = folder / "case223.ipynb"
    path.write_text(notebook(
        "%%capture captured\nimport os", "%run -i /etc/passwd\n%load_ext nothing\n%%not a magic\n1/0",
        "!rm -rf / ; \\\n  echo done\n!!ls\nfiles = %ls\n%timeit -n1 x = 1", HEAD + RIGHT, "%env SECRET=1\n?np\nnp??",
        "%cd /\n%reset -f\n" + OTHER,
    ), encoding="utf-8")  # fmt: skip
    return path


@files(224, "keys of a notebook twice, and a source of nested lists", "cell|source|text")
def _(folder: Path) -> Path:
    path = folder / "case224.ipynb"
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": "x = 1", "source": [["x"], {"y": 1}]}'
    path.write_text(f'{{"nbformat": 4, "cells": [], "cells": [{cell}], "metadata": {{}}}}', encoding="utf-8")
    return path


answer(225, "a folder in a folder, each of which nobody may open", """
import os
for n in range(400):
    os.mkdir('d')
    open('\\udcff\\n', 'w').close()
    os.chdir('d')
os.chmod('.', 0)
while os.path.exists('..') and os.getcwd() != '/':
    try: os.chdir('..'); os.chmod('d', 0)
    except OSError: break
return 1 - out**2
""", None)  # fmt: skip

NEWER = CASES[LISTED:]
del CASES[LISTED:]
assert len(NEWER) == 25

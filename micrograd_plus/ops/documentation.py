"""Docstrings of operations that show more than their source.

`complete` lets a docstring show the sections that are the same for every operation of a kind, so `help(mg.tanh)` shows
all of them. They are derived when someone looks.
"""

from __future__ import annotations

from typing import Any, SupportsIndex


class DerivedDocstring(str):
    """Docstring of a function that adds its derived sections when it is shown.

    `help`, `inspect.getdoc`, IPython and doctest read a docstring through `expandtabs`, and `print` through `__str__`:
    both return the complete text. To complete all docstrings at the import would take a tenth of its time.
    """

    __slots__ = ("function",)
    function: Any

    def __str__(self) -> str:
        from .derived_sections import facts_of, with_sections

        return with_sections(str.__str__(self), facts_of(self.function, getattr(self.function, "op", None)))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        """Return the complete docstring, with spaces for tabs."""
        return str(self).expandtabs(tabsize)


def complete(function: Any) -> None:
    """Let a function's docstring show the sections that follow from its kind and signature, too."""
    if type(function.__doc__) is str:  # not that of a function that has two names
        text = DerivedDocstring(function.__doc__)
        text.function = function
        function.__doc__ = text
        op = getattr(function, "op", None)
        if op is not None and op.call is function:
            op.forward.__doc__ = text

"""Formulas: symbols that rules are read on, and how an expression is spelled as text, LaTeX and MathML."""

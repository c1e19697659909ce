"""The plan of a program: its arrays with their sizes and lives, its numbers, and the lines that stop a GPU.

A CUDA graph replays kernels with fixed addresses and arguments. So it needs to know which memory is used when, which
numbers may change from call to call, and which lines ask for a number on the host, or draw.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from .memory import peak_bytes
from .page import Page, Value

ASKING = frozenset(("item", "get", "tolist"))
"""Methods that copy numbers to the host."""


class Memory(NamedTuple):
    """Memory that a program makes: the names of its arrays, the shape and dtype of the first, its bytes, and the lines
    between which it is needed. `last` is 0 for what the program returns."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: Any
    nbytes: int
    first: int
    last: int


class Plan:
    """What a program needs: `print(program.plan)` shows it. Lines are counted as in `program.source`.

    `memory` lists the arrays that it makes, `peak` is how many bytes of them are needed at once. `numbers` are the
    inputs that are Python's numbers. `host_lines` copy a number to the host, `draw_lines` draw random numbers, and
    `pieces` counts the parts between such lines: each could be one CUDA graph.
    """

    def __init__(self, page: Page, source: str):
        self.source = source.splitlines()
        tree: Any = ast.parse(source)
        self._function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.col_offset == 0
                              and node is tree.body[-1])  # fmt: skip
        generators = {value.name for value in page.inputs if value.source[0] == "object"}
        self.numbers = [value.name for value in page.inputs if not value.is_array and value.name not in generators]
        self.inputs = [value for value in page.inputs if value.is_array]
        calls = [node for node in ast.walk(self._function) if isinstance(node, ast.Call)]
        methods = [(node.lineno, node.func) for node in calls if isinstance(node.func, ast.Attribute)]
        self.host_lines = sorted({line for line, method in methods if method.attr in ASKING})
        self.draw_lines = sorted({
            line for line, method in methods if isinstance(method.value, ast.Name) and method.value.id in generators
        })  # fmt: skip
        self.peak = peak_bytes(page)
        self.memory = self._find_memory(page)
        self.pieces = self._count_pieces()

    def _find_memory(self, page: Page) -> list[Memory]:
        """Return the memory that the program makes, in the order of its lines."""
        made, read = self._lines_of_names()
        buffers: dict[Any, list[Value]] = {}
        for statement in page.each_statement():
            for value in statement.outs():
                if value.is_array and value.kind == "temporary" and value.name in made:
                    buffers.setdefault(value.buffer, []).append(value)
        returned = {value.buffer for value in page.live()}
        found: dict[tuple[str, ...], Memory] = {}
        for buffer, values in buffers.items():
            names = tuple(dict.fromkeys(value.name for value in values))
            last = 0 if buffer in returned else max(read.get(name, made[name]) for name in names)
            value, first = values[0], min(made[name] for name in names)
            if buffer.nbytes > 0:  # a loop makes the memory of a name again in each round
                found[names] = Memory(names, value.shape, value.dtype, buffer.nbytes, first, last)
        return sorted(found.values(), key=lambda memory: memory.first)

    def _lines_of_names(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the lines that first make each name and last read it. A loop reads until its end."""
        made: dict[str, int] = {}
        read: dict[str, int] = {}
        for statement in self._function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    made[node.id] = min(made.get(node.id, node.lineno), node.lineno)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    line = (statement.end_lineno if isinstance(statement, ast.For) else node.lineno) or 0
                    read[node.id] = max(read.get(node.id, 0), line)
        return made, read

    def _count_pieces(self) -> int:
        """Return how many parts of the program have statements between lines that ask the host or draw."""
        cuts = {*self.host_lines, *self.draw_lines}
        pieces, is_inside = 0, False
        for statement in self._function.body[1:-1]:
            lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
            is_cut = any(line in cuts for line in lines) or isinstance(statement, ast.Assert)
            pieces += not is_cut and not is_inside
            is_inside = not is_cut
        return pieces

    def __str__(self) -> str:
        lines = [f"At most {self.peak:,} bytes at once, of the arrays that the program makes:"]
        for memory in self.memory:
            life = f"from line {memory.first} " + (f"to {memory.last}" if memory.last else "on: it is returned")
            shape = f"{memory.dtype} {memory.shape}"
            lines.append(f"    {', '.join(memory.names)}: {shape}, {memory.nbytes:,} bytes, {life}")
        total = sum(value.nbytes for value in self.inputs)
        lines.append(f"Reads {len(self.inputs)} arrays of {total:,} bytes")
        lines.append(f"Reads the numbers {', '.join(self.numbers)}" if self.numbers else "Reads no numbers")
        for what, places in (("copying a number to the host", self.host_lines), ("drawing", self.draw_lines)):
            lines.append(f"Lines {what}: {len(places) or 'none'}")
            lines += [f"    {line}: {self.source[line - 1].strip()}" for line in places]
        parts = "1 part" if self.pieces == 1 else f"{self.pieces} parts"
        lines.append(f"Between them the program is {parts}, each of which a CUDA graph could hold")
        return "\n".join(lines)

    __repr__ = __str__

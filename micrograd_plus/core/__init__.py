"""The engine. Read these modules in order: `rule`, `operation`, `variable`, `apply`, `backward`, `modes`, `define`.

They hold everything that a gradient depends on. Beside them, `fast` compiles the same operations to straight-line
functions, `runtime` holds hooks, recorders and the ownership of arrays, `messages` the texts of errors, and `composite`
defines operations that are made of other operations.
"""

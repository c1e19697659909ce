"""The engine, in the order in which to read it: `rule`, `operation`, `define`, `variable`, `backward`, `modes`.

The other files are speed and manners: the same as straight code (`codegen`), whose an array is (`ownership`),
operations made of others (`composite`), error messages (`errors`, `arguments`), nested containers (`pytrees`).
"""

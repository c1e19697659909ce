"""Compiled operations: writers of straight-line callers and vjps that do what `core.apply` and `core.backward` do."""

"""Error messages: which call failed, on which arguments, and what to write instead.

Nothing here changes a value. `errors` explains what an operation or one of its rules raised, `calls` does so for the
functions in front of operations, `arguments` checks arguments, and `missing_names` answers a request for a name that
does not exist here, from the table in `foreign_names`.
"""

from .arguments import NONE_HINT, check_count, check_function, check_mapping, expected_tensor_error
from .calls import own_keyword, prefixes_errors, suggests_keywords
from .errors import (
    MIXED_GRAPH,
    annotate_rule_error,
    explain_error,
    explain_walk_error,
    explains,
    freed_graph_error,
    hook_error,
    missing_rule_error,
    whole_numbers,
)
from .instructions import unpacked_count
from .missing_names import MissingModules, MissingName, missing_name
from .values import describe

__all__ = [
    "MIXED_GRAPH",
    "NONE_HINT",
    "MissingModules",
    "MissingName",
    "annotate_rule_error",
    "check_count",
    "check_function",
    "check_mapping",
    "describe",
    "expected_tensor_error",
    "explain_error",
    "explain_walk_error",
    "explains",
    "freed_graph_error",
    "hook_error",
    "missing_name",
    "missing_rule_error",
    "own_keyword",
    "prefixes_errors",
    "suggests_keywords",
    "unpacked_count",
    "whole_numbers",
]  # fmt: skip

"""Collects the comparisons with PyTorch if it is installed: `make parity` installs it, `make test` does not need it."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

"""Comparisons with PyTorch are collected where it is installed: `make parity` installs it, `make test` needs none."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

"""Collects programs if the engines that they are compared with are installed: `make parity` installs them."""

from importlib.util import find_spec

NEEDED = {"test_programs.py": "torch", "test_autograd.py": "autograd"}
collect_ignore = [name for name, package in NEEDED.items() if find_spec(package) is None]

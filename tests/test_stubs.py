"""Stubs of public modules match the runtime, for editors and type checkers."""

import ast
import importlib.util
from pathlib import Path

import pytest

import micrograd_plus as mg
from micrograd_plus.checks import promises as check
from micrograd_plus.checks.samples import samples

ROOT = Path(__file__).resolve().parent.parent


def written_by_make_stubs():
    """Return the stubs that docs/make_stubs.py would write now."""
    spec = importlib.util.spec_from_file_location("make_stubs", ROOT / "docs" / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stubs()


STUBS = written_by_make_stubs()
RETURNED = {
    statement.name: ast.unparse(statement.returns)
    for path in ("micrograd_plus/ops/__init__.pyi", "micrograd_plus/extras/quantisation.pyi")
    for statement in ast.parse(STUBS[path]).body
    if isinstance(statement, ast.FunctionDef)
}


def test_the_stubs_are_up_to_date():
    there = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "micrograd_plus").rglob("*.pyi")}
    assert there.keys() == STUBS.keys()
    outdated = [name for name, text in STUBS.items() if there[name].read_text(encoding="utf-8") != text]
    assert not outdated, "run `make reference`"


def test_every_public_name_is_in_the_stubs():
    face = ast.parse(STUBS["micrograd_plus/__init__.pyi"])
    imported = {
        alias.asname or alias.name
        for statement in face.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname == alias.name  # other imports of a stub are private
    }
    assigned = [statement.targets for statement in face.body if isinstance(statement, ast.Assign)]
    renamed = {target.id for targets in assigned for target in targets}
    assert set(mg.__all__) <= imported | renamed | RETURNED.keys()


@pytest.mark.parametrize("name", sorted(samples.keys() & RETURNED.keys()))
def test_an_operation_returns_what_its_stub_says(name):
    out = check.call_sample(samples[name][0], samples[name][0].inputs)
    kind = RETURNED[name]
    if kind == "Tensor":
        assert isinstance(out, mg.Tensor)
    else:
        assert all(isinstance(part, mg.Tensor) for part in out)
        assert kind == "tuple[Tensor, ...]" or kind.count("Tensor") == len(out)

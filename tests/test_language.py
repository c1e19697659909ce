"""The project writes plain English: few markers of unclear sentences, and names that say what a function does."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import language
from language import ROOT

pytestmark = pytest.mark.xdist_group("language")  # one worker reads each file once

MOST_MARKED = 0.04
"""The share of sentences with a marker. NumPy, PyTorch and JAX have 2.5 to 3.3 %, counted by the same patterns."""

MOST_LETTERS = 75
"""The length of a test's name."""

ENGINE, VIZ, DOCS, TESTS = (ROOT / name for name in ("micrograd_plus", "viz", "docs", "tests"))
PACKAGES = [path for path in sorted(ENGINE.iterdir()) if path.is_dir() and path.name != "__pycache__"]
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]
PLACES = {
    **{path.name: [path] for path in PACKAGES},
    "modules at the root": sorted(ENGINE.glob("*.py")),
    "viz": [VIZ],
    "pages": PAGES,
    "reference": [DOCS / "reference"],
    "scripts of the docs": sorted(DOCS.glob("*.py")),
    "tests": [TESTS],
}

QUOTING = {"language.py", "test_language.py"}
"""Files that quote the markers."""


@cache
def sentences(*places: Path) -> list[language.Sentence]:
    """Return the sentences of some files and folders, except the files that quote the markers."""
    return [each for each in language.sentences_in(*places) if each.path.name not in QUOTING]


def report(marked: list[language.Sentence]) -> str:
    """Return the first marked sentences, one a line, with their markers."""
    return "\n".join(
        f"{each.path.relative_to(ROOT)}:{each.line} {language.markers_in(each.text)} {each.text}"
        for each in marked[:40]
    )


@pytest.mark.parametrize("place", PLACES)
def test_few_sentences_of_a_package_are_marked(place):
    found = sentences(*PLACES[place])
    marked = [each for each in found if language.markers_in(each.text)]
    assert len(marked) <= max(MOST_MARKED * len(found), 1), report(marked)


def test_few_messages_are_marked():
    messages = [each for each in sentences(ENGINE, VIZ) if each.kind in ("message", "script")]
    marked = [each for each in messages if language.markers_in(each.text)]
    assert len(messages) > 1000
    assert len(marked) <= MOST_MARKED * len(messages), report(marked)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_page_is_written_in_a_dialect(page):
    found = sentences(page)
    marked = [each for each in found if language.markers_in(each.text)]
    assert len(marked) <= max(2 * MOST_MARKED * len(found), 1), report(marked)


def test_people_are_they():
    gendered = [each for each in sentences(ENGINE, VIZ, TESTS, *PAGES) if language.GENDERED.search(each.text)]
    assert not gendered, report(gendered)


@pytest.mark.parametrize("place", [ENGINE, VIZ, TESTS, DOCS], ids=lambda path: path.name)
def test_functions_are_verbs_or_nouns(place):
    unclear = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, line, name in language.functions_in(place) if language.is_unclear(name)
    ]  # fmt: skip
    assert not unclear, "\n".join(unclear)


def test_names_of_tests_are_short_sentences():
    names = [(path, name) for path, _, name in language.functions_in(TESTS) if name.startswith("test_")]
    long = [f"{path.name}: {name}" for path, name in names if len(name) > MOST_LETTERS]
    marked = [name for _, name in names if language.markers_in(name.replace("_", " "))]
    assert not long, "\n".join(long)
    assert len(marked) <= MOST_MARKED * len(names), "\n".join(marked)


@pytest.mark.parametrize("package", [*PACKAGES, VIZ / "micrograd_plus_viz"], ids=lambda path: path.name)
def test_no_two_modules_of_a_package_have_one_name(package):
    modules = defaultdict(list)
    for path in package.rglob("*.py"):
        if path.stem != "__init__":
            modules[path.stem].append(path.relative_to(ROOT).as_posix())
    assert not {name: paths for name, paths in modules.items() if len(paths) > 1}


# The counter itself ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sentence", [
    "A decorator for a function that goes along an axis: who says `dim` is told the word.",
    "In the place of an infinite one, and of no entries at all, it is 0.",
    "Axis that x has not.",
    "Of complex numbers, any order will do.",
    "The key in that line stands for nothing that lies elsewhere.",
    "Nobody acts here, and a value is handed from one function to the next.",
    "All parts must have one shape but along the axis, all but the last.",
    "Return so many names.",
    "What is written here for names that others have.",
])  # fmt: skip
def test_sentences_of_the_old_dialect_are_marked(sentence):
    assert language.markers_in(sentence)


@pytest.mark.parametrize("sentence", [
    "Return the hyperbolic tangent, element by element.",
    "All parts must have the same shape except along `axis`.",
    "Students who enter a different ID see a different walk.",
    "By default, the result has as many entries as the input.",
    "Pool of Unix user IDs for student processes.",
])  # fmt: skip
def test_plain_sentences_are_not_marked(sentence):
    assert not language.markers_in(sentence)


@pytest.mark.parametrize("name", ["told", "_given", "sent_by", "names_given", "moving", "anew", "whole", "written_out"])
def test_participles_and_adverbs_are_unclear_names(name):
    assert language.is_unclear(name)


@pytest.mark.parametrize("name", ["is_sent", "sorted_nodes", "summed_axes", "embed", "padding", "has_moved", "split"])
def test_verbs_nouns_and_predicates_are_clear_names(name):
    assert not language.is_unclear(name)


def test_every_kind_of_text_is_read(tmp_path):
    module, page, script = (tmp_path / name for name in ("a.py", "b.md", "c.js"))
    module.write_text(
        '"""Nobody reads this sentence here."""\n'
        "# Nobody reads that comment either.\n"
        'raise ValueError(f"nobody reads {1} here")\n'
    )
    page.write_text("# A page of words\n\nNobody reads this page today.\n\n```\nnobody reads this code here\n```\n")
    script.write_text("// Nobody reads this script today\nconst text = `nobody reads ${x} any more`;\n")
    found = list(language.sentences_in(tmp_path))
    assert [each.kind for each in found if language.markers_in(each.text)] == [
        "docstring", "comment", "message", "page", "script", "script",
    ]  # fmt: skip

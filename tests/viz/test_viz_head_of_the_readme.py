"""Tests of the animation at the top of the README: size, description, reduced motion, and current content."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from commands import ROOT, run
from micrograd_plus_viz.exports.film import MOMENTS

README = (ROOT / "README.md").read_text(encoding="utf-8")
FILMS = ("walk.webp", "walk-dark.webp")
STEPS, KILOBYTES = 9, 300


class Pictures(HTMLParser):
    """Return every element of a page that names a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        if tag in {"source", "img"}:
            self.found.append((tag, dict(attrs)))


def pictures():
    parser = Pictures()
    parser.feed(README.partition("</picture>")[0])
    return parser.found


def test_the_readme_film_has_dark_and_reduced_motion_versions():
    *sources, (tag, image) = pictures()
    assert tag == "img"
    assert README.index("<picture>") < README.index("\n\n", README.index("\n\n") + 2)
    named = [(source["media"], source["srcset"].rpartition("/")[2]) for _, source in sources]
    dark, less = "(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)"
    assert named == [(f"{less} and {dark}", "walk-still-dark.png"), (less, "walk-still.png"), (dark, FILMS[1])]
    assert image["src"].endswith(FILMS[0])
    assert 80 < len(" ".join(image["alt"].split())) < 400
    for path in [image["src"], *(source["srcset"] for _, source in sources)]:
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("name", FILMS)
def test_the_film_is_small_and_has_every_step(name):
    path = ROOT / "docs" / "pictures" / name
    assert path.stat().st_size <= KILOBYTES * 1000
    with Image.open(path) as film:
        assert film.n_frames == 1 + STEPS * (len(MOMENTS) + 1)
        assert film.info["loop"] == 0


@pytest.mark.parametrize(("name", "look"), [(FILMS[0], []), (FILMS[1], ["--dark"])])
def test_the_commands_of_make_pictures_make_it_as_it_lies_there(tmp_path, name, look):
    """Compare the first frames pixel by pixel, except for rounding on another machine."""
    made = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\npictures:")[2].partition("\n\n")[0]
    command = re.search(r"walk (--example mlp --width \d+).*?\.webp (--pace [\d.]+ --motion --loop)", made, re.DOTALL)
    arguments = f"{command[1]} {command[2]} --steps 0-1".split()
    ran = run("walk", *arguments, *look, "-o", tmp_path / name, folder=ROOT)
    assert ran.returncode == 0, ran.stderr
    for frame in (0, 2):
        ours, lies = (first_rows(path, frame) for path in (tmp_path / name, ROOT / "docs" / "pictures" / name))
        assert ours.shape == lies.shape
        assert np.abs(ours - lies).mean() < 1.0, "the film is of before: make pictures"


def first_rows(path: Path, frame: int):
    """Return the upper part of a frame, which does not depend on the height of the film."""
    with Image.open(path) as film:
        film.seek(frame)
        return np.asarray(film.convert("RGB"), dtype=float)[:500]

"""Tests of the gallery page of the documentation: twelve questions with live walks, in the theme of the site."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

def test_the_gallery_has_twelve_questions_and_themed_players(page, tmp_path):
    text = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "make_gallery.py"))["walks"]()
    questions = [part for part in text.split("\n\n") if part.startswith("## ")]
    assert len(questions) == text.count('<div class="walk">') == 12
    assert len(text.encode()) < 500_000
    made = tmp_path / "gallery.html"
    made.write_text(f'<!DOCTYPE html><html data-bs-theme="dark"><body>{text}</body></html>', encoding="utf-8")
    page.goto(made.as_uri())
    walk = page.locator(".walk").first
    walk.locator(".next").click()
    assert walk.locator(".sentence").text_content().startswith("Step 1 of 10. add (y) sends 1 to")
    assert walk.locator(".your-line code").text_content() == "y = (c + d) + c * d"
    scheme = "e => getComputedStyle(e).colorScheme"
    assert walk.evaluate(scheme) == "dark"
    page.evaluate("document.documentElement.dataset.bsTheme = 'light'")
    assert walk.evaluate(scheme) == "light"
    last = page.locator(".walk").last
    assert last.locator(".player").count() == 0     # unpacked when it comes near the window
    last.scroll_into_view_if_needed()
    last.locator(".next").click()
    assert last.locator(".sentence").text_content().startswith("Step 1 of 4.")

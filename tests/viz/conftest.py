"""Browser fixtures for the tests of the player."""

import pytest

import micrograd_plus_viz as viz
from browser import chromium, page, used_up  # noqa: F401 - fixtures


@pytest.fixture
def open_player(page, tmp_path):  # noqa: F811 - pytest hands the fixture in by its name
    """Return a function that opens a trace's page.

    The panel with all numbers is open unless `details` is false, and each step shows its end at once. With `clock`,
    steps move, and the page starts at a time that the test can stop, so that short-lived states can be checked on slow
    machines.
    """
    from playwright.sync_api import expect

    def open_trace(trace, clock=None, details=True, **options):
        if clock is not None:
            page.clock.install(time=clock)
            used_up.append(page)
        page.emulate_media(reduced_motion="reduce" if clock is None else "no-preference")
        path = viz.save(trace, tmp_path / "walk.html", **options)
        page.goto(path.as_uri())
        expect(page.locator(".player")).to_be_visible()
        page.locator(".player").focus()
        if details:
            page.keyboard.press("d")
        return page

    return open_trace

"""A browser for the tests: Chromium without a window and without a network.

`page` is a fresh page that fails its test when anything on it failed: an error in a script, a message on the
console, a request that left the machine. Use it from a test module as

    from browser import chromium, page  # noqa: F401 - fixtures
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from install_browser import MISSING, find_browser

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

PATIENCE = 90_000
"""Milliseconds that a test waits for a page, enough for a busy machine."""


@cache
def start_browser(executable: str) -> Any:
    """Start the browser once for each process, because two Playwrights cannot run side by side."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
    atexit.register(playwright.stop)
    atexit.register(browser.close)
    return browser


@pytest.fixture(scope="session")
def chromium() -> Any:
    """Return the browser. Skip the tests if none is installed, but fail in CI."""
    found = find_browser()
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    return start_browser(found)


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """Yield a page of 1100 by 800; anything that goes wrong on it fails the test.

    Consecutive tests share a page, which takes a third of the time. A test that changes it irreversibly adds it to
    `used_up`.
    """
    if not KEPT:
        context = chromium.new_context()
        context.set_default_timeout(PATIENCE)
        opened = context.new_page()
        KEPT.append((context, opened, watch_page(opened)))
    context, opened, troubles = KEPT[0]
    opened.set_viewport_size({"width": 1100, "height": 800})
    troubles.clear()
    yield opened
    faults = list(troubles)
    if faults or opened in used_up or opened.is_closed():
        KEPT.clear()
        used_up.clear()
        context.close()
    else:
        opened.goto("about:blank")
    assert not faults


SETTLED = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    .then(() => Promise.allSettled(document.getAnimations().map((each) => each.finished)))"""


def settle(page: Any) -> None:
    """Wait until a page has followed a change of its size, which it notices a frame later, and transitions have ended.

    Whatever a test reads without `expect` after such a change needs this: on a busy machine the frame may be late.
    """
    page.evaluate(SETTLED)


KEPT: list[tuple[Any, Any, list[str]]] = []
"""The page that tests share, if there is one, with its context and its troubles."""
used_up: list[Any] = []
"""The page, if no other test may have it."""


def watch_page(page: Any) -> list[str]:
    """Return a list that collects the errors of a page."""
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("console", lambda message: troubles.append(f"console: {message.text}"))
    page.on("requestfailed", lambda request: troubles.append(f"request failed: {request.url[:200]}"))
    return troubles

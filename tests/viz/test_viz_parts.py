"""Tests of saved pages of long walks: connected parts, and step numbers of the full walk."""

import re

import pytest
import sample_traces

import micrograd_plus_viz as viz
from micrograd_plus_viz import window

STEPS = 1130


@pytest.fixture(scope="module")
def long_walk():
    return sample_traces.chain(STEPS)


def at(page):
    return page.locator(".counter").first.inner_text()


def goes_to(page, step, of=STEPS):
    from playwright.sync_api import expect

    expect(page.locator(".counter").first).to_have_text(f"{step} / {of}")
    assert page.locator(".sentence").first.inner_text().startswith(f"Step {step} of {of}. ")


def test_a_page_holds_its_parts_as_data_and_says_how_many_there_are(tmp_path, long_walk):
    assert len(long_walk["steps"]) == STEPS
    text = viz.save(long_walk, tmp_path / "walk.html").read_text(encoding="utf-8")
    assert re.findall(r'class="data" data-first="(\d+)" data-stop="(\d+)"', text) == [("0", "1000"), ("1000", "1130")]
    (first, note), (second, _) = window.load_parts(long_walk)
    assert note == f"This page has steps 1 to {STEPS} of {STEPS} in 2 consecutive parts."
    assert (first["first"], second["first"], second["total"]) == (0, 1000, STEPS)


def test_a_page_that_does_not_hold_all_says_what_has_the_next_steps(long_walk):
    parts = window.load_parts(long_walk, start=10, length=1100)
    assert [len(part["steps"]) for part, _ in parts] == [1000, 100]
    assert parts[1][1] == ("This page has steps 11 to 1110 of 1130 in 2 consecutive parts; "
                           "viz.save(trace, path, start=1110) has the next ones.")  # fmt: skip
    ((alone, note),) = window.load_parts(long_walk, start=100, length=50)
    assert (alone["first"], len(alone["steps"])) == (100, 50)
    assert "viz.show(trace, start=150)" in note


@pytest.mark.browser
def test_steps_addresses_keys_and_buttons_lead_from_part_to_part(page, tmp_path, long_walk):
    walk = viz.save(long_walk, tmp_path / "walk.html")
    requests, faults = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{walk.as_uri()}#step=999")
    goes_to(page, 999)
    for step in (1000, 1001, 1002):
        page.keyboard.press("ArrowRight")
        goes_to(page, step)
    for step in (1001, 1000, 999):
        page.keyboard.press("ArrowLeft")
        goes_to(page, step)
    page.evaluate("location.hash = 'step=1100'")
    goes_to(page, 1100)
    page.keyboard.press("g")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    goes_to(page, 7)
    page.get_by_role("button", name="Steps 1001 to 1130").click()
    goes_to(page, 1001)
    page.keyboard.press("End")
    goes_to(page, STEPS)
    page.keyboard.press("Home")
    page.keyboard.press("m")
    page.get_by_role("button", name="To the end (End)").click()
    goes_to(page, STEPS)
    page.evaluate("location.hash = 'step=1000'")
    goes_to(page, 1000)
    page.keyboard.press("Space")
    page.wait_for_function("Number(document.querySelector('#walk').shadowRoot.querySelector('.counter')"
                           ".textContent.split(' ')[0]) > 1001")  # fmt: skip
    assert faults == []
    assert all(url.startswith("file:") for url in requests)
    assert len({url.partition("#")[0] for url in requests}) == 1


@pytest.mark.browser
def test_the_next_part_keeps_the_player_its_camera_and_the_focus(page, tmp_path):
    page.goto(f"{viz.save(sample_traces.chain(1700), tmp_path / 'walk.html').as_uri()}#step=1000")
    goes_to(page, 1000, 1700)
    page.locator(".player").evaluate("player => { player.known = true; }")
    page.locator(".node.receives").first.focus()
    scale = "world => Number(/scale\\((.*)\\)/.exec(world.getAttribute('transform'))[1])"
    before = page.locator(".world").evaluate(scale)
    stage = page.locator(".stage").bounding_box()
    for key, step, node in (("ArrowRight", 1001, ".node.active"), ("ArrowLeft", 1000, ".node.receives")):
        page.keyboard.press(key)
        goes_to(page, step, 1700)
        assert page.locator(".player").evaluate("player => player.known") is True
        assert page.locator(".world").evaluate(scale) == pytest.approx(before)
        now = page.locator(node).first.bounding_box()
        assert stage["x"] <= now["x"] <= stage["x"] + stage["width"] - now["width"]
        assert stage["y"] <= now["y"] <= stage["y"] + stage["height"] - now["height"]
        assert page.evaluate("document.activeElement.id") == "walk"
        part = "1001\u20131700" if step > 1000 else "1\u20131000"
        assert page.locator(".part[aria-pressed=true]").inner_text() == part


@pytest.mark.browser
def test_a_page_of_one_part_has_no_buttons_for_parts(page, tmp_path):
    page.goto(viz.save(sample_traces.diamond(), tmp_path / "walk.html", index=3).as_uri())
    assert at(page) == "3 / 10"
    assert page.locator(".part").count() == 0

"""Several players on one page, a page that reads from right to left, and one at 200 %."""

import pytest

import micrograd_plus_viz as viz
from benchmarks import player_programs as programs
from micrograd_plus_viz.packing import pack, unpack, unpacker

pytestmark = pytest.mark.browser


@pytest.fixture
def two_players(page, tmp_path):
    outputs = [
        viz.show(make())._repr_mimebundle_()["text/html"] for make in (programs.neuron, programs.broadcast_shapes)
    ]
    made = tmp_path / "page.html"
    made.write_text(f'<!DOCTYPE html><html dir="rtl"><body>{"".join(outputs)}</body></html>', encoding="utf-8")
    page.goto(made.as_uri())
    players = page.locator(".player")
    players.nth(1).wait_for()
    return players


def test_keys_go_to_the_player_that_has_the_focus(two_players, page):
    first, second = two_players.nth(0), two_players.nth(1)
    second.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    first.focus()
    page.keyboard.press("ArrowRight")
    assert first.locator(".counter").text_content() == "1 / 9"
    assert second.locator(".counter").text_content() == "2 / 6"
    names = [player.get_attribute("aria-label").split(".")[0] for player in (first, second)]
    assert names == ["Walk 1", "Walk 2"]
    assert page.evaluate("document.querySelectorAll('[id^=n], [id^=e]').length") == 0    # ids are unique


def test_time_runs_to_the_right_on_right_to_left_pages(two_players):
    player = two_players.first
    back, on, slider = (player.locator(name).bounding_box()["x"] for name in (".back", ".next", ".slider"))
    assert back < on < slider
    root, leaf = (player.locator(f"#n{i}").bounding_box()["x"] for i in (9, 0))
    assert leaf < root
    assert player.locator(".sentence").evaluate("e => getComputedStyle(e).direction") == "ltr"


@pytest.mark.parametrize("program", [programs.attention, programs.mlp], ids=["attention", "MLP"])
def test_at_200_percent_nothing_is_cut_off_at_the_side(page, tmp_path, program):
    page.set_viewport_size({"width": 640, "height": 360})
    page.goto(viz.save(program(), tmp_path / "walk.html").as_uri() + "#step=3")
    page.locator(".player").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    cut = page.locator(".player").evaluate("""(player) => {
        const right = player.getBoundingClientRect().right;
        return [...player.querySelectorAll("button, input, select, .sentence, .card, .title, .legend")]
          .filter((e) => e.getClientRects().length && !e.closest(".scroller:has(.formula)")
            && e.getBoundingClientRect().right > right + 1).map((e) => e.className);
    }""")
    assert cut == []


def test_packed_text_needs_no_escapes_and_is_read_again(page):
    texts = ["", *("ä∑" * k + "x" for k in range(9)), "".join(map(chr, range(32, 3000)))]
    packed = [*map(pack, texts)]
    assert not {*"<>&\"'\\$\n"} & {*"".join(packed)}
    assert [*map(unpack, packed)] == texts
    script = f"async (texts) => {{ {unpacker()} return Promise.all(texts.map(unzipped)); }}"
    assert page.evaluate(script, packed) == texts

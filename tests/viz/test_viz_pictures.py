"""Pictures of steps and films: content, colours, and error messages."""

import io
import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sample_traces
from PIL import Image, ImageFont

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus_viz import colours, formula, letters, trace_input
from micrograd_plus_viz.exports import film, formula_svg
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.static_files import FONTS, SIGNS
from micrograd_plus_viz.svg import MONO_FONT

SVG = "{http://www.w3.org/2000/svg}"


def texts_of(svg):
    """Return the texts of a picture in order."""
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def test_step_pictures_have_graph_program_sentence_and_formula():
    texts = texts_of(viz.draw(sample_traces.diamond(), index=6).svg)
    for wanted in ("mul (d)", "grad 7", "contribution", "upstream", "before", "after", "+", "+=", "walk.py"):
        assert wanted in texts
    assert any(text.startswith("Step 6 of 10. ") for text in texts)


def test_programs_in_pictures_have_a_monospaced_font():
    svg = viz.draw(sample_traces.diamond(), index=6).svg
    tree = ET.fromstring(svg)  # noqa: S314 - ours
    code = [text for text in tree.iter(f"{SVG}text") if text.get("class") == "mono code"]
    widths = [float(text.get("textLength")) / len(text.text) for text in code if len(text.text) > 1]
    assert widths
    assert max(widths) - min(widths) < 0.1
    assert MONO_FONT in svg


def test_the_picture_of_a_step_is_the_one_the_player_opens_at():
    trace = sample_traces.diamond()
    sentence = viz.show(trace, index=4).trace["steps"] and viz.draw(trace, index=4).alt
    assert sentence.startswith("Step 4 of 10. ")
    assert f"<desc>{sentence}</desc>" in viz.draw(trace, index=4).svg


def test_pictures_have_the_players_colours_by_day_and_by_night():
    day, night = (viz.draw(sample_traces.diamond(), index=3, dark=dark).svg for dark in (False, True))
    for name in ("active-fill", "receives-fill", "ink", "ground"):
        assert colours.palette(False)[name] in day
        assert colours.palette(True)[name] in night
    assert colours.palette(False)["active-fill"] not in night
    assert "var(" not in day + night
    assert "light-dark" not in day + night


@pytest.mark.parametrize("make", sample_traces.EVERY)
def test_every_step_of_every_trace_has_a_picture(make):
    trace = make()
    for index in {0, 1, len(trace["steps"]) // 2, len(trace["steps"])} & set(range(len(trace["steps"]) + 1)):
        svg = viz.draw(trace, index=index).svg
        assert ET.fromstring(svg).find(f"{SVG}title").text.startswith("Graph of a program")  # noqa: S314 - ours
        assert "<script" not in svg
        assert "href" not in svg


def test_what_a_hostile_record_says_is_text_in_a_picture():
    svg = viz.draw(sample_traces.hostile(), index=1).svg
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}  # noqa: S314 - ours
    assert tags <= {"svg", "title", "desc", "style", "rect", "path", "text", "g", "circle"}
    assert not re.search(r"<[^>]* on\w+=", svg)


def test_names_of_unprintable_letters_are_drawn_with_their_formulas(tmp_path):
    x = mg.tensor(2.0, requires_grad=True)
    for x.label in ("a\x00b", "a\ud800b", "a\x1bb"):
        with mg.record() as trace:
            (x * x).backward()
        assert ">a b<" in viz.draw(trace).svg
        for suffix in (".html", ".md", ".json"):
            assert viz.save(trace, tmp_path / f"walk{suffix}").read_text(encoding="utf-8")
        assert any("a b" in each for each in payload(trace.to_dict())["formulas"])


def test_unknown_steps_raise_an_error_with_the_valid_range(tmp_path):
    for call in (lambda: viz.draw(sample_traces.diamond(), index=11),
                 lambda: viz.save(sample_traces.diamond(), tmp_path / "walk.gif", steps=[11])):  # fmt: skip
        with pytest.raises(ValueError, match="there is no step 11: steps are numbered 1 to 10, and 0 is the start"):
            call()
    with pytest.raises(ValueError, match="there is no step 1: no rule is applied in this walk, and 0 is its start"):
        viz.draw(sample_traces.EVERY[-1]() | {"steps": [], "gradients": []}, index=1)


def test_large_graphs_open_the_group_of_the_step():
    with mg.record() as trace:
        x = h = mg.tensor(0.3, requires_grad=True)
        for _ in range(1200):
            h = h * 0.999 + x
        h.backward()
    drawing = viz.draw(trace, index=1500)
    assert drawing.alt.startswith(f"Step 1500 of {len(trace.steps)}. ")
    assert len(re.findall(r'class="[^"]*\bactive\b[^"]*" id="n', drawing.svg)) == 1
    assert drawing.alt.partition(". ")[2].partition(" sends")[0] in texts_of(drawing.svg)


def test_very_large_graphs_show_their_groups(tmp_path):
    with mg.record() as trace:
        h = mg.tensor(0.3, requires_grad=True)
        for _ in range(200):
            h = h * 0.9 + 0.1
        h.backward()
    svg = viz.draw(trace).svg
    groups = re.findall(r'class="node group[^"]*" id="g', svg)
    assert 2 <= len(groups) <= 40
    with Image.open(viz.save(trace, tmp_path / "walk.png", width=600)) as image:
        assert image.size[0] == 600


def test_a_film_of_a_large_graph_has_one_size(tmp_path):
    trace = trace_input.normalize(sample_traces.random_graph(60))
    saved = viz.save(trace, tmp_path / "walk.gif", steps=[1, 2, len(trace["steps"])], width=500, pace=0.25)
    with Image.open(saved) as image:
        assert image.n_frames == 3
        assert image.size[0] == 500
        assert image.info["duration"] == 250


def test_a_film_plays_once_unless_it_is_told_to_go_on(tmp_path):
    for name, loops in (("walk.gif", None), ("walk.webp", 1)):
        once = viz.save(sample_traces.diamond(), tmp_path / name, steps=[0, 1], width=480)
        with Image.open(once) as image:
            assert image.info.get("loop") == loops
        again = viz.save(sample_traces.diamond(), tmp_path / name, steps=[0, 1], width=480, loop=True)
        with Image.open(again) as image:
            assert image.info["loop"] == 0


def test_a_moving_svg_lights_a_step_and_says_it_at_its_time():
    trace = sample_traces.diamond()
    moving = film.animate(trace_input.normalize(trace), steps=[2, 3], pace=2.0)
    flying = re.findall(r"--from:[^;]*;--to:[^;]*", moving)
    assert len(flying) >= 4, "upstream and contribution of two steps"
    assert moving.count("animation:pass") == 2, "each contribution travels to its receiver"
    assert "Step 1 of 10" not in moving
    assert re.search(r'animation-duration:2\.00s;animation-delay:0\.00s"><g transform[^>]*><text[^>]*>Step 2', moving)
    captions = [text for text in texts_of(moving) if text.startswith("Step ")]
    assert [text[:13] for text in captions] == ["Step 2 of 10.", "Step 3 of 10."]


def test_a_walk_that_fails_ends_with_its_error_in_pictures_too():
    @mg.elementwise(x=lambda xp, x: xp.matmul(x, x))
    def odd(xp, x):
        """Its rule is wrong for arrays that are not square."""
        return x * x

    x = mg.tensor(np.ones((2, 3)), requires_grad=True)
    with pytest.raises(ValueError, match="not aligned"), mg.record() as trace:
        odd(mg.tanh(x)).sum().backward()
    drawing = viz.draw(trace, index=len(trace.steps) + 1)
    assert re.match(r"The walk ends here at odd\(mg\.tanh\(x\)\)\. ValueError: .*not aligned", drawing.alt)
    assert re.search(r'class="node application[^"]* failed"', drawing.svg)


def test_widths_of_letters_are_those_of_the_fonts():
    for bold, font in ((False, FONTS[0]), (True, FONTS[1])):
        for text in ("contribution", "WiM 0.5, −3", "αβγ √"[:3]):
            measured = ImageFont.truetype(font, 1000).getlength(text, features=["-kern"])
            assert letters.width(text, 1000, bold) == pytest.approx(measured, rel=2e-3)
    assert letters.width("≈", 1000) == pytest.approx(ImageFont.truetype(SIGNS, 1000).getlength("≈"), rel=2e-3)


def test_lines_of_text_are_no_wider_than_their_room():
    lines = letters.wrap("a sentence of some words and " + "oneverylongword" * 9, 12, 150)
    assert all(letters.width(line, 12) <= 150 for line in lines)
    assert "".join(lines).replace(" ", "") == ("asentenceofsomewordsand" + "oneverylongword" * 9)


@pytest.mark.parametrize("mathml", [
    "<mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac>", "<msubsup><mi>a</mi><mn>1</mn><mn>2</mn></msubsup>",
    "<mroot><mi>a</mi><mn>3</mn></mroot>", "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>",
    ('<mrow class="tall"><mo form="prefix">{</mo><mtable class="cases"><mtr><mtd><mn>1</mn></mtd>'
     "<mtd><mtext>if x</mtext></mtd></mtr></mtable></mrow>"),
])  # fmt: skip
def test_every_form_of_a_formula_is_set_with_all_its_letters(mathml):
    markup = formula.with_symbols(f"<math>{mathml}</math>")
    box = formula_svg.paragraphs(markup, 16, 300, {})
    drawn = box.to_svg(0, box.up)
    wanted = "".join(ET.fromstring(f"<p>{mathml}</p>").itertext()).replace("{", "")  # noqa: S314 - ours
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)", drawn))
    assert sorted(shown.replace(" ", "")) == sorted(wanted.replace(" ", ""))
    assert 0 < box.width <= 300


def test_without_pillow_a_film_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r'pillow and resvg_py: pip install "micrograd_plus\[film\]"'):
        viz.save(sample_traces.diamond(), tmp_path / "walk.gif", steps=[0])


def test_pixel_pictures_have_the_requested_width(tmp_path):
    for width in (400, 1600):
        shot = viz.save(sample_traces.diamond(), tmp_path / "step.png", index=2, width=width, dark=True)
        with Image.open(io.BytesIO(shot.read_bytes())) as image:
            assert image.size[0] == width
            assert image.convert("RGB").getpixel((width // 2, 3)) == (0x16, 0x18, 0x1C)


def test_a_still_picture_has_only_the_rules_that_it_uses():
    sheet = ".a text { fill: red; }.b,.c:not(.d) .e{ x: 1; }rect{ y: 2; }.f.g { z: 3; }"
    markup = '<g class="a"><rect class="c"/><g class="e f"/></g>'
    assert colours.used_rules(sheet, markup) == ".a text{fill: red;}.c:not(.d) .e{x: 1;}rect{y: 2;}"

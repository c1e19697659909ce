"""Output for notebooks, pages, images and files."""

import base64
import hashlib
import html
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

import pytest
import sample_traces
from PIL import Image

import micrograd_plus_viz as viz
from micrograd_plus_viz import notebook, page, payload, player, trace_input
from micrograd_plus_viz.exports import film
from micrograd_plus_viz.packing import unpack

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "player.md").read_text(encoding="utf-8")


def mimebundle(trace):
    """Return the output of a trace in a notebook."""
    return viz.show(trace)._repr_mimebundle_()


def inside_html(text):
    """Return the payload in an HTML output or page."""
    packed = re.findall(r'<script type="application/octet-stream"[^>]*>([^<]*)</script>', text)[-1]
    return json.loads(unpack(packed))


@pytest.mark.parametrize("make", [*sample_traces.EVERY, lambda: sample_traces.random_graph(300)])
def test_a_notebook_gets_text_and_one_line_of_html_and_nothing_else(make):
    bundle = mimebundle(make())
    assert list(bundle) == ["text/plain", "text/html"]
    assert "\n" not in bundle["text/html"]
    assert "\r" not in bundle["text/html"]


def test_the_text_tells_the_gradients():
    assert mimebundle(sample_traces.diamond())["text/plain"] == (
        "Backward walk: 7 nodes, 10 steps, add (y) = 41\n  a: gradient 25\n  b: gradient 19"
    )


def test_equal_traces_give_equal_outputs_and_other_traces_other_ids():
    assert mimebundle(sample_traces.perceptron()) == mimebundle(sample_traces.perceptron())
    ids = {re.search(r'data-mgp="(\w+)"', mimebundle(make())["text/html"])[1] for make in sample_traces.EVERY}
    assert len(ids) == len(sample_traces.EVERY)


@pytest.mark.parametrize(("applications", "image"), [(8, True), (100, False), (400, False)])
def test_the_fallback_is_a_picture_when_small_and_text_when_large(applications, image):
    text = mimebundle(sample_traces.random_graph(applications))["text/html"]
    found = re.search(r'<img alt="Graph of a program[^"]*"[^>]*svg\+xml,([^"]*)"', text)
    assert (found is not None) == image
    if image:
        assert unquote(found[1]).startswith("<svg")
    else:
        assert "save the walk as a page" in text


def test_the_payload_holds_the_numbers_of_the_trace_and_the_walk_inside():
    trace = sample_traces.perceptron()
    data = inside_html(mimebundle(trace)["text/html"])
    check_values(data, trace)
    assert len(data["steps"]) == len(trace["steps"])
    assert list(data["insides"]) == ["12"]
    check_values(data["insides"]["12"], trace["nodes"][12]["inside"])


def check_values(data, trace):
    """Check that a page's nodes and steps have the values of the trace, to four digits."""
    places = [(a["value"], b["value"]) for a, b in zip(data["nodes"], trace["nodes"], strict=True)]
    for shown_step, step in zip(data["steps"], trace["steps"], strict=True):
        places += [(shown_step[word], step[word]) for word in ("local", "raw", "contribution", "before", "after")]
    for mine, theirs in places:
        assert (mine is None) == (theirs is None)
        if mine is None or data["values"][mine]["data"] is None:
            continue
        kept, whole = data["values"][mine]["data"], trace["values"][theirs]["data"]
        for x, y in zip(kept, whole, strict=True):
            assert x == y or x == pytest.approx(y, rel=1e-3)
            assert len(whole) > 16 or x == y


def test_compression_has_no_timestamp_and_returns_the_hash(monkeypatch):
    data = payload.payload(sample_traces.diamond())
    packed, name = payload.compress(data)
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert payload.compress(data)[0] == packed
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    assert name == "w" + hashlib.sha256(text.encode()).hexdigest()[:12]


def test_hostile_names_never_become_markup_in_a_page_or_an_output():
    trace = trace_input.normalize(sample_traces.hostile())
    for text in (page.document(trace, title=sample_traces.HOSTILE[3]), mimebundle(trace)["text/html"]):
        assert "<img src=x" not in text
        assert "<script>window" not in text
        assert text.count("<script") == text.count("</script>") in (2, 3)


@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="install nodejs")
@pytest.mark.parametrize("source", ["page", "notebook"])
def test_the_module_in_one_line_is_javascript(tmp_path, source):
    trace = trace_input.normalize(sample_traces.diamond())
    text = page.document(trace) if source == "page" else notebook.html(trace)
    code = re.search(r'<script type="module">(.*?)</script>', text)[1]
    assert "\n" not in code
    (tmp_path / "player.mjs").write_text(code, encoding="utf-8")
    checked = subprocess.run(
        ["node", "--check", tmp_path / "player.mjs"], capture_output=True, encoding="utf-8", check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_code_on_one_line_behaves_like_the_original():
    assert (
        player.one_line("// a remark\n  const a = 'x // y';\n\n  // b\n  f(a);\n")
        == "const a='x // y';f(a);"
    )
    text, template, pattern = '"a = \\", b"', '`c : ${d ? `, e ${f}` : ""} (g)`', '/[/" ]= "/'
    assert player.one_line(f"let h = {text};\nk(a + +b, {template},\n  {pattern}.test(l) || m / n);") == (
        f"let h={text};k(a + +b,{template},{pattern}.test(l)||m / n);"
    )
    constants = "const MOST_ROWS = 2;\nconst LEAST = MOST_ROWS * ONE_MORE;"
    assert player.one_line(constants) == "const $1=2;const $0=$1*$2;"
    for room in (*player.MODULES, *player.FILM, *player.ALONE, *player.QUIZ, *player.CARDS, "slider.js", "stills.js"):
        for number, line in enumerate(player.text(room).splitlines(), start=1):
            assert len(line) <= 120, f"{room}:{number} is longer than lines here are"
            assert line.count("`") % 2 == 0, f"{room}:{number} ends inside a template"


def test_what_gets_a_short_name_is_a_constant_of_the_code():
    others = map(player.text, (*player.CARDS, "slider.js", "parts.js"))
    source = "\n".join([player.player_source(with_quiz=True), *others])
    declared = {name for names in re.findall(r"^(?:export )?const (\w+|\[[\w, ]+\]) =", source, re.MULTILINE)
                for name in re.findall(r"\w+", names)}  # fmt: skip
    code = re.sub(r"^\s*//.*", "", source, flags=re.MULTILINE)
    assert {*player._CONSTANT.findall(code)} <= declared


def test_no_text_in_the_code_can_end_the_element_it_stands_in():
    assert player.in_script("f('</script>', '<!--');") == "f('<\\/script>', '<\\!--');"


def test_the_security_policy_has_the_hashes_of_code_and_style():
    text = page.document(trace_input.normalize(sample_traces.diamond()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    for tag, directive in (('script type="module"', "script-src"), ("style", "style-src")):
        content = (
            re.search(rf"<{tag}>(.*?)</", text, flags=re.DOTALL)[1]
            if tag == "style"
            else re.search(r'<script type="module">(.*?)</script>', text)[1]
        )
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_marimo_gets_the_page_in_a_titled_frame():
    kind, text = viz.show(sample_traces.diamond())._mime_()
    assert kind == "text/html"
    framed = html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1])
    assert framed == page.document(trace_input.normalize(sample_traces.diamond()))
    assert 'title="Backward walk' in text


@pytest.mark.parametrize("make", sample_traces.EVERY)
@pytest.mark.parametrize("suffix", [suffix for suffix in viz.SUFFIXES if suffix not in (".mp4", ".dot.svg")])
def test_every_kind_of_trace_is_saved_under_every_suffix(tmp_path, make, suffix):
    few = {"steps": range(min(4, len(make()["steps"]) + 1))} if suffix in {".gif", ".webp"} else {}
    path = viz.save(make(), tmp_path / f"walk{suffix}", **few)
    content = path.read_bytes()
    if suffix == ".json":
        assert json.loads(content) == make()
    elif suffix == ".svg":
        assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314 - our own picture
    elif suffix == ".html":
        check_values(inside_html(content.decode()), make())
    elif suffix == ".dot":
        assert content.decode().startswith("digraph walk {")
    elif suffix in {".md", ".tex"}:
        assert content.decode().startswith("# " if suffix == ".md" else "\\documentclass")
    else:
        with Image.open(io.BytesIO(content)) as image:
            assert getattr(image, "n_frames", 1) == (len(few["steps"]) if few else 1)


def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(
        ValueError, match=r"cannot save a walk as 'walk.avi': .* one of .html, .svg, .png, .gif"
    ):
        viz.save(sample_traces.diamond(), tmp_path / "walk.avi")
    assert not list(tmp_path.iterdir())


def test_a_film_of_too_many_steps_is_refused_with_a_way_out(tmp_path):
    with pytest.raises(
        ValueError, match=r"a film of 501 steps is too long \(at most 150\): .* or choose steps, for example steps="
    ):
        viz.save(sample_traces.chain(500), tmp_path / "walk.gif")
    assert viz.save(sample_traces.chain(500), tmp_path / "walk.gif", length=3).exists()


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("resvg_py", lambda folder: viz.save(sample_traces.diamond(), folder / "walk.png"), "film"),
        ("anywidget", lambda folder: viz.widget(sample_traces.diamond()), "lab"),
    ],
)
def test_errors_name_the_missing_extra(tmp_path, monkeypatch, module, call, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf'pip install "micrograd_plus\[{extra}\]"'):
        call(tmp_path)


def test_a_picture_in_pixels_has_its_text_and_is_the_same_every_time():
    svg = viz.draw(sample_traces.diamond()).svg
    with_ours = film.png(svg)
    assert film.png(svg) == with_ours
    without_text = film.png(re.sub(r"<text.*?</text>", "", svg))
    assert len(without_text) < len(with_ours) * 0.8


def test_a_film_shows_gradients_only_after_arrival():
    trace = sample_traces.diamond()
    assert ">grad 25<" not in viz.draw(trace, index=0).svg
    assert ">grad 25<" in viz.draw(trace, index=len(trace["steps"])).svg
    assert "Step 3 of 10." in viz.draw(trace, index=3).svg


def test_a_film_plays_once_and_respects_reduced_motion():
    svg = film.animate(trace_input.normalize(sample_traces.diamond()))
    assert "infinite" not in svg
    assert "@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }" in svg


def test_a_drawing_shows_itself_as_an_image_that_untrusted_notebooks_keep():
    drawing = viz.draw(sample_traces.hostile())
    bundle = drawing._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html"]
    shown = unquote(re.search(r'"data:image/svg\+xml,([^"]+)"', bundle["text/html"])[1])
    assert ET.canonicalize(shown) == ET.canonicalize(drawing.svg)
    assert drawing.dot.startswith("digraph walk {")


def test_a_figure_becomes_a_described_image_on_white():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, place = plt.subplots(figsize=(3, 2), facecolor="black")
    place.plot([1, 2])
    bundle = viz.describe(figure, 'A line that "rises"\n<fast>')._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html"]
    assert bundle["text/html"].startswith('<img alt="A line that &quot;rises&quot; &lt;fast&gt;" width="316" style="')
    assert "\n" not in bundle["text/html"]
    png = base64.b64decode(re.search(r'base64,([^"]+)"', bundle["text/html"])[1])
    with Image.open(io.BytesIO(png)) as image:
        assert image.size == (600, 400)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert not plt.fignum_exists(figure.number)


def test_a_live_widget_carries_the_players_module_and_the_payload():
    widget = viz.widget(sample_traces.diamond(), index=4)
    assert (widget.index, widget.synced) == (4, True)
    assert json.loads(unpack(widget.payload))["summary"].startswith(
        "Backward walk"
    )
    assert "export default" in str(widget._esm)
    assert repr(widget).startswith("Backward walk: 7 nodes"), "what a notebook shows where no kernel runs"
    assert "0x" not in repr(widget) + repr(viz.quiz(sample_traces.diamond()).widget())


def test_half_a_letter_stops_no_picture():
    trace = sample_traces.diamond()
    for site in trace["sites"]:
        site["text"] = site["function"] = "\ud800"
    assert "image/svg+xml" in viz.show(trace)._repr_mimebundle_()["text/html"]
    assert viz.draw(trace, index=1).svg.startswith("<svg")


def run(code, *paths):
    """Return the output and the errors of a fresh Python, with some folders first on its path."""
    path = os.pathsep.join(map(str, [*paths, Path(viz.__file__).parent.parent]))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_importing_the_package_registers_the_player(tmp_path):
    (tmp_path / "micrograd_plus").mkdir()
    (tmp_path / "micrograd_plus" / "__init__.py").touch()
    (tmp_path / "micrograd_plus" / "tracing.py").write_text(
        "class Trace:\n"
        "    @classmethod\n"
        "    def set_display(cls, mimebundle, *, marimo):\n"
        "        cls.bundle, cls.frame = mimebundle, marimo\n",
        encoding="utf-8",
    )
    (tmp_path / "walk.json").write_text(json.dumps(sample_traces.diamond()), encoding="utf-8")
    code = f"""import micrograd_plus_viz
from micrograd_plus.tracing import Trace
trace = {str(tmp_path / "walk.json")!r}
print(*Trace.bundle(trace), Trace.frame(trace)[0])"""
    assert run(code, tmp_path)[0] == "text/plain text/html text/html"


def test_a_walk_recorded_by_the_engine_shows_itself():
    from micrograd_plus.tracing import load_trace

    trace = load_trace(sample_traces.diamond())
    assert trace._repr_mimebundle_() == mimebundle(trace)
    assert trace._mime_() == viz.show(trace)._mime_()


def test_the_package_works_without_the_engine():
    without = "import sys; sys.modules['micrograd_plus'] = None; "
    assert run(without + "import micrograd_plus_viz as viz; print(viz.save)")[0].startswith("<function save")


def test_python_exits_quietly_after_drawing():
    code = "import micrograd_plus_viz as viz; print(viz.picture([1.0, 2.0]).alt)"
    assert run(code) == ("a (2,) array: 1, 2", "")


def test_the_program_on_the_page_of_the_player_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})  # noqa: S102 - a program of our own
    assert "Backward walk: 4 nodes, 4 steps, add (y) = 8" in (tmp_path / "walk.html").read_text(encoding="utf-8")


def test_the_player_page_lists_all_functions_and_parameters():
    listed = re.findall(r"^\| `viz\.(\w+)\((.*?)\)`", PAGE, re.MULTILINE)
    assert {name for name, _ in listed} == {name for name in viz.__all__ if name.islower()}
    for name, parameters in listed:
        wanted = [each.partition("=")[0] for each in parameters.split(", ") if each]
        assert list(inspect.signature(getattr(viz, name)).parameters)[: len(wanted)] == wanted


def test_the_package_holds_no_path_and_no_address_to_fetch():
    for path in Path(viz.__file__).parent.rglob("*"):
        if path.suffix in {".js", ".css"}:
            text = path.read_text(encoding="utf-8")
            assert set(re.findall(r"https?://[^\s\"'`]+", text)) <= {"http://www.w3.org/2000/svg"}
            assert "@import" not in text

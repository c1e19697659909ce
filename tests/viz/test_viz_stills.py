"""Still pictures are the stage of the page: the same places and texts, at several steps of several programs."""

import base64
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sample_traces
from PIL import Image

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus import __main__ as command_line, nn
from micrograd_plus_viz.exports import film
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.stage import Stage
from micrograd_plus_viz.static_files import FONTS
from micrograd_plus_viz.window import load_window

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = """(drawing) => [...drawing.querySelectorAll('text, rect, path, circle, g[transform]')].flatMap((part) => {
  for (let up = part; up !== drawing; up = up.parentElement) if (up.style.opacity === '0') return [];
  const kept = part.tagName === 'text' ? ['x', 'y'] : ['x', 'y', 'width', 'height', 'd', 'transform'];
  const text = part.tagName === 'text' ? part.textContent : '';
  if (part.tagName === 'text' && !text) return [];
  return [[part.tagName, text, ...kept.map((name) => part.getAttribute(name) ?? '')]];
})"""
"""What a drawing shows on a page: its shapes and texts with their places, in order."""


def convolution():
    x = mg.tensor(np.linspace(-1, 1, 72).reshape(2, 1, 6, 6))
    net = nn.Sequential(nn.Conv2d(1, 2, 3, rng=np.random.default_rng(0)), nn.ReLU(), nn.Flatten())
    with mg.record() as trace:
        (net(x) ** 2).mean().backward()
    return trace


def rounds():
    w, x = mg.tensor([[0.5], [1.0]], requires_grad=True), mg.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
    h = mg.tensor([[0.1, 0.2]])
    with mg.record() as trace:
        for _ in range(12):
            h = mg.tanh(h * w.T + x.sum(axis=0))
        (h**2).sum().backward()
    return trace


def cut_branch():
    a, b = mg.tensor([1.0, 2.0], requires_grad=True), mg.tensor(3.0, requires_grad=True)
    with mg.record() as trace:
        c = (a * b).detach()
        (c * a + b).sum().backward()
    return trace


@pytest.fixture
def arimo(page):
    """Set a page in the font that pictures are set in, whose letters are as wide as Arial's."""
    fonts = [base64.b64encode(Path(font).read_bytes()).decode() for font in FONTS]
    page.add_init_script(f"""
        for (const [weight, data] of [['normal', {fonts[0]!r}], ['bold', {fonts[1]!r}]]) {{
          const face = new FontFace('Arial', Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer, {{ weight }});
          document.fonts.add(face);
        }}""")
    page.emulate_media(reduced_motion="reduce")
    return page


def shapes_in(svg):
    """Return what a picture shows, as `SHOWN` returns it."""
    found = []
    for part in ET.fromstring(f'<svg xmlns="{SVG[1:-1]}">{svg}</svg>').iter():  # noqa: S314 - our own picture
        tag = part.tag.removeprefix(SVG)
        if tag in ("text", "rect", "path", "circle") or (tag == "g" and part.get("transform")):
            kept = ("x", "y") if tag == "text" else ("x", "y", "width", "height", "d", "transform")
            found.append([tag, "".join(part.itertext()) if tag == "text" else "", *(part.get(n, "") for n in kept)])
    return found


def differences(page, picture):
    """Return pairs of page and picture that differ by more than rounding."""
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
    found = [] if len(page) == len(picture) else [(len(page), len(picture))]
    for ours, theirs in zip(page, picture, strict=False):
        same = [number.sub("", each) for each in ours] == [number.sub("", each) for each in theirs] and (
            ours[1] == theirs[1]
        )
        places = [[float(x) for each in row[2:] for x in number.findall(each)] for row in (ours, theirs)]
        if not same or not np.allclose(*places, rtol=0, atol=0.11):
            found.append((ours, theirs))
    return found


@pytest.mark.parametrize("make", [sample_traces.diamond, convolution, rounds, cut_branch])
def test_a_picture_has_the_places_and_texts_of_the_page(arimo, tmp_path, make):
    trace = make()
    arimo.goto(viz.save(trace, tmp_path / "walk.html").as_uri())
    arimo.locator(".player").wait_for()
    arimo.locator(".player").focus()
    size = arimo.locator(".graph").evaluate("graph => [graph.clientWidth, graph.clientHeight]")
    data = payload(load_window(trace)[0])
    stage = Stage(data, size)
    count = len(data["steps"])
    at = 0
    for k in sorted({1, count // 2, count}):
        # Both come the same way: parts outside the view keep what they showed when they were seen.
        for _ in range(k - at):
            arimo.keyboard.press("ArrowRight")
        views = [*map(stage.show, range(at + 1, k + 1))]
        at = k
        assert arimo.locator(".counter").inner_text().startswith(f"{k} /")
        drawn = stage.frame(views[-1]._replace(overview=None))
        assert not differences(arimo.locator(".drawing").evaluate(SHOWN), shapes_in(drawn))


def test_a_film_with_motion_shows_tiles_on_their_way(tmp_path):
    saved = viz.save(sample_traces.diamond(), tmp_path / "walk.webp", steps=[1], motion=True, pace=2.0, width=600)
    with Image.open(saved) as image:
        assert image.n_frames == len(film.MOMENTS) + 1
        seen, times = [], []
        for k in range(image.n_frames):
            image.seek(k)
            seen.append(np.asarray(image.convert("RGB")))
            times.append(image.info["duration"])
    assert all((one != other).any() for one, other in pairwise(seen))
    assert sum(times) == pytest.approx(2000 + 4000, abs=20), "the last step of a film stays"


def test_an_mp4_gets_every_frame_for_its_time(tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'wb').write(b'%d ' % len(sys.stdin.buffer.read())"
        " + ' '.join(sys.argv[1:]).encode())\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setattr(film, "_find_encoder", lambda: str(program))
    content = viz.save(sample_traces.diamond(), tmp_path / "walk.mp4", steps=[0, 1], pace=0.5, width=480).read_text()
    width, height = map(int, re.search(r"-s (\d+)x(\d+)", content).groups())
    assert width == 480
    assert height % 2 == 0
    assert int(content.split()[0]) == width * height * 3 * film.MP4_RATE * 2, "0.5 s, then 0.5 s and twice more"


def test_without_ffmpeg_an_mp4_names_the_cure(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    cure = r'pip install "micrograd_plus\[mp4\]"'
    with pytest.raises(ModuleNotFoundError, match=cure):
        viz.save(sample_traces.diamond(), tmp_path / "walk.mp4")
    (tmp_path / "slow.py").write_text("raise SystemExit('the script ran before the check')", encoding="utf-8")
    assert command_line.main(["walk", str(tmp_path / "slow.py"), "-o", str(tmp_path / "walk.mp4")]) == 1
    assert re.search(cure, capsys.readouterr().err)


def test_an_ffmpeg_that_stops_early_is_quoted(tmp_path, monkeypatch, capsys):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho \"Unknown encoder 'libx264'\" >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(film, "_find_encoder", lambda: str(program))
    (tmp_path / "walk.json").write_text(json.dumps(sample_traces.diamond()), encoding="utf-8")
    arguments = ["walk", str(tmp_path / "walk.json"), "-o", str(tmp_path / "walk.mp4"), "--steps", "0"]
    assert command_line.main(arguments) == 1
    assert "ffmpeg could not write the film: Unknown encoder 'libx264'" in capsys.readouterr().err
    assert not (tmp_path / "walk.mp4").exists()


def test_the_command_writes_every_format_that_save_writes():
    assert command_line.SUFFIXES == viz.SUFFIXES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_draws_and_ends():
    code = (
        "import os, micrograd_plus_viz as viz\n"
        "viz.picture([1.0, 2.0])\n"
        "if (child := os.fork()) == 0:\n"
        "    viz.picture([3.0])\n"
        "else:\n"
        "    print(os.waitpid(child, 0)[1])\n"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, timeout=120, check=False)
    assert (ran.stdout, ran.stderr) == (b"0\n", b"")

"""Take pictures of the player at eight moments of programs, at four sizes, light and dark, on sheets to look at.

    PYTHONPATH=tests python -m benchmarks.player_pictures FOLDER [PROGRAM ...]

A sheet is one program at one size: light above, dark below. The moments are the start, an addition to a gradient, a sum
over a broadcast axis, three steps between, the end, and the boundary between the first two rounds of a training loop.
The pictures themselves are in the folder, too. Faults that a script can see are printed.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import micrograd_plus as mg
import micrograd_plus_viz as viz
from browser import settle, start_browser
from install_browser import find_browser
from micrograd_plus import nn

from . import lecture_programs, player_programs

SIZES = {(1280, 720): 480, (1920, 1080): 480, (768, 1024): 300, (420, 860): 230}
"""Windows, each with the width of its pictures on a sheet."""
ACROSS = {1280: 4, 1920: 4, 768: 8, 420: 8}
MOMENTS = 8
FAULTS = """() => {
    const root = document.querySelector("#walk").shadowRoot;
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
    const size = (e) => parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM?.().a ?? 1);
    const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest("math");
    for (const e of root.querySelectorAll("*")) {
      if (own(e) && seen(e) && size(e) < 10.99) found.push(`${size(e).toFixed(1)} px: ${e.textContent.slice(0, 40)}`);
    }
    for (const part of root.querySelectorAll(".sentence, .edge-formula .formula")) {
      if (part.scrollHeight > part.clientHeight + 1) found.push(`${part.className} is cut`);
    }
    return found;
}"""


def rounds(clip: float | None = None) -> Any:
    """Record five rounds of SGD, with gradients clipped to a norm or as they are."""
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Linear(2, 4, rng=rng), nn.Tanh(), nn.Linear(4, 1, rng=rng))
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    x, y = mg.tensor(rng.normal(size=(6, 2))), mg.tensor(rng.normal(size=(6, 1)))
    with mg.record() as trace:
        for _ in range(5):
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            optimizer.step()
    return trace


def gaussians() -> Any:
    """Record the likelihood of points under a mixture of three Gaussians."""
    rng = np.random.default_rng(1)
    x = mg.tensor(rng.normal(size=(8, 1)))
    mean, log_sd, scores = (mg.tensor(rng.normal(size=3), requires_grad=True) for _ in range(3))
    with mg.record() as trace:
        z = (x - mean) / mg.exp(log_sd)
        log_p = -0.5 * z**2 - log_sd + mg.log_softmax(scores, axis=0)
        loss = -mg.logsumexp(log_p, axis=1).mean()
        loss.backward()
    return trace


def variational_autoencoder() -> Any:
    """Record one step of a variational autoencoder."""
    rng = np.random.default_rng(2)
    mg.random.seed(0)
    encoder, decoder = nn.Linear(6, 4, rng=rng), nn.Linear(2, 6, rng=rng)
    x = mg.tensor(rng.normal(size=(5, 6)))
    with mg.record() as trace:
        code = encoder(x)
        mean, log_variance = code[:, :2], code[:, 2:]
        z = mean + mg.exp(0.5 * log_variance) * mg.random.normal(size=(5, 2))
        error = ((decoder(z) - x) ** 2).sum(axis=1).mean()
        divergence = -0.5 * (1 + log_variance - mean**2 - mg.exp(log_variance)).sum(axis=1).mean()
        loss = error + divergence
        loss.backward()
    return trace


def hooks() -> Any:
    """Record hooks on a leaf and on a result."""
    x = mg.tensor([1.0, -2.0, 0.5], requires_grad=True)
    x.register_hook(lambda gradient: gradient * 100)
    with mg.record() as trace:
        y = x * x
        y.register_hook(lambda gradient: -gradient)
        loss = (y * x).sum()
        loss.backward()
    return trace


def thousand() -> Any:
    """Record a graph of about a thousand nodes without groups of a program."""
    x = mg.tensor(0.5, requires_grad=True)
    with mg.record() as trace:
        y = x
        for k in range(330):
            y = mg.sin(y * 1.01) + x if k % 3 else mg.tanh(y) * x
        y.backward()
    return trace


PROGRAMS = lecture_programs.PROGRAMS | {
    "five rounds": rounds, "clipped rounds": lambda: rounds(0.5), "Gaussians": gaussians,
    "VAE": variational_autoencoder, "hooks": hooks,
    "a walk that fails": player_programs.failing_walk, "nan": player_programs.nan_gradient,
    "broadcasting": player_programs.broadcast_shapes, "thousand nodes": thousand,
}  # fmt: skip


def choose_steps(trace: Any, count: int) -> list[int]:
    """Return the positions of a walk of `count` positions that a sheet shows, in order."""
    steps = trace.to_dict()["steps"]
    special = [next((k + 1 for k, step in enumerate(steps[:count]) if step[name]), None)
               for name in ("accumulates", "summed_axes")]  # fmt: skip
    chosen = {0, count, *(k for k in special if k is not None)}
    spread = (round(count * k / 97) for k in (1, 30, 60, 90, 15, 45, 75, 5))
    chosen |= set(itertools.islice((k for k in dict.fromkeys(spread) if k not in chosen), MOMENTS - 1 - len(chosen)))
    return sorted(chosen)


def take_pictures(page: Any, trace: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each moment and its picture."""
    slider = page.locator(".slider")
    for k in choose_steps(trace, int(slider.get_attribute("max"))):
        slider.fill(str(k))
        settle(page)
        yield f"step {k}", page.screenshot()
    if (later := page.get_by_role("button", name="round ›")).count():
        slider.fill("0")
        later.click()
        settle(page)
        yield "the second round", page.screenshot()


def join(rows: list[list[bytes]], width: int, across: int) -> Image.Image:
    """Return one picture of all, `across` beside each other; each list begins a new row."""
    images = [[Image.open(io.BytesIO(each)).convert("RGB") for each in row] for row in rows]
    high = round(width * images[0][0].height / images[0][0].width)
    lines = [row[k : k + across] for row in images for k in range(0, len(row), across)]
    sheet = Image.new("RGB", (across * (width + 4), len(lines) * (high + 4)), "#b0b0b0")
    for i, line in enumerate(lines):
        for j, image in enumerate(line):
            sheet.paste(image.resize((width, high), Image.Resampling.LANCZOS), (j * (width + 4), i * (high + 4)))
    return sheet


def main() -> None:
    """Write the sheets of the programs that are named, or of all."""
    folder, *wanted = sys.argv[1:]
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    browser = start_browser(find_browser())
    for name in wanted or PROGRAMS:
        trace = PROGRAMS[name]()
        path = viz.save(trace, out / "walk.html")
        for (width, height), small in SIZES.items():
            rows = []
            for colours in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
                )
                page.on("pageerror", lambda error, name=name: print(f"{name}: {error}"))
                page.goto(path.as_uri())
                page.locator(".player").focus()
                rows.append([])
                for moment, picture in take_pictures(page, trace):
                    rows[-1].append(picture)
                    (out / f"{name} {width} {colours} {len(rows[-1])}.png").write_bytes(picture)
                    for fault in page.evaluate(FAULTS) if colours == "light" else ():
                        print(f"{name}, {width} px, {moment}: {fault}", flush=True)
                page.close()
            join(rows, small, ACROSS[width]).save(out / f"sheet {name} {width}.png")
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()

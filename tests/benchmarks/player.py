"""Goals of the player, measured in a real browser: `python -m benchmarks.player`.

Each number is printed with its bound, and the exit status is 0 if all are reached. Wall-clock times depend on other
processes; the output shows the least of several, and the load of the machine.
"""

from __future__ import annotations

import os
import runpy
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import micrograd_plus as mg
import micrograd_plus_viz as viz
from browser import start_browser
from install_browser import find_browser
from micrograd_plus import nn
from micrograd_plus.engine import Value
from micrograd_plus_viz import graphviz_run

from . import lecture_programs, player_pictures, player_programs as programs, stage_cover

GALLERY = Path(__file__).parents[2] / "docs" / "make_gallery.py"
ROOT = 'const root = document.querySelector("#walk").shadowRoot;'
TEXTS = ROOT + """
    const size = (e) => parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM?.().a ?? 1);
    const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const frame = root.querySelector(".stage").getBoundingClientRect();
    const onStage = ({ x, y, right, bottom }) => x < frame.right && right > frame.x
      && y < frame.bottom && bottom > frame.y;
    const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest("math")
      && (!e.closest(".drawing") || onStage(e.getBoundingClientRect()));
    return Math.min(...[...root.querySelectorAll("*")].filter((e) => own(e) && seen(e)).map(size));
"""
IN_VIEW = ROOT + """
    const frame = root.querySelector(".stage").getBoundingClientRect();
    const inside = (e) => { const b = e.getBoundingClientRect();
      return b.x >= frame.x - 1 && b.right <= frame.right + 1 && b.y >= frame.y - 1
        && b.bottom <= frame.bottom + 1; };
    const any = (css) => [...root.querySelectorAll(css)].some(inside);
    return any(".node.active") && (any(".node.receives, .node.accumulates"));
"""
ALL_IN_VIEW = ROOT + """
    const frame = root.querySelector(".stage").getBoundingClientRect();
    const parts = [...root.querySelectorAll(".drawing .node")].map((e) => e.getBoundingClientRect());
    const inside = (b) => b.x >= frame.x - 1 && b.right <= frame.right + 1 && b.y >= frame.y - 1
      && b.bottom <= frame.bottom + 1;
    return [parts.filter(inside).length, parts.length];
"""
STEPPED = ROOT + """
    const slider = root.querySelector(".slider");
    const times = [];
    for (let i = 1; i <= Math.min(40, Number(slider.max)); i += 1) {
      let least = Infinity;
      for (let k = 0; k < 8; k += 1) {
        slider.value = String(i - 1);
        slider.dispatchEvent(new Event("input"));
        root.querySelector(".player").offsetHeight;
        const started = performance.now();
        slider.value = String(i);
        slider.dispatchEvent(new Event("input"));
        root.querySelector(".player").offsetHeight;
        least = Math.min(least, performance.now() - started);
      }
      times.push(least);
    }
    return Math.max(...times);
"""
OFF_SCREEN = ROOT + """
    const slider = root.querySelector(".slider");
    const found = [];
    for (let i = 0; i <= Number(slider.max); i += 1) {
      slider.value = String(i);
      slider.dispatchEvent(new Event("input"));
      const cut = (part) => part.scrollHeight > part.clientHeight + 1;
      if ([...root.querySelectorAll(".column, .sentence")].some(cut)
        || document.documentElement.scrollHeight > 720) found.push(i);
    }
    return found;
"""
NEGATIVES = ROOT + """
    const picture = [...root.querySelectorAll(".card")].find((c) => c.textContent.startsWith("contribution"))
      .querySelector(".picture");
    const rows = {};
    for (const [, y] of picture.querySelector(".minus").getAttribute("d").matchAll(/M[^,]+,([^h]+)h/g)) {
      rows[y] = (rows[y] ?? 0) + 1;
    }
    return [Math.max(...Object.values(rows)), Object.keys(rows).length];
"""


APART = ROOT + """
    const stage = root.querySelector(".stage").getBoundingClientRect();
    const inside = (node) => { const b = node.querySelector(".body").getBoundingClientRect();
      return b.x >= stage.x - 1 && b.right <= stage.right + 1 && b.y >= stage.y - 1 && b.bottom <= stage.bottom + 1; };
    const senders = [...root.querySelectorAll(".drawing .node.active")].filter(inside);
    return senders.length > 0 && [...root.querySelectorAll(".drawing .node:is(.receives, .accumulates)")].some(
      (node) => inside(node) && !senders.includes(node));
"""
STAGE_SHARE = ROOT + """
    const { width, height } = root.querySelector(".stage").getBoundingClientRect();
    return 100 * width * height / (innerWidth * innerHeight);
"""
FEWEST_FRAMES = 20
MOVE = """async () => {
    const root = document.querySelector("#walk").shadowRoot;
    const ask = window.requestAnimationFrame;
    const times = [];
    let asked = 0;
    window.requestAnimationFrame = (draw) => {
      asked += 1;
      return ask((now) => {
        const begun = performance.now();
        draw(now);
        times.push(performance.now() - begun);
      });
    };
    root.querySelector(".next").click();
    do await new Promise((done) => ask(done)); while (times.length < asked);
    window.requestAnimationFrame = ask;
    return times;
}"""


PAINTED = """() => new Promise((done) => new PerformanceObserver((list) => {
    const [first] = list.getEntriesByName("first-contentful-paint");
    if (first) done(first.startTime);
}).observe({ type: "paint", buffered: true }))"""
VISIT = """(steps) => {
    const slider = document.querySelector("#walk").shadowRoot.querySelector(".slider");
    return steps.map((i) => {
      slider.value = String(i);
      slider.dispatchEvent(new Event("input"));
      return (() => { LOOK })();
    });
}"""
HUGE = {"moons of 100,000": lambda: programs.moons(points=154)}


class Pages:
    """The programs' pages, each built once, and a browser that opens them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, {}
        self.saved: dict[int, tuple[Any, Path]] = {}
        found = find_browser()
        if found is None:
            raise SystemExit("these numbers are read off a page: they need the browser of `make test`")
        self.browser = start_browser(found)

    def trace(self, name: str) -> Any:
        """Return a program's record."""
        if name not in self.made:
            self.made[name] = (programs.PROGRAMS | lecture_programs.PROGRAMS | HUGE)[name]()
        return self.made[name]

    def save(self, trace: Any) -> Path:
        """Return the page of a trace, which is written once."""
        if id(trace) not in self.saved:
            self.saved[id(trace)] = trace, viz.save(trace, self.folder / f"walk{len(self.saved)}.html")
        return self.saved[id(trace)][1]

    def open(self, trace: Any, width: int = 1280, height: int = 720, moves: bool = False) -> Any:
        """Return the page of a trace in a new window, where each step shows its end at once unless it `moves`."""
        motion = "no-preference" if moves else "reduce"
        page = self.browser.new_page(viewport={"width": width, "height": height}, reduced_motion=motion)
        page.goto(self.save(trace).as_uri())
        page.locator(".player").focus()
        return page

    def at_steps(
        self, name: str, look: str, most: int = 40, details: bool = False, of_walks: bool = False, **size: int
    ) -> list[Any]:
        """Return the view at some evenly spread steps of a program's walk, with or without the panel of numbers.

        `of_walks` leaves out the beginning, at which nothing is sent.
        """
        page = self.open(self.trace(name), **size)
        if details:
            page.keyboard.press("d")
        count = int(page.locator(".slider").get_attribute("max"))
        steps = sorted({round(k * count / most) for k in range(most + 1)} - ({0} if of_walks else set()))
        seen = page.evaluate(VISIT.replace("LOOK", look), steps)
        page.close()
        return seen


def negatives(pages: Pages) -> float:
    """Return the number of negative numbers that each row of the digits' gradient shows; it has one."""
    page = pages.open(pages.trace("digits"))
    page.keyboard.press("d")
    page.keyboard.press("ArrowRight")
    most, rows = page.evaluate(f"() => {{ {NEGATIVES} }}")
    page.close()
    return most if rows == 32 else float("inf")


def smallest_text(pages: Pages) -> float:
    """Return the smallest font size of all pages, in pixels, in a broad and in a narrow window."""
    sizes = ((1280, 720), (420, 800))
    return min(
        min(pages.at_steps(name, TEXTS, 6, details, width=w, height=h))
        for name in programs.PROGRAMS for w, h in sizes for details in (False, True)
    )  # fmt: skip


def tallest(pages: Pages) -> float:
    """Return the largest height of a player at 1280 by 720; infinite if it changes during stepping."""
    look = ROOT + 'return root.querySelector(".player").offsetHeight;'
    heights = {name: pages.at_steps(name, look, 12) for name in programs.PROGRAMS}
    steady = all(len(set(seen)) == 1 for seen in heights.values())
    return max(map(max, heights.values())) if steady else float("inf")


def off_screen(pages: Pages) -> float:
    """Return how many steps need scrolling at 1280 by 720, over all programs and gallery walks; print which."""
    gallery = runpy.run_path(str(GALLERY))["record_walk"]()
    walks = {name: pages.trace(name) for name in programs.PROGRAMS}
    walks |= {question.splitlines()[0].strip("# "): trace for question, _, trace in gallery}
    found = 0
    for name, trace in walks.items():
        page = pages.open(trace)
        page.keyboard.press("d")
        if steps := page.evaluate(f"() => {{ {OFF_SCREEN} }}"):
            print(f"  {name}: steps {steps}", flush=True)
        found += len(steps)
        page.close()
    return found


def in_view(pages: Pages) -> float:
    """Return in how many of 100 steps sender and receiver are both visible, in a recurrent network of 60 rounds."""
    seen = pages.at_steps("RNN of 60", IN_VIEW, 482)[1:]
    return 100 * sum(seen) / len(seen)


def stage_share(pages: Pages) -> float:
    """Print the share of a screen of 1280 by 720 that each program's stage fills; return the smallest, in percent."""
    names = (*programs.PROGRAMS, *lecture_programs.PROGRAMS)
    shares = {name: min(pages.at_steps(name, STAGE_SHARE, 1)) for name in names}
    print("  ".join(f"{name} {share:.0f}" for name, share in shares.items()))
    return min(shares.values())


def share_of_two_places(pages: Pages) -> float:
    """Print the percentage of steps that show sender and receiver as two places; return that of the worst program."""
    names = ("RNN of 60", "MLP of 984", "digits", *lecture_programs.PROGRAMS)
    walks = {name: pages.at_steps(name, APART, 60, of_walks=True) for name in names}
    shares = {name: 100 * sum(seen) / len(seen) for name, seen in walks.items()}
    print("  ".join(f"{name} {share:.0f}" for name, share in shares.items()))
    return min(shares.values())


def share_of_hidden_way(pages: Pages) -> float:
    """Print what hides the ways of gradients and leaders; return the share of a way that nodes hide, worst program."""
    worst = 0.0
    for name, program in player_pictures.PROGRAMS.items():
        seen = [*stage_cover.measure(program(), stage_cover.SIZES[1280], 20)]
        if not seen:
            continue
        edge, leaders, ends = (statistics.mean(each[k] for each in seen) for k in (1, 3, 4))
        clear = statistics.mean(float(each.could_be_clear) for each in seen)
        print(f"  {name}: way {edge:.1%} hidden, leaders {leaders:.1%} over nodes, ends {ends:.1%}, "
              f"event over nodes beside free room {clear:.0%}", flush=True)  # fmt: skip
        worst = max(worst, 100 * edge)
    return worst


def slowest_frame(pages: Pages) -> float:
    """Return the milliseconds of script in the slowest frame of a moving event: of each event the best of three.

    A page that shows an event in a few frames does not move it; the result is then infinite.
    """
    slowest = 0.0
    for name in ("attention", "transformer layer", "GPT"):
        page = pages.open(pages.trace(name), moves=True)
        count = int(page.locator(".slider").get_attribute("max"))
        for step in (0, count // 2):
            least = float("inf")
            for _ in range(3):
                page.locator(".slider").fill(str(step))
                frames = page.evaluate(MOVE)
                least = min(least, max(frames) if len(frames) >= FEWEST_FRAMES else float("inf"))
            slowest = max(slowest, least)
        page.close()
    return slowest


def first_paint(pages: Pages) -> float:
    """Return the seconds until the slowest page paints for the first time: of each page the best of five.

    Only the page that is the slowest so far is opened again: a further try of another page cannot change the result.
    """
    walks = {name: pages.trace(name) for name in (*programs.PROGRAMS, *lecture_programs.PROGRAMS)}
    times = {name: [_paint_time(pages, trace)] for name, trace in walks.items()}
    while True:
        slowest = max(times, key=lambda name: min(times[name]))
        if len(times[slowest]) == 5:
            print(f"painted last: {slowest}")
            return min(times[slowest])
        times[slowest].append(_paint_time(pages, walks[slowest]))


def _paint_time(pages: Pages, trace: Any) -> float:
    page = pages.browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(pages.save(trace).as_uri())
    page.locator(".drawing .node").first.wait_for()
    painted = page.evaluate(PAINTED) / 1000
    page.close()
    return painted


def largest_graph(pages: Pages) -> float:
    """Return the seconds until the page of 65,000 nodes shows its graph."""
    return _time_to_open(pages, pages.trace("moons"))


def huge_graph(pages: Pages) -> float:
    """Return the seconds until the page of 100,000 nodes shows its graph."""
    return _time_to_open(pages, pages.trace("moons of 100,000"))


def step_in_huge_graph(pages: Pages) -> float:
    """Return the milliseconds of the slowest of the first steps in the page of 100,000 nodes."""
    return _step_times(pages, "moons of 100,000")


def _time_to_open(pages: Pages, trace: Any) -> float:
    path = pages.save(trace)
    times = []
    for _ in range(3):
        page = pages.browser.new_page(viewport={"width": 1280, "height": 720})
        begun = time.perf_counter()
        page.goto(path.as_uri())
        page.locator(".drawing .node").first.wait_for()
        times.append(time.perf_counter() - begun)
        page.close()
    return min(times)


def gpt_cell(pages: Pages) -> float:
    """Return the kilobytes of a notebook cell for a GPT of six layers."""
    return _cell(pages.trace("GPT"))


def neuron_cell(pages: Pages) -> float:
    """Return the kilobytes of a notebook cell for the neuron of micrograd's first lesson."""
    return _cell(pages.trace("neuron"))


def numbers_cell(pages: Pages) -> float:
    """Return the kilobytes of a notebook cell for 19 nodes of one number."""
    return _cell(programs.two_layers())


def tensors_cell(pages: Pages) -> float:
    """Return the kilobytes of a notebook cell for 19 nodes of arrays: attention over eight places."""
    return _cell(pages.trace("attention"))


def network_cell(pages: Pages) -> float:
    """Return the kilobytes of a notebook cell for 984 nodes."""
    return _cell(pages.trace("MLP of 984"))


def _cell(trace: Any) -> float:
    return len(viz.show(trace)._repr_mimebundle_()["text/html"].encode()) / 1000


def redraw_same(pages: Pages) -> float:
    """Return the CPU milliseconds until a notebook shows a new record of 19 nodes, when a cell runs again."""
    return _time_drawing(lambda k: programs.two_layers())


def redraw_with_changes(pages: Pages) -> float:
    """Return the same after records of the same program with other numbers and equally wide nodes."""
    return _time_drawing(lambda k: programs.two_layers(k / 128))


def _time_drawing(make: Callable[[int], Any]) -> float:
    traces = iter([make(k) for k in range(40)])
    times = [_time_of(lambda: viz.show(next(traces))._repr_mimebundle_()) for _ in range(40)]
    return 1000 * statistics.median(times[10:])


def beside_torchviz() -> str:
    """Return the time of torchviz for the same network: its graph of functions, without numbers."""
    try:
        import torch
        import torchviz
    except ImportError as error:
        return f"torchviz is not measured: {error}; `make .venv/.bench` installs it"
    x = [torch.tensor(value, dtype=torch.float64) for value in (0.5, -1.2)]
    w = [torch.tensor(0.3 + 0.1 * k, dtype=torch.float64, requires_grad=True) for k in range(6)]

    def draw() -> str:
        left = torch.tanh(x[0] * w[0] + x[1] * w[1])
        right = torch.tanh(x[0] * w[2] + x[1] * w[3])
        loss = left * w[4] + right * w[5]
        loss.backward()
        names = {f"w[{k}]": each for k, each in enumerate(w)}
        return graphviz_run.svg(torchviz.make_dot(loss, params=names).source)

    least = 1000 * min(_time_of(draw) for _ in range(30))
    return f"torchviz draws the same network, a still graph without numbers or steps, in {least:.3g} ms of CPU"


def time_slider(pages: Pages) -> float:
    """Return the CPU milliseconds to record and send a walk of 18 nodes again when a slider moves."""

    def program(a: Any, b: Any, c: Any) -> Any:
        return mg.tanh(a * b + c) * a + mg.sin(b) * (c - a) + mg.exp(a * 0.1) * b + a * c

    slider = viz.explore(program, a=(-2.0, 2.0), b=(-1.0, 1.0), c=3.0).sliders["a"]
    return 1000 * min(_time_of(lambda k=k: setattr(slider, "value", -1.9 + 0.1 * k)) for k in range(30))


def slowest_png(pages: Pages) -> float:
    """Return the CPU seconds of the slowest PNG, of the ten programs and of 65,000 nodes."""
    walks = [*map(pages.trace, programs.PROGRAMS), programs.moons()]
    return max(_time_of(lambda trace=trace: viz.save(trace, pages.folder / "walk.png")) for trace in walks)


def _time_of(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def slowest_step(pages: Pages) -> float:
    """Return the milliseconds of the slowest step over arrays, with layout: for each step the best of eight."""
    walks = ("digits", "attention", "transformer layer", "RNN of 60", "MLP of 984", "GPT", "LSTM", "MLP of 784")
    return max(_step_times(pages, name) for name in walks)


def _step_times(pages: Pages, name: str) -> float:
    page = pages.open(pages.trace(name))
    slowest = page.evaluate(f"() => {{ {STEPPED} }}")
    page.close()
    return slowest


def moons_page(pages: Pages) -> float:
    """Return the CPU seconds from the end of the record to the page, for 65,000 nodes."""
    trace = programs.moons()
    begun = time.process_time()
    viz.save(trace, pages.folder / "again.html")
    return time.process_time() - begun


def first_sight(pages: Pages) -> float:
    """Return how many of 100 drawn parts of the GPT are visible at first; at most 40 may be drawn."""
    page = pages.open(pages.trace("GPT"))
    seen, drawn = page.evaluate(f"() => {{ {ALL_IN_VIEW} }}")
    page.close()
    return 100 * seen / drawn if 5 <= drawn <= 40 else 0.0


def count_numbered_names(pages: Pages) -> float:
    """Return how many of the 337 parameters of micrograd's network the page names by a number."""
    net = nn.MLP(2, [16, 16, 1])
    with mg.record() as trace:
        net([Value(0.5), Value(-1.2)]).backward()
    names = {node["name"] for node in trace.to_dict()["nodes"] if node["kind"] == "leaf" and node["label"]}
    page = pages.open(trace)
    page.keyboard.press("/")
    page.keyboard.type("layers.1.neurons.3.w[1]\n")
    found = page.locator(".node-details .title").text_content()
    page.close()
    parameters = [name for name in names if "layers." in name]
    return len(list(net.parameters())) - len(parameters) if "layers.1.neurons.3.w[1]" in found else float("inf")


def contradictions(pages: Pages) -> float:
    """Return the number of sentences about a leaf that contradict its .grad."""
    trace, a = programs.accumulated_gradients()
    page = pages.open(trace)
    said = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        said.append(page.locator(".sentence").text_content())
    last = page.locator("#n0 .gradient").text_content()
    page.close()
    true = ["which held 4 before this walk and now holds 7", "which held 7 before this walk and now holds 9",
            "now holds 11"]  # fmt: skip
    wrong = sum(truth not in sentence for truth, sentence in zip(true, said, strict=True))
    return wrong + (last != f"grad {int(a.grad.item())}")


NUMBERS: list[tuple[str, Callable[[Pages], float], str, float]] = [
    ("negatives in each row of the digits' picture", negatives, "is", 1),
    ("smallest text, px", smallest_text, "at least", 11),
    ("height at 1280 x 720, px, at every step", tallest, "at most", 680),
    ("steps not whole on one screen, of all", off_screen, "is", 0),
    ("sender and receiver in view, RNN of 60, %", in_view, "at least", 95),
    ("the stage's share of the screen, %", stage_share, "at least", 60),
    ("sender and receiver as two places, worst program, %", share_of_two_places, "at least", 95),
    ("a gradient's way hidden by other nodes, worst, %", share_of_hidden_way, "at most", 1),
    ("script of a moving frame, ms", slowest_frame, "at most", 8),
    ("first paint of the slowest page, s", first_paint, "at most", 0.5),
    ("until 65,000 nodes are in view, s", largest_graph, "at most", 2),
    ("until 100,000 nodes are in view, s", huge_graph, "at most", 2),
    ("slowest step in 100,000 nodes, ms", step_in_huge_graph, "at most", 33),
    ("a notebook's cell for a GPT, KB", gpt_cell, "at most", 450),
    ("slowest step over arrays, ms", slowest_step, "at most", 16),
    ("from the record to the page, 65,000 nodes, s of CPU", moons_page, "at most", 1.5),
    ("parts of the GPT in view at first, %", first_sight, "at least", 100),
    ("parameters of nn.MLP without a name, of 337", count_numbered_names, "is", 0),
    ("sentences that contradict .grad", contradictions, "is", 0),
    ("a notebook's cell for a neuron, KB", neuron_cell, "at most", 90),
    ("a notebook's cell for 19 numbers, KB", numbers_cell, "at most", 100),
    ("a notebook's cell for 19 arrays, KB", tensors_cell, "at most", 130),
    ("a notebook's cell for 984 nodes, KB", network_cell, "at most", 300),
    ("a record of 19 nodes drawn again, ms of CPU", redraw_same, "at most", 10),
    ("the same with other numbers, ms of CPU", redraw_with_changes, "at most", 10),
    ("viz.explore: 18 nodes recorded anew, ms of CPU", time_slider, "at most", 50),
    ("the slowest PNG, s of CPU", slowest_png, "at most", 5),
]


def is_reached(value: float, kind: str, bound: float) -> bool:
    """Return whether a number is within its bound."""
    return {"is": value == bound, "at most": value <= bound, "at least": value >= bound}[kind]


def main() -> int:
    """Print the numbers; return how many goals are missed."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(Path(folder))
        for said, measure, kind, bound in NUMBERS:
            begun = time.perf_counter()
            value = measure(pages)
            took = f"   ({time.perf_counter() - begun:.0f} s)"
            good = is_reached(value, kind, bound)
            missed += not good
            print(f"{said:54} {value:10.4g}   {kind} {bound:g}{took}{'' if good else '   NOT REACHED'}",
                  flush=True)  # fmt: skip
    print(beside_torchviz())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load} over 1, 5 and 15 minutes")
    return missed


if __name__ == "__main__":
    sys.exit(main())

"""What matters at a step is seen: nothing hides the gradient's way, and the event opens where there is room."""

import re
import statistics

import numpy as np
import pytest

import micrograd_plus as mg
from benchmarks import lecture_programs, player_pictures, player_programs, stage_cover
from micrograd_plus import nn
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.stage import Stage
from micrograd_plus_viz.trace_input import normalize


def fan():
    """Record a sum of thirty numbers."""
    numbers = [mg.tensor(0.1 * k, requires_grad=True) for k in range(30)]
    with mg.record() as trace:
        mg.stack(numbers).sum().backward()
    return trace


PROGRAMS = {"hooks": player_pictures.hooks, "nan": player_programs.nan_gradient, "fan": fan,
            "attention": player_programs.attention, "LSTM": lambda: lecture_programs.lstm(5)}  # fmt: skip


@pytest.mark.parametrize(("name", "width", "leaders", "way"), [
    ("hooks", 1280, 0, 0), ("nan", 1280, 0, 0), ("hooks", 420, 0.05, 0.1), ("attention", 1280, 0.05, 0.1),
    ("fan", 1280, 0.05, 0.1), ("LSTM", 420, 0.05, 0.1),
])  # fmt: skip
def test_nothing_hides_the_way_of_a_gradient_and_its_ends(name, width, leaders, way):
    seen = [*stage_cover.measure(PROGRAMS[name](), stage_cover.SIZES[width], 10)]
    assert len(seen) >= 5
    assert max(each.edge for each in seen) < 0.01, "nodes hide it"
    assert max(each.edge_by_event for each in seen) <= way, "the event hides it"
    assert max(each.ends for each in seen) == 0
    assert statistics.mean(each.leaders for each in seen) <= leaders, "leaders run over nodes"
    assert sum(each.could_be_clear for each in seen) <= 0.2 * len(seen)


def test_an_event_is_never_higher_than_a_small_phone():
    norm = nn.LayerNorm(64)
    x = mg.tensor(np.random.default_rng(0).normal(size=(2, 32, 64)), requires_grad=True)
    with mg.record() as trace:
        (norm(x) * x).mean().backward()
    stage = Stage(payload(normalize(trace.to_dict())), (308, 400))
    boxes = []
    for k in range(1, len(trace.to_dict()["steps"]) + 1):
        at, ground = re.search(r'class="bubble" transform="(.*?)".*?<rect (.*?)>', stage.show(k).event).groups()
        (_, top, scale), high = re.findall(r"[\d.]+", at), re.search(r'height="([\d.]+)"', ground)[1]
        boxes.append((float(top), float(top) + float(scale) * float(high)))
    assert all(top >= 0 and bottom <= 400 for top, bottom in boxes), boxes
    assert max(bottom - top for top, bottom in boxes) > 250, "several rows: the rule, and a sum"


def start_of(program, width):
    """Return the scale of the drawing before the first step, and the markup of its nodes."""
    view = Stage(payload(normalize(program().to_dict())), stage_cover.SIZES[width]).show(0)
    nodes = [markup for _, markup in view.parts if 'class="node' in markup]
    return float(re.search(r"scale\(([\d.]+)\)", view.transform)[1]), nodes


def test_a_drawing_is_as_large_as_its_screen():
    def chain():
        y = mg.tensor(0.7, requires_grad=True)
        with mg.record() as trace:
            for _ in range(39):
                y = mg.sin(y)
            y.backward()
        return trace

    assert start_of(chain, 1920)[0] > 1.4 * start_of(chain, 1280)[0]
    assert start_of(chain, 420)[0] > 0.55, "forty numbers in rows fill a phone"


def test_arrays_have_tiles_on_phones():
    _, nodes = start_of(player_programs.attention, 420)
    assert sum('class="tile' in node for node in nodes) > 0.7 * len(nodes)


def test_a_leader_is_not_drawn_over_nodes():
    program, size = PROGRAMS["fan"](), stage_cover.SIZES[420]
    stage = Stage(payload(normalize(program.to_dict())), size)
    pieces = [len(re.findall("M", way)) for k in (1, 15, 30)
              for way in re.findall(r'class="tether [^"]*" d="([^"]*)"', stage.show(k).event)]  # fmt: skip
    assert pieces
    assert max(pieces) > 1


@pytest.mark.parametrize("width", [560, 700, 800, 1000])
def test_digits_are_readable_or_give_way_to_cells_of_the_same_shape(width):
    x = mg.tensor([[0.5], [-1.25], [2.0], [-0.75]], requires_grad=True)
    with mg.record() as trace:
        y = x
        for _ in range(5):
            y = mg.tanh(y)
        y.sum().backward()
    view = Stage(payload(normalize(trace.to_dict())), (width, 200), ["stacked"]).show(0)
    scale = float(re.search(r"scale\(([\d.]+)\)", view.transform)[1])
    tiles = [tile for _, markup in view.parts for tile in re.findall(r'<g class="tile (?!empty).*?</g>', markup)]
    digits = [float(size) for tile in tiles for size in re.findall(r"font-size: ?([\d.]+)px", tile)]
    assert len(tiles) == 6
    if scale * 13 >= 11:
        assert len(digits) == 4 * 6
        assert min(digits) * scale >= 10.98
    else:
        assert not digits
        assert all(re.search(r"h(\d+)v\1h", tile) and "minus" in tile for tile in tiles)


def test_the_name_of_an_open_group_stays_in_view():
    size = stage_cover.SIZES[420]
    stage = Stage(payload(normalize(player_programs.rnn(8).to_dict())), size)
    moved = 0
    for k in range(5, 45, 10):
        view = stage.show(k)
        x0, _, scale = (float(each) for each in re.findall(r"-?[\d.]+", view.transform))
        for _, markup in view.parts:
            if 'class="group-frame"' not in markup:
                continue
            left, width = (float(re.search(f' {name}="(-?[0-9.]+)"', markup)[1]) for name in ("x", "width"))
            right = (left + width) * scale + x0
            text = re.search(r'<text class="name" x="(-?[\d.]+)"[^>]*>([^<]+)', markup)
            if text and right > 200:
                moved += float(text[1]) > left + 8.1
                assert float(text[1]) * scale + x0 >= 7.9, text[2]
    assert moved


def event_box(view):
    """Return the box of a view's event, and how much larger it is than its text."""
    place = re.search(r'class="bubble" transform="([^"]*)"', view.event)[1]
    left, top, grown = (float(each) for each in re.findall(r"-?[\d.]+", place))
    ground = re.search(r'<rect class="ground"[^>]*>', view.event)[0]
    wide, high = (float(re.search(f' {name}="([0-9.]+)"', ground)[1]) for name in ("width", "height"))
    return stage_cover.Box(left, top, left + grown * wide, top + grown * high), grown


@pytest.mark.parametrize(("width", "least"), [(1280, 1.3), (420, 1)])
def test_numbers_of_an_event_are_as_large_as_those_of_a_small_drawing(width, least):
    view = Stage(payload(normalize(PROGRAMS["hooks"]().to_dict())), stage_cover.SIZES[width]).show(3)
    assert event_box(view)[1] >= least
    assert view.event.count("tile digits upstream") == view.event.count("tile digits contribution") == 1


@pytest.fixture(scope="module")
def layer_on_phone():
    """Return the stage of a transformer layer on a phone."""
    return Stage(payload(normalize(player_programs.transformer_layer().to_dict())), stage_cover.SIZES[420])


def test_the_event_leaves_names_above_nodes_free(layer_on_phone):
    outside = 0
    for k in (50, 51, 52):
        view = layer_on_phone.show(k)
        x0, y0, scale = (float(each) for each in re.findall(r"-?[\d.]+", view.transform))
        event, _ = event_box(view)
        for x, y in re.findall(r'<text class="name outside" [^>]*x="([\d.]+)" y="([\d.]+)"',
                               "".join(markup for _, markup in view.parts)):  # fmt: skip
            outside += 1
            name = stage_cover.Box(float(x) * scale + x0 - 20, float(y) * scale + y0 - 10, float(x) * scale + x0 + 20,
                                   float(y) * scale + y0)  # fmt: skip
            assert not event.overlaps(name)
    assert outside


def test_a_long_row_goes_on_below_on_a_large_screen():
    stage = Stage(payload(normalize(lecture_programs.lstm(1).to_dict())), stage_cover.SIZES[1920])
    grown = [event_box(view)[1] for view in map(stage.show, range(1, 8)) if view.event.count(">,<") >= 5]
    assert grown
    assert min(grown) > 1.4


def test_the_overview_covers_no_nodes_after_groups_have_opened():
    size = stage_cover.SIZES[1920]
    stage = Stage(payload(normalize(player_programs.rnn(8).to_dict())), size)
    views = [view for view in map(stage.show, (12, 13)) if view.overview]
    assert views
    for view in views:
        x0, y0, scale = (float(each) for each in re.findall(r"-?[\d.]+", view.transform))
        left = 4 if view.overview["left"] else size[0] - 154
        top = 4 if view.overview["top"] else size[1] - 60
        overview = stage_cover.Box(left, top, left + 150, top + 56)
        nodes = [node for _, markup in view.parts if 'class="node ' in markup
                 for node in re.findall(r'class="body"(?: [a-z]+="-?[\d.]+")+', markup)]  # fmt: skip
        assert nodes
        for node in nodes:
            x, y, wide, high = (float(re.search(f' {name}="(-?[0-9.]+)"', node)[1])
                                for name in ("x", "y", "width", "height"))  # fmt: skip
            box = stage_cover.Box(x * scale + x0, y * scale + y0, (x + wide) * scale + x0, (y + high) * scale + y0)
            assert not box.overlaps(overview)


def test_the_drawing_gives_way_where_an_event_would_cover_sender_or_receiver():
    seen = [*stage_cover.measure(player_programs.transformer_layer(), stage_cover.SIZES[768], 20)]
    assert 15 in [each.step for each in seen], "its event is wide, and its receiver far away"
    assert max(each.ends for each in seen) < 0.02


def test_what_only_the_first_node_of_a_row_reads_is_in_its_row():
    view = Stage(payload(normalize(PROGRAMS["LSTM"]().to_dict())), stage_cover.SIZES[768]).show(0)
    marks = "".join(markup for _, markup in view.parts)
    copies = [tuple(float(each) for each in box) for box in re.findall(
        r'class="node leaf stub[^>]*><rect class="body" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"', marks)]
    lines = re.findall(r'<g id="e[^>]*class="edge[^>]*><path d="M([-\d.]+),([-\d.]+)[^"]*?([-\d.]+),[-\d.]+"', marks)
    ways = [(float(x), float(end)) for x, y, end in lines
            if any(abs(left + wide - float(x)) < 2 and top < float(y) < top + high for left, top, wide, high in copies)]
    assert len(ways) >= 16
    assert all(end > x for x, end in ways)


def test_a_chain_fills_a_high_stage_in_rows():
    scale, nodes = start_of(lecture_programs.complex_numbers, 768)
    assert scale > 1
    assert sum('class="tile digits' in node for node in nodes) >= 3


def test_each_function_of_a_program_begins_at_the_left_edge():
    class Square:
        def __call__(self, x):
            y = x + 1

            def times(a, b):
                return a * b

            return times(y, y)

    def program(x):
        for _ in range(2):
            x = Square()(x)
        return x

    with mg.record() as trace:
        program(mg.tensor(2.0, requires_grad=True)).backward()
    view = Stage(payload(normalize(trace.to_dict())), stage_cover.SIZES[1280]).show(0)
    code = ["".join(text for text, _ in line["parts"]) for line in view.program["lines"] if "parts" in line]
    depths = {line.strip(): len(line) - len(line.lstrip()) for line in code}
    assert depths["return a * b"] == 4, "it is inside the other"
    assert depths["y = x + 1"] == depths["for _ in range(2):"] == 0
    assert depths["x = Square()(x)"] == 4


def test_sender_and_receiver_are_readable_together_on_phones(layer_on_phone):
    views = [layer_on_phone.show(k) for k in (1, 20, 22)]
    scales = [float(re.search(r"scale\(([\d.]+)\)", view.transform)[1]) for view in views]
    assert min(scales) > 0.6
    nodes = "".join(markup for _, markup in views[0].parts if 'class="node' in markup)
    assert 'class="tile' in nodes, "few nodes are open at first, and they have tiles"


def test_closed_groups_have_copies_of_leaves_inside_on_phones():
    scale, nodes = start_of(PROGRAMS["LSTM"], 420)
    assert scale > 0.7
    assert not [node for node in nodes if " stub" in node]
    assert len([node for node in start_of(PROGRAMS["LSTM"], 1280)[1] if " stub" in node]) == 4 * 5

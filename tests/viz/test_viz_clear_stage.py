"""What matters at a step is seen: nothing hides the gradient's way, and the event opens where there is room."""

import statistics

import pytest

from benchmarks import player_pictures, player_programs, stage_cover

PROGRAMS = {"hooks": player_pictures.hooks, "nan": player_programs.nan_gradient, "attention": player_programs.attention}


@pytest.mark.parametrize(("name", "width", "leaders", "way"), [
    ("hooks", 1280, 0, 0), ("nan", 1280, 0, 0), ("hooks", 420, 0.05, 0.1), ("attention", 1280, 0.05, 0.1),
])  # fmt: skip
def test_nothing_hides_the_way_of_a_gradient_and_its_ends(name, width, leaders, way):
    seen = [*stage_cover.measure(PROGRAMS[name](), stage_cover.SIZES[width], 10)]
    assert len(seen) >= 5
    assert max(each.edge for each in seen) < 0.01, "nodes hide it"
    assert max(each.edge_by_event for each in seen) <= way, "the event hides it"
    assert max(each.ends for each in seen) == 0
    assert statistics.mean(each.leaders for each in seen) <= leaders, "leaders run over nodes"
    assert sum(each.could_be_clear for each in seen) <= 0.2 * len(seen)

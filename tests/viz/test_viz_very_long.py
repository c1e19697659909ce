"""Walks too long to show in full: the first part and a sentence."""

import gc

import pytest

import micrograd_plus as mg
import micrograd_plus_viz as viz
from micrograd_plus.engine import Value
from micrograd_plus_viz import timeline, trace_input


@pytest.fixture(scope="module")
def chain():
    h = Value(0.5)
    with mg.record() as trace:
        for _ in range(3000):
            h = h * 0.999
        h.backward()
    return trace


def test_a_still_picture_has_the_first_steps_and_says_so(chain):
    drawing = viz.draw(chain)
    assert 5 < drawing.svg.count('class="node') < 50, "groups, not 4001 nodes"
    assert "Steps 1 to 4000 of 6000, and the 4001 nodes that they use." in drawing.svg
    assert drawing.alt.endswith("and 4000 edges: steps 1 to 4000 of 6000, and the nodes that they use")
    assert drawing.alt in drawing._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(("suffix", "most"), [(".html", 500_000), (".md", 80_000), (".tex", 80_000), (".dot", 300_000)])
def test_a_file_has_the_first_part(chain, tmp_path, suffix, most):
    path = viz.save(chain, tmp_path / f"walk{suffix}")
    assert 5_000 < path.stat().st_size < most


@pytest.mark.parametrize("suffix", [".svg", ".gif", ".webp"])
def test_a_film_says_what_to_narrow(chain, tmp_path, suffix):
    with pytest.raises(ValueError, match=r"steps is too long \(at most 150\).*choose steps, for example steps="):
        viz.save(chain, tmp_path / f"walk{suffix}")


def test_the_last_step_of_a_long_walk_has_a_picture(chain, tmp_path):
    assert viz.save(chain, tmp_path / "walk.svg", index=6000).stat().st_size < 60_000
    assert "Step 6000 of 6000" in viz.draw(chain, index=6000).alt


def test_the_collector_waits_while_a_page_is_made_and_also_runs_after_an_error(chain, monkeypatch):
    collections = []
    monkeypatch.setattr(gc, "callbacks", [*gc.callbacks, lambda phase, info: collections.append(phase)])
    timeline.load_film(chain)
    assert not collections
    monkeypatch.setattr(trace_input, "mark_rounding", None)
    with pytest.raises(TypeError):
        viz.show(chain)
    assert gc.isenabled()

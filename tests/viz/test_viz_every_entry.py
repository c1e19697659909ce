"""At every position of random training programs, the page shows the engine's numbers and says them."""

import re
from itertools import groupby

import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from browser import used_up
from micrograd_plus import nn
from micrograd_plus.engine import Value
from micrograd_plus_viz import timeline
from micrograd_plus_viz.journal import walk_states
from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.trace_input import normalize, trace_data
from trials import harness, pages

pytestmark = pytest.mark.browser
CASES = [407, 2, 14, 8]
"""A loop with several walks, hooks and checkpoints in each round; a network; `Value`s of which one walk cannot begin;
arrays with up to four axes."""


@pytest.fixture(scope="module", autouse=True)
def driven(chromium):
    """Close the page that the trials open."""
    yield
    pages.browser_page().close()
    pages.browser_page.cache_clear()


@pytest.mark.parametrize("case", CASES)
def test_every_position_of_a_page_shows_the_engines_numbers(case):
    assert pages.run(case) == harness.SAME


def differences_of(trace, **options):
    return [*pages.page_differences(trace, **options)]


def hook_on_a_result():
    """Record a walk in which a hook changes the gradient of a result."""
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = x * x
        y.register_hook(lambda gradient: gradient * 1.01)
        (y * 3 + y).backward()
    return trace


def cleared_late(rounds):
    """Record a loop that clears gradients after its forward."""
    w = mg.tensor(2.0, requires_grad=True)
    optimizer = mg.optim.SGD([w], lr=0.1)
    with mg.record() as trace:
        for _ in range(rounds):
            loss = w * w
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return trace


def test_a_node_has_what_it_sends_after_a_hook():
    trace = hook_on_a_result()
    assert not differences_of(trace, back=True)


@pytest.mark.parametrize("rounds", [1, 3])
def test_leaves_have_their_gradients_of_the_moment_while_values_are_computed(rounds):
    assert not differences_of(cleared_late(rounds), back=True, early=True)


def test_an_update_between_two_walks_of_a_round_shows_both_ways():
    one, two = (mg.tensor(x, requires_grad=True) for x in (2.0, 3.0))
    first, second = (mg.optim.SGD([w], lr=0.1) for w in (one, two))
    with mg.record() as trace:
        for _ in range(2):
            (one * two).backward()
            first.step()
            (one * two * two).backward()
            second.step()
    assert not differences_of(trace, back=True)


def test_a_record_without_a_walk_shows_what_the_program_left():
    a, b = Value(2.0), Value(3.0)
    with mg.record() as trace:
        c = a * b
        c.grad = 1.0
        c._backward()
        a.data -= 0.1 * a.grad
    assert not differences_of(trace, early=True)
    (state,) = walk_states(normalize(trace_data(trace))).values()
    assert (len(state.starts), len(state.values)) == (3, 1)


def test_a_film_plays_through_everything_between_its_walks(page, tmp_path):
    page.clock.install(time=0)
    used_up.append(page)
    page.goto(viz.save(cleared_late(3), tmp_path / "film.html").as_uri())
    page.get_by_label("Round 1: forward", exact=True).click()
    page.locator(".player").focus()
    page.clock.pause_at(1_000_000)
    page.keyboard.press(" ")
    seen = []
    for _ in range(40):
        seen.append(page.locator(".moment[aria-current]").get_attribute("aria-label"))
        page.clock.run_for(800)
    words = [word for word, _ in groupby(seen)]
    rounds = [["backward", "step"], *[["forward", "zero_grad", "backward", "step"]] * 2]
    assert words == [f"Round {k + 1}: {word}" for k, each in enumerate(rounds) for word in each]
    expect(page.locator(".icon.play")).to_have_text("Play")


def slices_and_complex_numbers():
    """Record a walk through slices, an operation with several results, and complex numbers."""
    x = mg.tensor([[[1.0, 2.0], [3.0, 4.0]], [[-1.0, -2.0], [-3.0, -4.0]]], requires_grad=True)
    z = mg.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
    with mg.record() as trace:
        first, second = mg.unstack(x * 2.0)
        ((first * second).sum() + mg.abs(z * z).sum()).backward()
    return trace


def test_slices_and_complex_entries_are_compared():
    assert not differences_of(slices_and_complex_numbers(), back=True, early=True)


WRONG = {
    "slices change places": (
        "slice % across * (columns", "(slices - 1 - slice) * (columns", slices_and_complex_numbers),
    "a complex number loses its sign": ("negative ? MINUS : ", 'negative ? "+" : ', slices_and_complex_numbers),
    "a hook is forgotten": ("if (sent.place !== null) return", "if (false) return", hook_on_a_result),
    "values come with gradients of later": ("if (index < 0) steps.holdEarly(index);", "", lambda: cleared_late(1)),
    "the first sentence stays": ("step ? step.say", "step ? data.steps[0].say", hook_on_a_result),
    "an event shows what was before": (
        "isSum, after]", 'isSum, { ...before, name: "after", word: "after" }]', hook_on_a_result),
    "a step back leaves what it found": ("steps.apply(index, false); }", "}", hook_on_a_result),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_comparison_finds_a_wrong_player(wrong, monkeypatch):
    right, false, program = WRONG[wrong]
    source = pages.prepared_source()
    assert right in source
    monkeypatch.setattr(pages, "prepared_source", lambda: source.replace(right, false))
    pages.browser_page.cache_clear()
    try:
        assert differences_of(program(), back=True, early=True)
    finally:
        pages.browser_page().close()
        pages.browser_page.cache_clear()


class Model(nn.Module):
    """A network that is written above the loop that trains it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x):
        return self.layer(x) ** 2


def train(model, optimizer, x):
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()


def test_rounds_begin_with_the_loop_below_its_network():
    mg.random.seed(0)
    model = Model()
    x = mg.tensor([[1.0, 2.0]])
    with mg.record() as trace:
        train(model, mg.optim.SGD(model.parameters(), lr=0.1), x)
    rounds = timeline.load_film(trace)["film"]
    assert [[moment.word for moment in each.before] for each in rounds] == [[], ["zero_grad"], ["zero_grad"]]
    assert [[moment.word for moment in each.after] for each in rounds] == [["step"]] * 3
    assert re.search("zero_grad cleared", rounds[1].before[0].say)


def test_random_numbers_and_batch_statistics_are_events():
    mg.random.seed(0)
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5))
    x = mg.tensor([[1.0, 2.0], [3.0, 5.0]])
    traces = []
    for rounds in (1, 3):
        with mg.record() as trace:
            for _ in range(rounds):
                noise = mg.random.normal(size=(2, 2))
                loss = (net(x + noise) ** 2).sum()
                loss.backward()
                mg.random.permutation(2)
        traces.append(trace)
    (step, *_), film = payload(normalize(trace_data(traces[0])))["steps"], traces[1]
    moved = "BatchNorm1d moved net.1.num_batches_tracked, net.1.running_mean, net.1.running_var"
    assert f"Before this walk, normal drew random numbers; {moved}; Dropout drew random numbers." in step["say"]
    rounds = timeline.load_film(film)["film"]
    for each in rounds:
        assert [moment.word for moment in each.before] == ["normal", "BatchNorm1d", "Dropout"]
        assert [moment.say for moment in each.before[each.forward :]] == [f"{moved}.", "Dropout drew random numbers."]
        assert [moment.say for moment in each.after] == ["permutation drew random numbers."]


def test_a_result_shows_what_it_keeps_while_values_are_computed():
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = (x * x).retain_grad()
        y.grad = 5.0
        z = y * x
        z.backward()
        (z * z).backward()
    assert not differences_of(trace, back=True, early=True)


def test_a_value_made_under_no_grad_shows_the_gradient_that_it_keeps():
    a, b = Value(2.0), Value(3.0)
    with mg.record() as trace:
        with mg.no_grad():
            c = a * 2.0
        (c * b).backward()
        (b * b + c).backward()
    assert not differences_of(trace)

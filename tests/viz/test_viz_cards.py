"""Question cards without a walk, walks behind a slider, and progress: on pages without a kernel."""

import random
import re
from fractions import Fraction

import numpy as np
import pytest
from playwright.sync_api import expect
from quizzed import layer

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from micrograd_plus_viz.quizzes import cards, sealed_answers

PICTURE = np.arange(-3.0, 9.0).reshape(3, 4)
WHY = "It follows from `2 * x`."
CARDS = {
    "number": (
        viz.ask("Slope of x² at 3?", 6, wrong={9: "That is x² itself."}, why=WHY),
        [("9", "That is x² itself."), ("six", "A number, or a fraction"), ("nan", "Try again"), ("-6", "the sign"),
         ("12", "a factor of 2. Try again"), ("3", "a factor of 2. Try again")],
        ["6", "12/2", "6,05"],
    ),
    "numbers": (
        viz.ask("What arrives?", np.array([[5.0], [7.125], [9.5]]), wrong={(1, 2, 3): "Those are inputs."}, why=WHY),
        [("1 2 3", "Those are inputs."), ("5, 7, 9", "At least one"), ("5, x", "3 numbers in"), ("5, 7", "3 numbers"),
         ("-5, -7.125, -9.5", "the signs"), ("9.5, 7.125, 5", "their order")],
        ["[[5], [7.125], [9.5]]", "5 7.13 19/2", "5,0; 7,12; 9,5", "5,0 7,13 9,5", "5,7.125,9.5,",
         "10 / 2, 7.13, 19 / 2"],
    ),
    "shape": (
        viz.ask("Which shape?", (3, 1), wrong={(4, 3): "That is the sum's shape."}, why=WHY),
        [("4 x 3", "That is the sum's shape."), ("three by four", "The length of each axis"),
         ("()", "How many axes does it have"),
         ("(1, 3)", "their order")],
        ["(3, 1)", "3 1"],
    ),
}
"""Typed cards: wrong answers with the start of what is said, and right ones."""


@pytest.fixture
def open_card(page, tmp_path):
    """Return a function that opens a card's page."""

    def open_card(card):
        page.goto(viz.save(card, tmp_path / "card.html").as_uri())
        expect(page.locator(".ask")).to_be_visible()
        return page, page.locator(".card-feedback")

    return open_card


def test_a_card_with_many_right_entries_names_some_of_them():
    right = [(0, 0), (0, 1), (0, 2), (1, 1)]
    some = cards.answers_for(right, {}, None, PICTURE, 0.02).text_of_right()
    assert some == "one of 4 entries, such as [0, 0], [0, 1] and [0, 2]"
    assert cards.answers_for(set(right), {}, None, PICTURE, 0.02).text_of_right().endswith("[0, 2] and [1, 1]")


@pytest.mark.browser
@pytest.mark.parametrize("form", CARDS)
def test_a_typed_card_gives_hints_and_accepts_every_spelling(open_card, form):
    card, wrong, right = CARDS[form]
    page, feedback = open_card(card)
    expect(page.locator(".answer")).to_be_focused()
    for tries, (typed, said) in enumerate(wrong):
        page.locator(".answer").fill(typed)
        page.keyboard.press("Enter")
        expect(feedback).to_contain_text(said)
        if tries:
            expect(page.locator("[data-mgp-card=open]")).to_have_count(1)
    for typed in right:
        page, feedback = open_card(card)
        page.locator(".answer").fill(typed)
        page.get_by_role("button", name="Answer").click()
        expect(feedback).to_contain_text("✓ Right. The answer is ")
        expect(feedback).to_be_focused()
        expect(feedback.locator("code")).to_have_text("2 * x")
        expect(page.locator("[data-mgp-card=at_once]")).to_have_count(1)


@pytest.mark.browser
def test_a_card_with_choices_is_answered_by_mouse_and_by_key(open_card):
    card = viz.ask("Up or down?", "down", wrong={"up": "Look at the sign.", "neither": "The slope is not 0."}, why=WHY)
    page, feedback = open_card(card)
    page.get_by_role("button", name="up").click()
    expect(feedback).to_have_text("✗ Not right. Look at the sign.")
    page.keyboard.press(str(1 + card.data["choices"].index("neither")))
    expect(feedback).to_have_text("✗ Not right, try 2. The slope is not 0.")
    page.get_by_role("button", name="Show me").click()
    expect(feedback).to_have_text("The answer is down. It follows from 2 * x.")
    expect(feedback).to_be_focused()
    expect(page.locator("[data-mgp-card=shown]")).to_have_count(1)

    page, feedback = open_card(viz.ask("Which pass it on?", {"add", "sum"}, choices=["tanh", "add", "sum"],
                                       wrong={"add": "And many at once?", None: "Is its slope 1?"}))  # fmt: skip
    for key, said in [("2", "All that you chose fit. One is missing. And many at once?"),
                      ("1", "one that fits is missing. Judge each by itself. Is its slope 1?"),
                      ("3", "All that fit are among them. One is too many. Is its slope 1?"),
                      ("2", "Judge each by itself. Is its slope 1?"), ("1", "One is missing. Is its slope 1?"),
                      ("3", "At least one fits. Is its slope 1?"), ("2", "One is missing. And many at once?"),
                      ("3", "✓ Right")]:  # fmt: skip
        page.keyboard.press(key)
        page.get_by_role("button", name="Answer").click()
        expect(feedback).to_contain_text(said)

    page, feedback = open_card(viz.ask("Does it fall?", right=False))
    page.get_by_role("button", name="no").click()
    expect(feedback).to_contain_text("✓ Right. The answer is no.")

    half = "\ud83d"  # of a pair of surrogates, as in a text that was cut inside an emoji
    page, feedback = open_card(viz.ask(f"So{half}?", f"a{half}", wrong={f"b{half}": f"No{half}!"}, why=f"As{half}."))
    expect(page.locator(".ask")).to_contain_text("So??")
    page.get_by_role("button", name="b").click()
    expect(feedback).to_have_text("✗ Not right. No?!")
    page.get_by_role("button", name="a").click()
    expect(feedback).to_have_text(re.compile("✓ Right. The answer is a.*. As[?]."))


@pytest.mark.browser
def test_an_entry_is_pressed_by_mouse_and_by_key(open_card):
    card = viz.ask("Press the largest.", (2, 3), picture=PICTURE, wrong={(0, 0): "That one is negative."}, why=WHY)
    page, feedback = open_card(card)
    page.get_by_role("gridcell", name="[0, 0]: −3").click()
    expect(feedback).to_have_text("✗ Not right. That one is negative.")
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]:
        page.keyboard.press(key)
    expect(page.get_by_role("gridcell", name="[2, 3]: 8")).to_be_focused()
    page.keyboard.press("Enter")
    expect(feedback).to_contain_text("✓ Right. The answer is [2, 3].")
    page, feedback = open_card(viz.ask("Press one.", [(0,), (2,)], picture=[1.0, 2.0, 1.0]))
    page.get_by_role("gridcell", name="[2]: 1").click()
    expect(feedback).to_contain_text("✓ Right. The answer is [0] and [2].")


@pytest.mark.browser
def test_several_entries_are_marked_and_sent_together(open_card):
    row = {(1, column) for column in range(4)}
    card = viz.ask("Press row 1.", row, picture=PICTURE, wrong={((1, 1), (1, 0)): "Two more."}, why=WHY)
    page, feedback = open_card(card)
    send = page.get_by_role("button", name="Answer")
    send.click()
    expect(feedback).to_contain_text("That is not a valid answer. Press all entries that fit")
    for name in ["[1, 1]", "[1, 0]", "[0, 0]"]:
        page.get_by_role("gridcell", name=name).click()
    send.click()
    expect(feedback).to_contain_text("These are not exactly the entries that fit.")
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("gridcell", name="[0, 0]")).to_be_focused()
    page.keyboard.press("Space")
    send.click()
    expect(feedback).to_have_text("✗ Not right, try 2. Two more.")
    for name in ["[1, 3]", "[1, 2]"]:
        page.get_by_role("gridcell", name=name).click()
    send.click()
    expect(feedback).to_contain_text("✓ Right. The answer is [1, 0], [1, 1], [1, 2] and [1, 3].")
    expect(send).to_be_hidden()
    page.get_by_role("gridcell", name="[1, 2]").click(force=True)
    expect(page.locator("[aria-selected=true]")).to_have_count(4)


@pytest.mark.browser
def test_cards_have_no_accessibility_violations(open_card):
    for card in [card for card, _, _ in CARDS.values()] + [viz.ask("Press it.", (0, 1), picture=PICTURE),
                                                           viz.ask("Press both.", {(0, 1), (0, 2)}, picture=PICTURE),
                                                           viz.ask("Which?", {"a"}, choices=["a", "b"])]:  # fmt: skip
        page, _ = open_card(card)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert find_violations(page) == []


@pytest.mark.browser
def test_numbers_are_rounded_in_python_as_in_the_page(page):
    chance = random.Random(0)  # noqa: S311 - numbers to compare
    numbers = [0.0, -0.0, 1.125, -2.375, 0.5, 1e-12, 123456.0, 9.995, 99.95, 1e21]
    numbers += [chance.uniform(-1, 1) * 10 ** chance.randrange(-8, 9) for _ in range(500)]
    numbers += [float(Fraction(chance.randrange(1, 4000), 8)) for _ in range(300)]
    theirs = page.evaluate("(all) => all.map((x) => (x === 0 ? '0' : x.toExponential(2)))", numbers)
    assert [cards.to_three_digits(each) for each in numbers] == theirs


@pytest.mark.browser
def test_progress_counts_the_cards_of_a_notebook_page(page):
    trace = walk_of_squares()
    parts = [viz.ask("One?", 1), viz.ask("Two?", 2), viz.quiz(trace, "x", "gradient"), viz.progress()]
    html = "".join(part._repr_mimebundle_()["text/html"] for part in parts)
    page.set_content(f"<!doctype html><body>{html}</body>")
    told = page.locator("[data-mgp-card], div").get_by_text("questions answered")
    expect(told).to_have_text("0 of 3 questions answered.")
    page.locator(".answer").nth(0).fill("1")
    page.locator(".answer").nth(0).press("Enter")
    expect(told).to_have_text("1 of 3 questions answered: 1 right at once.")
    page.get_by_role("button", name="Show me").nth(0).click()
    expect(told).to_have_text("2 of 3 questions answered: 1 right at once, 1 shown.")


def walk_of_squares():
    """Return the walk of the sum of the squares of three numbers."""
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with mg.record() as trace:
        loss = (x * x).sum()
        loss.backward()
    return trace


@pytest.mark.browser
def test_a_recorded_slider_needs_no_kernel(page, tmp_path):
    walks = viz.explore(lambda x, a: (a * x) ** 2, places=5, x=(0.0, 4.0), a=2.0)
    assert repr(walks) == "5 walks, for x from 0 to 4."
    assert not any("sliders.py" in str(walk) for walk in walks.data["walks"])
    page.set_content(f"<!doctype html><body>{walks._repr_mimebundle_()['text/html']}</body>")
    expect(page.locator("output")).to_be_visible()
    expect(page.get_by_text("Trust this notebook")).to_have_count(0)
    page.goto(viz.save(walks, tmp_path / "walks.html").as_uri())
    expect(page.locator("output")).to_have_text("2")
    expect(page.locator(".counter")).to_have_text("3 / 3")
    page.get_by_role("slider", name="x", exact=False).first.press("ArrowRight")
    expect(page.locator("output")).to_have_text("3")
    expect(page.locator(".title, h1").first).to_be_visible()
    with pytest.raises(ValueError, match=r"with places, one input must be a pair \(low, high\) and all others numbers"):
        viz.explore(lambda x: x, places=5, x=1.0)
    with pytest.raises(ValueError, match="places must be a whole number between 2 and 201, got 1"):
        viz.explore(lambda x: x, places=1, x=(0, 1))


@pytest.mark.parametrize(
    ("card", "secrets"),
    [
        (viz.ask("a", 6.25, wrong={9.5: "hint of 9"}, why="because of me"), ["6.25", "9.5", "hint of", "because"]),
        (viz.ask("a", (7, 8), why="because of me"), ["7, 8", "7,8", "because"]),
        (viz.ask("a", [4.5, 8.5], why="because of me"), ["4.5", "8.5", "because"]),
    ],
)
def test_a_card_holds_no_answer_as_text(card, secrets):
    held = repr(card.data) + repr(card) + card.title
    assert not [secret for secret in secrets if secret in held]
    assert card.data["sealed"]
    assert "why" not in card.data


def test_an_author_words_the_hint_for_all_other_answers():
    card = viz.ask("Slope of x² at 3?", 6, wrong={9: "That is x² itself.", None: "How fast does it grow?"})
    assert card.data["plain"] == "How fast does it grow?"
    assert card.as_poll().data["choices"] == viz.ask("Slope of x² at 3?", 6, wrong={9: "no"}).as_poll().data["choices"]
    assert "which numbers" in viz.ask("Slope of x² at 3?", 6).data["plain"]


def test_the_right_choice_has_no_place_of_its_own():
    places = [viz.ask("a", "right", wrong={f"one{k}": "no", f"two{k}": "no"}).data["choices"].index("right")
              for k in range(60)]  # fmt: skip
    assert {places.count(k) > 5 for k in range(3)} == {True}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"say": "", "right": 1}, TypeError, "say must be the question as a text"),
        ({"say": "a", "right": object()}, TypeError, "right must be a number, a list of numbers, a shape"),
        ({"say": "a", "right": 3, "wrong": {3.01: "near"}}, ValueError, "3.01 is right or has a hint already"),
        ({"say": "a", "right": 3, "wrong": {4: ""}}, TypeError, "wrong must have a hint as a text for each answer"),
        ({"say": "a", "right": 3, "wrong": {"four": "no"}}, TypeError, "must be made of real numbers, got 'four'"),
        ({"say": "a", "right": (2,), "wrong": {3: "no"}}, TypeError, "wrong answers must be shapes such as"),
        ({"say": "a", "right": "b", "choices": ["b"]}, ValueError, "a question needs 2 to 8 choices, got 1"),
        ({"say": "a", "right": "b"}, ValueError, "needs other choices: give choices= or wrong= texts"),
        ({"say": "a", "right": "b", "choices": "bc"}, TypeError, "choices must be a list of texts, got 'bc'"),
        ({"say": "a", "right": "b", "choices": ["b", " b"]}, ValueError, "choices must be different texts, none"),
        ({"say": "a", "right": 3, "wrong": [4]}, TypeError, r"wrong must be a dictionary .*, got \[4\]"),
        ({"say": "a", "right": [1, 2], "wrong": {(1, 2, 3): "no"}}, ValueError, "right has 2 numbers, so a wrong"),
        ({"say": "a", "right": np.array(1j)}, TypeError, "made of real numbers, got 1j"),
        ({"say": "a", "right": 10**400}, ValueError, "a number must be less than 1.8e308, got one of 401 digits"),
        ({"say": "a", "right": (2, -3)}, ValueError, r"a shape has no negative length, got \(2, -3\)"),
        ({"say": "a", "right": set(), "picture": PICTURE}, ValueError, "right must be at least one entry of picture"),
        ({"say": "a", "right": (0, 0), "picture": [[1, 2], [3]]}, ValueError, "rows of a picture must have the same"),
        ({"say": "a", "right": (0, 0), "picture": [["x"]]}, TypeError, "picture must be an array of real numbers"),
        ({"say": "a", "right": 1, "tolerance": "x"}, ValueError, "tolerance must be a relative error"),
        ({"say": "a", "right": "b", "choices": ["c", "d"]}, ValueError, "'b' is not among the choices 'c', 'd'"),
        ({"say": "a", "right": "b", "choices": ["b", "b"]}, ValueError, "choices must be different texts"),
        ({"say": "a", "right": 1, "choices": ["b", "c"]}, TypeError, "with choices, right must be one of them"),
        ({"say": "a", "right": {(3, 0)}, "picture": PICTURE}, ValueError, r"is no entry of a picture of shape"),
        ({"say": "a", "right": {(2, 0)}, "wrong": {(1, 0): "no"}, "picture": PICTURE}, TypeError, "must be tuples of"),
        ({"say": "a", "right": (3, 0), "picture": PICTURE}, ValueError, r"is no entry of a picture of shape \(3, 4\)"),
        ({"say": "a", "right": (0, 0, 0), "picture": np.ones((1, 1, 1))}, ValueError, "needs one or two axes"),
        ({"say": "a", "right": 1, "tolerance": 0}, ValueError, "tolerance must be a relative error"),
        ({"say": "a", "right": []}, TypeError, r"right must be a number, .*; got \[\]"),
        ({"say": "a", "right": "b", "wrong": {2: "no"}}, TypeError, "wrong answers must be texts too; got 2"),
        ({"say": "a", "right": (0, 0), "picture": [[1j]]}, TypeError, "needs real numbers, got complex ones"),
        ({"say": "a", "right": 1, "why": 2}, TypeError, "why must be a text, got 2"),
    ],
)
def test_a_card_that_cannot_be_asked_raises_an_error(arguments, error, message):
    with pytest.raises(error, match=message):
        viz.ask(**arguments)


def test_an_authors_question_names_its_step_by_what_it_reaches():
    w = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = mg.tensor([1.0, 1.0], requires_grad=True)
    with mg.record() as trace:
        h = w @ v
        loss = (h * w).sum()
        loss.backward()
    number = {name: max(step.index for step in trace.steps if step.rule.startswith(name)) + 1
              for name in ("matmul.a", "multiply.b")}  # fmt: skip
    asked = viz.quiz(trace, "w", "gradient", say="What does `w[1, 0]` hold?", why="Both uses add up.", entry=(1, 0))
    question = asked.data["quiz"]["question"]
    assert question["say"] == "What does `w[1, 0]` hold?"
    assert len(asked.data["steps"]) == number["matmul.a"] - 1
    exact = float(w.grad[1, 0])
    text = sealed_answers.bin_of(exact, 0.02)
    assert sealed_answers.name_of(question["salt"], text) in question["right"]
    assert len(viz.quiz(trace, ("multiply", "w"), "gradient").data["steps"]) == number["multiply.b"] - 1
    for arguments, message in [
        (("z",), "no step of this walk reaches 'z'; it reaches"),
        ((("tanh", "w"),), "no step of this walk reaches 'w' through 'tanh'"),
        (([1, 2],), "say, why and entry are about one question"),
    ]:
        with pytest.raises(ValueError, match=message):
            viz.quiz(trace, *arguments, say="What?")
    assert "entry [0, 1] of the gradient of w" in viz.quiz(trace, "w", entry=(0, 1)).data["quiz"]["question"]["say"]
    for kind in ("gradient", None):
        with pytest.raises(ValueError, match=r"entry \(2, 0\) is not in a gradient of shape \(2, 2\)"):
            viz.quiz(trace, "w", kind, entry=(2, 0))
    with pytest.raises(ValueError, match="entry needs kind 'gradient' or 'cell', got 'formula'"):
        viz.quiz(trace, "w", "formula", entry=(0, 1))
    with pytest.raises(TypeError, match="say must be a text, got 3"):
        viz.quiz(trace, "w", say=3)


def test_true_and_false_are_answers_too():
    for right, wrong in [(True, False), (np.bool_(False), "yes")]:
        asked = viz.ask("Is it so?", right, wrong={wrong: "Look again."})
        assert asked.data["choices"] == ["yes", "no"]
        assert len(asked.data["hints"]) == 1


def test_a_picture_to_press_may_have_nan_and_infinity():
    asked = viz.ask("Press the first nan.", right=(0, 1), picture=[[1.25, np.nan], [-np.inf, 2.0]])
    assert asked.data["picture"]["data"] == [1.25, "nan", "-inf", 2]


def test_a_program_that_fails_everywhere_raises_its_error():
    with pytest.raises(TypeError, match=r"the program must return the result .*, a tensor; got 3\.0"):
        viz.explore(lambda a: 3.0, places=3, a=(0.0, 1.0))
    with pytest.raises(ZeroDivisionError):
        viz.explore(lambda a: 1 / 0, places=3, a=(0.0, 1.0))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: viz.explore(3, places=3, a=(0, 1)), TypeError, "explore needs a function of the inputs"),
        (lambda: viz.explore(abs, places=2.5, a=(0, 1)), ValueError, "places must be a whole number between 2 and 201"),
        (lambda: viz.explore(abs, a=(0, 1, 2)), TypeError, r"a must be a number, or a pair of numbers \(low, high\)"),
        (lambda: viz.explore(abs, places=3, a=(0, float("inf"))), ValueError, r"a must be finite, got \(0, inf\)"),
        (lambda: viz.explore(abs, places=3, a=(1, -1)), ValueError, "the slider of a needs a lower end first"),
        (lambda: viz.quiz(layer(), "bias", entry="0"), TypeError, "entry must be an index, or a tuple of indices"),
        (lambda: viz.quiz(layer(), "bias", entry=True), TypeError, "entry must be an index, or a tuple of indices"),
        (lambda: viz.quiz(layer(), candidates={"answer": 1}), TypeError, "candidates must be a list of dictionaries"),
        (lambda: viz.quiz(layer(), find="wrong rule", rule={"tanh.x": 5}), TypeError, "rule needs a function for each"),
        (lambda: viz.quiz(layer(), find="wrong rule", rule=5), TypeError, "rule must be a name, an exhibit"),
        (lambda: viz.picture([[1, 2], [3]]), TypeError, r"needs an array of numbers .*, got \[\[1, 2\], \[3\]\]"),
        (lambda: viz.picture(None), TypeError, "needs an array of numbers whose rows .*, got None"),
        (lambda: viz.picture([1], 5), TypeError, "name must be a text, got 5"),
        (lambda: viz.describe(3, "x"), TypeError, "describe needs a matplotlib figure and a text, got 3"),
        (lambda: viz.unfold(3), ValueError, "unfold needs a text that make_lessons.py folded, got 3"),
    ],
)
def test_an_argument_that_does_not_fit_is_named_with_the_cure(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_picture_of_an_array_says_what_it_shows():
    small = viz.picture([[1.0, -2.5], [0.0, 4.0]], "W")
    assert repr(small) == small.alt == "W of shape (2, 2): 1, −2.5; 0, 4"
    assert small.svg.startswith("<svg")
    assert "W" in small.svg
    large = viz.picture(mg.tensor(np.linspace(-2, 3, 784).reshape(28, 28)), "a digit")
    assert large.alt == "a digit of shape (28, 28), entries up to 3 in size"
    assert 'class="n' in large.svg
    assert 'class="p' in large.svg
    assert "data:image/svg+xml," in large._repr_mimebundle_()["text/html"]

"""Quizzes in the browser: all kinds by mouse and key, feedback, score, and accessibility."""

import hashlib
import json
import math

import numpy as np
import pytest
from playwright.sync_api import expect
from quizzed import curve, layer, leaf, rounds, twice

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from browser import settle
from micrograd_plus_viz.page import document
from micrograd_plus_viz.player import player_source
from micrograd_plus_viz.quizzes import sealed_answers
from micrograd_plus_viz.quizzes.step_choice import MIX, Chooser
from micrograd_plus_viz.window import load_window

pytestmark = pytest.mark.browser


@pytest.fixture
def open_quiz(page, tmp_path):
    """Return a function that opens a quiz's page."""

    def open_quiz(quiz):
        page.goto(viz.save(quiz, tmp_path / "quiz.html").as_uri())
        expect(page.locator(".quiz")).to_be_visible()
        return page

    return open_quiz


def choosable(trace, kind):
    """Return the last step with a multiple-choice question of a kind, and the right choice."""
    chooser = Chooser(load_window(trace)[0], 0.02, (), 0)
    for at in reversed(range(len(trace.steps))):
        made = chooser.question(at, kind)
        if made and made.form == "choice":
            return at + 1, int(made.right[0])
    raise AssertionError(f"no step has a multiple-choice question of kind {kind}")


def test_wrong_numbers_get_a_hint(open_quiz):
    trace = curve()
    x = trace.nodes[trace.steps[4].target].value
    wrong, right = trace.steps[4].upstream * (1 - x * x), trace.steps[4].after
    page = open_quiz(
        viz.quiz(trace, 5, "gradient", candidates=[{"answer": wrong, "hint": "Is <b>tanh</b> ever falling?"}])
    )
    box, feedback = page.locator(".answer"), page.locator(".quiz-feedback")
    expect(box).to_be_focused()
    expect(page.locator(".sentence")).to_have_text(
        "Step 5 of 9. tanh (d) sends to c + a. What is the gradient of c + a then?"
    )
    expect(page.locator(".counter")).to_have_text("5 / 9")
    for typed, said in [
        ("much", "That is not a valid answer. A number, or a fraction such as 1/3. Within 2 % is right."),
        (f"{wrong:.6f}", "✗ Not right. Is <b>tanh</b> ever falling?"),
        (str(-right).replace("-", "−"), "✗ Not right, try 2. The size is right. Look at the sign."),
    ]:
        box.fill(typed)
        page.keyboard.press("Enter")
        expect(feedback).to_have_text(said)
    box.fill(f"{right * 1.015:.7f}".replace(".", ","))
    page.keyboard.press("Enter")
    expect(feedback).to_contain_text("✓ Right. The gradient of c + a is ")
    expect(page.locator(".sentence")).to_contain_text("Step 5 of 9. tanh (d) sends ")
    expect(page.locator(".quiz-score")).to_have_text("1 right later, of 1")
    expect(page.locator(".quiz-at")).to_have_text("The quiz is over.")
    expect(feedback).to_have_attribute("role", "status")
    page.keyboard.press("End")
    expect(page.locator(".counter")).to_have_text("9 / 9")
    page.get_by_role("button", name="Again").click()
    expect(page.locator(".answer")).to_have_value("")
    expect(page.locator(".quiz-score")).to_have_text("")


def test_escape_returns_to_the_walk_and_q_to_the_question(open_quiz):
    page = open_quiz(viz.quiz(curve(), 5, "gradient"))
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".counter")).to_have_text("4 / 9")
    expect(page.locator(".quiz-at")).to_have_text("Next: question 1 of 1")
    page.keyboard.press("End")
    expect(page.locator(".counter")).to_have_text("5 / 9")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.keyboard.press("q")
    expect(page.locator(".answer")).to_be_focused()


@pytest.mark.parametrize("kind", ["sign", "adds", "formula", "picture"])
@pytest.mark.parametrize("hand", ["mouse", "key"])
def test_choices_work_by_mouse_and_number_key(open_quiz, kind, hand):
    trace = layer()
    at, right = choosable(trace, kind)
    page = open_quiz(viz.quiz(trace, at, kind))

    def choose(k):
        if hand == "mouse":
            page.locator(".choice").nth(k).click(force=True)
        else:
            page.keyboard.press(str(k + 1))

    wrong = 1 if right == 0 else 0
    choose(wrong)
    expect(page.locator(".quiz-feedback")).to_contain_text("✗ Not right.")
    expect(page.locator(".choice").nth(wrong)).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".choice").nth(wrong)).to_contain_text("✗")
    choose(wrong)
    expect(page.locator(".quiz-feedback")).to_contain_text("✗ Not right.")
    choose(right)
    expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right.")
    expect(page.locator(".counter")).to_have_text(f"{at} / {len(trace.steps)}")


WHOLE = """choices => { const panel = choices[0].closest(".quiz-panel").getBoundingClientRect();
    return choices.filter((each) => each.getBoundingClientRect().right <= panel.right + 1).length; }"""


def test_all_pictures_to_choose_from_are_whole(open_quiz):
    x = leaf(np.random.default_rng(0).normal(size=(4, 5)), "x")
    with mg.record() as trace:
        mean = x.mean(axis=1, keepdims=True)
        mg.sqrt(((x - mean) ** 2).sum(axis=0)).sum().backward()
    at = max(k for k in range(len(trace.steps)) if Chooser(load_window(trace)[0], 0.02, (), 0).question(k, "picture"))
    page = open_quiz(viz.quiz(trace, at + 1, "picture"))
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(page)
    assert page.locator(".choice").evaluate_all(WHOLE) == 4


def test_brackets_of_a_choice_do_not_stretch(open_quiz):
    page = open_quiz(viz.quiz(curve(), 5, "formula"))
    brackets = page.locator(".choice mo").filter(has_text="(")
    assert brackets.count()
    assert {each.get_attribute("stretchy") for each in brackets.all()} == {"false"}


@pytest.mark.parametrize("hand", ["mouse", "key"])
def test_the_next_node_is_chosen_in_the_graph(open_quiz, hand):
    trace = curve()
    page = open_quiz(viz.quiz(trace, 5, "order"))
    sender = trace.steps[4].node
    assert page.locator(".node.active").count() == 0
    if hand == "mouse":
        page.locator("#n0").click()
        page.get_by_role("button", name="Answer: a").click()
        expect(page.locator(".quiz-feedback")).to_contain_text("an input or a parameter")
        page.locator(f"#n{sender}").click()
        page.get_by_role("button", name="Answer: tanh (d)").click()
    else:
        page.locator(f"#n{sender}").focus()
        expect(page.get_by_role("button", name="Answer: tanh (d)")).to_be_visible()
        page.set_viewport_size({"width": 1100, "height": 700})  # another drawing
        settle(page)
        expect(page.locator(f"#n{sender}")).to_be_focused()
        page.keyboard.press("Enter")
    expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right. It is tanh (d)")
    expect(page.locator(f"#n{sender}")).to_have_class("node application done active")
    expect(page.locator(f"#n{trace.steps[5].target}")).to_have_class("node application")  # more will arrive there


def test_links_have_no_norm_of_numbers_that_a_question_hides(open_quiz):
    x, b = leaf(np.ones((2, 3))), leaf(np.ones(3))
    with mg.record() as trace:
        y = x
        for _ in range(45):
            y = mg.sin(y * 1.1)
        (y + b).sum().backward()
    page = open_quiz(viz.quiz(trace, "b", kind="shape"))
    expect(page.locator(".known")).to_contain_text("its shape is asked for")
    assert not [text for text in page.locator(".norms text").all_text_contents() if text.endswith(" 0")]


def test_students_type_shapes_and_counts(open_quiz):
    trace = layer()
    at = next(step.index for step in trace.steps if step.summed_axes) + 1
    page = open_quiz(viz.quiz(trace, at, "shape"))
    asked = page.locator(f"#n{trace.steps[at - 1].target}")
    expect(asked.locator("text.value")).to_have_text("shape?")
    expect(asked.locator(".tile")).to_have_count(0)
    assert "(4,)" not in page.locator(".known").text_content()
    results = page.locator(".drawing .node:not(.leaf)").all_text_contents()
    assert not [text for text in results if "(6, 4)" in text], "the shape before the sum is that of other results"
    assert "its shape is asked for" in page.locator(".known").text_content()
    page.locator(f"#n{trace.steps[at - 1].node}").click()
    expect(page.locator(".panel")).to_contain_text("Its shape is asked for.")
    page.keyboard.press("Escape")
    page.locator(".player").focus()
    for key in ["ArrowLeft", "d", *["ArrowLeft"] * (at - 2)]:
        page.keyboard.press(key)
        texts = page.locator(".player > :not(.program)").all_inner_texts()
        assert "(6, 4)" not in " ".join(texts), "an earlier step shows the shape"
    page.keyboard.press("q")
    page.locator(".answer").fill("(4,)")
    page.keyboard.press("Enter")
    expect(page.locator(".quiz-feedback")).to_contain_text("That is the shape after the sum.")
    page.locator(".answer").fill("6 x 4")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator(".quiz-feedback")).to_have_text("✓ Right. Its shape is (6, 4).")


def test_a_question_knows_the_values_of_its_round(open_quiz):
    page = open_quiz(viz.quiz(rounds(), [5, 8], "gradient"))
    w, known = page.locator(".node", has_text="w").first, page.locator(".known .card", has_text="w")
    page.locator(".quiz-show").click()
    page.locator(".player").focus()
    page.keyboard.press("q")
    expect(known.first).to_contain_text("0.4")
    expect(page.locator(".variables")).to_contain_text("loss4")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    expect(w).to_contain_text("0.5")
    page.keyboard.press("End")
    expect(w).to_contain_text("0.4")


def test_known_arrays_have_their_true_rows_and_columns(open_quiz):
    w, x = leaf(np.arange(12.0).reshape(4, 3) + 0.5), leaf([0.5, 1.0, -1.0])
    with mg.record() as trace:
        (w * x).sum().backward()
    page = open_quiz(viz.quiz(trace, 3, "gradient"))
    boxes = page.locator(".known table.numbers td").evaluate_all(
        "cells => cells.map((cell) => [cell.getBoundingClientRect().x, cell.getBoundingClientRect().y])")
    assert len({y for _, y in boxes[:12]}) == 4
    assert len({x for x, _ in boxes[:12]}) == 3
    line = page.locator(".known .line span").evaluate_all("cells => cells.map((c) => c.getBoundingClientRect().y)")
    assert len(line) == 3
    assert len(set(line)) == 1


def test_students_press_the_entry_that_gets_the_most(open_quiz):
    w, x = leaf([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0]], "w"), mg.tensor([[1.0, -3.0, 0.5], [2.0, 0.1, -7.0]])
    with mg.record() as trace:
        (w * x).sum().backward()
    page = open_quiz(viz.quiz(trace, "w", "cell"))
    expect(page.locator(".sentence")).to_contain_text("Press the entry that gets the largest gradient")
    cells = page.locator(".quiz-panel .cell")
    assert cells.all_text_contents() == ["1", "2", "9", "4", "5", "6"]
    cells.nth(2).click()
    expect(page.locator(".quiz-feedback")).to_contain_text("That entry of w is the largest itself.")
    cells.nth(3).click()
    expect(page.locator(".quiz-feedback")).to_contain_text("That is the largest with its sign.")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right. It is [1, 2], which gets −7.")
    asked = viz.quiz(trace, "w", "cell", entry=(0, 1), say="Which entry is multiplied by `-3`?", why="`x` is -3.")
    page = open_quiz(asked)
    expect(page.locator(".sentence")).to_have_text("Which entry is multiplied by -3?")
    expect(page.locator(".sentence code")).to_have_text("-3")
    page.locator(".quiz-panel .cell").nth(1).click()
    expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right.")
    expect(page.locator(".quiz-feedback code")).to_have_text("x")


def test_show_me_reveals_the_answer_by_default(open_quiz, page):
    open_quiz(viz.quiz(curve(), 5, "gradient"))
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".quiz-feedback")).to_contain_text("Shown. The gradient of c + a is ")
    expect(page.locator(".quiz-score")).to_have_text("1 shown, of 1")
    quiz = viz.quiz(curve(), 5, "gradient", show_me=False)
    assert quiz.data["quiz"]["question"]["shows"] is None
    open_quiz(quiz)
    expect(page.locator(".quiz-show")).to_be_hidden()


@pytest.mark.parametrize("program", [layer, twice])
def test_who_answers_all_has_seen_the_whole_walk(open_quiz, page, tmp_path, program):
    trace = program()
    made = Chooser(load_window(trace)[0], 0.02, (), 0).handful(5, MIX)
    open_quiz(viz.quiz(trace))
    for k, each in enumerate(made):
        expect(page.locator(".quiz-at")).to_have_text(f"Question {k + 1} of {len(made)}")
        expect(page.locator(".sentence")).to_have_text(f"Step {each.at + 1} of {len(trace.steps)}. {each.say}")
        if each.form in ("number", "whole", "shape"):
            page.locator(".answer").fill(answer_text(trace, each))
            page.keyboard.press("Enter")
        else:
            texts = [str(choice.get("node", i)) for i, choice in enumerate(each.choices)]
            page.keyboard.press(str(texts.index(each.right[0]) + 1))
        expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right.")
        page.keyboard.press("q")
    expect(page.locator(".quiz-score")).to_have_text(f"{len(made)} right at once, of {len(made)}")
    page.keyboard.press("End")
    seen = read(page)
    (tmp_path / "walk.html").write_text(document(load_window(trace)[0]), encoding="utf-8")
    page.goto((tmp_path / "walk.html").as_uri())
    expect(page.locator(".player")).to_be_focused()
    page.keyboard.press("End")
    assert seen == read(page)


def read(page):
    """Return the texts of a page at the end of a walk."""
    nodes = page.locator(".node").evaluate_all("all => all.map((node) => node.getAttribute('aria-label'))")
    return page.locator(".sentence").inner_text(), page.locator(".panel").inner_text(), nodes


def answer_text(trace, question):
    """Return a right answer as a student types it."""
    after = trace.steps[question.at].after
    if question.form == "shape":
        return f"({question.right[0]})"
    if question.form == "whole":
        return question.right[0]
    if "entry" in question.say:
        after = after[tuple(json.loads(question.say.partition("entry ")[2].partition("]")[0] + "]"))]
    return f"{float(after):.4g}"


@pytest.mark.parametrize("hand", ["mouse", "key"])
def test_students_mark_the_first_wrong_step(open_quiz, hand):
    page = open_quiz(viz.quiz(curve(), find="wrong rule", rule="tanh: rule on the input"))
    mark = page.locator(".quiz-mark")
    expect(mark).to_be_disabled()
    expect(page.locator(".sources")).to_have_count(0)
    for number, said in [
        (3, "✗ Not right. That step is right"), (7, "✗ Not right, try 2. That step is wrong, but an earlier step is"),
        (5, "✓ Right. Step 5 is the first wrong one. Tanh: rule on the input."),
    ]:  # fmt: skip
        page.locator(".slider").fill(str(number))
        expect(mark).to_have_text(f"Step {number} is the first wrong one (m)")
        if hand == "mouse":
            mark.click()
        else:
            page.locator(".player").focus()
            page.keyboard.press("m")
        expect(page.locator(".quiz-feedback")).to_contain_text(said)
    expect(page.locator(".formula").first).to_contain_text("1−")
    expect(page.locator(".quiz-score")).to_have_text("1 right later, of 1")


@pytest.mark.parametrize("options", [
    {"kind": "gradient"}, {"kind": "picture"}, {"kind": "order"}, {"kind": "formula"}, {"find": "wrong rule"},
], ids=lambda options: next(iter(options.values())))  # fmt: skip
def test_axe_reports_no_problems_in_any_colour_scheme(chromium, tmp_path, options):
    with chromium.new_context(viewport={"width": 1280, "height": 720}, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(viz.save(viz.quiz(layer(), **options), tmp_path / "quiz.html").as_uri())
        expect(page.locator(".quiz")).to_be_visible()
        if page.locator(".answer").count():
            page.locator(".answer").fill("77")
        for key in ("ArrowRight", "1", "2", "m", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".quiz-feedback")).not_to_be_empty()
        for scheme, forced in (("light", "none"), ("dark", "none"), ("dark", "active")):
            page.emulate_media(color_scheme=scheme, forced_colors=forced)
            settle(page)
            assert find_violations(page) == [], (scheme, forced)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (420, 800)])
def test_the_question_fits_its_screen_and_no_text_is_small(open_quiz, page, width, height):
    page.set_viewport_size({"width": width, "height": height})
    open_quiz(viz.quiz(layer(), 3, "gradient"))
    tall, wide = page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
    assert wide <= width
    assert tall <= 720 or width < 1280
    sizes = page.locator(".quiz *, .quiz-panel *, .known *").evaluate_all(
        "all => all.filter((e) => e.textContent.trim()).map((e) => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 11


def test_in_a_notebook_it_is_answered_with_no_kernel(page):
    page.set_content(viz.quiz(curve(), 5, "gradient")._repr_mimebundle_()["text/html"])
    expect(page.locator(".quiz")).to_be_visible()
    expect(page.locator(".answer")).not_to_be_focused()
    page.locator(".answer").fill(f"{curve().steps[4].after:.4f}")
    page.keyboard.press("Enter")
    expect(page.locator(".quiz-feedback")).to_contain_text("✓ Right.")


def test_a_live_widget_hears_the_score(page):
    widget = viz.quiz(curve(), 5, "adds").widget()
    code = str(widget._esm).replace("export default", "window.shows =").replace("export ", "")
    page.set_content("<div id=place></div>")
    page.evaluate(f"() => {{ {code} }}")
    page.evaluate("""async ([payload]) => {
        const values = { payload };
        window.model = { get: (name) => values[name], set(name, value) { values[name] = value; }, save_changes() {} };
        await window.shows.render({ model: window.model, el: document.querySelector("#place") });
    }""", [widget.payload])
    page.locator(".quiz-show").click()
    expect(page.locator(".quiz-feedback")).to_contain_text("Shown.")
    assert page.evaluate("window.model.get('score')") == {"at_once": 0, "later": 0, "shown": 1, "of": 1}
    assert widget.score == {}


def test_the_page_hashes_bins_and_reads_as_python_does(page):
    code = player_source(with_quiz=True).replace("export default", "const widget =").replace("export ", "")
    page.set_content("<p>")
    texts = ["", "abc", "ü−∑", *("x" * n for n in (54, 55, 56, 63, 64, 65, 119, 120, 500))]
    numbers = [1.0, -0.37, 4e-28, 7.02e11, 0.0, 2.5e-310]
    width = sealed_answers.width(0.02)
    found = page.evaluate(f"""([texts, numbers, width, typed, shapes]) => {{ {code}
        return [texts.map((text) => hex(hashParts(text))), numbers.map((x) => binOf(x, width)), typed.map(readNumber),
            shapes.map(readShape)]; }}""", [texts, numbers, width, [*TYPED], [*SHAPES]])  # fmt: skip
    assert found[0] == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert found[1] == [sealed_answers.bin_of(x, 0.02) for x in numbers]
    assert dict(zip(TYPED, found[2], strict=True)) == TYPED
    assert dict(zip(SHAPES, found[3], strict=True)) == SHAPES


GROUPED = ["300 000", "300,000", "300000", "3e5", "300_000", "300,0", "2,5", "1,2,3", "30,00", "300,001"]


def test_digits_in_groups_of_three_are_read_as_they_are_meant(page):
    code = player_source(with_quiz=True).replace("export default", "const widget =").replace("export ", "")
    page.set_content("<p>")
    data = viz.ask("How long?", 300_000, wrong={300: "Multiply.", 2.5: "Too short."}).data
    read = page.evaluate(f"""([data, typed]) => {{ {code}
        return typed.map((text) => bestOf(numberTexts(text, data.width), data)); }}""", [data, GROUPED])  # fmt: skip
    large, small, short, other = (sealed_answers.bin_of(each, 0.02) for each in (300_000, 300, 2.5, 30))
    assert read == [large, large, large, large, large, small, short, None, other, large]


TYPED = {
    "0.5": 0.5, "-1e-3": -0.001, "1/3": 1 / 3, "0,5": 0.5, "−2": -2, ".5": 0.5, "+1,5": 1.5, "1,5e-3": 0.0015,
    "- 0.5": -0.5, "(1 / 4)": 0.25, "1/-4": -0.25, "50 %": 0.5, "1,5/3": 0.5, "5.": 5, "2*10^-3": 0.002,
    "1,5 · 10**(-2)": 0.015, "10^3": 1000, "-3×10^2": -300, "-∞": -math.inf, "inf": math.inf,
    "": None, "1/2/3": None, "two": None, "1,000,000": None, "0x10": None, "1 2": None, "%": None, "2*3": None,
    "10^": None, "210^3": None,
}  # fmt: skip
SHAPES = {
    "(3, 4)": "3,4", "3x4": "3,4", "(5,)": "5", "()": "", "[3 4]": "3,4", "": None, "(a, 2)": None, "0,3": "0,3",
    "3": "3", "[3]": "3", "3,": "3", "3 by 4": "3,4", "3 X 4": "3,4", "torch.Size([3, 4])": "3,4", "(3;4)": "3,4",
    "shape = (3,)": "3", "scalar": None, "3.5": None, "( )": "", "-3": None,
}  # fmt: skip


def test_an_answer_that_is_sent_twice_counts_once(open_quiz):
    page = open_quiz(viz.quiz(curve(), [5, 6], "adds"))
    page.locator(".quiz-show").evaluate("button => { button.click(); button.click(); }")
    expect(page.locator(".quiz")).to_contain_text("Next: question 2 of 2")
    expect(page.locator(".quiz")).to_contain_text("1 shown, of 2")


def test_full_screen_and_size_outlast_an_answer(open_quiz):
    page = open_quiz(viz.quiz(curve(), [5, 6], "adds"))
    page.keyboard.press("+")
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement !== null")
    page.locator(".quiz-show").click()
    expect(page.locator(".quiz-feedback")).to_contain_text("Shown.")
    assert page.evaluate("document.fullscreenElement?.id") == "walk"
    assert page.locator(".player").evaluate("player => player.style.zoom") == "1.15"

"""Slides of a lesson: one offline page with polls, whose players are stepped without turning the slide."""


import nbformat
import pytest
from playwright.sync_api import expect

import micrograd_plus as mg
import micrograd_plus_viz as viz
from accessibility import find_violations
from browser import settle
from micrograd_plus_viz import slides
from micrograd_plus_viz.quizzes.sealed_answers import name_of

WALK = """with mg.record() as trace:
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
viz.quiz(trace, 2, "gradient")"""
CELLS = [
    ("slide", "# A first walk\n\nThe slope of $x^2$ is\n\n$$\\frac{dy}{dx} = 2x$$"),
    ("setup", "import micrograd_plus as mg\nimport micrograd_plus_viz as viz"),
    ("ask slide", 'viz.ask("What is the slope of x² at 3?", 6, wrong={9: "That is x² itself."}, why="It is 2x.")'),
    ("", "print('not on a slide')"),
    ("slide", "## The walk"),
    ("slide", WALK),
]  # fmt: skip


def make_notebook(cells, path):
    """Write a notebook from pairs of tags and text; a text that begins with # is Markdown."""
    book = nbformat.v4.new_notebook()
    for tags, source in cells:
        make = nbformat.v4.new_markdown_cell if source.startswith("#") else nbformat.v4.new_code_cell
        book.cells.append(make(source, metadata={"tags": tags.split()}))
    nbformat.write(book, path)
    return path


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """Return the slides of a small lesson."""
    folder = tmp_path_factory.mktemp("slides")
    return slides.write_slides(make_notebook(CELLS, folder / "lesson.ipynb"), folder / "lesson.html")


def record_square():
    """Return the record of x² at 3, in which x arrives twice."""
    with mg.record() as trace:
        x = mg.tensor(3.0, requires_grad=True)
        (x * x).backward()
    return trace


def choices_of(card):
    """Return the choices of a card, and that which is right."""
    data = card.data
    right = [k for k in range(len(data["choices"])) if name_of(data["salt"], str(k)) in data["right"]]
    return data["choices"], [data["choices"][k] for k in right]


def test_a_poll_has_the_right_answer_and_those_of_named_mistakes_as_choices():
    number = viz.ask("Slope of x² at 3?", 6, wrong={9: "That is x² itself.", 3: "That is x."})
    assert number.data["form"] == "number"
    choices, right = choices_of(number.poll())
    assert sorted(choices) == ["3", "6", "9"]
    assert right == ["6"]
    choices, right = choices_of(viz.ask("Which shape?", (3,), wrong={(4, 3): "Too large."}).poll())
    assert (sorted(choices), right) == (["(3,)", "(4, 3)"], ["(3,)"])


def test_a_mistake_that_reads_like_the_answer_is_no_choice():
    wrong = {1 / 3 + 1e-6: "Almost.", 3.0: "Turn it round."}
    choices, right = choices_of(viz.ask("1/3?", 1 / 3, wrong=wrong, tolerance=1e-9).poll())
    assert (sorted(choices), right) == (["0.3333", "3"], ["0.3333"])
    candidates = [{"answer": 6.0 + 1e-6, "hint": "Almost."}, {"answer": 9.0, "hint": "That is x² itself."}]
    quiz = viz.quiz(record_square(), 2, "gradient", candidates=candidates, tolerance=1e-9)
    texts = [choice["text"] for choice in quiz.poll().data["quiz"]["question"]["choices"]]
    assert texts.count("6") == 1


def test_a_question_without_named_mistakes_or_with_choices_is_its_own_poll():
    for card in (viz.ask("How much?", 6), viz.ask("Which?", "a", wrong={"b": "No."})):
        assert card.poll() is card


def test_a_question_about_a_walk_becomes_a_poll_of_its_mistakes():
    quiz = viz.quiz(record_square(), 2, "gradient", candidates=[{"answer": 9.0, "hint": "That is x² itself."}])
    assert quiz.data["quiz"]["question"]["form"] == "number"
    question = quiz.poll().data["quiz"]["question"]
    texts = [each["text"] for each in question["choices"]]
    assert question["form"] == "one"
    assert {"6", "9", "3"} <= set(texts)
    assert len(set(texts)) == len(texts) <= 5
    assert name_of(question["salt"], str(texts.index("6"))) in question["right"]


def test_slides_have_formulas_and_no_code_of_questions(lesson):
    page = lesson.read_text("utf-8")
    assert "<mfrac>" in page
    assert "viz.ask" not in page
    assert "not on a slide" not in page
    assert 'class="slide" aria-label="Slide 1 of 4"' in page


def test_a_question_has_a_slide_to_itself():
    heading, code = nbformat.v4.new_markdown_cell("## Halves"), nbformat.v4.new_code_cell("x = 1\n" * 8)
    short = nbformat.v4.new_code_cell("x = 1")
    shown = nbformat.v4.new_output("display_data", {"text/html": '<div data-mgp="1"></div>'})
    asked = nbformat.v4.new_code_cell("viz.ask()", metadata={"tags": ["ask"]}, outputs=[shown])
    for each in (code, short):
        assert [len(parts) for parts in slides.group_cells([heading, asked, each])] == [2, 2], "it may hold the answer"
        assert [len(parts) for parts in slides.group_cells([heading, each, asked])] == [2, 2]
    assert len(slides.group_cells([heading, short, code])) == 1
    assert len(slides.group_cells([heading, code, code])) == 2


def test_code_that_says_no_more_than_its_picture_is_left_out():
    heading, table = nbformat.v4.new_markdown_cell("## Halves"), {"text/html": "<table></table>"}
    shown = [nbformat.v4.new_output("display_data", table)]
    for source, count in (("x = 1\n" * 8, 2), ("x", 2), ("viz.draw(x)", 2), ("%time x", 3), ("x = 1\nx", 3)):
        (slide,) = slides.group_cells([heading, nbformat.v4.new_code_cell(source, outputs=shown)])
        assert (len(slide), slide[-1]) == (count, "<table></table>"), source


def test_a_last_line_that_ends_in_a_colon_is_the_heading_of_what_follows():
    text = nbformat.v4.new_markdown_cell("## You can now\n\n- halve\n\nTwo last questions:")
    shown = nbformat.v4.new_output("display_data", {"text/html": '<div data-mgp="1"></div>'})
    asked = nbformat.v4.new_code_cell("viz.ask()", metadata={"tags": ["ask"]}, outputs=[shown])
    first, *others = slides.group_cells([text, asked, asked])
    assert "halve" in first[0]
    assert "Two last questions" not in first[0]
    assert [each[0] for each in others] == ["<h2>Two last questions</h2>"] * 2
    (alone,) = slides.group_cells([text, nbformat.v4.new_code_cell("x = 1")])
    assert "Two last questions:" in alone[0], "what follows is on the same slide"


def test_a_notebook_without_slides_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"lesson\.ipynb has no slides: no cell has the tag 'slide'"):
        slides.write_slides(make_notebook([("setup", "1")], tmp_path / "lesson.ipynb"), tmp_path / "lesson.html")


@pytest.mark.browser
def test_slides_turn_by_key_and_arrows_step_the_player(page, lesson):
    page.goto(lesson.as_uri())
    count = page.locator("nav output")
    expect(count).to_have_text("1 of 4")
    page.keyboard.press("ArrowRight")
    expect(count).to_have_text("2 of 4")
    shown = page.locator(".slide:not([inert])")
    shown.locator(".choice span", has_text="9").click()
    expect(shown.locator(".card-feedback")).to_contain_text("That is x² itself.")
    page.keyboard.press("PageDown")
    expect(count).to_have_text("3 of 4")
    expect(shown.locator("pre.code")).to_contain_text("mg.record()")
    page.keyboard.press("PageDown")
    expect(shown.locator(".player")).to_be_visible()
    shown.locator(".player").click(position={"x": 5, "y": 5})
    page.keyboard.press("ArrowLeft")
    expect(shown.get_by_text("1 / 2")).to_be_visible()
    expect(count).to_have_text("4 of 4")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.keyboard.press("q")
    expect(shown.locator(".choice").first).to_be_visible()
    settle(page)
    assert shown.evaluate("slide => slide.scrollHeight - slide.clientHeight") == 0, "a question fits its slide"
    page.keyboard.press("PageUp")
    expect(count).to_have_text("3 of 4")
    assert find_violations(page) == []

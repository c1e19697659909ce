"""Reports for the teacher: complete, and without anything that a browser or spreadsheet would run."""

import csv
import io
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import chromium  # noqa: F401 - a fixture
from graded import assignment
from micrograd_plus import exercises
from micrograd_plus.exercises import answer_walks
from micrograd_plus.grading import cells, grade, report, submissions, tampering
from micrograd_plus.grading.assignment import load_assignment
from micrograd_plus.grading.reasons import REASONS, escape_invisible, reason
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.store import Store, to_json
from micrograd_plus.tracing import load_trace

NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202e \x1b[31m =1+1"
OPEN = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """Parser that collects the elements of a page, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.stack, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in OPEN:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def store(tmp_path):
    """Return marks of three students: one right, one wrong, one with hostile text."""
    loaded = load_assignment(assignment(tmp_path))
    results = Store(tmp_path / "out")
    walks = {}
    sources = {
        "ada": "def tanh_x(out):\n    return 1 - out**2\n\ndef exp_x(out):\n    return out\n",
        "bob": "def tanh_x(out):\n    return out**2 - 1\n",
        "eve": f"import ctypes\ndef tanh_x(out):\n    raise ValueError({NASTY!r})\n",
    }
    with Sandbox() as sandbox:
        for name, source in sources.items():
            submission = submissions.Submission(name, submissions.read_program(source.encode()))
            submission.remarks.append(NASTY)
            walks[name], answers = {}, {}
            marks = grade.grade_submission(submission, loaded, sandbox, walks=walks[name], answers=answers)
            results.put(name, to_json(marks))
            results.put_answers(name, answers)
            results.put_walks(name, walks[name])
    report.write_report(results, loaded)
    return results


def test_the_page_shows_everything_and_runs_nothing(store):
    text = (store.folder / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    tags = {tag for tag, _ in page.tags}
    assert not page.stack
    assert not tags & {"script", "img", "iframe", "object", "link", "form"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "http" not in re.sub(r"http-equiv", "", text)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert all(
        each in page.text for each in ("ada: 20 of 20", "3 submissions", "Isolation", "uses ctypes", "<script>alert(1)")
    )


def test_the_page_has_a_language_a_title_and_ordered_headings(store):
    page = Page()
    page.feed((store.folder / "report.html").read_text(encoding="utf-8"))
    assert page.tags[0] == ("html", {"lang": "en"})
    assert ("main", {}) in page.tags
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")


def test_a_mistake_links_to_its_students_and_their_code(store):
    text = (store.folder / "report.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links == {"student-bob", "student-eve"}
    assert all(f'<section id="{link}"' in text for link in links)
    assert "catalogue" not in text
    assert "<code>   1  def tanh_x(out):\n   2      return out**2 - 1</code>" in text
    assert text.count("<details>") == 3
    mistakes = list(csv.reader(io.StringIO((store.folder / "mistakes.csv").read_text(encoding="utf-8"))))
    assert ["tanh.x", "the sign is wrong", "1", "bob"] in mistakes


def test_exercises_without_an_answer_share_a_row_and_names_are_code():
    table = report.mistake_table([
        ("exp.x", "the rule of `tanh`", ["a"]), ("exp.x", "the starter code was not changed", ["b"]),
        ("tanh.x", "the function `tanh_x` was not found", ["b"]), ("tanh.x", "`<b>` is left out", ["a"]),
        ("log.x", "the function `log_x` was not found, because cell 2 stopped with NameError", ["c"]),
    ])  # fmt: skip
    assert "<td>the rule of <code>tanh</code></td>" in table
    assert "<code>&lt;b&gt;</code> is left out" in table
    assert table.count("<tr>") == 1 + 4
    assert re.search(r">exp\.x, tanh\.x</th><td>not answered</td>.*student-b", table)


def test_equal_unknown_answers_are_counted_together(tmp_path):
    loaded, results = load_assignment(assignment(tmp_path)), Store(tmp_path / "out")
    bodies = {"a": "0.3 + 0 * out", "b": "0.3 * (1 + 0 * out)", "c": "0.4 + 0 * out", "d": "1 - out**2"}
    with Sandbox() as sandbox:
        for name, body in bodies.items():
            cells_of = submissions.read_program(f"def tanh_x(out):\n    return {body}\n".encode())
            marks = grade.grade_submission(submissions.Submission(name, cells_of), loaded, sandbox)
            results.put(name, to_json(marks))
    groups = [ids for exercise, title, ids in report.group_mistakes(results.all()) if "unknown" in title]
    assert groups == [["a", "b"], ["c"]]


def test_each_student_gets_a_page_with_comments_and_no_others(store):
    (store.folder / "comments.csv").write_text(
        "student,exercise,comment\nbob,tanh.x,Turn <it> around\n", encoding="utf-8"
    )
    (store.folder / "students" / "gone.html").write_text("", encoding="utf-8")
    report.write_report(store, load_assignment(store.folder.parent / "week3.toml"))
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (store.folder / "students").iterdir()}
    assert set(pages) == {"ada", "bob", "eve"}
    assert "tanh.x: Turn &lt;it&gt; around" in pages["bob"]
    assert "return out**2 - 1" in pages["bob"]
    assert not [name for name in ("ada", "eve") if f"{name}: " in pages["bob"]]
    assert "walks/" not in pages["bob"]


@pytest.mark.browser
def test_filters_hide_students_and_printing_shows_all(store, chromium):  # noqa: F811 - the fixture
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto((store.folder / "report.html").as_uri())
        code = page.locator("#student-bob pre")
        assert page.locator("#student-ada").is_visible()
        assert not code.is_visible()
        page.check("#only-wrong")
        assert not page.locator("#student-ada").is_visible()
        page.emulate_media(media="print")
        assert code.bounding_box()["height"] > 10
        assert not page.locator(".filter").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(store, chromium, scheme):  # noqa: F811 - the fixture
    from accessibility import find_violations

    with chromium.new_context(color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        for place in ("report.html", "students/bob.html"):
            page.goto((store.folder / place).as_uri())
            for summary in page.locator("summary").all():
                summary.click()
            assert find_violations(page) == []


@pytest.mark.parametrize(("text", "sentence"), [("no. 1", "No. 1."), ("which?", "Which?"), ("Right.", "Right.")])
def test_reasons_are_sentences_with_one_punctuation_mark(text, sentence):
    assert report.as_sentence(text) == sentence


def test_csv_files_have_equal_rows_and_no_formulas(store):
    for name in ("marks.csv", "mistakes.csv", "tampering.csv"):
        rows = list(csv.reader(io.StringIO((store.folder / name).read_text(encoding="utf-8"))))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1
        assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_marks_contain_the_first_wrong_step_and_no_expected_value(store):
    marks = store.get("bob")
    first = marks["exercises"][0]
    assert first["first_wrong"]["sentence"]
    assert first["mistake"]["hints"]
    cases = load_assignment(store.folder.parent / "week3.toml").definitions["tanh.x"].cases([1])
    assert cases
    assert "expects" not in json.dumps(marks)


def test_the_walk_of_a_wrong_answer_loads_and_draws(store):
    names = sorted(path.name for path in (store.folder / "walks").iterdir())
    assert names == ["bob--tanh.x.beside.json", "bob--tanh.x.json"]
    trace, right = report.load_walks(store.folder / "walks" / names[1])
    assert "tanh" in trace.summary()
    assert [step.rule for step in trace.steps] == [step.rule for step in right.steps]
    first = trace.steps[trace.opens_at - 1]
    assert first.rule == "tanh.x"
    assert trace.marks[first.index]["wrong"]
    assert trace.marks[first.index]["right"].tolist() == right.steps[first.index].contribution.numpy().tolist()
    assert 'href="walks/bob--tanh.x.json"' in (store.folder / "report.html").read_text(encoding="utf-8")
    pytest.importorskip("micrograd_plus_viz")
    report.write_report(store, load_assignment(store.folder.parent / "week3.toml"), draw=True)
    drawn = (store.folder / "walks" / "bob--tanh.x.html").read_text(encoding="utf-8")
    assert "the right walk, and this one" in drawn
    assert sorted(path.name for path in (store.folder / "walks").glob("*.html")) == ["bob--tanh.x.html"]
    assert 'href="walks/bob--tanh.x.html"' in (store.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [
    "diamond.gradients", "tied.gradients", "neuron.predict", "twice.predict", "engine.accumulate", "engine.segments",
    "engine.unbroadcast", "penalty.w", "matvec.weight", "softmax.x",
])  # fmt: skip
def test_the_file_of_a_walk_adds_up_with_a_students_numbers_in_it(name):
    exercise = exercises.get_exercise(name)
    cases = exercise.cases(3)
    known = next(each for each in exercise.mistakes if each.wrong_answer is not None)
    outcomes = [exercise.run(known.wrong_answer, case.request) for case in cases]
    wrong = exercise.mark(cases, outcomes).first_wrong
    values = list(outcomes[cases.index(wrong.case)]["values"].values())
    walk = answer_walks.walk_with_answer(exercise, wrong, lambda: values[0] if len(values) == 1 else tuple(values))
    loaded = load_trace(walk.to_json())
    assert len(loaded.steps) == len(walk.steps)
    beside = json.loads(grade.what_is_beside(walk, answer_walks.right_walk(exercise, wrong.case)))
    assert load_trace(beside["right"]).steps
    assert beside["opens_at"] == walk.opens_at


# Reasons ------------------------------------------------------------------------------------------------------------


def test_every_reason_can_be_filled_in_and_none_accuses():
    for name, text in REASONS.items():
        details = dict.fromkeys(re.findall(r"{(\w+)}", text), "x")
        assert reason(name, **details)
        assert not re.search(r"cheat|tamper|attack|hack", text)


def test_every_reason_is_in_use():
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(report.__file__).parent.rglob("*.py")
                      if path.name != "reasons.py")  # fmt: skip
    ends_of_runs = {"time", "cpu", "disk", "crash", "left", "flood", "protocol"}
    assert not [name for name in REASONS if f'"{name}"' not in sources and name not in ends_of_runs]


@pytest.mark.parametrize(("text", "shown"), [
    ("a\x1b[31mb", "a\\x1b[31mb"), ("\u202eabc", "\\u202eabc"), ("a\u200bb", "a\\u200bb"), ("x" * 1000, "x" * 600),
    ("\ud800", "\\ud800"), ("ünïcode ∂", "ünïcode ∂"), ("two\nlines", "two\nlines"),
])  # fmt: skip
def test_invisible_characters_are_shown_as_escapes(text, shown):
    assert escape_invisible(text) == shown


# Starters and suspicious code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", exercises.list_exercises(), ids=lambda exercise: exercise.id)
def test_is_starter_recognizes_an_unchanged_starter(exercise):
    again = exercise.starter + "\n# a comment\n"
    assert cells.is_starter(again, exercise.starter)
    changed = exercise.starter.replace("None", "3").replace("raise NotImplementedError", "return 3").replace("...", "3")
    assert not cells.is_starter(changed.replace("# YOUR CODE HERE", "more = 1"), exercise.starter)
    cell = cells.Cell("cell 1", exercise.starter)
    assert cells.exercises_of([cell], {exercise.id: exercise.function_name}) == [{exercise.id}]


@pytest.mark.parametrize(("source", "what"), [
    ("import numpy as np\nnp.allclose = 1", "replaces np.allclose"),
    ("import sys\nsys._getframe()", "walks stack frames"),
    ("setattr(np, 'exp', 1)\nimport numpy as np", "replaces an attribute of np"),
    ("open('results.json', 'w')", "writes a file"),
    ("class A:\n    def __eq__(self, o): ...", "the class A defines __eq__"), ("eval('1')", "calls eval"),
    ("open('/proc/1/mem')", "names the path '/proc/1/mem'"), ("__builtins__ = {}", "replaces builtins"),
])  # fmt: skip
def test_find_tampering_lists_suspicious_code(source, what):
    assert what in [each["what"] for each in tampering.find_tampering([cells.Cell("cell 1", source)])]


def test_an_ordinary_answer_is_not_suspicious():
    source = "import numpy as np\nfrom math import exp\nclass Value:\n    def __add__(self, other): ...\n"
    source += "\ndef f(x):\n    x.data = 1\n"
    assert tampering.find_tampering([cells.Cell("cell 1", source)]) == []

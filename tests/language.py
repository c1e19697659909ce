"""Counts markers of unclear English in docstrings, comments, messages and pages, and finds unclear names.

Run it on files or folders to see what it finds:

    python tests/language.py micrograd_plus/core docs/trace.md       # shares, then each marked sentence
    python tests/language.py --names micrograd_plus viz              # function names that are participles
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

_PEOPLE = (
    r"people|person|persons|students?|teachers?|lecturers?|readers?|users?|authors?|developers?|learners?|beginners?"
    r"|newcomers?|colleagues?|anyone|someone|everyone|those|programmers?|graders?"
)
MARKERS = {
    "has not": r"\b(has|have|had) not\b(?! been)",
    "who as a subject": r"\bwhoever\b|(?<!\w)(?<!-)\bwho\b(?<!\b[Ww]ho's)",
    "somebody, nobody, anybody": r"\b(some|no|any)body\b",
    "is told, is handed": r"\b(is|are|was|were|be|been|being) (also |not |then |never |only )?"
    r"(said|asked|handed|met|sent|put|taken|kept|held)\b",
    "told": r"\btold\b",
    "in the place of": r"\bin the place of\b",
    "stands, lies": r"(?<!under)(?<!with)\b(stand|stands|stood|lie|lies|lain)\b(?!-| for\b)",
    "fronted phrase": r"^(Of|Beside|Where|To|By(?! default\b)) [^,.;:]*,",
    "but for except": r"\b(all|none|nothing|anything|everything|any|no one|nowhere) but\b|\bbut for\b",
    "so many": r"\bso (many|much)\b(?! (that|faster|slower|more|less))|\bas many\b(?![^.]* as\b)",
    "what as a noun": r"\bwhat (is|are|was|were|a|an|the)\b(?![^.]*\?)",
    "those that": r"\bthose (that|of|which|in|with)\b|\bthat of\b|\bof (its|their|his|one's) own\b",
}
_PATTERNS = {name: re.compile(text, re.IGNORECASE if name != "fronted phrase" else 0) for name, text in MARKERS.items()}
_PERSON_WHO = re.compile(rf"\b({_PEOPLE}),? who\b", re.IGNORECASE)
GENDERED = re.compile(r"\b(he|him|his|himself|she|She|her|hers|herself)\b")


class Sentence(NamedTuple):
    """One sentence: where it is, what kind of text it is in, and its words."""

    path: Path
    line: int
    kind: str
    text: str


@cache
def markers_in(text: str) -> list[str]:
    """Return the names of the markers that a sentence has."""
    text = _PERSON_WHO.sub(r"\1 that", text)
    return [name for name, pattern in _PATTERNS.items() if pattern.search(text)]


# Sentences ------------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z`(*\"'])|\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.|>>>)\s)|\s*\|\s*|;\s+")


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence of at least four words, with the number of lines before it."""
    start = 0
    for match in [*_END.finditer(text), None]:
        end = match.start() if match else len(text)
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        sentence = " ".join(_CODE.sub("X", piece).split()).strip("-*#>| ")
        if len(re.findall(r"[A-Za-z]{2,}|\bX\b", sentence)) >= 4:
            yield text[: start + lead].count("\n"), sentence
        start = match.end() if match else end


def without_examples(text: str) -> str:
    """Return a docstring without its doctests and indented code; the number of lines stays."""
    kept, in_example = [], False
    for line in text.split("\n"):
        in_example = line.lstrip().startswith((">>>", "...")) or (in_example and bool(line.strip()))
        kept.append("" if in_example else line)
    return "\n".join(kept)


def python_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a module: of docstrings, comments, and other strings (messages)."""
    source = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                for line, text in split_sentences(without_examples(value.value)):
                    yield Sentence(path, value.lineno + line, "docstring", text)
    yield from _comments(path, source)
    skip = {
        id(part)
        for node in nodes if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node) if part is not node
    } | {
        id(statement.value)
        for node in nodes if isinstance(getattr(node, "body", None), list)
        for statement in node.body if isinstance(statement, ast.Expr)
    }  # fmt: skip
    for node in nodes:
        text = _string(node) if id(node) not in skip else None
        if text and " " in text:
            for line, sentence in split_sentences(text):
                yield Sentence(path, node.lineno + line, "message", sentence)


def _string(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None


def _comments(path: Path, source: str) -> Iterator[Sentence]:
    """Yield the sentences of comments; comments on lines that follow each other are read as one."""
    block: list[str] = []
    first = last = 0
    for token in [*tokenize.generate_tokens(io.StringIO(source).readline)]:
        if token.type != tokenize.COMMENT:
            continue
        text, line = token.string.lstrip("#: "), token.start[0]
        if re.match(r"(noqa|type:|pyright:|fmt:|pragma)", text):
            continue
        if block and line != last + 1:
            yield from (Sentence(path, first + n, "comment", s) for n, s in split_sentences("\n".join(block)))
            block = []
        first = first if block else line
        block.append(text)
        last = line
    yield from (Sentence(path, first + n, "comment", s) for n, s in split_sentences("\n".join(block)))


def markdown_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a page, without its code blocks."""
    lines, in_code = [], False
    for line in path.read_text(encoding="utf-8").split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        in_code = in_code != fence
        lines.append("" if in_code or fence or line.lstrip().startswith("<") else line)
    for line, text in split_sentences(re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))):
        yield Sentence(path, line + 1, "page", text)


_JS_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)


def script_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a JavaScript file: of its comments and its strings."""
    source = re.sub(r"\n\s*//", " ", path.read_text(encoding="utf-8"))
    for match in _JS_TEXT.finditer(source):
        text = re.sub(r"\$\{[^}]*\}", "X", match.group().strip("/*`\"' \n"))
        if " " in text and not re.search(r"[<{};]\s*\n|=>|==", text):
            for line, sentence in split_sentences(re.sub(r"\n\s*\*", "\n", text)):
                yield Sentence(path, source[: match.start()].count("\n") + line + 1, "script", sentence)


READERS = {".py": python_sentences, ".md": markdown_sentences, ".js": script_sentences, ".mjs": script_sentences}


def files_in(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the files with text under some folders, in a fixed order."""
    for place in places:
        found = [place] if place.is_file() else sorted(place.rglob("*"))
        yield from (
            path for path in found
            if path.suffix in READERS and not {"node_modules", "__pycache__", "vendor"} & set(path.parts)
            and not path.name.endswith(".min.js")
        )  # fmt: skip


def sentences_in(*places: Path) -> Iterator[Sentence]:
    """Yield every sentence under some files and folders."""
    for path in files_in(places):
        yield from sentences_of(path)


@cache
def sentences_of(path: Path) -> list[Sentence]:
    """Return the sentences of a file, which several tests read."""
    return list(READERS[path.suffix](path))


def marked_share(sentences: Iterable[Sentence]) -> tuple[int, int]:
    """Return how many sentences have a marker, and how many there are."""
    found = [bool(markers_in(sentence.text)) for sentence in sentences]
    return sum(found), len(found)


# Names ----------------------------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IRREGULAR = _words(
    "told given found kept made drawn shown sent taken seen written spoken met held said done gone known grown begun"
    " bound brought built caught chosen dealt fed felt forgotten frozen gotten hidden hung laid led lent lost meant"
    " paid proven rebuilt ridden risen sewn shaken sold spent stood stolen struck sung sunk sworn swept thought thrown"
    " torn understood undone unwritten worn anew apart whole elsewhere together alone otherwise broken withheld"
)
"""Participles that do not end in -ed, and adverbs. Verbs that look the same in the present (`set`, `split`) act."""
ACTIVE = _words("embed feed need proceed seed exceed bleed shed wed red bed speed reed weed shred succeed indeed"
                " searchsorted hundred")  # fmt: skip
NOUNS = _words(
    "string embedding padding pooling heading binding ring king thing spring sibling ceiling drawing meaning setting"
    " warning building ping sling timing scaling rounding ordering ending bring sing cling swing wing during substring"
    " nothing anything something everything checkpointing training grading recording binning encoding decoding spelling"
)
_LINKS = _words(
    "by to from in of out at on with as for once again together apart off up down over under into inside outside before"
    " after between along about back forward away through without within beside here there first last only anew alone"
)
_VERBS = _words("build call check count find from iter make read reduce refuse rerun run set solve test walk write")
"""Verbs that may have a participle behind them: `check_unchanged`, `solve_banded`, `from_pretrained`."""
_PREDICATES = _words("is are was has have had can may must should will would does do did needs wants be been no")


def is_participle(word: str) -> bool:
    """Return whether a word is a past participle, a gerund or a bare adverb."""
    if word in ACTIVE or word in NOUNS:
        return False
    return word in IRREGULAR or (len(word) > 3 and word.endswith("ed")) or (len(word) > 5 and word.endswith("ing"))


def is_unclear(name: str) -> bool:
    """Return whether a function's name is a participle: `told`, `sent_by`, `names_given`; not `is_sent`."""
    words = [word for word in name.strip("_").lower().split("_") if word]
    if not words or words[0] in _PREDICATES or name.startswith(("__", "test_")):  # a test's name is a sentence
        return False
    first, last = words[0], words[-1]
    if is_participle(first) and all(word in _LINKS for word in words[1:]):
        return True
    return (
        first not in _VERBS and len(words) > 1 and (last in IRREGULAR or (last.endswith("ed") and is_participle(last)))
    )


def functions_in(*places: Path) -> Iterator[tuple[Path, int, str]]:
    """Yield the functions and methods under some folders: file, line and name."""
    for path in files_in(places):
        if path.suffix == ".py":
            yield from ((path, line, name) for line, name in functions_of(path))


@cache
def functions_of(path: Path) -> list[tuple[int, str]]:
    """Return the line and the name of each function of a file, which several tests read."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(node.lineno, node.name) for node in functions if not _is_exhibit(node)]


def _is_exhibit(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is a wrong rule of the museum, which is named after its mistake."""
    calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Name) and each.id == "wrong" for each in calls)


def find_gendered(*places: Path) -> Iterator[Sentence]:
    """Yield sentences that give a person a sex."""
    return (sentence for sentence in sentences_in(*places) if GENDERED.search(sentence.text))


def main(arguments: list[str]) -> None:
    """Print the share of marked sentences for each kind of text, and the sentences; or unclear names."""
    places = [Path(argument).resolve() for argument in arguments if not argument.startswith("-")]
    if "--names" in arguments:
        for path, line, name in functions_in(*places):
            if is_unclear(name):
                print(f"{path.relative_to(ROOT)}:{line} {name}")
        return
    found = list(sentences_in(*places))
    for kind in dict.fromkeys(sentence.kind for sentence in found):
        marked, total = marked_share(sentence for sentence in found if sentence.kind == kind)
        print(f"{kind:10} {marked:5} of {total:6}  {100 * marked / total:5.1f} %")
    marked, total = marked_share(found)
    print(f"{'all':10} {marked:5} of {total:6}  {100 * marked / max(total, 1):5.1f} %")
    if "--share" not in arguments:
        for sentence in found:
            if names := markers_in(sentence.text):
                print(f"{sentence.path.relative_to(ROOT)}:{sentence.line} [{', '.join(names)}] {sentence.text}")
    for sentence in find_gendered(*places):
        print(f"{sentence.path.relative_to(ROOT)}:{sentence.line} [gendered] {sentence.text}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""JUnit's XML, which every continuous integration reads, and code hosts' classrooms with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from ..reasons import plain


def document(all_marks: Sequence[dict[str, Any]]) -> str:
    """One suite for each submission, one case for each part of an exercise."""
    root = ET.Element("testsuites")
    for marks in all_marks:
        suite(root, marks)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def suite(root: ET.Element, marks: dict[str, Any]) -> None:
    """One submission."""
    cases = [(each, part) for each in marks["exercises"] for part in each["parts"]]
    failures = sum(not passed(part) for _, part in cases)
    made = ET.SubElement(root, "testsuite", name=clean(f"{marks['assignment']}.{marks['student']}"),
                           tests=str(len(cases)), failures=str(failures), errors="0", skipped="0",
                           time="0")  # fmt: skip
    about = ET.SubElement(made, "properties")
    for name in ("score", "max_score", "isolation", "provisional"):
        ET.SubElement(about, "property", name=name, value=clean(str(marks[name])))
    for each, part in cases:
        case = ET.SubElement(made, "testcase", classname=clean(each["exercise"]), name=clean(part["name"]), time="0")
        if not passed(part):
            message = f"{part['points']:g} of {part['of']:g}: {part['reason']}"
            ET.SubElement(case, "failure", message=clean(message), type="wrong").text = clean(part["reason"])
    if marks["problem"]:
        ET.SubElement(made, "system-out").text = clean(marks["problem"])


def passed(part: dict[str, Any]) -> bool:
    """Whether a part has all its points."""
    return part["points"] >= part["of"]


def clean(text: str) -> str:
    """Text without what XML cannot hold, not even as an entity."""
    return "".join(each if may_stand(each) else plain(each) for each in text)


def may_stand(character: str) -> bool:
    """Whether XML can hold a character."""
    return character in "\n\t" or (
        character >= " " and not "\ud800" <= character <= "\udfff" and character not in "\ufffe\uffff"
    )

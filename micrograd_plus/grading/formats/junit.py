"""JUnit XML, for continuous integration systems and the classrooms of code hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from ..reasons import escape_invisible


def document(all_marks: Sequence[dict[str, Any]]) -> str:
    """Return a document with a suite for each submission and a case for each part of an exercise."""
    root = ET.Element("testsuites")
    for marks in all_marks:
        add_suite(root, marks)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def add_suite(root: ET.Element, marks: dict[str, Any]) -> None:
    """Add the suite of one submission."""
    cases = [(each, part) for each in marks["exercises"] for part in each["parts"]]
    failures = sum(not has_full_points(part) for _, part in cases)
    suite = ET.SubElement(root, "testsuite", name=xml_text(f"{marks['assignment']}.{marks['student']}"),
                          tests=str(len(cases)), failures=str(failures), errors="0", skipped="0",
                          time="0")  # fmt: skip
    properties = ET.SubElement(suite, "properties")
    for name in ("score", "max_score", "isolation", "provisional"):
        ET.SubElement(properties, "property", name=name, value=xml_text(str(marks[name])))
    for each, part in cases:
        case = ET.SubElement(suite, "testcase", classname=xml_text(each["exercise"]), name=xml_text(part["name"]),
                             time="0")  # fmt: skip
        if not has_full_points(part):
            message = f"{part['points']:g} of {part['of']:g}: {part['reason']}"
            ET.SubElement(case, "failure", message=xml_text(message), type="wrong").text = xml_text(part["reason"])
    if marks["problem"]:
        ET.SubElement(suite, "system-out").text = xml_text(marks["problem"])


def has_full_points(part: dict[str, Any]) -> bool:
    """Return whether a part has all its points."""
    return part["points"] >= part["of"]


def xml_text(text: str) -> str:
    """Return text in which characters that XML cannot contain are written as escapes."""
    return "".join(each if is_xml_character(each) else escape_invisible(each) for each in text)


def is_xml_character(character: str) -> bool:
    """Return whether XML can contain a character."""
    return character in "\n\t" or (
        character >= " " and not "\ud800" <= character <= "\udfff" and character not in "\ufffe\uffff"
    )

"""What hides the parts of the stage that matter at a step: the way of the gradient, the event and its leaders.

Distances are in pixels of the stage. The stage is drawn without a browser, by the player's own code.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from micrograd_plus_viz.payload import payload
from micrograd_plus_viz.stage import Stage, View
from micrograd_plus_viz.window import load_window

SIZES = {1280: (1012, 550), 1920: (1640, 910), 768: (718, 724), 420: (370, 560)}
"""The room of the stage in windows of these widths."""
TOUCH = 1.5
"""What overlaps by less only touches."""
EVERY = 2.0
GRID = 8


class Box(NamedTuple):
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box, by: float = TOUCH) -> bool:
        """Return whether both share more than a border."""
        return (min(self.right, other.right) - max(self.left, other.left) > by
                and min(self.bottom, other.bottom) - max(self.top, other.top) > by)  # fmt: skip


class Cover(NamedTuple):
    """What is hidden at one step."""

    step: int
    edge: float
    """The share of the lit way that other nodes hide."""
    edge_by_event: float
    """The share of the lit way that the event hides."""
    leaders: float
    """The share of the leaders that runs over other nodes."""
    ends: float
    """The share of sender and receiver that the event hides, the larger of both."""
    nodes: int
    """How many other nodes the event covers."""
    could_be_clear: bool
    """Whether the event covers nodes though it would cover none at another place."""


def measure(trace: Any, size: tuple[float, float], most: int = 60) -> Iterator[Cover]:
    """Yield what is hidden at up to `most` evenly spread steps of a walk."""
    data = payload(*load_window(trace))
    stage = Stage(data, size)
    count = len(data["steps"])
    for k in sorted({round(i * count / most) for i in range(1, most + 1)} - {0}):
        if (cover := _look(stage.show(k), size, k)) is not None:
            yield cover


def _look(view: View, size: tuple[float, float], k: int) -> Cover | None:
    room = Box(0, 0, *size)
    x0, y0, scale = (float(each) for each in re.findall(r"-?[\d.]+", view.transform))
    place = np.array([x0, y0])
    boxes, ends, lit = [], [], []
    for _, markup in view.parts:
        part = ET.fromstring(markup)  # noqa: S314 - drawn by this process
        kinds = part.get("class", "").split()
        if "lit-way" in kinds:
            ways = [each.get("d", "") for each in part.iter("path") if each.get("class") == "lit"]
            lit = [_points(way) * scale + place for way in ways]
        elif "node" in kinds:
            box = _box_of(part[0], scale, place)
            (ends if {"active", "receives", "accumulates"} & {*kinds} else boxes).append(box)
    event = ET.fromstring(f"<g>{view.event}</g>")  # noqa: S314 - as above
    bubble = event.find(".//g[@class='bubble']")
    if bubble is None:
        return None
    left, top, grown = (float(each) for each in re.findall(r"-?[\d.]+", bubble.get("transform", "")))
    ground = bubble[0]
    wide, high = (grown * float(ground.get(name, "0")) for name in ("width", "height"))
    over = Box(left, top, left + wide, top + high)
    # A leader is not drawn over nodes, so it counts from end to end.
    ways = [each.get("d", "") for each in event.iter("path") if "tether" in each.get("class", "")]
    leaders = [_points(re.sub("(?<!^)M", "L", way)) for way in ways]
    near = [box for box in boxes if box.overlaps(room)]
    nodes = sum(box.overlaps(over) for box in near)
    return Cover(
        k, _share(lit, near, room), _share(lit, [over], room), _share(leaders, near, room),
        max([_cover_of(end, over, room) for end in ends], default=0.0), nodes,
        bool(nodes) and _has_room(wide, high, near + ends, room),
    )  # fmt: skip


def _box_of(body: ET.Element, scale: float, place: np.ndarray) -> Box:
    if body.tag == "rect":
        x, y, wide, high = (float(body.get(name, "0")) for name in ("x", "y", "width", "height"))
        corners = np.array([[x, y], [x + wide, y + high]])
    else:
        points = np.array(re.findall(r"-?[\d.]+", body.get("d", "")), float).reshape(-1, 2)
        corners = np.array([points.min(0), points.max(0)])
    return Box(*(corners * scale + place).ravel())


def _points(path: str) -> np.ndarray:
    """Return points along a path of straight lines and cubic curves, close together."""
    found = []
    at = np.zeros(2)
    for letter, text in re.findall(r"([MLC])([^MLC]*)", path):
        numbers = np.array(re.findall(r"-?[\d.]+", text), float).reshape(-1, 2)
        for group in numbers.reshape(-1, 3 if letter == "C" else 1, 2):
            if letter != "M":
                way = np.vstack([at, group])
                length = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
                t = np.linspace(0, 1, max(2, int(length / EVERY)))[:, None]
                rest = 1 - t
                weights = [rest, t] if letter == "L" else [rest**3, 3 * t * rest**2, 3 * t * t * rest, t**3]
                found.append(sum(w * p for w, p in zip(weights, way, strict=True)))
            at = group[-1]
    return np.vstack(found) if found else np.empty((0, 2))


def _share(lines: list[np.ndarray], boxes: list[Box], room: Box) -> float:
    """Return the share of lines inside the room that is inside boxes."""
    if not lines:
        return 0.0
    points = np.vstack(lines)
    points = points[_inside(points, room)]
    hidden = np.zeros(len(points), bool)
    for box in boxes:
        hidden |= _inside(points, Box(box.left + TOUCH, box.top + TOUCH, box.right - TOUCH, box.bottom - TOUCH))
    return float(hidden.mean()) if len(points) else 0.0


def _inside(points: np.ndarray, box: Box) -> np.ndarray:
    x, y = points[:, 0], points[:, 1]
    return (x > box.left) & (x < box.right) & (y > box.top) & (y < box.bottom)


def _cover_of(end: Box, over: Box, room: Box) -> float:
    seen = Box(*(max(a, b) for a, b in zip(end[:2], room[:2], strict=True)),
               *(min(a, b) for a, b in zip(end[2:], room[2:], strict=True)))  # fmt: skip
    across = max(0.0, min(seen.right, over.right) - max(seen.left, over.left) - TOUCH)
    down = max(0.0, min(seen.bottom, over.bottom) - max(seen.top, over.top) - TOUCH)
    return across * down / max(1.0, (end.right - end.left) * (end.bottom - end.top))


def _has_room(wide: float, high: float, boxes: list[Box], room: Box) -> bool:
    for x in np.arange(4, room.right - wide - 4, GRID):
        for y in np.arange(4, room.bottom - high - 4, GRID):
            place = Box(x, y, x + wide, y + high)
            if not any(place.overlaps(box, 0) for box in boxes):
                return True
    return False

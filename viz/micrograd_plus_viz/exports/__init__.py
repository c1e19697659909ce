"""Exports of a walk: pictures of steps (`step_picture`), films (`film`), grouped graphs (`group_picture`), solutions
(`worked_solution`)."""

"""Whole programs, as students and researchers write them, each run by this engine and by another."""

"""Comparisons with PyTorch."""

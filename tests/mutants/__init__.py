"""Mutation testing of the core: `make mutants` changes one expression at a time, and expects a test to fail."""

"""Isolation of student code: a run goes in, values come back, and nothing else leaves.

boxes       `Sandbox`, which runs one answer on one exercise's inputs; what is asked and what came of it
isolation   the three levels, and which of them this machine has
chroot      the root folder that student processes see: Python's library and NumPy
uid_pool    Unix user IDs for student processes
inside      what runs in the student's process and around it
"""

"""Sandbox for student code: a `Run` goes in, values and exit status come back as a `RunResult`.

boxes       `Sandbox`: starts boxes, hands them runs, enforces limits
runs        `Run`, `Limits`, `RunResult`, and how a result is read from the student's bytes
isolation   the three levels of isolation, and which of them work on this machine
chroot      the folder that student processes see as the root: Python's library and NumPy
uid_pool    the Unix user IDs of student processes
inside      code that runs in the student's process and around it
"""

"""Code that runs in the student's process, and the processes around it. It knows no answer, seed or tolerance.

It is imported as a package called `inside`, not as part of `micrograd_plus`, so the engine is never imported with it.
These files import only Python's standard library, NumPy, and each other.

    server      starts Python and NumPy once, then forks for each box
    supervisor  keeps one box: a process and a folder for each run, and nothing left afterwards
    linux       system calls for namespaces, mounts, capabilities and seccomp
    harness     runs the cells, finds the answer, calls it, sends back its values
    stubs       stand-ins for micrograd_plus, drawing libraries and other engines
    wire        values as bytes, without pickle
"""

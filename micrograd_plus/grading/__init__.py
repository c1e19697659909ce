"""The grader: submissions in, marks with reasons out, whatever a submission does.

A student's code runs in a process that holds nothing worth reading (`inside`), in a box (`sandbox`) of one of three
levels (`levels`). What comes back is values; they are compared here, by the exercises themselves.

    submission   what was handed in, read without running it: `submissions`, `units`, `scan`
    marks        points and reasons for each exercise, as plain data: `marking`, `sentences`
    batch        many of them, whatever happens in between: `batch`, `store`
    formats      what school systems read; `report`: what a teacher reads
"""

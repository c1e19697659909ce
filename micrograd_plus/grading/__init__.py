"""Grader: submissions in, marks with reasons out, whatever a submission does.

Student code runs in a sandboxed process that holds no answers. It returns values, and the exercises compare them
here, in the grader's process. These words are used throughout:

    submission  what one student handed in; it is read without being run
    cell        one piece of a submission that runs as a unit: a notebook cell, or a statement of a program
    case        one call of an answer, drawn by the exercise; its request is the part that the student's process sees
    run         some cells and the requests of one exercise, carried out in the sandbox
    outcome     the values or the error that the answer returned for one request
    marks       points and reasons for each exercise of a submission, as plain data

and these are the modules:

    submissions  reads files, notebooks and archives; `cells` analyses their code, `tampering` lists suspicious code
    sandbox      carries out runs in isolation
    grade        makes the marks of a submission, from an `assignment`; `reasons` has the texts for students
    batch        marks a class with several `worker` processes; `store` keeps the results
    report       pages and tables for the teacher; `formats` writes those of school systems
    command      `micrograd-plus grade`
"""

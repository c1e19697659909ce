"""Random programs, hostile files and long training, by the hundred thousand: `make trials`, or

    PYTHONPATH=.:tests python -m trials --programs 1000 --hostile 1000 --steps 1000

Every case has a number, which is its seed: `python -m trials --case programs:4711` runs that one again, and prints it.
"""

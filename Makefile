# Everything happens in .venv, which the first call makes and later calls reuse. Only make and Python 3.11 or newer
# (with venv and pip) need be there. `make PYTHON=python3.13 test` chooses another Python for a new .venv.

PYTHON ?= python3.11 python3.12 python3.13 python3.14 python3
# Several test processes share the cores, so each gets one thread for its linear algebra; and the thousand processes that
# they start read bytecode, also where the environment wants none written.
PYTEST = PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist loadgroup --no-loadscope-reorder

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: .venv/.lab ## open JupyterLab on the first notebook (more options: LAB_ARGS="--no-browser --port 9000")
	.venv/bin/python -m micrograd_plus lab $(LAB_ARGS)

test: .venv/.test ## run the tests, in a browser too (more options: TEST_ARGS="-k tanh")
	.venv/bin/python tests/install_browser.py
	$(PYTEST) -m "not parity and not cuda" $(TEST_ARGS)

quick: .venv/.test ## the core's tests with one sample of each operation, in a minute (TEST_ARGS as above)
	$(PYTEST) --quick -m "not parity and not cuda" $(TEST_ARGS)

parity: .venv/.parity ## compare with PyTorch 2.13.0 (its wheel can be gigabytes; TEST_ARGS as above)
	$(PYTEST) -m parity $(TEST_ARGS)

trials: .venv/.parity ## random programs beside PyTorch, users' rules, hostile files, long training: hours (TRIALS_ARGS="--programs 1000")
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests .venv/bin/python -m trials $(TRIALS_ARGS)

mutants: .venv/.test ## change the core one expression at a time; a test must notice (MUTANTS_ARGS="--count 20")
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests .venv/bin/python -m mutants $(MUTANTS_ARGS)

bench: .venv/.bench ## measure against the peers and by hand (more options: BENCH_ARGS="--only W3 --quick")
	PYTHONPATH=tests .venv/bin/python -m benchmarks $(BENCH_ARGS)

bench-player: .venv/.bench .venv/.test ## measure the player in a browser, beside torchviz
	.venv/bin/python tests/install_browser.py
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.player

bench-grade: .venv/.test ## measure the grader, beside nbgrader (more options: BENCH_ARGS="--quick --without nbgrader")
	PYTHONPATH=tests .venv/bin/python -m benchmarks.grading $(BENCH_ARGS)

lint: .venv/.dev ## ruff and pyright, and the schema of the workflows
	.venv/bin/python -m ruff check .
	.venv/bin/python -m pyright --pythonpath .venv/bin/python
	.venv/bin/python -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

test-cuda: ## run the tests on an NVIDIA GPU, with the Python that is there (PYTHON=python3 chooses one; TEST_ARGS)
	@$(FOUND); PYTHONPATH=$(CURDIR):$(CURDIR)/viz $$python -m pytest --device cuda -m "not parity and not browser" $(TEST_ARGS)

bench-cuda: ## measure on an NVIDIA GPU, against torch where it is there (PYTHON as above; BENCH_ARGS="--only W4")
	@$(FOUND); PYTHONPATH=$(CURDIR):$(CURDIR)/viz:$(CURDIR)/tests $$python -m benchmarks.on_device $(BENCH_ARGS)

reference: .venv/.docs ## write docs/reference/, docs/museum.md and the stubs (*.pyi) again, from the code
	.venv/bin/python docs/make_reference.py
	.venv/bin/python docs/make_museum.py
	.venv/bin/python docs/make_stubs.py

lessons: .venv/.test ## write the notebooks of the lessons again, from docs/lessons/
	.venv/bin/python docs/make_lessons.py

slides: .venv/.test ## write the slides of the lessons into slides/, one page for each that asks no network
	.venv/bin/python docs/make_slides.py

pictures: .venv/.test ## draw again what moves at the head of the README
	for look in "" -dark; do \
	    .venv/bin/python -m micrograd_plus walk --example mlp --width 1200 $${look:+--dark} \
	        -o docs/pictures/walk$$look.webp --pace 2.2 --motion --loop >/dev/null && \
	    .venv/bin/python -m micrograd_plus walk --example mlp --width 1200 $${look:+--dark} \
	        -o docs/pictures/walk-still$$look.png --step 4 >/dev/null || exit 1; \
	done

docs: .venv/.docs ## build the documentation into site/
	.venv/bin/python -m mkdocs build --strict

clean: ## remove .venv and everything made by the targets above
	rm -rf .venv site build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help lab test quick parity trials mutants bench bench-player bench-grade lint test-cuda bench-cuda reference lessons slides pictures docs clean
.DEFAULT_GOAL := help

# One stamp for each extra: it is installed again when pyproject.toml is newer.
.venv/.lab .venv/.test .venv/.parity .venv/.bench .venv/.dev .venv/.docs: .venv/.%: .venv/.made pyproject.toml
	.venv/bin/python -m pip install --disable-pip-version-check --editable ".[$*]"
	@touch $@

# A GPU machine may have no network, and an environment of its own: the first Python that has CuPy serves, .venv's first.
FOUND = for python in .venv/bin/python $(PYTHON); do \
    $$python -c 'import $(NEEDED)' 2>/dev/null && break; python=; \
done; \
test -n "$$python" || { echo "No Python with $(NEEDED) was found among: .venv/bin/python $(PYTHON)." >&2; exit 1; }

test-cuda: NEEDED = cupy, numpy, pytest
bench-cuda: NEEDED = cupy, numpy

.venv/.made:
	@for python in $(PYTHON); do \
	    if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Making .venv with $$python" && $$python -m venv .venv && touch $@ && exit 0; \
	        exit 1; \
	    fi; \
	done; \
	echo "micrograd_plus needs Python 3.11 or newer with venv and pip; none was found among: $(PYTHON)." >&2; \
	echo "On Debian and Ubuntu: apt install python3 python3-venv. Elsewhere: python.org/downloads." >&2; \
	exit 1

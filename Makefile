# Two commands do all the set-up: `make demo` and `make test`. Both need only make, git
# and Python 3.11 or newer; another interpreter: `make test PYTHON=python3.12`. The
# compiled core is built with the machine's C compiler, or with one from PyPI.

PYTHON ?= $(shell for python in python3 python python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && exit; done; echo python3)
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What is compiled: by `make` again whenever one of these changes.
COMPILED := meson.build src/meson.build tools/backend.py $(shell find src -name '*.p[yx][xd]')

# Stamps: each is newer than what it was made from, so that a second call is quick.
CREATED := $(VENV)/.created-$(VERSION)
PACKAGE := $(VENV)/.package
TESTING := $(VENV)/.testing
LINTING := $(VENV)/.linting

.PHONY: demo test slow backends torture coverage mutants lint docs format clean help

demo: $(PACKAGE) ## separate a real data file: 569 tumours, 30 measurements
	$(BIN)/linsep separate examples/data/breast_cancer.csv --target diagnosis

test: $(TESTING) ## the test suite, doctests included
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

slow: $(TESTING) ## the tests that take minutes
	$(BIN)/python -m pytest -m slow $(ARGS)

backends: $(TESTING) ## the tests on PyTorch, JAX, Ray and Spark, which are installed; Spark needs Java
	$(PIP_INSTALL) --group backends
	$(BIN)/python -m pytest tests/test_array_api.py $(ARGS)
	$(BIN)/python -m pytest tests/test_ray_and_spark.py $(ARGS)  # JAX does not like forks

torture: $(TESTING) ## hostile data, files, signals and crowds; ARGS="--scale 10" for longer
	PYTHONPATH=tests $(BIN)/python -m torture $(ARGS)

coverage: $(TESTING) ## every branch of linsep.proof is taken by its own tests
	$(PIP_INSTALL) --group coverage
	PYTHONPATH=src $(BIN)/python -m coverage run --branch --source=linsep.proof -m pytest -q tests/proof $(ARGS)
	$(BIN)/python -m coverage report --show-missing --fail-under=100

mutants: $(TESTING) ## changes to linsep.proof its tests must notice; ARGS="--help" for options
	$(BIN)/python tools/mutants.py $(ARGS)

lint: $(LINTING) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(PACKAGE) ## the pages and the gallery, into docs/_build; warnings are errors
	$(PIP_INSTALL) --group docs
	$(BIN)/python -m sphinx -W -q docs docs/_build

format: $(LINTING) ## rewrite the sources as `make lint` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build dist docs/_build docs/api docs/gallery
	find src -name '*.so' -delete
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile

# An environment of the same Python version is kept; any other is made anew.
# 25.1 is the first pip that installs dependency groups.
$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "linsep needs Python 3.11 or newer, and '$(PYTHON)' is not: make PYTHON=/path/to/python"; exit 1; }
	@$(BIN)/python -c 'import pip, sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(VERSION)")' 2>/dev/null \
	|| { echo "$(PYTHON) -m venv $(VENV)"; $(PYTHON) -m venv --clear $(VENV); }
	$(PIP_INSTALL) --upgrade 'pip>=25.1'
	@touch $@

$(PACKAGE): $(CREATED) pyproject.toml $(COMPILED)
	$(PIP_INSTALL) --editable .
	@touch $@

$(TESTING): $(PACKAGE)
	$(PIP_INSTALL) --group test
	@touch $@

$(LINTING): $(PACKAGE)
	$(PIP_INSTALL) --group lint
	@touch $@

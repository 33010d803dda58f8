# Needs Python 3.11 or later, pip and make; nothing else. `make help` lists the targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: help setup demo test test-fast release mutants check bench clean

help:
	@sed -n 's/^## //p' Makefile

## make setup      virtual environment with everything pinned
setup: $(STAMP)
$(STAMP): pyproject.toml autograder/pyproject.toml constraints.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[views]' --editable './autograder[canvas,dask,postgresql]' --requirement requirements-dev.txt
	touch $(STAMP)

## make demo       release the course, grade a sample class, show grades, feedback and picture
demo: setup
	$(BIN)/python -m demo

## make test       everything
test: setup
	$(BIN)/python -m pytest tests --numprocesses 3 --dist loadgroup --no-loadscope-reorder

## make test-fast  what a developer runs every few minutes
test-fast: setup
	$(BIN)/python -m pytest tests -m "not slow" --numprocesses 2 --dist loadgroup

## make release    students' notebooks from the instructors', with every proof
release: setup
	$(BIN)/autograder release

## make mutants    changes every solution a little: each change must cost points; writes docs/checks.md
mutants: setup
	$(BIN)/autograder mutants --workers 2 --table docs/checks.md

## make check      ruff and mypy
check: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

## make bench      measured comparisons, as Markdown tables; writes docs/measured.md
bench: setup
	$(BIN)/python -m benchmarks --write docs/measured.md

clean:
	rm -rf $(VENV) build dist *.egg-info autograder/*.egg-info

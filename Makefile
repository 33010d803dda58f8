# Needs Python 3.11 or later, pip and make; nothing else. `make help` lists the targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PATH := $(abspath $(BIN)):$(PATH)

# PyTorch without CUDA, 200 MB in place of 3 GB: where there is no GPU, pip's settings are left to us and the index answers
CPU_TORCH := https://download.pytorch.org/whl/cpu
# What draws the interactive views of attention, without what it requires: bertviz asks for an AWS client of 37 MB
VIEWS     := bertviz mpld3 XStatic-jQuery
ANSWERS   := import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)

.PHONY: help setup demo test test-all test-fast release site mutants check bench changelog dist sign clean

help:
	@sed -n 's/^## //p' Makefile

## make setup      virtual environment with everything pinned
setup: $(STAMP)
$(STAMP): pyproject.toml autograder/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	index=; command -v nvidia-smi >/dev/null || env | grep -q '^PIP_.*\(INDEX_URL\|FIND_LINKS\)=' \
	  || ! $(BIN)/python -c '$(ANSWERS)' $(CPU_TORCH)/torch/ 2>/dev/null || index='--extra-index-url $(CPU_TORCH)'; \
	$(BIN)/pip install --quiet --constraint constraints.txt $$index torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[views]' --editable './autograder[canvas,dask,postgresql,site]' --group dev
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps $(VIEWS)
	touch $(STAMP)

## make demo       release the course, grade a sample class, show grades, feedback and picture
demo: setup
	$(BIN)/python -m tools.demo

## make test       the tests that need Python, pip and make alone, but for those of minutes; always the same
test: setup
	$(BIN)/python -m pytest tests -m "not rest" --numprocesses 3 --dist loadgroup --no-loadscope-reorder

## make test-all   these, and the rest: browser, hub, database, wheels, stock nbgrader, courses run from end to end
test-all: setup
	$(BIN)/python -m pytest tests --numprocesses 3 --dist loadgroup --no-loadscope-reorder

## make test-fast  what a developer runs every few minutes
test-fast: setup
	$(BIN)/python -m pytest tests -m "not slow" --numprocesses 2 --dist loadgroup

## make release    students' notebooks from the instructors', with every proof
release: setup
	$(BIN)/autograder release

## make site       the project's own site in build/site: front page, course, guides; needs no network
site: setup
	$(BIN)/python -m tools.own_site

## make mutants    changes every solution a little: each change must cost points; writes build/checks.md
mutants: setup
	mkdir -p build && $(BIN)/autograder mutants --workers 2 --table build/checks.md

## make check      ruff, mypy, who may import whom, no circles, and how large each room may be
check: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.import_circles
	$(BIN)/python -m tools.ceilings

## make bench      measured comparisons, as Markdown tables; writes docs/measured.md
bench: setup
	$(BIN)/python -m tools.bench --write docs/measured.md

## make changelog VERSION=0.2.0   the fragments of docs/changes/ as a section of CHANGELOG.md
changelog: setup
	$(BIN)/towncrier build --yes --version $(VERSION)

## make dist       wheels and source archives of course and grader in dist/, each tried in an empty environment
dist: setup
	rm -rf dist && $(BIN)/python -m build --outdir dist . && $(BIN)/python -m build --outdir dist autograder
	cd dist && sha256sum * > SHA256SUMS
	bash .ci/versions newest dist/transformer_course_autograder-*.whl
	$(BIN)/pip install --quiet --no-deps --target dist/.course dist/transformer_course-*.whl
	cd dist/.course && PYTHONPATH=. ../../$(BIN)/python -c 'from course import check, Config; print(check.__file__, Config.mini())'
	rm -rf dist/.course

## make sign       signs the checksums in dist/ with your GnuPG key: dist/SHA256SUMS.asc
sign:
	cd dist && sha256sum --check --quiet SHA256SUMS
	gpg --armor --detach-sign --yes dist/SHA256SUMS
	gpg --verify dist/SHA256SUMS.asc dist/SHA256SUMS

clean:
	rm -rf $(VENV) build dist *.egg-info autograder/*.egg-info

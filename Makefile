# robustmkl: `make help` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
HTML   := docs/_build/html

SPHINX := $(BIN)/sphinx-build -q -W --keep-going -b html docs $(HTML)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test check docs build clean reproduce-quick
.SILENT:

help: ## list the targets
	sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

venv: $(STAMP) ## create .venv and install the package editable with [dev]

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: venv ## run the demonstration
	$(BIN)/python examples/demo.py

test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
test: venv ## run the tests on two workers
	$(BIN)/python -m pytest -q -n 2

check: venv ## lint, formatting, types, documentation
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy --strict --no-error-summary
	$(SPHINX)

docs: venv ## build the documentation
	$(SPHINX)
	echo "$(HTML)/index.html"

reproduce-quick: export OMP_NUM_THREADS := 1
reproduce-quick: export OPENBLAS_NUM_THREADS := 1
reproduce-quick: venv ## check Table 1 and run the paper's experiments in small
	$(BIN)/robustmkl reproduce table1
	$(BIN)/robustmkl reproduce figure1 --quick --jobs 2 --out build/reproduction-quick

build: venv ## build wheel and sdist into dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist

clean: ## remove everything that is generated
	rm -rf $(VENV) build dist docs/_build docs/api/generated demo-output
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests examples benchmarks docs -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

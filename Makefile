# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
MUTATION := $(VENV)/.mutation
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

.DEFAULT_GOAL := help
.PHONY: help setup run test check format lock docs bench mutants power clean

help: ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(STAMP): pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(STAMP) ## Make the virtual environment with the locked packages

run: $(STAMP) ## Judge the embedded reference agents of both contracts
	$(BIN)/turnproof run reference --contract window --commands 20000 --seed 1
	$(BIN)/turnproof run reference --contract claim --commands 20000 --seed 1

test: $(STAMP) ## Run the tests
	$(BIN)/python -m pytest -n auto

check: $(STAMP) ## Lint, format and type checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## Build the pages into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

bench: $(STAMP) ## Print speed ratios, each measured side by side in one run
	$(BIN)/python -m turnproof.bench

$(MUTATION): $(STAMP) requirements/mutation.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/mutation.txt
	@touch $@

mutants: $(MUTATION) ## Play every mutant of the reference agents, which takes a while
	PYTHONPATH=tests $(BIN)/python -m mutants run

power: $(STAMP) ## Write docs/power.md from what is on record
	PYTHONPATH=tests $(BIN)/python -m mutants.report

lock: ## Lock the packages that the tests and the mutants need (needs uv)
	$(LOCK) --group dev pyproject.toml requirements/build.in -o requirements/dev.txt
	$(LOCK) --constraint requirements/dev.txt requirements/mutation.in -o requirements/mutation.txt

clean: ## Remove what the targets above made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

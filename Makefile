# Everything runs in .venv, made here from nothing but Python (3.11 or newer), pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types unit bench clean

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("gpcurves needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: .venv/installed  ## draw the learning curves of Sollich & Halees (2002), Figure 4
	$(BIN)/python examples/demo.py demo

test: lint types unit  ## everything that must hold before a change lands

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/installed
	$(BIN)/mypy

unit: .venv/installed
	$(BIN)/pytest -n 2

bench: .venv/installed  ## hot paths as ratios against what one would do instead
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv demo

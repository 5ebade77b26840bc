# Everything runs in .venv, made here from nothing but Python (3.11 or newer), pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow lint types unit bench docs clean

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("gpcurves needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: .venv/installed  ## how many wines must be analysed to predict their flavanoids? ends with a report
	@mkdir -p demo
	$(BIN)/gpcurves plan examples/wine.csv --target flavanoids --goal-rmse 0.23 --report demo/plan.html
	@echo "Open demo/plan.html in a browser, or look at demo/plan.png."

test: .venv/installed  ## lint, types and all tests but those of `make slow`
	@$(MAKE) --no-print-directory --jobs 2 lint types unit  # types are checked beside the tests

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/installed
	$(BIN)/mypy

unit: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal  # two processes leave no core for more threads

slow: .venv/installed  ## the tests that `make test` leaves out because they take long: most figures of the papers, ...
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -m slow

bench: .venv/installed  ## hot paths against what one would do instead; fails if a goal is missed
	$(BIN)/python -m benchmarks

docs: .venv/installed-docs  ## the site, with tutorials executed on the way: build/docs/index.html
	$(BIN)/python docs/build.py

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

clean:
	rm -rf .venv demo build

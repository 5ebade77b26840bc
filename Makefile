# Everything runs in .venv, made here from nothing but Python (3.11 or newer), pip and make.
PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE  # or every process that a test starts would compile the package again

FUZZ_SEED ?= 0
FUZZ_CALLS ?= 3000
OLDEST := tests/truth/test_golden.py tests/test_drill.py tests/cli/test_cli.py tests/faults/test_tables.py tests/faults/test_graphs_reading.py

COLLECTED := build/fresh.jsonl build/unseen.jsonl build/further.jsonl build/forecasts.jsonl
.PHONY: demo test slow lint types unit fuzz oldest browser bench benchmark-forecast benchmark-calibration benchmark-groups benchmark-classes benchmark-network docs clean

.venv/runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("gpcurves needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@echo "Installing gpcurves and what it needs at run time into .venv: about 790 MB, some minutes, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/installed: .venv/runtime
	@echo "Installing the tools for development into .venv: about 350 MB more, some minutes, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: .venv/runtime  ## how many wines must be analysed to predict their flavanoids? ends with the answer
	@mkdir -p demo
	@echo "Planning with a table that comes with gpcurves: about 10 seconds. Afterwards open demo/plan.html in a browser."
	$(BIN)/gpcurves plan --demo --report demo/plan.html --out demo/forecast.csv

test: .venv/installed  ## lint, types and all tests but those of `make slow`
	@$(MAKE) --no-print-directory --jobs 2 lint types unit  # types are checked beside the tests

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/installed
	$(BIN)/mypy

unit: .venv/installed
	$(BIN)/python tests/warming.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal  # two processes leave no core for more threads

slow: .venv/installed  ## the tests that `make test` leaves out because they take long: most figures of the papers, ...
	$(BIN)/python tests/warming.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -m slow

fuzz: .venv/installed  ## 3,000 random calls of all commands on damaged and hostile files, ten minutes; FUZZ_SEED=1 makes others
	$(BIN)/python tests/fuzzing.py --seed $(FUZZ_SEED) --calls $(FUZZ_CALLS)

oldest: .venv-oldest/installed  ## some of the tests with the lowest versions that pyproject.toml allows, in an environment of its own
	OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/pytest -W ignore::DeprecationWarning $(OLDEST)  # of old packages about newer ones

.venv-oldest/installed: pyproject.toml tests/oldest.py
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) tests/oldest.py > .venv-oldest/pins.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-oldest/pins.txt -e .
	@touch $@

browser: node_modules/installed  ## what checks the explorer and types, beside Node and Chromium: TypeScript, axe-core, pyright

node_modules/installed: package.json
	npm install --no-package-lock --no-audit --no-fund --silent
	@touch $@

bench: .venv/installed  ## hot paths against what one would do instead; fails if a goal is missed
	$(BIN)/python -m benchmarks

benchmark-forecast: build/debian/installed  ## forecasts beside what people do instead, on 148 tables and functions that nothing was fitted to
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.truth --final --most 800
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.collect build/final.jsonl --final --draws 2
	$(BIN)/python -m benchmarks.forecast.score build/final.jsonl

benchmark-calibration: build/debian/installed  ## the constants of forecasts anew, from 802 other tables and functions, and what they score if fitted to other tables
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.collect build/fresh.jsonl --fresh
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.collect build/unseen.jsonl --unseen
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.collect build/further.jsonl --further
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.collect build/forecasts.jsonl
	$(BIN)/python -m benchmarks.forecast.calibrate $(COLLECTED)
	$(BIN)/python -m benchmarks.forecast.score --crossed $(COLLECTED)

benchmark-groups: build/debian/installed  ## forecasts for new groups beside what people do instead, on 60 tables whose rows come in groups
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.grouped truth
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.forecast.grouped collect build/grouped.jsonl
	$(BIN)/python -m benchmarks.forecast.grouped score build/grouped.jsonl

benchmark-classes: .venv/installed-benchmarks  ## forecasts of error rates beside what people do instead, on 248 tables with classes; may be stopped and resumed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.truth
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.truth --further
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.truth --unseen
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.collect build/classes.jsonl
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.collect build/further-classes.jsonl --further --draws 12
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.classes.collect build/unseen-classes.jsonl --unseen --draws 12
	$(BIN)/python -m benchmarks.classes.score build/classes.jsonl
	$(BIN)/python -m benchmarks.classes.score build/classes.jsonl build/unseen-classes.jsonl
	$(BIN)/python -m benchmarks.classes.score build/classes.jsonl build/unseen-classes.jsonl build/further-classes.jsonl

.venv/installed-benchmarks: .venv/installed benchmarks/forecast/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/forecast/requirements.txt
	@touch $@

build/debian/installed: .venv/installed-benchmarks benchmarks/forecast/fresh_sources.py benchmarks/forecast/final_sources.py
	$(BIN)/python -m benchmarks.forecast.fresh_sources  # tables of Debian's packages, into build/debian
	@touch $@

benchmark-network: .venv-network/installed  ## predictions and forecasts beside what people do instead, on 33 real networks, in an environment of its own
	OPENBLAS_NUM_THREADS=1 .venv-network/bin/python -m benchmarks.network.tasks
	OPENBLAS_NUM_THREADS=1 .venv-network/bin/python -m benchmarks.network.score
	OPENBLAS_NUM_THREADS=1 .venv-network/bin/python -m benchmarks.network.forecasts --file build/network-forecasts.json
	OPENBLAS_NUM_THREADS=1 .venv-network/bin/python -m benchmarks.network.classes --file build/network-classes.json
	OPENBLAS_NUM_THREADS=1 .venv-network/bin/python -m benchmarks.network.class_forecasts --file build/network-class-forecasts.json

.venv-network/installed: pyproject.toml benchmarks/network/requirements.txt
	$(PYTHON) -m venv .venv-network
	.venv-network/bin/python -m pip install --quiet --disable-pip-version-check -e .
	.venv-network/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/network/requirements.txt
	@touch $@

docs: .venv/installed-docs  ## the site, with tutorials executed on the way: build/docs/index.html
	$(BIN)/python docs/build.py

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

clean:
	rm -rf .venv .venv-oldest .venv-network demo build node_modules

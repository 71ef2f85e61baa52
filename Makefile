# The only commands a newcomer needs are `make demo` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamp-installed
PEERS := .venv/peers
INTEROP := .venv/interop

# Seconds for the quick tests on two cores.  More is told at the end, with the tests that took longest.
BUDGET := 300

.PHONY: help venv demo test test-slow test-interop prove fuzz mutants perft golden
.PHONY: lint type format bench peers docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

venv: $(STAMP) ## make .venv with everything that development needs

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e '.[all]'
	touch $@

demo: $(STAMP) ## train for about two minutes, hold a tournament, plot it, run a short benchmark
	$(BIN)/hearts demo

test: $(STAMP) ## run the tests, without those marked slow: under five minutes on two cores
	$(BIN)/pytest -n 2 -m 'not slow' --durations 15 --budget $(BUDGET)

test-slow: $(STAMP) ## run the tests marked slow (a quarter of an hour)
	$(BIN)/pytest -m slow --durations 15

# Of their own: the libraries are large (3 GB), and hold each other to narrow ranges.
test-interop: $(INTEROP)/.stamp-installed ## set up every library that has an adapter or example, and test with them (a quarter of an hour)
	$(INTEROP)/bin/pytest tests/interop tests/envs/test_openspiel_game.py

$(INTEROP)/.stamp-installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/pip install -q -c constraints.txt -e '.[interop,notebook,fast,train,render]' 'pytest>=8'
	touch $@

prove: $(STAMP) ## compare the engine with the oracle and OpenSpiel over 200,000 deals (minutes)
	$(BIN)/python tests/tools/prove.py

fuzz: $(STAMP) ## throw a million wrong inputs at everything that reads text (minutes)
	$(BIN)/python tests/tools/fuzz.py

mutants: $(STAMP) ## plant one wrong rule at a time, and see that the tests notice (hours)
	$(BIN)/python tests/tools/mutants.py

perft: $(STAMP) ## count legal sequences of actions with engine and oracle, against the file (minutes)
	$(BIN)/python tests/tools/perft.py

golden: $(STAMP) ## record the golden games anew, after a change of behaviour that is meant
	$(BIN)/python tests/tools/golden.py

lint: $(STAMP) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(STAMP) ## check types
	$(BIN)/mypy

format: $(STAMP) ## format, and mend what can be mended automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## measure everything in docs/benchmarks.md, and write it there (half an hour)
	$(BIN)/python benchmarks/limit.py
	$(firstword $(wildcard $(PEERS)/bin/python) $(BIN)/python) benchmarks/peers.py
	$(firstword $(wildcard $(INTEROP)/bin/python) $(BIN)/python) benchmarks/overhead.py
	$(BIN)/python benchmarks/deals_per_second.py
	$(BIN)/python benchmarks/plots.py
	$(BIN)/python docs/build.py

# Of their own, since some of them ask for old libraries.
peers: ## set up the environment in which `make bench` finds OpenSpiel, Shimmy and the others
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install -q -e '.[fast]' -r benchmarks/requirements-peers.txt

docs: $(STAMP) ## regenerate the tables in the documents
	$(BIN)/python docs/build.py

clean: ## remove build outputs and caches, but not .venv or runs/
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find hearts_env agents train apps tests benchmarks experiments docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

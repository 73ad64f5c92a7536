# Two commands do everything: `make up` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
ENGINES := .venv-engines
export PATH := $(CURDIR)/$(BIN):$(PATH)
# What one process has compiled, the next one loads: each start of a service and each worker of the tests is cheaper.
unexport PYTHONDONTWRITEBYTECODE
MEMBERS := $(sort $(wildcard libs/*) $(wildcard services/*) $(wildcard integrations/*) infra)
MEMBER_FILES := $(foreach member,$(MEMBERS),$(wildcard $(member)/pyproject.toml))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PYTEST_ARGS ?=
ACCEPTANCE_ARGS ?=
# Twice the two cores of CI: a third of the time a test waits for a server, a process or an outage.
WORKERS ?= 4

.DEFAULT_GOAL := help
.PHONY: help setup engines up start status stop test test-unit test-contract test-integration test-e2e acceptance \
	test-clients test-compose lint fmt type contracts lock ci clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(VENV)/ready ## create the environment from hashed requirements

$(VENV)/ready: requirements/dev.txt $(MEMBER_FILES)
	@test -n "$(PYTHON)" || { echo "Cortex needs Python 3.11 or newer; none was found on PATH." >&2; exit 1; }
	@echo "Preparing the environment in $(VENV) (once, about a minute)…"
	@$(PYTHON) -m venv $(VENV) || { echo "python venv is missing (Debian: apt-get install python3-venv)." >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		$(foreach member,$(MEMBER_FILES),-e ./$(patsubst %/pyproject.toml,%,$(member)))
	@touch $@

engines: $(ENGINES)/ready ## the engines that tests run for real, in an environment of their own

$(ENGINES)/ready: requirements/engines.txt | $(VENV)/ready
	@echo "Preparing the engines of the tests in $(ENGINES) (once, 125 MB)…"
	@$(BIN)/python -m venv --clear --without-pip $(ENGINES)
	@$(BIN)/python -m pip --python $(ENGINES)/bin/python install --quiet --disable-pip-version-check --no-compile \
		--require-hashes -r requirements/engines.txt
	@touch $@

up: setup ## start everything, sync the example vault, ask it one question; Ctrl-C ends it
	@$(BIN)/cortex up --demo examples

start: setup ## the same in the background
	@$(BIN)/cortex start --demo examples

status: setup ## addresses, pids, versions and memory of what runs
	@$(BIN)/cortex status

stop: setup ## end what `make start` started
	@$(BIN)/cortex stop

test: setup engines ## the whole suite against real servers of its own
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests $(PYTEST_ARGS)

test-unit: setup ## pure functions only
	@$(BIN)/python -m pytest -n $(WORKERS) tests/unit $(PYTEST_ARGS)

test-contract: setup ## schemas, compatibility, permissions
	@$(BIN)/python -m pytest -n $(WORKERS) tests/contract $(PYTEST_ARGS)

test-integration: setup engines ## one service with real servers
	@$(BIN)/python -m pytest -n $(WORKERS) tests/integration $(PYTEST_ARGS)

test-e2e: setup ## all processes
	@$(BIN)/python -m pytest -n $(WORKERS) tests/e2e $(PYTEST_ARGS)

acceptance: setup ## the six acceptance tests of the Brain API against what `make up` has started
	@$(BIN)/python tests/acceptance/brain.py $(ACCEPTANCE_ARGS)

$(VENV)/node/ready: requirements/node/package.json requirements/node/package-lock.json | $(VENV)/ready
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm install --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

test-clients: setup $(VENV)/node/ready ## MCP clients of other makers and the conformance suite; needs npm
	@$(BIN)/python -m pytest -n 0 tests/integration/gateway/node_clients.py $(PYTEST_ARGS)

test-compose: setup ## the same system from images; needs a Docker engine
	@$(BIN)/python -m pytest -n 0 infra/compose/acceptance $(PYTEST_ARGS)

lint: setup ## ruff, spelling, import boundaries, generated contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/codespell
	@$(BIN)/python -m cortex_contracts check

type: setup ## the strict type checker
	@$(BIN)/mypy $(foreach member,$(MEMBER_FILES),$(patsubst %/pyproject.toml,%,$(member))/src)

fmt: setup ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

contracts: setup ## rewrite the committed schemas and the AsyncAPI document
	@$(BIN)/python -m cortex_contracts write

lock: setup ## resolve the hashed requirements again
	@requirements/lock.sh

ci: lint type test ## exactly what CI runs

clean: ## remove the environment and caches
	@rm -rf $(VENV) $(ENGINES) .mypy_cache .ruff_cache .import_linter_cache .hypothesis

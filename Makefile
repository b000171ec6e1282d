# The verbs of this repository. CI runs nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
export PYTHONHASHSEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help setup up check format test generate requirements bench testbed test-real e2e clean

help: ## Show this
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## Make .venv with everything installed; nothing to do the second time

$(STAMP): requirements-dev.txt tests/providers/nutanix/client-requirements.txt pyproject.toml scripts/setup
	@scripts/setup $(PYTHON) $(VENV)
	@touch $@

up: $(STAMP) ## Start a whole platform here, with a first cluster; ARGS="--detach" and the like are passed on
	@$(BIN)/butleradm up $(ARGS)

check: $(STAMP) ## Format, lint, types, layers, injected time, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_clock.py
	$(BIN)/python scripts/generate.py --check

format: $(STAMP) ## Bring the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(STAMP) ## Write what is derived from the types: CRDs and their reference
	$(BIN)/python scripts/generate.py

test: $(STAMP) ## The whole suite that needs no real cluster
	$(BIN)/pytest -n auto --dist worksteal -m "not real" $(ARGS)

PIN := uv pip compile pyproject.toml --no-emit-index-url --universal --python-version 3.11 --no-annotate --no-header --quiet

NUTANIX_CLIENT := tests/providers/nutanix/client-requirements

requirements: ## Pin the dependencies of pyproject.toml (needs uv)
	$(PIN) -o requirements.txt
	$(PIN) --all-extras -o requirements-dev.txt
	$(subst pyproject.toml,$(NUTANIX_CLIENT).in,$(PIN)) -o $(NUTANIX_CLIENT).txt

bench: $(STAMP) ## Measure; prints a table and never fails on time
	$(BIN)/python -m bench $(ARGS)

testbed: ## Build the real Kubernetes programs that tests and bench compare with (needs Go)
	testbed/build

test-real: $(STAMP) testbed ## The suite that needs real Kubernetes programs
	$(BIN)/pytest -m real $(ARGS)

e2e: $(STAMP) ## Kubernetes' own end-to-end tests, on its API server and on ours; ARGS=embedded runs them on ours only
	testbed/build etcd kube-apiserver kube-controller-manager e2e.test
	$(BIN)/python -m tests.real.e2e $(ARGS)

clean: ## Remove what was installed and cached here
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

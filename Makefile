# The verbs of this repository. CI runs nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := bash
RUN := $(VENV)/.ready-to-run
DEV := $(VENV)/.ready-to-test
PYTEST := $(BIN)/pytest
# What ARGS choose may be in one house only.
NONE_IS_FINE := || [ $$? -eq 5 ]
export PYTHONHASHSEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help setup up check format test journeys attack generate requirements bench testbed test-real test-helm e2e clean

help: ## Show this
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(DEV) ## Make .venv with everything installed; nothing to do the second time

$(RUN): requirements.txt pyproject.toml scripts/setup
	@scripts/setup $(PYTHON) $(VENV) run
	@touch $@

$(DEV): $(RUN) requirements-dev.txt tests/providers/nutanix/client-requirements.txt
	@scripts/setup $(PYTHON) $(VENV) dev
	@touch $@

up: $(RUN) ## Start a whole platform here, with a first cluster; ARGS="--detach" and the like are passed on
	@$(BIN)/butleradm up $(ARGS)

check: $(DEV) ## Format, lint, types, layers, injected time, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	cd kubekit && ../$(BIN)/mypy
	$(BIN)/lint-imports
	cd kubekit && ../$(BIN)/lint-imports
	$(BIN)/python scripts/check_clock.py
	$(BIN)/python scripts/check_structure.py
	$(BIN)/python scripts/generate.py --check

format: $(DEV) ## Bring the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(DEV) ## Write what is derived from the types: CRDs and their reference
	$(BIN)/python scripts/generate.py

WITH_HELM := tests/engines/helm tests/addons/helm tests/cli/helm
JOURNEYS := tests/local tests/fields tests/docs tests/lives tests/advice $(WITH_HELM)
OTHER_SUITES := tests/attacks $(JOURNEYS)

test: $(DEV) ## The suites of both houses, as far as they need no real cluster
	cd kubekit && ../$(PYTEST) -n auto --dist worksteal -m "not real" --ignore tests/server/attacks $(ARGS) $(NONE_IS_FINE)
	$(PYTEST) -n auto --dist worksteal -m "not real" $(OTHER_SUITES:%=--ignore %) $(ARGS) $(NONE_IS_FINE)

journeys: $(DEV) ## Whole platforms: every field tried, every page typed, every suggestion followed, kills, charts
	$(PYTEST) -n auto --dist worksteal -m "not real" $(JOURNEYS) $(ARGS) $(NONE_IS_FINE)

attack: $(DEV) ## What attackers would try, with a watchdog over the event loop
	cd kubekit && ../$(PYTEST) -n auto --dist worksteal tests/server/attacks
	$(PYTEST) -n auto --dist worksteal tests/attacks

PIN := uv pip compile pyproject.toml --no-emit-index-url --universal --python-version 3.11 --no-annotate --no-header --quiet

NUTANIX_CLIENT := tests/providers/nutanix/client-requirements

requirements: ## Pin the dependencies of pyproject.toml (needs uv)
	$(PIN) -o requirements.txt
	$(PIN) --all-extras -o requirements-dev.txt
	$(subst pyproject.toml,$(NUTANIX_CLIENT).in,$(PIN)) -o $(NUTANIX_CLIENT).txt

bench: $(DEV) ## Measure; prints a table and never fails on time
	$(BIN)/python -m bench $(ARGS)

testbed: ## Build the real Kubernetes programs that tests and bench compare with (needs Go)
	testbed/build

test-real: $(DEV) testbed ## The suite that needs real Kubernetes programs
	cd kubekit && ../$(PYTEST) -m real $(ARGS) $(NONE_IS_FINE)
	$(PYTEST) -m real $(WITH_HELM:%=--ignore %) $(ARGS) $(NONE_IS_FINE)

test-helm: $(DEV) testbed ## Charts by Helm 3 and 4, on a real API server too
	$(PYTEST) -m real $(WITH_HELM) $(ARGS)

e2e: $(DEV) ## Kubernetes' own end-to-end tests, on its API server and on ours; ARGS=embedded runs them on ours only
	testbed/build etcd kube-apiserver kube-controller-manager e2e.test
	cd kubekit && PYTHONPATH=.:.. ../$(BIN)/python -m tests.real.e2e $(ARGS)

clean: ## Remove what was installed and cached here
	rm -rf $(VENV) {.,kubekit}/.mypy_cache {.,kubekit}/.pytest_cache {.,kubekit}/.hypothesis .ruff_cache

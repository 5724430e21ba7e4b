# `make help` lists the targets. Everything lives in .venv at the root; nothing needs root.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
FROM ?=
.DEFAULT_GOAL := help
.PHONY: help setup run test check fix bench fault soak upgrade sbom audit proto lock clean

help: ## List the targets.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

# Locked versions first, then the project itself.
$(VENV)/.ready: pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Then the compiled kernels into their cache; all anew when one changes, because the cache of a kernel knows its own
# file alone, not those of the kernels that it calls.
$(VENV)/.kernels: $(VENV)/.ready $(wildcard learners/kernels/*.py)
	@rm -f learners/kernels/__pycache__/*.nb?
	$(BIN)/python -m galloon.learners.kernels
	@touch $@

setup: $(VENV)/.kernels ## Make the environment in .venv.

run: $(VENV)/.kernels ## Start the daemon, play the bundled sample, show the table, serve (ARGS=--once to end).
	@$(BIN)/galloon demo $(ARGS)

test: $(VENV)/.kernels ## Run all tests (ARGS="-k name" for some).
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(VENV)/.ready ## Linters, strict types, import rules.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/.ready ## Let the linter and the formatter repair what they can.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.kernels ## Print the figures, each a ratio taken in one run (ARGS=--json for programs).
	@$(BIN)/python -m bench $(ARGS)

fault: $(VENV)/.kernels ## Kills, power losses, rotten bytes, abuse and sabotage; about 15 minutes.
	$(BIN)/python -m tests.fault $(ARGS)

soak: $(VENV)/.kernels ## Hours of work with a random fault every 30 s (ARGS="--hours 1").
	$(BIN)/python -m tests.fault.soak $(ARGS)

upgrade: $(VENV)/.kernels ## Play old code against this tree: equal to the bit? (FROM=commit; default the last tag.)
	$(BIN)/python -m tests.upgrade --from "$(FROM)" $(ARGS)

sbom: $(VENV)/.ready ## The bill of materials of what is deployed, as CycloneDX JSON on standard output.
	@$(BIN)/python deploy/sbom.py requirements.lock

audit: $(VENV)/.ready ## Look the locked versions up among known vulnerabilities; says so where it cannot.
	@$(BIN)/python deploy/audit.py requirements.lock

proto: $(VENV)/.ready ## Lint the wire contract, refuse what would break clients, generate its code.
	cd proto && npm ci --silent --no-audit --no-fund && npx buf lint && npx buf breaking --against baseline.binpb
	$(BIN)/python proto/generate.py

lock: ## Pin every dependency again, with hashes.
	$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --extra dev pyproject.toml -o requirements-dev.lock
	$(VENV)-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --extra server pyproject.toml -o requirements.lock
	rm -rf $(VENV)-lock

clean: ## Remove the environment and everything built.
	rm -rf $(VENV) build dist artefacts src/*.egg-info

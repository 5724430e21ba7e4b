# `make help` lists the targets. Everything lives in .venv at the root; nothing needs root.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
FROM ?=
.DEFAULT_GOAL := help
.PHONY: help setup run test check fix bench fault failover ray soak upgrade sbom audit proto lock clean

help: ## List the targets.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

PIP := $(BIN)/pip install --quiet --disable-pip-version-check

# A new environment with what compiles kernels, so that they are compiled while the rest is being installed.
# Byte code is compiled when a module is first imported: most never are.
$(VENV)/.compiler: requirements.lock
	$(PYTHON) -m venv $(VENV)
	@sed -nE '/^(llvmlite|numba|numpy)==/,/[^\\]$$/p' requirements.lock > $(VENV)/compiler.lock
	$(PIP) --no-compile --no-deps --require-hashes -r $(VENV)/compiler.lock
	@touch $@

# What the daemon needs, in locked versions, then the project itself, built by the setuptools of the other lock.
$(VENV)/.ready: pyproject.toml requirements.lock | $(VENV)/.compiler
	@sed -n '/^setuptools==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/build.lock
	$(PIP) --no-compile --require-hashes -r requirements.lock -r $(VENV)/build.lock
	$(PIP) --no-compile --no-deps --no-build-isolation -e .
	@touch $@

# What tests and linters need.
$(VENV)/.dev: requirements-dev.lock | $(VENV)/.ready
	$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

# The compiled kernels of the default learner; `make run` needs no others. All anew when one changes, because the
# cache of a kernel knows its own file alone, not those of the kernels that it calls.
$(VENV)/.first: $(wildcard learners/kernels/*.py) requirements.lock | $(VENV)/.compiler
	@rm -f learners/kernels/__pycache__/*.nb?
	PYTHONPATH=src $(BIN)/python -m galloon.learners.kernels --first
	@touch $@

# And all the others.
$(VENV)/.kernels: $(VENV)/.first | $(VENV)/.dev
	$(BIN)/python -m galloon.learners.kernels
	@touch $@

setup: $(VENV)/.kernels $(VENV)/.dev ## Make the environment in .venv.

run: ## Start the daemon, play the bundled sample, show the table, serve (ARGS=--once to end).
	@$(MAKE) --no-print-directory -j2 $(VENV)/.first $(VENV)/.ready
	@$(BIN)/galloon demo $(ARGS)

test: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Run all tests (ARGS="-k name" for some).
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(VENV)/.dev ## Linters, strict types, import rules.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/.dev ## Let the linter and the formatter repair what they can.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Print the figures, each a ratio taken in one run (ARGS=--json for programs).
	@$(BIN)/python -m bench $(ARGS)

fault: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Kills, power losses, rotten bytes, abuse and sabotage; about 15 minutes.
	$(BIN)/python -m tests.fault $(ARGS)

failover: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Three daemons on a real PostgreSQL under 200 faults (ARGS="--faults 20").
	$(BIN)/python -m tests.cluster.failovers $(ARGS)

ray: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## A large file on a real Ray, with a worker killed (installs the extra, 200 MB).
	$(PIP) 'ray>=2.40'
	$(BIN)/python -m pytest -q tests/clients/bulk/ray_cluster.py $(ARGS)

soak: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Hours of work with a random fault every 30 s (ARGS="--hours 1").
	$(BIN)/python -m tests.fault.soak $(ARGS)

upgrade: $(VENV)/.kernels $(VENV)/.ready $(VENV)/.dev ## Play old code against this tree: equal to the bit? (FROM=commit; default the last tag.)
	$(BIN)/python -m tests.upgrade --from "$(FROM)" $(ARGS)

sbom: $(VENV)/.dev ## The bill of materials of what is deployed, as CycloneDX JSON on standard output.
	@$(BIN)/python deploy/sbom.py requirements.lock

audit: $(VENV)/.dev ## Look the locked versions up among known vulnerabilities; says so where it cannot.
	@$(BIN)/python deploy/audit.py requirements.lock

proto: $(VENV)/.dev ## Lint the wire contract, refuse what would break clients, generate its code.
	cd proto && npm ci --silent --no-audit --no-fund && npx buf lint && npx buf breaking --against baseline.binpb
	$(BIN)/python proto/generate.py

lock: ## Pin every dependency again, with hashes.
	$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --extra dev pyproject.toml -o requirements-dev.lock
	$(VENV)-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --extra server --extra postgresql pyproject.toml -o requirements.lock
	rm -rf $(VENV)-lock

clean: ## Remove the environment and everything built.
	rm -rf $(VENV) build dist artefacts src/*.egg-info

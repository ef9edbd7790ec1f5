# `make run` starts the service, `make test` runs its tests. Both first install missing dependencies.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
ifneq ($(ENVIRONMENT),production)
run: export OUTBOUND_ALLOW_LOOPBACK ?= true
endif

.PHONY: help run test check format lock peers contract browser-setup browser chaos hostile bench scale clean

help: ## list all targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

run: .venv/runtime ## start the service at http://127.0.0.1:8000 (ARGS="--port 9000 --data-dir DIR")
	$(BIN)/python manage.py up $(ARGS)

# Compiled modules are kept even where the environment says otherwise: each process would compile them all at its start.
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/development ## run the tests (ARGS="tests/posts -k cancel")
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

check: .venv/development ## check lint, types, import layers, migrations, the OpenAPI document, and dependencies for vulnerabilities
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	$(BIN)/python .ci/audit

format: .venv/development ## format the code and sort its imports
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

peers: .venv/development ## run tests against third-party programs (BLUESKY_PDS_URL=http://…, CLAMAV_TEST_ADDRESS=host:port)
	$(BIN)/python -m pytest -m peer tests/peers $(ARGS)

contract: .venv/development .venv-contract/installed ## fuzz a test service, lint its OpenAPI document, generate clients (ARGS=60)
	tests/contract/run_contract.sh $(ARGS)

browser-setup: .venv/development ## install what the browser tests need: Playwright, Chromium, axe-core
	tests/browser/setup.sh

browser: .venv/development ## test the running service in a browser, with screenshots in var/screenshots (ARGS="-k composer")
	$(BIN)/python -m pytest -n 2 --dist worksteal -m browser tests/browser $(ARGS)

chaos: .venv/development ## kill, freeze and disconnect the running service, and check that no post is lost or published twice (ARGS="--seed 7 --minutes 10")
	$(BIN)/python -m tests.chaos $(ARGS)

hostile: .venv/development ## attack the running service while a second tenant uses it (ARGS="--embedded", "--only slow")
	$(BIN)/python -m tests.hostile $(ARGS)

bench: .venv/development .venv-bench/installed ## measure the performance-critical paths against references and goals (ARGS="--only lateness", --embedded, --json)
	$(BIN)/python -m tests.bench $(ARGS)

scale: .venv/development ## measure the most frequent queries with ten million targets (ARGS="--groups 100000")
	$(BIN)/python -m tests.bench.scale $(ARGS)

lock: .venv/development ## lock all requirements files again, with hashes and without index URLs
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-options \
		--output-file requirements-dev.txt requirements-dev.in
	$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-options \
		--constraint requirements-dev.txt --output-file requirements.txt requirements.in
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-options \
		--output-file requirements-contract.txt requirements-contract.in
	$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
		--no-emit-options --constraint requirements-dev.txt --output-file requirements-browser.txt requirements-browser.in
	$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
		--no-emit-options --constraint requirements-dev.txt --output-file requirements-bench.txt requirements-bench.in

clean: ## remove the virtual environments and everything under var/
	rm -rf .venv .venv-contract .venv-bench var

# The stamp files record which requirements are installed. uv is used if available, because it installs several times faster.
INSTALL = if command -v uv >/dev/null 2>&1 && [ -z "$$NO_UV" ] && uv pip install --python $(BIN)/python --quiet --require-hashes -r $(1); \
	then :; else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); fi

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv .venv

.venv/runtime: requirements.txt | $(BIN)/python
	@echo "Installing the dependencies …"
	@$(call INSTALL,requirements.txt)
	@touch $@

.venv/development: requirements-dev.txt | $(BIN)/python
	@echo "Installing the dependencies and the development tools …"
	@$(call INSTALL,requirements-dev.txt)
	@touch $@ .venv/runtime

.venv-contract/installed: requirements-contract.txt
	@echo "Installing the tools that test the OpenAPI document …"
	@$(PYTHON) -m venv .venv-contract
	@.venv-contract/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-contract.txt
	@touch $@

.venv-bench/installed: requirements-bench.txt
	@echo "Installing the reference programs of the benchmark …"
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.txt
	@touch $@

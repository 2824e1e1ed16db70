PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test setup check format bench vsix e2e clean

# Everything that serving needs, and nothing else: no torch.
$(VENV)/serve: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps $(VENV)
	$(BIN)/pip install --quiet -e '.[cpu]'
	touch $@

# Everything for development: training and tests as well.
$(VENV)/develop: $(VENV)/serve
	$(BIN)/pip install --quiet -e '.[cpu,train]' --group dev
	touch $@

setup: $(VENV)/develop

run: $(VENV)/serve
	$(BIN)/likewise-server

test: $(VENV)/develop
	$(BIN)/python -m pytest

check: $(VENV)/develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/develop
	$(BIN)/python -m tests.bench

vsix:
	$(MAKE) -C clients/vscode vsix

e2e: $(VENV)/serve
	$(MAKE) -C clients/vscode e2e PYTHON=$(abspath $(BIN)/python)

clean:
	rm -rf $(VENV) dist build

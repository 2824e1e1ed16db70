PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

INSTALL := $(BIN)/pip install --quiet --constraint constraints.txt

.PHONY: run test test-minimums test-ray constraints setup check format soak bench vsix e2e clean test-gpu e2e-all

# Everything that serving needs, and nothing else: no torch.
$(VENV)/serve: pyproject.toml constraints.txt
	$(PYTHON) -m venv --upgrade-deps $(VENV)
	$(INSTALL) -e '.[cpu]'
	touch $@

# Everything for development: training and tests as well.
$(VENV)/develop: $(VENV)/serve
	$(INSTALL) -e '.[cpu,train]' --group dev
	touch $@

setup: $(VENV)/develop

run: $(VENV)/serve
	$(BIN)/likewise-server

test: $(VENV)/develop
	$(BIN)/python -m pytest

# The tests of serving with the oldest versions that pyproject.toml allows.
test-minimums:
	$(PYTHON) -m venv --clear --upgrade-deps build/minimums
	$(PYTHON) tests/minimums.py > build/minimums/constraints.txt
	build/minimums/bin/pip install --quiet --constraint build/minimums/constraints.txt -e '.[cpu]' --group test
	build/minimums/bin/python -m pytest tests/server tests/lsp

# The tests of the service and of training on several machines.
$(VENV)/ray: $(VENV)/develop
	$(INSTALL) -e '.[cpu,train,ray,ray-train]' --group dev
	touch $@

test-ray: $(VENV)/ray
	$(BIN)/python -m pytest -W default tests/ray  # the warnings of Ray itself are not ours

# The GPU build of the runtime on a machine without CUDA: it must say so and run on the CPU. A large download.
test-gpu:
	$(PYTHON) -m venv --clear --upgrade-deps build/gpu
	build/gpu/bin/pip install --quiet --constraint constraints.txt -e '.[gpu]' --group test
	build/gpu/bin/python -m pytest tests/gpu

# Writes the newest versions that fit together into constraints.txt, without the tags of local builds such as torch's +cpu.
constraints:
	$(PYTHON) -m venv --clear --upgrade-deps build/constraints
	build/constraints/bin/pip install --quiet -e '.[cpu,train,ray,ray-train]' --group dev
	build/constraints/bin/pip freeze --exclude-editable | sed 's/+.*//' > constraints.txt

check: $(VENV)/develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Ten minutes of random editors, kills, hangs, a full disk and restarts. Ends with "nothing lost" or says what was.
soak: $(VENV)/develop
	$(BIN)/python -m tests.soak

bench: $(VENV)/develop
	$(BIN)/python -m tests.bench

vsix:
	$(MAKE) -C clients/vscode vsix

e2e: $(VENV)/serve
	$(MAKE) -C clients/vscode e2e PYTHON=$(abspath $(BIN)/python)

# Every scenario in the oldest and the newest VS Code, and the kinds of session at each eagerness.
e2e-all: $(VENV)/develop
	$(MAKE) -C clients/vscode e2e-all PYTHON=$(abspath $(BIN)/python)

clean:
	rm -rf $(VENV) dist build

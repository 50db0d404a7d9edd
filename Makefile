# Everything runs in .venv, which `make setup` makes with a Python 3.10 to 3.13: make setup PYTHON=/path/to/python

BIN := .venv/bin
export PYTHON
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE PYTHONHOME
# A sourced ROS installation stays out of .venv, which has ROS wheels of its own.
ifdef AMENT_PREFIX_PATH
unexport AMENT_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH
endif

# run(name, command): one line when it passes, everything it printed when it fails.
run = @output=$$($(2) 2>&1) && echo "ok      $(1)" || { status=$$?; echo "$$output"; echo "FAILED  $(1)"; exit $$status; }
threads = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
pytest = $(threads) $(BIN)/pytest -q -n 2 --dist loadfile --timeout 600

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "make %-13s %s\n", $$1, $$2 }'

setup: .venv/ready  ## make .venv with this package and all its extras (instant when nothing changed)
	@:

# The stamp says where .venv was made and with which PYTHON: another place or another choice makes it anew.
current := $(shell { read -r place; read -r python; } 2>/dev/null <.venv/ready && [ "$$place" = "$(CURDIR)" ] && [ "$${python:-}" = "$(or $(PYTHON),$$python)" ] && echo yes)
ifneq ($(current),yes)
.PHONY: .venv/ready
endif
.venv/ready: setup.py pyproject.toml Makefile tools/find_python tools/install.py tools/make_venv.py
	@python=$$(tools/find_python) && "$$python" tools/make_venv.py && printf '%s\n' "$(CURDIR)" "$(PYTHON)" >$@

demo: setup  ## a humanoid on its feet over ROS 2 topics, live in the terminal; SECONDS=20 ends by itself
	@if $(BIN)/python -c 'import rclpy' 2>/dev/null; then $(BIN)/humanoid-dynamics up demo push:=30.0 $(if $(SECONDS),--duration $(SECONDS)); \
	else $(BIN)/humanoid-dynamics demo; fi

test: check  ## check, then the fast tests
	@$(pytest) -m "not slow"

test-all: check  ## check, then all tests, the long sweeps too
	@$(pytest)

bench: setup  ## computation times as ratios to floors and peers; ARGS="--only inverse_dynamics --json"
	@$(threads) $(BIN)/python -m benchmarks $(ARGS)

bench-motion: setup  ## clips through the filter: what is preserved, per class; ARGS="--check all" compares with the record
	@$(threads) $(BIN)/python -m benchmarks.motion $(ARGS)

check: setup  ## format, lint, types, layers, generated robots: read only
	$(call run,format,$(BIN)/ruff format --check .)
	$(call run,lint,$(BIN)/ruff check .)
	@if [ -e $(BIN)/python3.10 ]; then echo "skipped types: numpy for Python 3.10 has older ones"; else $(MAKE) --no-print-directory types; fi
	$(call run,layers,$(BIN)/lint-imports)
	$(call run,robots,$(BIN)/python urdf/generate.py --check)
	$(call run,house,$(BIN)/python tools/house.py)

types:  ## types alone: mypy, strict
	$(call run,types,$(BIN)/mypy)

docs: setup  ## all pages as a site in build/docs, with the reference of the library; a warning is an error
	@$(BIN)/python docs/generate.py
	$(call run,docs,$(BIN)/python -m sphinx -q -W --keep-going -b html -c docs . build/docs)
	@echo "open    build/docs/docs/index.html"

format: setup  ## rewrite the code in the one format
	$(call run,format,$(BIN)/ruff format . && $(BIN)/ruff check --fix .)

clean:  ## remove .venv and everything built
	@rm -rf .venv build dist install log *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

ci:  ## what the server runs: all of test, then a wheel and a colcon workspace from scratch
	@.ci/run

.PHONY: help setup demo test test-all bench bench-motion check types docs format clean ci

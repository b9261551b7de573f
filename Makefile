# The few commands of the project. `make test` is what a change must pass.

CARGO  ?= cargo
PYTHON ?= python3
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
BIN    := $(TARGET)/release/orthorules
LAB    := $(TARGET)/release/orthorules-experiments
FUZZ   := $(TARGET)/release/orthorules-fuzz
# Tests use the same dependencies as the release, which are built once.
CHECKED := --release --config .ci/checked.toml

.PHONY: help build test test-tools format lint deny docs parameters units smoke fuzz python oldest wheel demo quality \
    paper speed peers kernels instructions wasm clean

# A virtual environment of its own for each of: the newest and the oldest releases that are supported.
NEWEST := python/.venv
OLDEST := python/.venv-oldest
WHEELS := $(TARGET)/wheels

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## The command line and the experiments, optimised
	$(CARGO) build --release --workspace --exclude orthorules-fuzz

test: format lint deny docs units smoke instructions python oldest ## All that a change must pass, from format to Python
	@.ci/tools skipped
	@echo "make test: all passed"

test-tools: ## Install what the tests use beyond Rust (Debian, as root; elsewhere it says what to install)
	@.ci/tools install

format: ## Source is formatted, scripts parse
	$(CARGO) fmt --all -- --check
	$(CARGO) fmt --manifest-path python/Cargo.toml -- --check
	$(PYTHON) -c "import ast, pathlib; \
	    [ast.parse(p.read_text('utf-8'), str(p)) for p in pathlib.Path('experiments').glob('*.py')]"

# The experiments switch on the library's feature `study`, so that without them it is linted as others get it. Naming
# the library alone would change features of what Arrow needs, and Arrow would be checked twice.
lint: ## Clippy without warnings, of the library also as others get it
	$(CARGO) clippy --release --workspace --exclude orthorules-experiments -- -D warnings
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	$(CARGO) clippy --release --manifest-path python/Cargo.toml --target-dir $(TARGET) -- -D warnings

# The database of advisories is fetched by `cargo deny fetch`, where the network allows it.
deny: ## Licences, versions and sources of dependencies; known advisories where their database is at hand
	@if ! $(CARGO) deny --version >/dev/null 2>&1; then \
	    echo "*** SKIPPED: dependencies were not checked, since cargo-deny is not installed (make test-tools) ***"; \
	else \
	    for manifest in Cargo.toml python/Cargo.toml; do \
	        $(CARGO) deny --manifest-path $$manifest check --hide-inclusion-graph -A unmatched-skip \
	            licenses bans sources || exit 1; \
	    done; \
	    if ls -d "$${CARGO_HOME:-$$HOME/.cargo}"/advisory-dbs/* >/dev/null 2>&1; then \
	        $(CARGO) deny --offline check --disable-fetch advisories; \
	    else \
	        echo "*** SKIPPED: known advisories, since their database is not here (cargo deny fetch db) ***"; \
	    fi; \
	fi

docs: ## Rustdoc without warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps

# They follow from the declarations in crates/orthorules/src/params/mod.rs. Tests fail where one is stale.
parameters: ## What is written from the declarations of the parameters: schema, page, Python's signatures
	ORTHORULES_WRITE=1 $(CARGO) test $(CHECKED) --workspace --test parameters
	$(PYTHON) python/write_parameters.py

# The random cases of property tests are the same every time, so that what passed once goes on passing.
units: ## Unit, property, documentation and command line tests; other random cases: make units SEED=2
	PROPTEST_RNG_SEED=$(or $(SEED),1) $(CARGO) test $(CHECKED) --workspace

smoke: build ## The demo, on an empty directory
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && \
	"$(BIN)" demo > demo.txt && \
	test -s orthorules-demo.html && grep -q "x_wins" demo.txt && \
	echo "smoke: the demo ran and wrote its page"

# Built as `make units` builds it, so that nothing is compiled twice.
fuzz: ## Mutants of every input: make fuzz [CASES=30000] [SEED=n] [FORMAT="csv model"]
	$(CARGO) test $(CHECKED) --workspace --test quick --test cli --no-run
	"$(FUZZ)" $(FORMAT) --cases $(or $(CASES),30000) --seed $(or $(SEED),$$(date +%s)) --record

python: build $(NEWEST)/ready ## The Python package: wheel, tests and types, on the newest scikit-learn
	@$(MAKE) --no-print-directory wheel
	$(NEWEST)/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/orthorules-*.whl
	ORTHORULES_BIN="$(BIN)" $(NEWEST)/bin/python -m pytest
	$(NEWEST)/bin/python -m mypy

oldest: $(OLDEST)/ready ## scikit-learn's checks of the estimators on the oldest supported release
	@$(MAKE) --no-print-directory wheel
	$(OLDEST)/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/orthorules-*.whl
	$(OLDEST)/bin/python -m pytest python/tests/test_checks.py

wheel: $(NEWEST)/ready ## An installable wheel in target/wheels
	@rm -f $(WHEELS)/orthorules-*.whl
	$(NEWEST)/bin/maturin build --release --quiet --target-dir $(TARGET) --out $(WHEELS)
	@ls $(WHEELS)/orthorules-*.whl

$(NEWEST)/ready: python/requirements-test.txt
$(OLDEST)/ready: python/requirements-oldest.txt
$(NEWEST)/ready $(OLDEST)/ready:
	@$(PYTHON) -c "import venv, ensurepip" || { \
	    echo "the Python tests need python3 -m venv: install python3-venv" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

demo: build ## Learn from two built-in data sets, write orthorules-demo.html
	"$(BIN)" demo

quality: ## Risk for every complexity: make quality DATA=directory
	@test -n "$(DATA)" || { echo "name the data directory: make quality DATA=directory" >&2; exit 2; }
	@$(MAKE) --no-print-directory build
	"$(LAB)" quality "$(DATA)"

paper: ## The paper's evaluation, rerun: make paper DATA=directory [ARGS=--quick]
	@test -n "$(DATA)" || { echo "name the data directory: make paper DATA=directory" >&2; exit 2; }
	@$(MAKE) --no-print-directory build
	"$(LAB)" paper "$(DATA)" $(ARGS)

speed: build ## A million rows beside LightGBM; threads, objectives, rounds; needs: pip install lightgbm numpy pyarrow
	$(PYTHON) experiments/speed_peers.py --sizes 1000000 --peers orthorules,lightgbm --ratios \
	    --bin-dir "$(TARGET)/release" --out results

peers: build ## Time and memory beside other libraries; see experiments/speed_peers.py for what to install
	$(PYTHON) experiments/speed_peers.py --ratios --curves --bin-dir "$(TARGET)/release" --out results

kernels: build ## Every kernel beside its naive twin, and the bandwidth of memory
	"$(LAB)" kernels

instructions: build ## Instructions of every kernel against the table (skipped without valgrind)
	"$(LAB)" instructions --tolerance 0.25

# Not a part of `make test`: a first build takes minutes, since the standard library may be built, too.
wasm: ## The library without readers of files for WebAssembly (skipped without a compiler for it)
	@.ci/wasm build "$(TARGET)/wasm"

clean: ## Remove what was built
	$(CARGO) clean

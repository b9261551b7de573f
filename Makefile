# The few commands of the project. `make test` is what a change must pass.

CARGO  ?= cargo
PYTHON ?= python3
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
BIN    := $(TARGET)/release/orthorules
LAB    := $(TARGET)/release/orthorules-experiments

.PHONY: help build test format lint docs units smoke demo quality speed clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## The command line and the experiments, optimised
	$(CARGO) build --release --workspace

test: format lint docs units smoke ## Format, lints, docs, all tests and a run of the demo
	@echo "make test: all passed"

format: ## Source is formatted, scripts parse
	$(CARGO) fmt --all -- --check
	$(PYTHON) -c "import ast, pathlib; [ast.parse(p.read_text('utf-8'), str(p)) for p in pathlib.Path('experiments').glob('*.py')]"

lint: ## Clippy without warnings
	$(CARGO) clippy --workspace --all-targets -- -D warnings

docs: ## Rustdoc without warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

units: ## Unit, property, documentation and command line tests
	$(CARGO) test --workspace

smoke: build ## The demo, on an empty directory
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && \
	"$(BIN)" demo > demo.txt && \
	test -s orthorules-demo.html && grep -q "x_wins" demo.txt && \
	echo "smoke: the demo ran and wrote its page"

demo: build ## Learn from two built-in data sets, write orthorules-demo.html
	"$(BIN)" demo

quality: ## Risk for every complexity: make quality DATA=directory
	@test -n "$(DATA)" || { echo "name the data directory: make quality DATA=directory" >&2; exit 2; }
	@$(MAKE) --no-print-directory build
	"$(LAB)" quality "$(DATA)"

speed: build ## Time against LightGBM; needs: pip install lightgbm numpy pandas pyarrow
	$(PYTHON) experiments/speed_lightgbm.py --bin-dir "$(TARGET)/release"

clean: ## Remove what was built
	$(CARGO) clean

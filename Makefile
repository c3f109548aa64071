# What to call to build, check and show this project; every target fetches and compiles what it lacks.
.DEFAULT_GOAL := help
.PHONY: help setup build test lint demo bench soak package clean

NODE ?= node
PYTHON3 ?= python3
NATIVE := npm/native/warpline.node
LIBRARY := target/debug/$(if $(filter Darwin,$(shell uname -s)),libwarpline_node.dylib,libwarpline_node.so)
PYTHON_MODULE := python/warpline/_native.abi3.so
VENV := .venv/.installed
# What biome checks under tests/; vectors and cases beside them keep the form they came in.
SCRIPTS := run.mjs support.mjs home-left.mjs eraser.mjs bench demo docs packaging scenarios $(patsubst tests/%,%,$(wildcard tests/typescript/*.mjs))
INSTALLED := npm/node_modules/.installed

help: ## Say what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(INSTALLED) $(VENV) ## Install the JavaScript packages of the lock file, and the Python tools

$(INSTALLED): npm/package-lock.json
	cd npm && npm ci --no-audit --no-fund
	@touch $@

$(VENV): tests/python/requirements.txt
	$(PYTHON3) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# One build of the whole workspace: building the binding alone selects other features and compiles every dependency again.
# The copy goes through a rename, because a running process may have the old file mapped.
build: setup ## Build the engine and put the bindings where the packages look for them
	cargo build --workspace --locked
	@mkdir -p $(dir $(NATIVE))
	@cmp -s $(LIBRARY) $(NATIVE) || { cp $(LIBRARY) $(NATIVE).new && mv $(NATIVE).new $(NATIVE); }
	@cmp -s $(subst _node,_python,$(LIBRARY)) $(PYTHON_MODULE) || { cp $(subst _node,_python,$(LIBRARY)) $(PYTHON_MODULE).new && mv $(PYTHON_MODULE).new $(PYTHON_MODULE); }

test: lint build ## Run every test, the demo included
	$(NODE) tests/run.mjs

lint: setup ## Check format and rules of every language
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cd npm && npm run --silent lint
	cd npm && npx --no-install biome check --config-path=. $(SCRIPTS:%=../tests/%)
	cd npm && npx --no-install tsc -p examples/tsconfig.json
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check .

demo: build ## Run four plugins on the readings of this machine, with one limit breached (PYTHON=1: under Python)
	$(NODE) tests/demo/demo.mjs $(if $(PYTHON),python)

bench: setup ## Time a fleet of 300 plugins against plain Node.js
	cargo build --workspace --locked --release
	cp $(subst debug,release,$(LIBRARY)) target/release/warpline.node
	WARPLINE_NATIVE=$(CURDIR)/target/release/warpline.node $(NODE) tests/bench/fleet.mjs

soak: ## Race answering processes and kill advances four times as long as the tests do
	WARPLINE_RACE_OPERATIONS=200 WARPLINE_RACE_KILLS=400 cargo test -p warpline-core --locked --lib --test answers -- races crash

package: setup ## Build the npm package for use, as dist/warpline-<version>.tgz
	cargo build --workspace --locked --release
	@rm -rf dist && mkdir -p dist/stage/native
	cp -R npm/bin npm/lib npm/examples npm/package.json npm/README.md npm/LICENSE dist/stage/
	cp $(subst debug,release,$(LIBRARY)) dist/stage/native/warpline.node
	cd dist/stage && npm pack --silent --pack-destination ..
	@rm -rf dist/stage

clean: ## Remove everything that was built or installed
	rm -rf target dist npm/node_modules npm/native .venv $(PYTHON_MODULE)

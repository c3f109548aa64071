# What to call to build, check and show this project; every target fetches and compiles what it lacks.
.DEFAULT_GOAL := help
.PHONY: help setup build test lint demo bench soak package clean

NODE ?= node
NATIVE := npm/native/warpline.node
LIBRARY := target/debug/$(if $(filter Darwin,$(shell uname -s)),libwarpline_node.dylib,libwarpline_node.so)
# What biome checks under tests/; vectors and cases beside them keep the form they came in.
SCRIPTS := run.mjs support.mjs eraser.mjs bench demo docs packaging scenarios $(patsubst tests/%,%,$(wildcard tests/typescript/*.mjs))
INSTALLED := npm/node_modules/.installed

help: ## Say what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(INSTALLED) ## Install the JavaScript packages of the lock file

$(INSTALLED): npm/package-lock.json
	cd npm && npm ci --no-audit --no-fund
	@touch $@

# One build of the whole workspace: building the binding alone selects other features and compiles every dependency again.
# The copy goes through a rename, because a running process may have the old file mapped.
build: setup ## Build the engine and put the binding where the npm package looks for it
	cargo build --workspace --locked
	@mkdir -p $(dir $(NATIVE))
	@cmp -s $(LIBRARY) $(NATIVE) || { cp $(LIBRARY) $(NATIVE).new && mv $(NATIVE).new $(NATIVE); }

test: lint build ## Run every test, the demo included
	$(NODE) tests/run.mjs

lint: setup ## Check format and rules of every language
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cd npm && npm run --silent lint
	cd npm && npx --no-install biome check --config-path=. $(SCRIPTS:%=../tests/%)
	cd npm && npx --no-install tsc -p examples/tsconfig.json

demo: build ## Run four plugins on the readings of this machine, with one limit breached
	$(NODE) tests/demo/demo.mjs

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
	rm -rf target dist npm/node_modules npm/native

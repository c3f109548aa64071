# What to call to build, check and show this project; every target fetches and compiles what it lacks.
.DEFAULT_GOAL := help
.PHONY: help setup build test lint audit demo bench soak fuzz coverage faults schedulers pythons docs tables package test-packages cross test-cross version licences clean

NODE ?= node
PYTHON3 ?= python3
NATIVE := npm/native/warpline.node
LIBRARY := target/debug/$(if $(filter Darwin,$(shell uname -s)),libwarpline_node.dylib,libwarpline_node.so)
PYTHON_MODULE := python/warpline/_native.abi3.so
VENV := .venv/.installed
AUDIT := target/audit/.installed
PACKERS := .venv/packages/.installed
# What this machine is, and which other targets are built here; npm/lib/targets.json has all of them.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
CROSS ?= x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl
# Prefect and Airflow have a venv each: their dependencies do not go together.
SCHEDULERS := .venv/schedulers/.installed
# What biome checks under tests/; vectors and cases beside them keep the form they came in.
SCRIPTS := cases.mjs failures.mjs pauses.mjs processes.mjs run.mjs soak.mjs suite.mjs support.mjs home-left.mjs eraser.mjs bench coverage demo docs faults fuzz packages races run runtimes scenarios security $(patsubst tests/%,%,$(wildcard tests/typescript/*.mjs tests/typescript/*/*.mjs)) ../scripts
INSTALLED := npm/node_modules/.installed
# Another feature of one crate: with the whole workspace named, nothing else is compiled again.
DISK_FAULTS := --workspace --locked --features warpline-core/fault-injection --test faults
FUZZER := fuzz/tool/bin/cargo-fuzz

help: ## Say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: $(INSTALLED) $(VENV) ## Install the JavaScript packages of the lock file, and the Python tools

$(INSTALLED): npm/package-lock.json
	cd npm && npm ci --no-audit --no-fund
	@touch $@

$(VENV): tests/python/requirements.txt
	$(PYTHON3) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(SCHEDULERS): tests/python/schedulers/prefect.txt tests/python/schedulers/airflow.txt $(VENV)
	@for name in prefect airflow; do \
	  .venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv/schedulers/$$name && \
	  .venv/bin/uv pip install --quiet --python .venv/schedulers/$$name/bin/python -r tests/python/schedulers/$$name.txt || exit 1; \
	done
	rm -rf .venv/schedulers/prefect-home .venv/schedulers/airflow-home
	PREFECT_HOME='$(CURDIR)/.venv/schedulers/prefect-home' PREFECT_SERVER_ANALYTICS_ENABLED=false DO_NOT_TRACK=1 \
	  .venv/schedulers/prefect/bin/prefect server database upgrade --yes >.venv/schedulers/prefect.log 2>&1
	AIRFLOW_HOME='$(CURDIR)/.venv/schedulers/airflow-home' .venv/schedulers/airflow/bin/airflow db migrate >.venv/schedulers/airflow.log 2>&1
	@touch $@

# One build of the whole workspace: building the binding alone selects other features and compiles every dependency again.
# The copy goes through a rename, because a running process may have the old file mapped.
build: setup ## Build the engine and put the bindings where the packages look for them
	cargo build --workspace --locked
	@mkdir -p $(dir $(NATIVE))
	@cmp -s $(LIBRARY) $(NATIVE) || { cp $(LIBRARY) $(NATIVE).new && mv $(NATIVE).new $(NATIVE); }
	@cmp -s $(subst _node,_python,$(LIBRARY)) $(PYTHON_MODULE) || { cp $(subst _node,_python,$(LIBRARY)) $(PYTHON_MODULE).new && mv $(PYTHON_MODULE).new $(PYTHON_MODULE); }

test: lint build $(SCHEDULERS) ## Run every test, the demo included
	$(NODE) tests/run.mjs

lint: setup ## Check format and rules of every language
	@cargo fetch --locked --quiet # also what is for other systems: it is looked at, with no network, and no build fetches it
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy $(DISK_FAULTS) -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --package warpline-core --no-deps --locked --all-features --quiet
	@$(MAKE) --no-print-directory tables CHECK=--check
	$(NODE) tests/cases.mjs
	$(NODE) scripts/release/third-party.mjs --check
	$(NODE) scripts/release/release.mjs
	cd npm && npm run --silent lint
	cd npm && npx --no-install biome check --config-path=. $(SCRIPTS:%=../tests/%)
	cd npm && npx --no-install tsc -p examples/tsconfig.json
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check .

# Tools of their own environment: nothing that tests or builds needs them.
$(AUDIT): tests/security/requirements.txt
	$(PYTHON3) -m venv $(dir $@)
	$(dir $@)bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

audit: $(AUDIT) ## Check licences, sources and known faults of all dependencies
	sh tests/security/audit.sh '$(CURDIR)/$(dir $(AUDIT))bin'

demo: build ## Run four plugins on the readings of this machine, with one limit breached (PYTHON=1: under Python)
	$(NODE) tests/demo/demo.mjs $(if $(PYTHON),python)

bench: setup ## Time fleets of plugins against what does the same without warpline (BENCH="--only first-24")
	cargo build --workspace --locked --release --lib --bins --example speed
	cargo build --locked --release --manifest-path tests/bench/floors/serde/Cargo.toml --target-dir target/serde-floor
	cp $(subst debug,release,$(LIBRARY)) target/release/warpline.node
	cp target/serde-floor/release/serde-floor target/release/serde-floor
	@rm -rf target/release/python && mkdir -p target/release/python
	cp -R python/warpline target/release/python/
	cp $(subst _node,_python,$(subst debug,release,$(LIBRARY))) target/release/python/warpline/$(notdir $(PYTHON_MODULE))
	.venv/bin/python -m compileall -q target/release/python # as an installer does
	WARPLINE_NATIVE='$(CURDIR)/target/release/warpline.node' $(NODE) tests/bench/bench.mjs --json tests/bench/results.json $(BENCH)

soak: build ## Play what is rare far more often than the tests do: races, kills, histories, faults, ends, forks, signals, invocations
	SEED=$(SEED) WARPLINE_SOAK_SECONDS=$(or $(WARPLINE_SOAK_SECONDS),600) $(NODE) tests/soak.mjs

coverage: ## Measure which lines of the rules and of the home no test reaches, and compare with tests/uncovered.txt (WRITE=1: take it down)
	$(NODE) tests/coverage/run.mjs $(if $(WRITE),--write)

faults: ## Break the engine in dozens of ways, one after the other, and show which suite notices each
	$(NODE) tests/faults/run.mjs $(FAULTS)

schedulers: $(SCHEDULERS) ## Install Prefect and Airflow for the tests of their examples, with empty databases

pythons: ## Fetch newer CPythons than this Debian has, which the tests of interpreters then try as well
	sh tests/python/pythons.sh .venv/pythons 3.13 3.14 3.15

$(FUZZER):
	cargo install --quiet --locked --root fuzz/tool --version 0.13.2 cargo-fuzz

fuzz: $(FUZZER) ## Give every parser hostile input, each for FUZZ_SECONDS (60)
	$(NODE) tests/fuzz/fuzz.mjs $(FUZZER)

tables: ## Write the tables of the documentation that follow from the code
	cargo build --quiet --workspace --locked --example tables
	target/debug/examples/tables $(CHECK)

docs: setup tables ## Build the documentation as a site, in dist/docs
	.venv/bin/mdbook build docs

# The script that packs the Python package makes the same, where it is called by itself.
$(PACKERS): python/scripts/requirements.txt
	$(PYTHON3) -m venv $(dir $@)
	$(dir $@)bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

package: setup $(PACKERS) ## Build what is published, in dist: npm packages, wheel and source distribution, crate (ALL_TARGETS=1: for a release)
	@rm -rf dist/npm dist/python dist/crate dist/SHA256SUMS
	sh python/scripts/package.sh dist/python
	sh scripts/cross/build.sh $(dir $(PACKERS)) $(HOST)
	sh core/scripts/package.sh dist/crate
	$(NODE) scripts/release/sums.mjs dist

test-packages: build $(PACKERS) ## Prove what lies in dist, with no registry in reach
	@test -e dist/SHA256SUMS || { echo 'dist has no packages: `make package` builds them' >&2; exit 1; }
	sh tests/packages/offline.sh $(NODE) --test --test-concurrency=2 $(wildcard tests/packages/npm/*.test.mjs) \
	  $(filter-out %/support.mjs,$(wildcard tests/packages/crate/*.mjs tests/packages/release/*.mjs)) tests/packages/artefacts.mjs
	sh tests/packages/offline.sh .venv/bin/python -m pytest --quiet tests/packages/python

cross: $(PACKERS) ## Build for other targets, in dist/npm/cross and dist/python/cross (CROSS="aarch64-unknown-linux-gnu")
	sh scripts/cross/build.sh $(dir $(PACKERS)) $(CROSS)
	$(NODE) scripts/release/sums.mjs dist

test-cross: $(PACKERS) ## Load what `make cross` built in the Node.js and the Python of each target, which are fetched
	sh scripts/cross/runtimes.sh $(dir $(PACKERS)) target/cross $(CROSS)
	WARPLINE_CROSS="$(CROSS)" sh tests/packages/offline.sh $(NODE) --test tests/packages/cross.mjs

version: ## Say which version is stated where, or state another one everywhere (V=0.2.0 DATE=2026-12-01)
	$(NODE) scripts/release/release.mjs $(if $(V),version $(V) $(DATE))

licences: ## Write down what others wrote of what is compiled, in THIRD-PARTY.md
	$(NODE) scripts/release/third-party.mjs

clean: ## Remove everything that was built or installed
	rm -rf target fuzz/target fuzz/tool fuzz/work fuzz/artifacts dist npm/node_modules npm/native .venv $(PYTHON_MODULE)

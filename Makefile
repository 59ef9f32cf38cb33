# The two commands of the README, and what a contributor needs beside them.
# Each sets up what it needs on a fresh machine (see scripts/setup).
SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/.venv/bin:$(HOME)/.cargo/bin:$(PATH)

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
OUT ?= out/sip-random-loss
JOBS ?=
jobs := $(if $(JOBS),--jobs $(JOBS))

.PHONY: help run test test-all lint bench fast tests-built setup setup-test lock clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

run: build ## run the study sip-random-loss in full and write its report
	headway run studies/sip-random-loss --out $(OUT) $(jobs)

test: setup-test ## run every test (under 20 minutes on 2 cores)
	@# The engine's last stage of optimisation has one thread: the tests are built beside it.
	$(MAKE) --no-print-directory -j2 build tests-built
	@# The same cases of the property tests each time: new ones are for test-all.
	PROPTEST_RNG_SEED=9260 cargo test --workspace --exclude headway-py --locked
	python -m pytest -q tests

test-all: test ## the slower suites as well
	cargo test --workspace --exclude headway-py --locked
	python -m pytest -q tests -m slow
	python -m pytest -q tests/net --whole
	cargo run --release --locked -q -p headway-sctp --example chaos -- 10000000
	scripts/fuzz 600

lint: setup build ## formatting, lints and types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	ruff check python tests bench
	ruff format --check python tests bench
	mypy python/headway
	scripts/check-tree

bench: setup build ## measure speed; results in bench/results.json
	@$(MAKE) --no-print-directory fast || echo "bench: with the plain engine" >&2
	python bench/run.py

fast: .make/fast ## build the engine by a profile of itself at work: faster runs

build: .make/core ## build the engine and install the command into .venv

.make/core: $(RUST) pyproject.toml requirements.lock
	scripts/setup run
	MAKEFLAGS= PIP_QUIET=1 maturin develop --release --locked --quiet
	@mkdir -p .make && touch $@

.make/fast: .make/core scripts/fast-engine scripts/train-engine
	scripts/fast-engine
	@touch $@

tests-built:
	MAKEFLAGS= cargo test --workspace --exclude headway-py --locked --quiet --no-run

setup:
	scripts/setup run

setup-test:
	scripts/setup test

lock: ## renew requirements.lock after a change of pyproject.toml
	scripts/lock

clean: ## remove what was built (results in out/ stay)
	rm -rf .make .venv target

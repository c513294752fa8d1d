# Forebay's front door. `make demo` and `make test` need only git, make and Debian 12 (or later with
# clang-19): the first step installs the rest. `make help` lists the targets.
SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
ROWS ?=
FUZZ_SECONDS ?= 300
FUZZ_SEED ?= 0
JOBS ?= $(shell nproc)
TRIALS ?= 10000
VIRTUAL ?=
KERNELS ?= 6.12

.PHONY: help demo test test-interop bench install uninstall asan tsan fuzz soak tidy format deps release dev clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps:
	@scripts/install-deps

release: deps ## build/release/forebay
	@scripts/build release forebay

dev: deps
	@scripts/build dev all

demo: release ## the joint test on a generated workload, with its report; VIRTUAL=1: simulated clock and disk
	@scripts/demo $(if $(filter-out 0,$(VIRTUAL)),--virtual)

test: dev ## everything that must hold, in one line at the end
	@tools/run_tests build/dev

test-interop: release ## Linux's NVMe/TCP host in a guest against `forebay target`; KERNELS=6.12,6.1
	@tools/run_interop build/release --kernel $(KERNELS)

asan: deps ## all tests under address and undefined-behaviour sanitizers
	@scripts/build asan all
	@tools/run_tests build/asan --unit-only

# Seeded trials have one thread each: a slice of them is enough here.
tsan: deps ## core, io, telemetry and store tests under the thread sanitizer
	@scripts/build tsan forebay_core_test forebay_io_test forebay_telemetry_test forebay_store_test
	@FOREBAY_TRIALS=20 tools/run_tests build/tsan --unit-only --rooms core,io,telemetry,store

fuzz: deps ## every fuzz target, FUZZ_SECONDS in all (default 300)
	@scripts/build asan all
	@tools/run_fuzz build/asan --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

soak: deps ## the long versions: 10,000 crash trials, then all tests with more seeds, an hour of fuzzing
	@scripts/build dev all
	@FOREBAY_TRIALS=$(TRIALS) build/dev/forebay_store_test --gtest_brief=1 \
	  --gtest_filter='StoreCrash.*:FlashCrash.*:ProcessTest.Killed*'
	@FOREBAY_TRIALS=1000 tools/run_tests build/dev --unit-only
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=3600

bench: release ## the measured rows of docs/performance.md; ROWS=a,b picks
	@tools/run_bench build/release/forebay --rows "$(ROWS)"

tidy: ## house rules: include direction, sizes, banned calls, pages that must exist
	@tools/tidy

format: ## clang-format over the tree
	@find src include tests -name '*.cc' -o -name '*.h' | xargs clang-format-19 -i

install: release ## binary, headers, C library, man pages, completions under PREFIX
	@scripts/install "$(DESTDIR)" "$(PREFIX)"

uninstall:
	@scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

clean:
	rm -rf build

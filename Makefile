# SPDX-License-Identifier: MIT OR Apache-2.0
# Most targets first install the tools that they need. This is quick if no tool is missing.
.DEFAULT_GOAL := help
.PHONY: release release-check measure soak site deep reference jcstress remote loom miri leaks help lab test demo bench check fmt build native sanitize setup clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: ## measure every way of leaving the main thread on this machine: out/results.json and out/report.html
	@scripts/setup.sh node chromium jvm rust
	@node scripts/build.mjs
	@node scripts/jvm-lab.mjs || echo "lab: the JVM's runner was not built; the rest runs"
	@command -v cc >/dev/null && command -v make >/dev/null && node scripts/native.mjs "C plugins" >/dev/null || echo "lab: the example plugin was not built; questions that need it are left out"
	@node ts/clearway-lab/dist/cli.js lab --out out

test: ## set up, build, check and test a change; ONLY="lab chromium" selects stages by name; out/stages.json has the times
	@scripts/setup.sh $(if $(ONLY),,--strict) node chromium engines postgresql prometheus nats python jvm xvfb sqlite rust swift
	@node scripts/test.mjs $(ONLY)

measure: ## check allocation budgets, the meter's errors and idle cost with clocks and samplers; on a quiet machine, before a release
	@scripts/setup.sh node chromium jvm xvfb rust
	@node scripts/build.mjs
	@node scripts/native.mjs plugins >/dev/null || echo "measure: the example plugins were not built; figures that need them say so"
	@node measure/run.mjs $(ONLY)

soak: ## run mixed load with injected faults for HOURS (default 1), and check that everything settles and nothing grows: out/soak/soak.json
	@scripts/setup.sh node nats rust
	@node scripts/build.mjs
	@node scripts/native.mjs "C plugins" >/dev/null || echo "soak: the example plugin was not built; its part is left out"
	@node soak/run.mjs --hours $(or $(HOURS),1)

deep: ## run checks that take hours: every test on every host, random orders from a new seed, loom, jcstress, miri, sanitizers, fuzzing; ONLY as in test
	@scripts/setup.sh node chromium engines postgresql prometheus nats python jvm xvfb sqlite rust swift
	@node scripts/deep.mjs $(ONLY)

demo: ## serve the demo on loopback: the same jobs on the main thread, with hand-written workers, with Comlink, with Clearway
	@scripts/setup.sh node rust
	@node scripts/build.mjs
	@node scripts/native.mjs "C plugins" >/dev/null || echo "demo: the native screen was not built; JavaScript draws the remote control's"
	@node examples/demo/serve.mjs

remote: ## serve the remote control on loopback: frames one way, commands the other, and where the time goes
	@scripts/setup.sh node rust
	@node scripts/build.mjs
	@node scripts/native.mjs "C plugins" >/dev/null || echo "remote: the native screen was not built; JavaScript draws"
	@node examples/remote-control/serve.mjs

bench: ## measure whatever has a limit beside other libraries, in about fifteen minutes: out/results.json and out/report.html
	@scripts/setup.sh node chromium nats jvm rust
	@node scripts/build.mjs
	@node scripts/jvm-lab.mjs || echo "bench: the JVM's runner was not built; the rest runs"
	@node scripts/native.mjs "C plugins" >/dev/null || echo "bench: the example plugin was not built; its questions are left out"
	@node ts/clearway-lab/dist/cli.js lab --limits --out out

check: ## check format, lint, types, import rules, file sizes, manifests, API snapshot, snippets, figures, sizes; ONLY as in test
	@scripts/setup.sh node jvm rust swift
	@node scripts/check.mjs $(ONLY)

fmt: ## fix what a program can fix: format, snippets, figures, API snapshot
	@scripts/setup.sh node jvm rust swift
	@node scripts/fmt.mjs

reference: ## generate the API reference of TypeScript, the JVM, Rust and C: out/reference/index.html; ONLY="typescript rust jvm c" selects some
	@scripts/setup.sh node jvm rust
	@node scripts/reference.mjs $(ONLY)

site: ## build the static site from the pages, the API reference and the last kept run: out/site/index.html
	@scripts/setup.sh node jvm rust
	@node scripts/build.mjs
	@node scripts/reference.mjs || echo "site: a part of the API reference was not generated; the rest of the site is built"
	@node site/build.mjs

release-check: ## pack everything that is published, and use it in empty folders with every tool that it runs with; ONLY as in test
	@scripts/setup.sh --strict node chromium jvm sqlite rust swift tools
	@node scripts/release-check.mjs $(ONLY)

release: ## check as release-check does, then build everything that is published into out/release, with checksums, an SBOM and the changes; ONLY="npm c" selects parts, DIRTY=1 allows files that are not committed
	@scripts/setup.sh node jvm rust swift cross
	@$(if $(ONLY)$(DIRTY),true,$(MAKE) --no-print-directory release-check)
	@node scripts/release/main.mjs $(if $(DIRTY),--allow-dirty) $(ONLY)

build: ## build the library, the native addon and the lab
	@scripts/setup.sh node
	@node scripts/build.mjs

native: ## build the C codec and the example plugins in C and in Rust
	@scripts/setup.sh node
	@node scripts/native.mjs $(ONLY)

loom: ## try every interleaving of the lock-free native parts, in more than a quarter of an hour
	@node scripts/loom.mjs

miri: ## run the tests of the native core and codecs in an interpreter that detects undefined behaviour; needs nightly Rust
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo "miri is missing. Add it with: rustup toolchain install nightly -c miri,rust-src" >&2; exit 1; }
	@MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" node scripts/cargo.mjs +nightly miri test -q --target-dir target/miri -p clearway-core -p clearway-codec

jcstress: ## test the JVM executor under many thread interleavings with jcstress, in a few minutes
	@scripts/setup.sh node jvm
	@node scripts/jvm-stress.mjs

leaks: ## send ten million native messages and check that no memory is left
	@CLEARWAY_LEAK_MESSAGES=10000000 node scripts/cargo.mjs test -q --release -p clearway-core --test leaks

sanitize: ## run the C codec and plugins, and the Rust crates, under address, undefined and thread sanitizers
	@scripts/setup.sh node
	@node scripts/build.mjs
	@node scripts/sanitize.mjs $(ONLY)

setup: ## install npm packages, Chromium, Firefox, WebKitGTK, PostgreSQL, Prometheus, NATS, a Python with pyarrow, a JDK and Maven, Xvfb, the Rust packages, Swift, the tools that "Runs with" names
	@scripts/setup.sh node chromium engines postgresql prometheus nats python jvm xvfb rust swift tools

clean: ## remove the build output
	rm -rf out ts/*/dist ts/clearway/docs .cache native/target native/c/build native/plugins/*/build native/fuzz/target jvm/target jvm/*/target swift/.build

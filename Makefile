# The only entry point. Each target sets up everything it needs; stamp files make a second run instant.
# The machine needs Python >= 3.11 with venv, cargo, a C compiler and make. Only `make install` writes outside this
# directory (cargo and pip keep their own caches). The benchmarks also use Go, and valgrind to count instructions, if they
# are installed.

PYTHON ?= python3
CC     ?= cc
CFLAGS ?= -O2 -Wall -Wextra

BIN    := .venv/bin
PY     := $(BIN)/python
STAMPS := build/stamps
PARTS  := build/parts
PART   := PARTS=$(PARTS) sh tests/support/part.sh
say     = @printf '\033[1m==>\033[0m %s\n'

# If rustup's `stable` is the pinned release, `stable` serves, and rustup downloads nothing.
PINNED_RUST := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifneq ($(findstring $(PINNED_RUST),$(shell rustup run stable rustc --version 2>/dev/null)),)
export RUSTUP_TOOLCHAIN := stable
endif

# The installation is editable, so Python sources are not prerequisites; pyproject.toml has the entry points.
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name Cargo.toml -o -name clippy.toml) Cargo.toml $(wildcard Cargo.lock)
WHEEL_SOURCES := $(shell find python/probelet -name '*.py' -o -name '*.pyi' -o -name '*.pem') pyproject.toml README.md LICENSE
PROGRAMS     := build/probelet-target build/probelet-enter build/target build/epoll
# The peers written in Go. Without Go the benchmarks leave their rows out and say so.
GO           ?= go
GO_PROGRAMS  := $(if $(shell command -v $(GO)),build/kubelet build/blackbox)

# The tests start Python hundreds of times: its byte code is kept, whatever the caller's environment says.
export PYTHONDONTWRITEBYTECODE :=

# A target that fails or is interrupted must not look finished to the next run.
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
.PHONY: help build wheel install uninstall demo test rust-tests python-tests unit e2e test-release test-times e2e-cluster e2e-agent e2e-enhanced e2e-several e2e-upstream fuzz record side-by-side lint fmt bench bench-full bench-instructions bench-micro bench-exec bench-webhook bench-agent bench-network bench-pace bench-controller bench-smoke soak soak-containerd plots reference proto clean image dist tools audit coverage lock msrv

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: $(STAMPS)/extension $(PROGRAMS) ## build everything; creates .venv/bin/probelet
	@$(PY) -m compileall -q python/probelet conformance # as pip does for a package: a verb then starts in half of the time
	@echo "$(BIN)/probelet is ready"

wheel: $(STAMPS)/wheel build/probelet-target build/probelet-enter ## build what `make install` installs; the package is in build/wheel

# PREFIX is where probelet will be on the machine that runs it; DESTDIR stands for / while a package is put together.
PREFIX     ?= /usr/local
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
DESTDIR    ?=
INSTALLER   = PYTHONDONTWRITEBYTECODE=1 $(1) -m tools.install $(2) \
	--prefix "$(PREFIX)" --sysconfdir "$(SYSCONFDIR)" --destdir "$(DESTDIR)" --python "$(PYTHON)"

install: wheel ## install for the machine: PREFIX=/usr/local, SYSCONFDIR=/etc, DESTDIR=
	@$(call INSTALLER,$(PY),install)

uninstall: ## remove what `make install` with the same PREFIX and DESTDIR has installed
	@$(call INSTALLER,$(PYTHON),uninstall)

# IMAGE is the name, with or without a tag. BASE is a folder or a tar file with a root file system that has Python and
# glibc; without it a dozen Debian packages are the base. A second run makes only the layers that changed.
IMAGE ?= localhost/probelet
# With IMAGE_ROOT=FOLDER the image's root file system goes into that new folder, as deploy/image/Containerfile wants it.
BASE       ?=
IMAGE_ROOT ?=

image: wheel ## put the container image together, without an engine or a registry, into build/image/probelet.tar
	@$(PY) -m tools.image --name "$(IMAGE)" --base "$(BASE)" --work build/image/work --output build/image/probelet.tar \
		$(if $(IMAGE_ROOT),--root "$(IMAGE_ROOT)")

# DIST is the folder of the release; an older one in it goes. The image's name has the machine as Debian and Go call it.
DIST    ?= dist
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
MACHINE := $(subst aarch64,arm64,$(subst x86_64,amd64,$(shell uname -m)))

dist: $(STAMPS)/wheel $(STAMPS)/dist-tools build/probelet-enter build/probelet-target ## build every file of a release, into dist: packages, image, chart, manifests, man pages, bills, notes, sums
	$(say) "every file of the release, into $(DIST)"
	@mkdir -p "$(DIST)" && rm -f "$(DIST)"/probelet-* "$(DIST)/SHA256SUMS"
	@$(BIN)/maturin sdist --out "$(DIST)" 2>build/dist.log || { cat build/dist.log >&2; exit 1; }
	@$(PY) -m tools.image --name "$(IMAGE)" --base "$(BASE)" --work build/image/work \
		--output "$(DIST)/probelet-$(VERSION)-image-$(MACHINE).tar"
	@$(PY) -m tools.dist --wheels build/wheel --program build/probelet-enter --tools build/dist-tools/bin --out "$(DIST)"

demo: build ## run the example pods, then 5,000 probes a second (a minute, after a first build of minutes)
	@$(PY) -m examples.demo

# Every part notes how many seconds it took. The table of the parts comes last, also after a part has failed.
test: ## run all tests: Rust beside Python and real processes; eight to eleven minutes on two cores
	@rm -f $(PARTS)
	@$(PART) build $(MAKE) --no-print-directory build && \
		$(MAKE) --no-print-directory --keep-going --jobs 2 rust-tests python-tests; code=$$?; $(PART); exit $$code

# A test that calls make must not take this make's jobs for its own.
ALONE      := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL
CARGO_TEST := $(ALONE) PROPTEST_RNG_SEED=1 cargo test --workspace --exclude probelet-bindings --exclude probelet-benches --quiet
# ONCE_MORE=1 runs a test that failed once more by itself, as .ci/run does (tests/flaky.md).
PYTEST     := $(ALONE) $(PY) -m $(if $(ONCE_MORE),tests.support.once_more,pytest) -q
# What each test came to and took; `make test-times` reads it.
report      = REPORT=build/reports/$(1).jsonl

# `nice`, because beside it run tests of real processes, which have clocks. Only a failure is worth its output.
rust-tests: $(STAMPS)/extension
	@mkdir -p build
	@$(PART) "tests in Rust" nice $(CARGO_TEST) >build/rust-tests.log 2>&1 || { cat build/rust-tests.log; exit 1; }

# Six Python processes, because most tests of real processes wait for a period, a grace or a back-off of the kubelet's;
# the tests that compute fill those waits. tests/support/schedule.py says which test runs when, and beside which others.
python-tests: $(STAMPS)/extension $(PROGRAMS)
	$(say) "tests in Rust, into build/rust-tests.log, and beside them those in Python"
	@$(PART) "tests in Python" env $(call report,test) \
		$(PYTEST) -m "not bench and not cluster and not slow" -n 6

# Two Python processes, one for each core: the tests are independent of each other.
unit: $(STAMPS)/extension $(PROGRAMS) ## run the tests of `make test` that start no real processes
	$(say) "tests of the Rust core and engine"
	@$(CARGO_TEST)
	$(say) "tests of the Python package"
	@$(call report,unit) $(PYTEST) -n 2

e2e: $(STAMPS)/extension $(PROGRAMS) ## run the tests of `make test` with the real command line, real processes and real sockets
	$(say) "end-to-end tests"
	@$(call report,e2e) $(PYTEST) -m "e2e and not slow" -n 6

test-release: $(STAMPS)/extension $(PROGRAMS) ## run what is too slow for `make test`: packages and image, built and installed; long waits
	$(say) "packages, and the tests that wait long"
	@$(call report,release) $(PYTEST) -m slow -n 6

# It reads what `make test`, `make test-release` and `make e2e-cluster` have written.
test-times: ## say where the time of the tests went, and write it into tests/README.md
	@$(PY) -m tests.support.times $(wildcard build/reports/*.jsonl)

# The programs of Kubernetes go into a cache folder outside this one, which KUBEBUILDER_ASSETS may name instead.
# Enhanced liveness has a cluster of its own, because it replaces the agent and adds to the webhook.
GUARDED := tests/cluster/guarded tests/cluster/documentation/test_enhanced_liveness_page.py

# A cluster of three nodes has one of its own too, as has a kubelet with another prober.
SEVERAL := tests/cluster/several tests/cluster/served

e2e-cluster: e2e-agent e2e-enhanced e2e-several ## run probelet beside real kubelets, as people install it (root, Go, containerd; half an hour)

e2e-agent: build/assets
	$(say) "the agent in a cluster"
	@KUBEBUILDER_ASSETS=$$(cat $<) $(call report,cluster) $(PYTEST) -m "cluster and not slow" tests/cluster $(addprefix --ignore=,$(GUARDED) $(SEVERAL))

e2e-enhanced: build/assets
	$(say) "enhanced liveness in a cluster"
	@KUBEBUILDER_ASSETS=$$(cat $<) $(call report,enhanced) $(PYTEST) -m cluster $(GUARDED)

e2e-several: build/assets
	$(say) "both on three nodes, and a kubelet whose prober is probelet serve"
	@KUBEBUILDER_ASSETS=$$(cat $<) $(call report,several) $(PYTEST) -m cluster $(SEVERAL)

# UPSTREAM="native --procs 4" plays one run, UPSTREAM="--focus REGEX" some tests, UPSTREAM=--render none.
e2e-upstream: build/assets ## play Kubernetes' own tests of nodes: native, taken over, with enhanced liveness, served (root, Go, containerd; an hour and a half)
	$(say) "Kubernetes' own tests of nodes, into docs/upstream-e2e.md (a cold build takes ten minutes)"
	@KUBEBUILDER_ASSETS=$$(cat $<) $(PY) -m tests.upstream $(UPSTREAM)

# The folder with the programs of Kubernetes, and build/image/probelet.tar.
.PHONY: build/assets
build/assets: $(STAMPS)/extension
	$(say) "the programs of Kubernetes (a cold build takes five minutes)"
	@$(PY) -m tests.cluster >$@
	@$(MAKE) --no-print-directory image

# `make test` plays a fixed set of inputs. `make fuzz` plays new inputs in every run, until its time is over.
FUZZ_SECONDS ?= 30
FUZZ_SEED    ?= $(shell date +%s)

fuzz: $(STAMPS)/extension ## try new inputs on every property and every parser of foreign input; FUZZ_SECONDS=30 a target, FUZZ_SEED
	$(say) "properties, seed $(FUZZ_SEED)"
	@PROPTEST_RNG_SEED=$(FUZZ_SEED) PROPTEST_CASES=10000 cargo test -p probelet-core -p probelet-golang -p probelet-play -p probelet-engine --release --quiet
	@EXPLAIN_CASES=10000 EXPLAIN_SEED=$(FUZZ_SEED) $(PY) -m pytest -q --timeout 600 tests/unit/lab/explain/test_bounds.py
	@LINT_CASES=10000 LINT_SEED=$(FUZZ_SEED) $(PY) -m pytest -q --timeout 1200 tests/unit/lint/proofs
	@$(PY) -m pytest -q -m hypothesis --hypothesis-profile fresh --hypothesis-seed $(FUZZ_SEED)
	$(say) "fuzz targets in Rust, seed $(FUZZ_SEED)"
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$(FUZZ_SEED) cargo run --quiet -p probelet-fuzz
	$(say) "manifests and grammars, seed $(FUZZ_SEED)"
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$(FUZZ_SEED) $(PY) -m pytest -q fuzz/manifests

RECORD_COUNT ?= 500
RECORD_SEED  ?= $(shell date +%s)

# KUBELET is any published release from 1.34 on.
KUBELET ?= 1.36.3

record: $(STAMPS)/extension ## compare our prober with a kubelet's own (Go) on random scenarios; KUBELET=1.36.3, RECORD_COUNT=500, RECORD_SEED
	@$(PY) -m tests.kubelet.recorder --kubelet $(KUBELET) --count $(RECORD_COUNT) --seed $(RECORD_SEED)

# SIDE_BY_SIDE="--pods crash grpc" takes some pods; "--api-server" gives the kubelet the API server of KUBEBUILDER_ASSETS.
side-by-side: $(STAMPS)/extension ## compare with a real kubelet on a real containerd (root, Go, containerd; ten minutes)
	@$(PY) -m tests.kubelet.beside $(SIDE_BY_SIDE)

lint: $(STAMPS)/extension msrv audit ## check with rustfmt, clippy, ruff, mypy, stubtest, import layers, msrv and audit
	$(say) "rustfmt and clippy"
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(say) "ruff"
	@$(BIN)/ruff check --quiet && $(BIN)/ruff format --check --quiet
	$(say) "mypy and stubtest"
	@$(BIN)/mypy
	@$(BIN)/mypy --explicit-package-bases --exclude benches/python benches examples/demo tools tests/kubelet/beside tests/support tests/tidy
	@$(BIN)/stubtest --concise probelet._rust
	$(say) "import layers"
	@$(BIN)/lint-imports --no-logo
	@$(PY) -m tests.tidy.rust_layers
	$(say) "age of the benchmarks' figures (only a report; make test-release refuses a page)"
	@$(PY) -m benches.report.age

# clippy's `incompatible_msrv` and a test hold the library calls and the dependencies to this release on every machine.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

msrv: ## compile with the oldest Rust that Cargo.toml promises; skipped if rustup does not have it
	$(say) "Rust $(MSRV), the oldest"
	@if rustup run $(MSRV) rustc --version >/dev/null 2>&1; then \
		RUSTUP_TOOLCHAIN=$(MSRV) cargo check --workspace --all-targets --locked --quiet --target-dir target/msrv; \
	else echo "skipped: rustup has no toolchain $(MSRV)"; fi

audit: $(STAMPS)/extension ## check the licences in both lock files; with ADVISORY_DB=PATH (OSV files) known defects too
	$(say) "licences and advisories"
	@ADVISORY_DB="$(ADVISORY_DB)" $(PY) -m tools.audit

coverage: $(STAMPS)/extension $(PROGRAMS) ## count the lines of Rust and Python that the tests run (cargo-tarpaulin; ten minutes)
	@$(PY) -m tools.coverage

# LOCK=--upgrade takes the newest versions; without it a pin stays where pyproject.toml still allows it.
lock: | tools ## write requirements.lock from pyproject.toml: versions and hashes for every Python from 3.11
	@test -x build/lock/bin/uv || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet 'uv>=0.9,<1'; }
	@$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| build/lock/bin/uv pip compile pyproject.toml - --group dev --all-extras --universal --python-version 3.11 \
			--generate-hashes --no-annotate --custom-compile-command "make lock" --quiet $(LOCK) -o requirements.lock

fmt: $(STAMPS)/packages ## format Rust and Python
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix-only && $(BIN)/ruff format

bench: build $(GO_PROGRAMS) bench-micro ## measure the main scenarios beside the peers, into benches/RESULTS.md (15 minutes)
	$(say) "probes on loopback beside the kubelet's prober and others"
	@$(PY) -m benches bench

bench-full: build $(GO_PROGRAMS) ## measure every scenario of benches/scenarios.toml (an hour)
	@$(PY) -m benches full

bench-instructions: build ## count instructions of the core's hot paths (callgrind); exit 1 if they grew
	@$(PY) -m benches.profile.instructions

bench-micro: build ## measure single parts with criterion and pytest-benchmark
	$(say) "criterion: wheel, back-off, token bucket, worker"
	@cargo bench -p probelet-benches
	$(say) "pytest-benchmark: the Python side"
	@mkdir -p build
	@$(PY) -m pytest -q -m bench --timeout 600 --benchmark-json build/pytest-benchmark.json benches/python
	@$(PY) -m benches.report.micro

bench-exec: build $(filter build/kubelet,$(GO_PROGRAMS)) ## measure exec probes over the runtime and with execMode direct, into benches/EXEC.md (root, containerd; a quarter of an hour)
	@$(PY) -m benches.exec_modes $(EXEC)

# BENCH_WEBHOOK="--rate 500 --seconds 30" asks for another load.
bench-webhook: build ## measure admission requests over TLS: 200 a second, one replica and two (a minute)
	@$(PY) -m benches.admission $(BENCH_WEBHOOK)

# BENCH_AGENT="--pods 30 --seconds 10" asks for another load.
bench-agent: build $(filter build/kubelet,$(GO_PROGRAMS)) ## measure the agent with 110 pods beside the kubelet's prober, into benches/AGENT.md (five minutes)
	@$(PY) -m benches.agent $(BENCH_AGENT)

bench-network: build ## measure probes with network: pod beside ordinary ones, into benches/NETWORK.md (three minutes; root)
	@$(PY) -m benches.network --keep

bench-pace: build ## measure ordinary probes beside probes below a second, into benches/PACE.md (five minutes)
	@$(PY) -m benches.pace --keep

# BENCH_CONTROLLER="--nodes 100 --pods 500" asks for another load.
bench-controller: build ## measure the controller beside 1,000 NodePodProbes on a real API server, into docs/cluster/scale.md (ten minutes; Go)
	@assets=$$($(PY) -m tests.cluster) && KUBEBUILDER_ASSETS=$$assets $(PY) -m benches.controller $(BENCH_CONTROLLER)

bench-smoke: build ## run every benchmark once, in seconds, to see that it still works
	@cargo bench -p probelet-benches -- --test
	@$(PY) -m pytest -q -m bench --timeout 120 --benchmark-disable benches/python
	@$(PY) -m benches smoke

soak: build ## run 200 pods for ten minutes; end them by SIGTERM, then by SIGKILL
	@$(PY) -m benches.soak

# SOAK="--minutes 5 --pods 20 --seed 2" gives a shorter run.
soak-containerd: build ## run 100 real containers under random kills for half an hour (root, containerd)
	@$(PY) -m benches.soak.containerd $(SOAK)

plots: build ## redraw the charts of the documentation, into docs/plots
	@$(BIN)/probelet backoff plot --out docs/plots

# A merge that adds a field, a verb or a key needs no edit of these pages: run it again.
reference: $(STAMPS)/extension ## write the pages that types, command line and lint rules give, into docs/reference and docs/lint
	@$(PY) -m tools.reference docs

proto: $(STAMPS)/packages ## generate the gRPC stubs from proto/
	@sh proto/generate.sh

clean: ## remove everything that make has created
	rm -rf build target .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find python rust -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything that is missing at once, and what installs it.
tools:
	@ok=0; lacks() { ok=1; echo "probelet needs $$1" >&2; echo "  try: $$2" >&2; }; \
	if ! command -v $(PYTHON) >/dev/null; then \
		lacks "Python >= 3.11: no $(PYTHON) found" "apt-get install python3 python3-venv   (or make PYTHON=/path/to/python3)"; \
	elif ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		lacks "Python >= 3.11: $(PYTHON) is $$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')" \
			"make PYTHON=/path/to/python3"; \
	elif ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		lacks "Python's module venv: $(PYTHON) has none" "apt-get install python3-venv"; \
	fi; \
	if ! command -v cargo >/dev/null; then \
		lacks "cargo >= $(MSRV): no cargo found" "https://rustup.rs   (or apt-get install rustup && rustup default stable)"; \
	elif ! version=$$(cargo --version); then \
		lacks "cargo >= $(MSRV): 'cargo --version' fails" "rustup toolchain install $(PINNED_RUST)"; \
	elif printf '%s\n' "$$version" | awk -v least=$(MSRV) '{ split($$2, v, "."); split(least, l, "."); \
			exit v[1] * 1000 + v[2] >= l[1] * 1000 + l[2] }'; then \
		lacks "cargo >= $(MSRV): this is $$version" "https://rustup.rs"; \
	fi; \
	if ! command -v $(CC) >/dev/null; then \
		lacks "a C compiler: no $(CC) found" "apt-get install build-essential   (or make CC=/path/to/cc)"; \
	fi; \
	exit $$ok

# Whoever watches a terminal sees how far cargo is; a log gets only what goes wrong.
QUIET := $(shell [ -t 2 ] || echo --quiet)

# What the extension is made of, and probelet-target. It needs no Python, so cargo begins while pip downloads; if it fails,
# the step of the part that fails says so once more. Named in one call, these packages have the features that the extension
# gives their libraries: nothing is compiled twice (tests/tidy/test_toolchain.py).
LIBRARIES = -p probelet-target -p probelet-engine -p probelet-play --release $(QUIET) --target-dir target

# All downloads happen here: exactly what the lock names, with its hashes. pip reports only what goes wrong. With --no-deps
# pip resolves nothing, because the lock is whole: older releases of pip try a newer version of `coverage[toml]` first and stop.
# `cargo fetch`, because maturin asks for the packages of all crates, and cargo would list the download of each.
$(STAMPS)/packages: requirements.lock
	@$(MAKE) --no-print-directory tools
	$(say) "[1/5] Python packages into .venv, beside them the Rust libraries (a cold run: minutes on two cores)"
	@mkdir -p $(STAMPS)
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock & pip=$$!; \
		test -d target/release || { cargo fetch --quiet; cargo build $(LIBRARIES); }; wait $$pip
	@touch $@

# The verbs `replay` and `conformance`, editable too: a link and the metadata with their entry points.
$(STAMPS)/conformance: $(STAMPS)/packages conformance/pyproject.toml
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation -e conformance
	@touch $@

$(STAMPS)/extension: $(STAMPS)/packages pyproject.toml $(RUST_SOURCES) | $(STAMPS)/conformance
	$(say) "[2/5] the Rust extension, in release"
	@VIRTUAL_ENV=$(CURDIR)/.venv PIP_QUIET=1 PIP_NO_INDEX=1 $(BIN)/maturin develop --release
	@touch $@

# As `maturin develop` calls cargo: in another environment cargo would compile everything again.
$(STAMPS)/wheel: $(STAMPS)/extension $(WHEEL_SOURCES)
	$(say) "the wheel, into build/wheel"
	@command -v cargo >/dev/null || { echo "the wheel needs cargo; as the user who has it: make wheel" >&2; exit 1; }
	@rm -rf build/wheel
	@VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --release --quiet --out build/wheel
	@touch $@

# Programs that look at what is released. They are no part of it, and `make dist` alone needs them.
$(STAMPS)/dist-tools: | tools
	@mkdir -p $(STAMPS)
	@rm -rf build/dist-tools && $(PYTHON) -m venv build/dist-tools
	@build/dist-tools/bin/pip install --quiet --disable-pip-version-check 'auditwheel>=6,<7' 'cyclonedx-bom>=7,<8'
	@touch $@

# `probelet bench` starts it and looks for it beside the interpreter. `install` replaces the file while an old one runs.
build/probelet-target: $(STAMPS)/extension
	$(say) "[3/5] Rust: $@"
	@cargo build $(LIBRARIES)
	@install target/release/probelet-target $@
	@ln -sf ../../$@ $(BIN)/probelet-target

# Static, because each of its forks then has less memory to copy; a system without a static C library gets it dynamic.
# `execMode: direct` looks for it beside the interpreter.
ENTER = -p probelet-enter --release $(QUIET) --target-dir target
build/probelet-enter: $(STAMPS)/extension
	$(say) "[4/5] Rust: $@"
	@cargo rustc $(ENTER) -- -C target-feature=+crt-static -C strip=symbols $(if $(QUIET),2>/dev/null) \
		|| cargo rustc $(ENTER) -- -C strip=symbols
	@install target/release/probelet-enter $@
	@ln -sf ../../$@ $(BIN)/probelet-enter

build/target: tests/support/target/target.c
	$(say) "[5/5] C: $@"
	@mkdir -p build && $(CC) $(CFLAGS) -o $@ $<

build/epoll: benches/peers/epoll/epoll.c
	@mkdir -p build && $(CC) $(CFLAGS) -o $@ $<

# Modules come from the Go proxy and stay in Go's own cache; the first build takes a few minutes.
build/kubelet: $(wildcard benches/peers/kubelet/* benches/peers/harness/*)
build/blackbox: $(wildcard benches/peers/blackbox/* benches/peers/harness/*)
build/kubelet build/blackbox:
	$(say) "Go: $@"
	@mkdir -p build && cd benches/peers/$(@F) && GOFLAGS=-mod=mod $(GO) build -trimpath -buildvcs=false -o $(CURDIR)/$@ . \
		|| echo "$@ could not be built; its rows are left out of the benchmarks"

# make prints the targets.

# Platforms of make release: if it is "tested", only the platform on which make newcomer tests.
PLATFORMS ?= all

# Number of fault tests that `make prove` runs. If empty, it runs the short set.
N ?=

# If empty, make test installs the Debian packages that tests need. If "no", it does not.
INSTALL ?=

.DEFAULT_GOAL := help
.PHONY: help test check interop newcomer release bench bench-docs prove screens design generate

help:
	@awk -F ' *## ' '/^[a-z-]+:.*##/ { sub(/:.*/, "", $$1); printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## install missing packages (not with INSTALL=no), check, test, run the short fault tests
	@INSTALL=$(INSTALL) scripts/test.sh

check: ## check format, vet, staticcheck, generated files, go.mod and test/kit/arch
	@scripts/check.sh

# The script exits with code 3 and a warning if npm is not available.
interop: ## run the commands for newcomers, and agents and clients from npm against the built program
	@scripts/interop.sh || test $$? -eq 3

newcomer: ## make the packages of this commit and install them in fresh systems, as the README describes it
	@scripts/newcomer.sh

release: ## make all artefacts of a release in dist, and publish nothing (PLATFORMS=tested leaves platforms out)
	@scripts/release.sh $(PLATFORMS)

bench: ## run the benchmarks and print the results
	@test -d test/bench || { echo "make bench: there is no folder test/bench" >&2; exit 1; }
	@go run ./test/bench

bench-docs: ## run the benchmarks with other products, and write docs/bench.md
	@go run ./test/bench -peers -wait 5m -docs docs

prove: ## run N fault tests (kills, races, pairs of calls, event streams) and the long tests of hostile text and of accessibility, or the short set
	@test -d test/faults || { echo "make prove: there is no folder test/faults" >&2; exit 1; }
	@go run ./test/faults $(if $(N),-n $(N),-short)
	@$(if $(N),ASKBACK_LONG=1 go test -count=1 -timeout 60m ./terminal ./web \
		-run 'CodePoints|AgentText|OriginalLabel|Accessible|Scrolled',true)

screens: ## write the pictures of the documentation; needs Chromium
	@go run ./test/screens -docs

design: ## serve a page that shows every template of the pages in its states
	@go run ./test/screens -design

generate: ## regenerate the generated files
	@scripts/generate.sh

# One command per wish; a bare make prints them.

# How many proofs `make prove` runs. Empty: the short form.
N ?=

# Empty: make test installs Debian packages that tests need. no: it does not.
INSTALL ?=

.DEFAULT_GOAL := help
.PHONY: help test check interop bench prove generate

help:
	@awk -F ' *## ' '/^[a-z]+:.*##/ { sub(/:.*/, "", $$1); printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## install what is missing (INSTALL=no: do not), check, test, short proofs
	@INSTALL=$(INSTALL) scripts/test.sh

check: ## format, vet, staticcheck, generated files, go.mod, shape of the repository
	@scripts/check.sh

# The script exits with 3 if there is no npm here, which it says loudly.
interop: ## agents of other makers, installed from npm, against the built program
	@scripts/interop.sh || test $$? -eq 3

bench: ## measure, and print the figures
	@test -d test/bench || { echo "make bench: there is no folder test/bench" >&2; exit 1; }
	@go run ./test/bench

prove: ## kills, races, pairs and streams: N=1000, or the short form
	@test -d test/faults || { echo "make prove: there is no folder test/faults" >&2; exit 1; }
	@go run ./test/faults $(if $(N),-n $(N),-short)

generate: ## write the generated files anew
	@scripts/generate.sh

#!/usr/bin/env bash
# Everything but the clients from npm: installs what is missing, then checks,
# tests, tests with the race detector, short proofs. Needs Go, make, git, bash.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh
source scripts/checks.sh
source scripts/need.sh

# What tests and builds leave behind goes into one folder, which goes at the end.
export TMPDIR=$scratch

# A copied checkout may belong to another user. Git then gives no version, and
# that must not fail a test that builds the binary.
flags=$(go env GOFLAGS)
export GOFLAGS="${flags:+$flags }-buildvcs=false"

# Property tests draw the same cases each time here, so that one tree has one
# result. A plain go test draws others.
seed=20261121
all=$(go list ./...)
drawing=$(go list -f '{{range .TestImports}}{{.}} {{end}}{{join .XTestImports " "}}{{"\t"}}{{.ImportPath}}' ./... |
	awk -F '\t' '/pgregory.net\/rapid/ { print $2 }')

# go_test FLAG… reads packages and tests them. The checks have vetted them.
go_test() {
	local packages plain drawn rc=0
	packages=$(cat)
	mapfile -t plain < <(grep -Fxvf <(printf '%s\n' "$drawing") <<<"$packages")
	mapfile -t drawn < <(grep -Fxf <(printf '%s\n' "$drawing") <<<"$packages")
	"$scratch/gotest" "$notes" -vet=off "$@" "${plain[@]}" || rc=1
	"$scratch/gotest" "$notes" -vet=off "$@" "${drawn[@]}" -args -rapid.seed="$seed" || rc=1
	return $rc
}

# These gain nothing from the race detector, which makes all slower: internal/arch
# sees to it that the first start no goroutine; the others build or start
# programs of their own.
no_race='^github.com/askback/askback(|/(lifecycle|conversation|access|internal/(arch|jcs|decode|compat|safetext|markdown|view)))$|/(cmd/askback|test|examples)(/|$)'

without_race() { go_test -timeout 10m <<<"$all"; }
with_race() { grep -Ev "$no_race" <<<"$all" | CGO_ENABLED=1 go_test -race -short -timeout 15m; }

need gcc "the race detector" gcc libc6-dev
need strace "system calls of a commit" strace
need chromium "the pages in a real browser" chromium

step "programs that tests need" install_missing
run_checks
step "build what runs the tests" go build -o "$scratch/gotest" ./scripts/gotest
step "go test ./..." without_race
if command -v "$(go env CC)" >/dev/null; then
	step "go test -race, without what is only long" with_race
fi
step "short proofs" go run ./test/faults -short -seed "$seed"
summary

#!/usr/bin/env bash
# Everything, as on a fresh machine: installs what is missing, then check,
# tests, tests with the race detector, short proofs. Needs Go, make, git, bash.
set -euo pipefail
cd "$(dirname "$0")/.."

# What tests and builds leave behind goes into one folder, which goes at the end.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/askback.XXXXXX")
# Go writes its module cache read-only; a test may have made one of its own.
trap 'chmod -R u+w "$scratch" 2>/dev/null || true; rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

# A copied checkout may belong to another user. Git then gives no version, and
# that must not fail a test that builds the binary.
flags=$(go env GOFLAGS)
export GOFLAGS="${flags:+$flags }-buildvcs=false"

left_out=
source scripts/need.sh

need gcc "the race detector" gcc libc6-dev
need strace "tests that look at system calls" strace
if [[ -d web ]]; then
	need chromium "tests of the pages in a real browser" chromium
fi
install_missing

# These gain nothing from the race detector, which makes all slower: the shape
# starts no goroutine, the others build or start programs of their own.
no_race='/(internal/arch|cmd/askback|clients|examples|bench|prove)(/|$)'

scripts/check.sh

# Property tests draw the same cases each time here, so that one tree has one
# result. A plain `go test` draws others.
all=$(go list ./...)
drawing=$(go list -f '{{range .TestImports}}{{.}} {{end}}{{join .XTestImports " "}}{{"\t"}}{{.ImportPath}}' ./... |
	awk -F '\t' '/pgregory.net\/rapid/ { print $2 }')
seed=20261121

# run_tests FLAG… reads packages and tests them.
run_tests() {
	local packages plain drawn failed=0
	packages=$(cat)
	mapfile -t plain < <(grep -Fxvf <(printf '%s\n' "$drawing") <<<"$packages")
	mapfile -t drawn < <(grep -Fxf <(printf '%s\n' "$drawing") <<<"$packages")
	go test "$@" "${plain[@]}" || failed=1
	go test "$@" "${drawn[@]}" -args -rapid.seed="$seed" || failed=1
	return $failed
}

echo "test: go test ./..."
run_tests -timeout 10m <<<"$all"

if command -v "$(go env CC)" >/dev/null; then
	echo "test: go test -race, without what is only long"
	grep -Ev "$no_race" <<<"$all" | CGO_ENABLED=1 run_tests -race -short -timeout 15m
fi

others=0
scripts/clients.sh "$scratch/npm" || others=$?
case $others in
0) ;;
3) left_out+=$'LEFT OUT: clients from npm (the registry cannot be reached)\n' ;;
*) exit "$others" ;;
esac

echo "test: short proofs"
go run ./prove -short

printf '%s' "$left_out"
echo "test: all good"

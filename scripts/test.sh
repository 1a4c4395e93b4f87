#!/usr/bin/env bash
# Runs everything except the clients from npm: installs missing packages, then
# runs the checks, the tests, the tests with the race detector and the short
# fault tests. Requires Go, make, git and bash.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh
source scripts/checks.sh
source scripts/need.sh

# Tests and builds write their temporary files to one folder, deleted at the end.
export TMPDIR=$scratch

# A copied checkout may belong to another user. Git then returns no version,
# which must not fail a test that builds the binary.
flags=$(go env GOFLAGS)
export GOFLAGS="${flags:+$flags }-buildvcs=false"

# Property tests draw the same cases in each run, so that the result of a commit
# is reproducible. A plain go test draws random ones.
seed=20261121
cases=100
all=$(go list ./...)
drawing=$(go list -f '{{range .TestImports}}{{.}} {{end}}{{join .XTestImports " "}}{{"\t"}}{{.ImportPath}}' ./... |
	awk -F '\t' '/pgregory.net\/rapid/ { print $2 }')

# go_test FLAG… tests the packages on stdin, without go vet, which the checks run. The
# packages that draw cases run at the same time as the others, so that no core is idle
# while a test waits.
go_test() {
	local packages plain drawn
	packages=$(cat)
	mapfile -t plain < <(grep -Fxvf <(printf '%s\n' "$drawing") <<<"$packages")
	mapfile -t drawn < <(grep -Fxf <(printf '%s\n' "$drawing") <<<"$packages")
	"$scratch/gotest" "$notes" -vet=off "$@" "${plain[@]}" ';' \
		-vet=off "$@" "${drawn[@]}" -args -rapid.seed="$seed" -rapid.checks="$cases"
}

# Packages that are not run with the race detector, which is slow: internal/arch
# ensures that the pure packages start no goroutine; the others start separate
# programs.
no_race='^github.com/askback/askback(|/(lifecycle|conversation|access|internal/(arch|jcs|decode|compat|safetext|markdown|view)))$|/(cmd/askback|test|examples)(/|$)'

# Packages that leave out a part of their tests in short mode.
has_short='/(terminal|web)$'

# Each test runs once: with the race detector if its package has goroutines. Packages with
# a short mode run twice, in short mode with the race detector.
without_race() { go_test -timeout 15m < <(grep -E "$no_race|$has_short" <<<"$all"); }

# A property is tested with fewer cases, because what a test draws seldom changes how
# goroutines meet. SQLite, translated from C, is compiled without the race detector, which
# slows it six times and finds nothing in it: a connection is used by one goroutine at a
# time.
with_race() {
	local cases=25
	CGO_ENABLED=1 go_test -race -gcflags='modernc.org/...=-race=false' -short -timeout 15m \
		< <(grep -Ev "$no_race" <<<"$all")
}

need gcc "the race detector" gcc libc6-dev
need strace "system calls of a commit" strace
need zsh "completion in zsh" zsh
need fish "completion in fish" fish
need chromium "the pages in a real browser" chromium

step "programs that tests need" install_missing
run_checks
step "build what runs the tests" go build -o "$scratch/gotest" ./scripts/gotest
if command -v "$(go env CC)" >/dev/null; then
	step "go test -race -short" with_race
	step "go test, of packages without goroutines or with a short mode" without_race
else
	step "go test ./..." go_test -timeout 15m <<<"$all"
fi
step "short fault tests" go run ./test/faults -short -seed "$seed"
summary

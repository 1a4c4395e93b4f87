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
# which must not fail a test that builds the binary. Without the path of the checkout in packages,
# its copies share what is built.
flags=$(go env GOFLAGS)
export GOFLAGS="${flags:+$flags }-buildvcs=false -trimpath"

# Property tests draw the same cases in each run, so that the result of a commit
# is reproducible. A plain go test draws random ones.
seed=20261121
all=$(go list ./...)
drawing=$(go list -f '{{range .TestImports}}{{.}} {{end}}{{join .XTestImports " "}}{{"\t"}}{{.ImportPath}}' ./... |
	awk -F '\t' '/pgregory.net\/rapid/ { print $2 }')

# Packages that are not run with the race detector, which is slow: test/kit/arch
# ensures that the pure packages start no goroutine; the others start separate
# programs.
no_race='^github.com/askback/askback(|/(conversation|test/kit/arch'
no_race+='|internal/(lifecycle|access|wire/(jcs|decode|compat)|text/(safetext|markdown|view))))$'
no_race+='|/(cmd/askback|test|examples)(/|$)'

# SQLite, translated from C, is compiled without the race detector, which slows it
# six times and finds nothing in it: a connection is used by one goroutine at a time.
race=(-race -gcflags='modernc.org/...=-race=false')

# At most this many lists of packages are tested at the same time: enough that no core is idle
# while a test waits, and few enough that a test does not wait long for a core.
lanes=$(($(getconf _NPROCESSORS_ONLN) + 3))

# The lists start in order, so the longest come first: pages in a browser, in two halves at the same
# time, because a browser often waits; the program; and packages that wait for programs or clocks.
longest='/web$'
in_browser='^TestChromium'
program='/cmd/askback$'
faults='/test/faults$'
waiting='/(engine|httpapi|mcpserver|store/sqlite|agent/mcptools|channel/[a-z]+)$'

# The short fault tests repeat these with more kills.
repeated='^(TestKillsLoseNothing|TestKilledHostedRunsEndWithTheSameResult)$'

# The checks test this package.
checked='/test/kit/arch$'

# Collecting garbage less often saves a tenth of the processor time.
frugal=(env GOGC=400)

# omitted prints "folder<tab>test" for each test that is omitted with the race detector.
omitted() {
	find . -name '*_test.go' -print0 | xargs -0 awk '
		/^func Test/ { name = $2; sub(/\(.*/, "", name) }
		/^\tracedetector\.Omit\(t\)$/ { folder = FILENAME; sub(/\/[^\/]*$/, "", folder); print folder "\t" name }'
}

# add adds go test with these flags, for the packages on stdin, to the last lane of
# tests. The checks run go vet.
add() {
	local packages plain drawn
	packages=$(cat)
	mapfile -t plain < <(grep -Fxvf <(echo "$drawing") <<<"$packages")
	mapfile -t drawn < <(grep -Fxf <(echo "$drawing") <<<"$packages")
	((${#plain[@]} == 0)) || tests+=(, -vet=off -timeout 15m "$@" "${plain[@]}")
	((${#drawn[@]} == 0)) ||
		tests+=(, -vet=off -timeout 15m "$@" "${drawn[@]}" -args -rapid.seed="$seed" -rapid.checks="$cases")
}

# build_race builds what the tests with the race detector share, so that tests that start at
# the same time do not build it several times. Programs are not linked: no test runs them so.
build_race() {
	local libraries
	libraries=$(go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./... | grep -Ev "$no_race") &&
		"${frugal[@]}" go build "${race[@]}" $libraries &&
		"${frugal[@]}" go test -vet=off -c "${race[@]}" -o "$scratch" $(grep -E "$longest" <<<"$all") &&
		rm -f "$scratch"/*.test
}

# Each test runs once: with the race detector if its package has goroutines, unless it is
# omitted.
# With the race detector a property is tested with fewer cases, because what a test draws
# seldom changes how goroutines meet.
with_race() {
	local half folders names
	cases=100 add < <(grep -E "$program" <<<"$all")
	for half in '[A-I]' '[^A-I]'; do
		tests+=(';')
		cases=25 add "${race[@]}" -run "$in_browser$half" < <(grep -E "$longest" <<<"$all")
	done
	tests+=(';')
	cases=100 add -skip "$repeated" < <(grep -E "$faults" <<<"$all")
	# One list for all packages: a test that another package has under the same name runs twice.
	for half in -E -Ev; do
		folders=$(omitted | cut -f 1 | sort -u | grep $half "$longest")
		names=$(omitted | grep -Fwf <(echo "$folders") | cut -f 2 | sort -u | paste -sd '|')
		tests+=(';')
		cases=100 add -run "^($names)\$" < <(go list $folders)
	done
	tests+=(';')
	cases=25 add "${race[@]}" < <(grep -E "$waiting" <<<"$all")
	tests+=(';')
	cases=100 add < <(grep -E "$no_race" <<<"$all" | grep -Ev "$program|$faults|$checked")
	tests+=(';')
	cases=25 add "${race[@]}" -skip "$in_browser" < <(grep -E "$longest" <<<"$all")
	tests+=(';')
	cases=25 add "${race[@]}" < <(grep -Ev "$no_race|$longest|$waiting" <<<"$all")
	"${frugal[@]}" "$scratch/gotest" -lanes "$lanes" "$notes" "${tests[@]}"
}

without_race() {
	cases=100 add < <(grep -Ev "$checked" <<<"$all")
	"${frugal[@]}" "$scratch/gotest" "$notes" "${tests[@]}"
}

need gcc "the race detector" gcc libc6-dev
need strace "system calls of a commit" strace
need zsh "completion in zsh" zsh
need fish "completion in fish" fish
need python3 "the package for Python" python3
need mypy "the types of the package for Python" mypy
need chromium "the pages in a real browser" chromium
need shellcheck "the scripts of the packages" shellcheck
need busybox "install.sh in the shell of Alpine" busybox
need systemd-analyze "the unit of the packages" systemd
prefer chromium-headless-shell chromium-headless-shell
# A mail server that is installed would be removed by another, and with systemd a new one would
# start on its own: there the test skips.
if [[ ! -d /run/systemd/system ]] && { command -v exim4 || ! command -v sendmail; } >/dev/null; then
	need exim4 "mails through a real server" exim4-daemon-light
	need dovecot "mails through a real mailbox" dovecot-imapd dovecot-lmtpd
fi

step "programs that tests need" install_missing
first_checks
step "build what runs the tests" go build -o "$scratch/" ./scripts/gotest ./test/faults
step "build the program" build_program
if command -v "$(go env CC)" >/dev/null; then
	export CGO_ENABLED=1
	begin "other checks" checks_beside
	step "build with the race detector" build_race
	begin "short fault tests" "$scratch/faults" -short -seed "$seed" # they often wait
	step "go test, with the race detector where goroutines meet" with_race
	finish
else
	other_checks
	step "go test ./..." without_race
	step "short fault tests" "$scratch/faults" -short -seed "$seed"
fi
step "processes left behind" left_behind "$scratch"
echo "LEFT OUT: most code points of large uniform ranges, most injections in a browser" \
	"(run: make prove N=1000)" >>"$notes"
summary

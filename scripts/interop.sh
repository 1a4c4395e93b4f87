#!/usr/bin/env bash
# Runs the commands of the documentation that try a channel without its service.
# Then it runs agents and clients from the npm registry against the built program,
# in the versions that the lock files pin. Exits with code 3 if npm or its registry
# cannot be reached.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh

# Servers and clients have their homes in one folder, which is deleted at the end.
export TMPDIR=$scratch

export ASKBACK_NPM=${ASKBACK_NPM:-${XDG_CACHE_HOME:-$HOME/.cache}/askback/npm}

channels() { ASKBACK_LONG=1 go test -count=1 -v -timeout 15m ./test/newcomer; }

clients() { go run ./scripts/gotest "$notes" -p 1 -timeout 25m ./test/interop/...; }

step "go test ./test/newcomer" channels
if ! command -v npm >/dev/null || ! npm view @modelcontextprotocol/sdk version >/dev/null 2>&1; then
	leave_out "clients from npm (npm, or its registry, cannot be reached)"
	step "processes left behind" left_behind "$scratch"
	summary
	exit 3
fi
[[ -n ${ASKBACK_LONG:-} ]] ||
	echo "LEFT OUT: most cells of the table of agents; each row and situation was tested" \
		"(run: ASKBACK_LONG=1 make interop)" >>"$notes"
step "build the program" build_program
step "go test ./test/interop/..." clients
step "processes left behind" left_behind "$scratch"
summary

#!/usr/bin/env bash
# Agents and clients of other makers against the built program: they come from
# the npm registry, in the versions that the lock files pin. Exits with 3 where
# that cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/askback/npm}

if ! command -v npm >/dev/null || ! npm view @modelcontextprotocol/sdk version >/dev/null 2>&1; then
	echo "LEFT OUT: clients from npm (npm, or its registry, cannot be reached)" >&2
	exit 3
fi
echo "clients: go test ./clients/..."
ASKBACK_NPM=$cache go test -p 1 -timeout 10m ./clients/...

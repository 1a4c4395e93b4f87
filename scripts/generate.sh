#!/usr/bin/env bash
# Writes the generated files anew, in the folder it stands in.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n $(find . -name '*.templ' -not -path './.git/*' -print -quit) ]]; then
	go tool -modfile=tools.mod templ generate
fi
go generate ./...

#!/usr/bin/env bash
# Regenerates the generated files of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n $(find . -name '*.templ' -not -path './.git/*' -print -quit) ]]; then
	go tool -modfile=tools.mod templ generate
fi
go generate ./...

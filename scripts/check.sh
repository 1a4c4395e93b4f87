#!/usr/bin/env bash
# Everything that can be checked without running the program.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh
source scripts/checks.sh

run_checks
summary

#!/usr/bin/env bash
# Runs the checks that do not run the program.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh
source scripts/checks.sh

first_checks
other_checks
summary

#!/usr/bin/env bash
# Compares two folders that release.sh made of one commit. Usage: compare.sh FIRST SECOND. All files must be equal,
# what is published and the files of the catalogues too, but the notes that GoReleaser makes for itself.
set -euo pipefail

diff -r --exclude=artifacts.json --exclude=config.yaml --exclude=metadata.json "$1" "$2"

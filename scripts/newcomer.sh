#!/usr/bin/env bash
# Makes the packages of this commit for the tested platform twice, in two folders, and requires the same bytes.
# Then it installs them in fresh systems, by the commands of the documentation, and asks and answers.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

source scripts/steps.sh
source scripts/need.sh

# As in make test and in a release, so that each package is compiled once.
flags=$(go env GOFLAGS)
export GOFLAGS="${flags:+$flags }-buildvcs=false -trimpath"

# other is a second copy of the commit and of uncommitted changes.
other=$scratch/other

# The commands of README.md have the version of the next release.
VERSION=$(sed -n 's|.*/releases/download/\(v[0-9.]*\)/.*|\1|p' README.md | head -n 1)
export VERSION

twice() {
	rm -rf dist &&
		scripts/release.sh tested &&
		mkdir "$other" &&
		tar --exclude=./dist --exclude=./bin -cf - . | tar -xf - -C "$other" &&
		"$other/scripts/release.sh" tested >"$scratch/second.log" 2>&1 &&
		scripts/compare.sh dist "$other/dist" &&
		wc -l dist/*_checksums.txt && du -h dist/askback[_-]* dist/npm/* dist/python/* 2>/dev/null
	local rc=$?
	((rc == 0)) || tail -n 20 "$scratch/second.log" 2>/dev/null
	return $rc
}

in_fresh_systems() {
	local rc
	ASKBACK_DIST=$PWD/dist go -C release test -count=1 -v -timeout 20m ./newcomer/... | tee "$scratch/fresh.log"
	rc=${PIPESTATUS[0]}
	sed -n 's|^ *--- SKIP: \([^ ]*\).*|LEFT OUT: release/newcomer \1|p' "$scratch/fresh.log" >>"$notes"
	return "$rc"
}

need debootstrap "fresh systems" debootstrap
need shellcheck "scripts of packages" shellcheck
need rpm "the package for Fedora and others" rpm
need ar "a package of an older version" binutils
need nix-hash "the package for Nix" nix-bin
need ruby "the syntax of the cask for Homebrew" ruby
[[ -x /usr/lib/wine/wine64 ]] || missing+=(wine64) # it is not in the PATH
need x86_64-w64-mingw32-gcc "the program for Windows" gcc-mingw-w64-x86-64-win32
need busybox "install.sh in the shell of Alpine" busybox

# vet_windows compiles what Windows runs, with its tests.
vet_windows() { GOOS=windows go vet ./cmd/askback ./terminal; }

((EUID == 0)) || leave_out "fresh systems (they need root)"
step "programs that tests need" install_missing
step "vet the program for Windows" vet_windows
step "tests of releases" go -C release test -count=1 . ./fresh
step "two releases of this commit are the same" twice
step "install, ask and answer in fresh systems" in_fresh_systems
summary

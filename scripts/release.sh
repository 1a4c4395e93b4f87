#!/usr/bin/env bash
# Makes all artefacts of a release in dist/, and publishes nothing. The version is the tag of the commit. A
# commit without a tag has a version for tests. Usage: release.sh [tested], where "tested" leaves out all
# platforms but the tested one.
set -euo pipefail
cd "$(dirname "$0")/.."

export PLATFORMS=${1:-all}

# incomplete MESSAGE ends a release of all platforms. A release for tests leaves something out.
incomplete() {
	if [[ $PLATFORMS != all ]]; then
		echo "LEFT OUT: $1"
	else
		echo "release: $1" >&2
		exit 1
	fi
}

# The Go of releases is in go.mod, where actions/setup-go finds it. Another Go makes other bytes.
go=$(sed -n 's/^toolchain //p' go.mod)
[[ $(go env GOVERSION) == "$go" ]] ||
	incomplete "the bytes of a release are made with $go, not $(go env GOVERSION): set GOTOOLCHAIN=$go"
command -v nix-hash >/dev/null || incomplete "the file for Nix needs nix-hash: install Debian's package nix-bin"

goreleaser=v2.16.0
cyclonedx=v1.10.0

tools=${XDG_CACHE_HOME:-$HOME/.cache}/askback/tools
mkdir -p "$tools"

# tool NAME VERSION PACKAGE builds a tool outside of the modules of this repository, once.
tool() {
	local folder=$tools/$1-$2
	[[ -x $folder/$1 ]] || GOFLAGS=-trimpath GOBIN=$folder go install "$3@$2"
	PATH=$folder:$PATH
}

tool goreleaser $goreleaser github.com/goreleaser/goreleaser/v2
tool cyclonedx-gomod $cyclonedx github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

commit=$(git rev-parse --short=12 HEAD)
tag=$(git describe --tags --exact-match --match 'v[0-9]*.[0-9]*.[0-9]*' HEAD 2>/dev/null) ||
	tag=${VERSION:-v0.0.0-dev.g$commit}
[[ -z $(git status --porcelain) ]] ||
	echo "release: the working tree has changes; the time of the files is the commit's"

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export GORELEASER_CURRENT_TAG=$tag GOFLAGS='' GOWORK=off TZ=UTC

# GoReleaser reads the address of the repository, which a copy may not have.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/askback/askback.git

# Manual page, completions and licences, which archives and packages contain.
rm -rf bin/share
mkdir -p bin/share
run() { go run -trimpath -buildvcs=false -ldflags "-X main.release=$tag" ./cmd/askback "$@"; }
run man >bin/share/askback.1
for shell in bash zsh fish; do
	run completion "$shell" >"bin/share/askback.$shell"
done
go -C release run . -licenses ../bin/share/THIRD_PARTY_LICENSES

# What only packages for Linux contain.
rm -rf bin/packages
mkdir -p bin/packages
gzip -9n <bin/share/askback.1 >bin/packages/askback.1.gz
gzip -9n <CHANGELOG.md >bin/packages/changelog.gz
cp packaging/scripts/*.sh bin/packages/
touch -d "@$SOURCE_DATE_EPOCH" bin/packages/*

skip=publish,validate
[[ $PLATFORMS == all ]] || skip+=,scoop # it needs a program for Windows
goreleaser release --clean --skip=$skip
go -C release run . -dist ../dist
echo "release $tag is in dist/"

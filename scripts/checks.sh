# The checks that do not run the program. Sourced by check.sh and test.sh.
# shellcheck shell=bash

# staticcheck keeps its results in the build cache. Without them it takes minutes.
STATICCHECK_CACHE=${STATICCHECK_CACHE:-$(go env GOCACHE)/staticcheck}
export STATICCHECK_CACHE

tool() { go tool -modfile=tools.mod "$@"; }

formatted() {
	local files
	files=$(tool gofumpt -l .) || return
	if [[ -n $files ]]; then
		printf 'not formatted:\n%s\nrun: go tool -modfile=tools.mod gofumpt -w .\n' "$files"
		return 1
	fi
}

# generated regenerates the files in a copy: a check does not change the working tree.
generated() {
	local copy rc=0
	copy=$(mktemp -d) || return
	tar --exclude=./.git --exclude=./bin -cf - . | tar -xf - -C "$copy" &&
		"$copy/scripts/generate.sh" &&
		diff -rq --exclude=.git --exclude=bin . "$copy" || rc=1
	rm -rf "$copy"
	((rc == 0)) || echo "generated files are out of date, or could not be made; run: make generate"
	return $rc
}

# The module in the folder release has its own requirements.
vetted() { go vet ./... && go -C release vet ./...; }

analysed() {
	local program rc=0
	program=$(tool -n staticcheck) || return
	tool staticcheck ./... || rc=1
	(cd release && "$program" ./...) || rc=1
	return $rc
}

tidy() { go mod tidy -diff && go -C release mod tidy -diff; }

# small prints the packages of gRPC that the program has. They are 2 MB, and a library brings them easily.
small() {
	local packages
	packages=$(go list -deps ./cmd/askback) || return
	! grep '^google.golang.org/grpc' <<<"$packages"
}

# first_checks also compiles what the others need.
first_checks() {
	step "format (gofumpt)" formatted
	step "go vet" vetted
	step "generated files" generated # tests make files in the working tree, too
}

other_checks() {
	step "staticcheck" analysed
	step "go.mod and go.sum" tidy
	step "the program has no gRPC" small
	step "shape (test/kit/arch)" go test ./test/kit/arch
}

# checks_beside runs other_checks for begin, which needs one result.
checks_beside() {
	ran=() broken=()
	other_checks
	printf '%s\n' "${ran[@]}"
	((${#broken[@]} == 0))
}

# Steps of a script. Each is announced and timed, and runs even if an earlier
# one failed. At the end, summary prints which steps ran, which failed and what
# was left out. Sourced by the scripts of this folder.
# shellcheck shell=bash

script=$(basename "$0" .sh)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/askback.XXXXXX")
notes=$scratch/notes # lines "FAILED: …" and "LEFT OUT: …", for the summary
ran=()               # lines of the summary
broken=()            # names of steps that failed
beside=              # the process of the step that begin started, or empty
: >"$notes"

# Go writes its module cache read-only, and a test may have created one.
trap '[[ -z $beside ]] || kill "$beside" 2>/dev/null; chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# clock prints seconds as minutes and seconds.
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# step NAME COMMAND… runs a command and records its result.
step() {
	local name=$1 began=$SECONDS how=ok
	shift
	echo "== $script: $name ($(clock $SECONDS) so far)"
	"$@" || how=FAILED
	[[ $how == ok ]] || broken+=("$name")
	ran+=("$(printf '   %-6s %6s  %s' $how "$(clock $((SECONDS - began)))" "$name")")
}

# begin NAME COMMAND… runs a command beside the next steps. Its output and its result follow with
# finish. There is one such command at a time.
begin() {
	beside_name=$1
	shift
	echo "== $script: $beside_name begins, beside what follows ($(clock $SECONDS) so far)"
	"$@" >"$scratch/beside" 2>&1 &
	beside=$!
}

# finish waits for the command of begin and records its result.
finish() {
	local how=ok
	wait "$beside" || how=FAILED
	beside=
	echo "== $script: $beside_name ended ($(clock $SECONDS) so far)"
	cat "$scratch/beside"
	[[ $how == ok ]] || broken+=("$beside_name")
	ran+=("$(printf '   %-6s %6s  %s' $how beside "$beside_name")")
}

# leave_out WHAT prints what is not tested on this machine, now and in the summary.
leave_out() {
	echo "LEFT OUT: $1" >&2
	echo "LEFT OUT: $1" >>"$notes"
}

# summary returns 1 if a step failed.
summary() {
	echo "== $script: summary ($(clock $SECONDS) in all)"
	((${#ran[@]} == 0)) || printf '%s\n' "${ran[@]}"
	sort -u "$notes" | sed 's/^/   /'
	if ((${#broken[@]})); then
		printf '%s: FAILED:' "$script"
		printf ' [%s]' "${broken[@]}"
		echo
		return 1
	fi
	if ((${#ran[@]} == 0)); then
		echo "$script: NOTHING RAN"
	elif [[ -s $notes ]]; then
		echo "$script: all good, apart from what was left out"
	else
		echo "$script: all good"
	fi
}

# Steps of a script. Each is announced and timed, and runs even if an earlier
# one failed. At the end, summary prints which steps ran, how long and with how much
# processor time, which failed and what was left out. Sourced by the scripts of this folder.
# shellcheck shell=bash

script=$(basename "$0" .sh)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/askback.XXXXXX")
notes=$scratch/notes # lines "FAILED: …" and "LEFT OUT: …", for the summary
ran=()               # lines of the summary
broken=()            # names of steps that failed
patience=20          # how many seconds left_behind waits
beside=()            # processes of the commands that begin started
beside_names=()
: >"$notes"

# Go writes its module cache read-only, and a test may have created one.
trap '((${#beside[@]} == 0)) || kill "${beside[@]}" 2>/dev/null
	chmod -R u+w "$scratch" 2>/dev/null
	rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# clock prints seconds as minutes and seconds.
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# processors sets used to the processor time of all ended commands, in seconds. It does not print it,
# because a subshell has times of its own.
processors() {
	local user system
	times >"$scratch/times.$BASHPID" # a command of begin may have steps, too
	{ read -r _ && IFS=' ms' read -r user{,_s} system{,_s}; } <"$scratch/times.$BASHPID"
	used=$((user * 60 + ${user_s%.*} + system * 60 + ${system_s%.*}))
}

# step NAME COMMAND… runs a command and records its result.
step() {
	local name=$1 began=$SECONDS how=ok used before
	shift
	echo "== $script: $name ($(clock $SECONDS) so far)"
	processors
	before=$used
	"$@" || how=FAILED
	processors
	[[ $how == ok ]] || broken+=("$name")
	ran+=("$(printf '   %-6s %6s %6s  %s' $how "$(clock $((SECONDS - began)))" "$(clock $((used - before)))" "$name")")
}

# begin NAME COMMAND… runs a command beside the next steps. Its output and its result follow with
# finish.
begin() {
	local name=$1
	shift
	echo "== $script: $name begins, beside what follows ($(clock $SECONDS) so far)"
	"$@" >"$scratch/beside.${#beside[@]}" 2>&1 &
	beside+=($!)
	beside_names+=("$name")
}

# finish waits for the commands of begin and records their results.
finish() {
	local i how used before
	for i in "${!beside[@]}"; do
		how=ok
		processors
		before=$used
		wait "${beside[i]}" || how=FAILED
		processors
		echo "== $script: ${beside_names[i]} ended ($(clock $SECONDS) so far)"
		cat "$scratch/beside.$i"
		[[ $how == ok ]] || broken+=("${beside_names[i]}")
		ran+=("$(printf '   %-6s %6s %6s  %s' $how beside "$(clock $((used - before)))" "${beside_names[i]}")")
	done
	beside=() beside_names=()
}

# build_program builds askback for all packages whose tests run it.
build_program() {
	go build -o "$scratch/bin/askback" ./cmd/askback &&
		export ASKBACK_TEST_PROGRAM=$scratch/bin/askback
}

# left_behind TEXT… fails if a process runs that has one of the texts in its environment, and kills
# it. Processes that are ending have some time.
left_behind() {
	local pid all=() tries
	[[ -r /proc/self/environ ]] || return 0
	for ((tries = 0; tries < 5 * patience; tries++)); do
		mapfile -t all < <(running_with "$@")
		((${#all[@]})) || return 0
		sleep 0.2
	done
	for pid in "${all[@]}"; do
		printf 'process %s is left behind: %s(in %s)\n' \
			"$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline")" "$(readlink "/proc/$pid/cwd")"
		kill -9 "$pid"
	done
	return 1
}

# running_with prints the ids of processes with one of the texts in their environment.
running_with() {
	local text path command texts=()
	for text in "$@"; do texts+=(-e "$text"); done
	for path in $(grep -lsF "${texts[@]}" /proc/[0-9]*/environ); do
		path=${path%/environ}
		# The grep itself has ended. A process without a command has ended, too.
		command=$(tr '\0' ' ' 2>/dev/null <"$path/cmdline") && [[ -n $command ]] && echo "${path#/proc/}"
	done
}

# leave_out WHAT prints what is not tested on this machine, now and in the summary.
leave_out() {
	echo "LEFT OUT: $1" >&2
	echo "LEFT OUT: $1" >>"$notes"
}

# summary returns 1 if a step failed.
summary() {
	echo "== $script: summary ($(clock $SECONDS) in all)"
	((${#ran[@]} == 0)) || printf '   %-6s %6s %6s  %s\n' "" time cores step
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

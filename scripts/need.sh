# Programs that tests need beside Go; read by test.sh, which prints left_out
# once more at its end.
# shellcheck shell=bash

missing=()  # Debian packages to install
awaiting=() # "command<tab>what needs it", looked for again after installing

# need COMMAND WHAT PACKAGE… asks for the packages if the command is absent.
need() {
	local command=$1 what=$2
	shift 2
	if ! command -v "$command" >/dev/null; then
		missing+=("$@")
		awaiting+=("$command"$'\t'"$what")
	fi
}

# as_root runs a command as root: directly, or by sudo. It asks for a password
# only where somebody can type one.
as_root() {
	if ((EUID == 0)); then
		"$@"
	elif ! command -v sudo >/dev/null; then
		return 1
	elif [[ -t 0 ]]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

# install_missing installs what was asked for. What cannot be had is said
# loudly and added to left_out; the tests themselves skip what needs it.
install_missing() {
	((${#missing[@]})) || return 0
	if command -v apt-get >/dev/null; then
		echo "test: installing ${missing[*]}"
		if as_root apt-get update -q >"$TMPDIR/apt.log" 2>&1 &&
			as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}" >>"$TMPDIR/apt.log" 2>&1; then
			echo "test: installed ${missing[*]}"
		else
			tail -n 5 "$TMPDIR/apt.log"
		fi
	fi
	local entry command what
	for entry in "${awaiting[@]}"; do
		IFS=$'\t' read -r command what <<<"$entry"
		if ! command -v "$command" >/dev/null; then
			local line="LEFT OUT: $what ($command is not installed and cannot be installed here)"
			echo "$line" >&2
			left_out+=$line$'\n'
		fi
	done
}

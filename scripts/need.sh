# Programs other than Go that tests need. Sourced by test.sh, after steps.sh.
# shellcheck shell=bash

missing=()  # Debian packages to install
faster=()   # Debian packages to install that make tests faster
awaiting=() # "command<tab>purpose", searched again after the installation

# need COMMAND PURPOSE PACKAGE… requests the packages if the command is missing.
need() {
	local command=$1 what=$2
	shift 2
	if ! command -v "$command" >/dev/null; then
		missing+=("$@")
		awaiting+=("$command"$'\t'"$what")
	fi
}

# prefer COMMAND PACKAGE requests the package if the command is missing. Without it tests take
# longer.
prefer() { command -v "$1" >/dev/null || faster+=("$2"); }

# as_root runs a command as root, directly or with sudo. It asks for a password
# only if stdin is a terminal.
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

# install_missing prints the missing programs and their purpose, then installs
# them. Programs that are still missing are reported; tests that need them skip.
install_missing() {
	local entry command what
	for entry in "${awaiting[@]}"; do
		IFS=$'\t' read -r command what <<<"$entry"
		echo "$command is not installed; it is for $what"
	done
	if ((${#missing[@]} + ${#faster[@]} == 0)); then
		echo "nothing is missing"
	elif [[ ${INSTALL:-} == no ]]; then
		echo "INSTALL=no: nothing is installed"
	elif ! command -v apt-get >/dev/null; then
		echo "there is no apt-get to install it with"
	else
		apt_install
	fi
	for entry in "${awaiting[@]}"; do
		IFS=$'\t' read -r command what <<<"$entry"
		command -v "$command" >/dev/null || leave_out "$what ($command is not installed)"
	done
}

apt_install() {
	local log=$scratch/apt.log both=("${missing[@]}" "${faster[@]}")
	echo "going to install the Debian packages ${both[*]} as root (make test INSTALL=no installs nothing)"
	as_root apt-get update -q >"$log" 2>&1
	# A release without one of the latter still gets the former.
	apt_get_install "${missing[@]}"
	apt_get_install "${faster[@]}"
}

apt_get_install() {
	(($# > 0)) || return 0
	if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >>"$log" 2>&1; then
		echo "installed $*"
	else
		echo "$* could not be installed:"
		[[ ! -s $log ]] || tail -n 5 "$log"
	fi
}

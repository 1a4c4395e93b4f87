#!/bin/sh
# Installs askback for one user on Linux and macOS, without root:
#
#	curl -fsSL https://github.com/askback/askback/releases/latest/download/install.sh | sh
#
# Options follow "| sh -s --"; --help lists them. The SHA-256 of the archive is compared with the checksums
# of the release, and the program replaces an earlier one in one step. If anything fails, nothing is changed.

# The release that this copy belongs to. "make release" sets it.
released=''

usage() {
	cat <<END
Usage: install.sh [--version VERSION] [--prefix FOLDER] [--uninstall]

Install askback, its completions and its manual page.

  --version VERSION  the release (ASKBACK_VERSION). Default: ${released:-none, this copy is not from a release}
  --prefix FOLDER    the folder of bin and share (ASKBACK_PREFIX). Default: ~/.local
  --uninstall        remove what this script has installed in the folder

ASKBACK_RELEASES is the address of the releases. Default: https://github.com/askback/askback/releases
END
}

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# clean removes what was not finished. It runs at each exit.
# shellcheck disable=SC2317 # called by a trap
clean() {
	trap '' HUP INT TERM
	[ -n "$scratch" ] || return
	sort "$scratch/staged" 2>/dev/null | while read -r staged; do
		case $staged in # on a full disk, the last line may end early
		*/.askback.??????) rm -rf "$staged" ;;
		esac
	done
	sort -r "$scratch/folders" 2>/dev/null | while read -r folder; do
		rmdir "$folder" 2>/dev/null
	done
	rm -rf "$scratch"
}

main() {
	set -u
	export LC_ALL=C
	version=${ASKBACK_VERSION:-$released}
	prefix=${ASKBACK_PREFIX:-${HOME:+$HOME/.local}}
	releases=${ASKBACK_RELEASES:-https://github.com/askback/askback/releases}
	releases=${releases%/}
	action=install
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --prefix) [ $# -ge 2 ] || fail "$1 needs a value" ;;
		esac
		case $1 in
		--version) version=$2 && shift ;;
		--prefix) prefix=$2 && shift ;;
		--version=*) version=${1#*=} ;;
		--prefix=*) prefix=${1#*=} ;;
		--uninstall) action=uninstall ;;
		-h | --help) action=usage ;;
		*) fail "there is no option $1; --help lists the options" ;;
		esac
		shift
	done
	if [ "$action" = usage ]; then
		usage
		return
	fi
	[ -n "$prefix" ] || fail "HOME is not set: name a folder with --prefix"
	case $prefix in
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	prefix=${prefix%/}
	program=$prefix/bin/askback
	installed=$prefix/share/askback/installed
	if [ "$action" = uninstall ]; then
		uninstall
	else
		install
	fi
}

install() {
	[ -n "$version" ] || fail "this copy is not from a release: name a version with --version"
	version=${version#v}
	case $version in
	*[!0-9A-Za-z.+-]*) fail "\"$version\" is not a version such as 0.1.0" ;;
	esac
	find_platform
	scratch=''
	trap clean EXIT
	trap 'fail "interrupted; nothing was changed"' HUP INT TERM
	scratch=$(trap '' HUP INT TERM && mktemp -d "${TMPDIR:-/tmp}/askback.XXXXXX") ||
		fail "cannot make a folder in ${TMPDIR:-/tmp}; nothing was changed"
	{ true >"$scratch/staged" && true >"$scratch/folders"; } ||
		fail "cannot write to $scratch: is the disk full? Nothing was changed"

	archive=askback_${version}_$platform.tar.gz
	echo "Downloading $archive from $releases"
	fetch "askback_${version}_checksums.txt" checksums
	fetch "$archive" archive
	verify
	stage_all
	was='' # a program of another user is not run
	! is_own "$program" || was=$("$program" version 2>/dev/null </dev/null) || was=''
	commit
	report
}

# find_platform sets platform to the end of the name of the archive for this machine.
find_platform() {
	case $(uname -s) in
	Linux) platform=linux ;;
	Darwin) platform=darwin ;;
	MINGW* | MSYS* | CYGWIN* | Windows_NT)
		fail "on Windows, use Scoop, npm or the zip file of $releases/tag/v$version"
		;;
	*) fail "there is no program for $(uname -s), only for Linux, macOS and Windows; Go can build it" ;;
	esac
	machine=$(uname -m)
	# A shell under Rosetta reports the machine that Rosetta translates.
	if [ "$platform" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
		machine=arm64
	fi
	case $platform/$machine in
	*/x86_64 | */amd64) platform=${platform}_amd64 ;;
	*/aarch64 | */arm64) platform=${platform}_arm64 ;;
	linux/armv7* | linux/armv8l) platform=linux_armv7 ;;
	*) fail "there is no program for $machine, only for amd64 (x86_64), arm64 and, on Linux, armv7" ;;
	esac
}

# fetch downloads a file of the release. By https, it needs curl, because wget follows a redirect from https to http,
# even with --https-only. A mirror with http can do without curl.
fetch() {
	address=$releases/download/v$version/$1
	case $address in
	http:*) protocol='=http,https' ;;
	*) protocol='=https' ;;
	esac
	if command -v curl >/dev/null; then
		curl -fsSL --proto "$protocol" --connect-timeout 20 --speed-limit 1 --speed-time 60 \
			-o "$scratch/$2" "$address"
	elif [ "$protocol" = '=https' ]; then
		fail "curl is needed for the download; nothing was changed"
	elif command -v wget >/dev/null; then
		wget -q -t 2 -O "$scratch/$2" "$address" # no -T: the wget of some versions of busybox crashes with it
	else
		fail "curl or wget is needed for the download; nothing was changed"
	fi || fail "cannot download $address; nothing was changed"
}

# verify compares the archive with its line in the checksums, and looks at its names.
verify() {
	expected=''
	while read -r sum name; do
		[ "${name#\*}" != "$archive" ] || expected=$expected$sum
	done <"$scratch/checksums"
	case $expected in
	*[!0-9a-f]* | '') expected='' ;;
	esac
	[ ${#expected} -eq 64 ] ||
		fail "askback_${version}_checksums.txt has no SHA-256 of $archive: is a proxy in between? Nothing was changed"
	if command -v sha256sum >/dev/null; then
		actual=$(sha256sum <"$scratch/archive")
	elif command -v shasum >/dev/null; then
		actual=$(shasum -a 256 <"$scratch/archive")
	elif command -v openssl >/dev/null; then
		actual=$(openssl dgst -sha256 -r <"$scratch/archive")
	else
		fail "sha256sum, shasum or openssl is needed to verify the download; nothing was changed"
	fi
	actual=${actual%%[!0-9a-f]*}
	[ "$actual" = "$expected" ] ||
		fail "$archive is damaged or changed: its SHA-256 is $actual, not $expected. Nothing was changed"
	tar -tzf "$scratch/archive" >"$scratch/names" || fail "$archive cannot be unpacked; nothing was changed"
	if grep -qE '^/|(^|/)\.\.(/|$)' "$scratch/names"; then
		fail "$archive has a name that leads out of it; nothing was changed"
	fi
}

# stage_all writes each new file into a folder beside the place for which it is meant, on the same file system.
stage_all() {
	stage askback bin/askback 755
	answer=$("$temporary" version 2>&1 </dev/null) ||
		fail "the program does not run in $prefix/bin: $answer. Nothing was changed"
	case $answer in
	"askback v$version "*) ;;
	*) fail "$archive has another program: $answer. Nothing was changed" ;;
	esac
	stage share/askback.bash share/bash-completion/completions/askback 644
	stage share/askback.fish share/fish/vendor_completions.d/askback.fish 644
	stage share/askback.zsh share/zsh/site-functions/_askback 644
	stage share/askback.1 share/man/man1/askback.1 644
	stage_list
}

# stage writes the file $1 of the archive beside its place $2 with the mode $3.
stage() {
	begin "$prefix/$2"
	{ tar -xzOf "$scratch/archive" "$1" >"$temporary" && [ -s "$temporary" ] && chmod "$3" "$temporary"; } ||
		fail "cannot write $1 of $archive to $prefix/${2%/*}: is the disk full? Nothing was changed"
}

# stage_list writes the list of folders that this installation and earlier ones have made, for --uninstall.
stage_list() {
	begin "$installed"
	{
		echo "Folders that install.sh of askback has made. It removes them with --uninstall."
		while read -r folder; do
			case $folder in
			"$prefix"*) echo "prefix${folder#"$prefix"}" ;;
			esac
		done <"$scratch/folders"
		! is_own "$installed" || grep '^prefix' "$installed"
	} >"$scratch/list"
	{ cat "$scratch/list" >"$temporary" && [ -s "$temporary" ]; } ||
		fail "cannot write $installed: is the disk full? Nothing was changed"
}

# begin makes the folder of the file $1, and in it a folder that only this user can write: in a prefix that others can
# write, a link under a known name could lead anywhere. It sets temporary to the name of the file there.
begin() {
	[ ! -d "$1" ] || fail "$1 is a folder; nothing was changed"
	make_folder "${1%/*}"
	(trap '' HUP INT TERM && mktemp -d "${1%/*}/.askback.XXXXXX" >>"$scratch/staged") ||
		fail "cannot write to ${1%/*}; nothing was changed"
	temporary=$(sed -n '$p' "$scratch/staged")/${1##*/}
}

make_folder() {
	[ ! -d "$1" ] || return 0
	make_folder "${1%/*}"
	mkdir "$1" || fail "cannot make the folder $1; nothing was changed"
	echo "$1" >>"$scratch/folders"
}

# commit renames the new files, the program last.
commit() {
	trap '' HUP INT TERM
	sort -r "$scratch/staged" >"$scratch/order"
	while read -r staged; do
		mv -f "$staged"/* "${staged%/*}/" || fail "cannot write to ${staged%/*}"
	done <"$scratch/order"
}

report() {
	echo "Installed $program ($version)"
	case $was in
	'' | "$answer") ;;
	*) echo "It replaces ${was#askback }. A running askback serve is the earlier version until you restart it." ;;
	esac
	first=$(command -v askback) || first=''
	case $first in
	"$program") ;;
	'')
		echo
		echo "Put it into PATH, in this terminal and in the profile of your shell:"
		path_line
		;;
	*) echo "PATH leads to another askback first: $first" ;;
	esac
	case ${SHELL:-} in
	*/zsh)
		echo
		echo "For completions, write into ~/.zshrc, after compinit:"
		echo "    source <(askback completion zsh)"
		;;
	esac
	echo
	echo "Ask a first question:"
	echo "    askback ask \"Which database should we use?\" PostgreSQL SQLite"
}

path_line() {
	case ${SHELL:-}/$prefix in
	*/fish/*) echo "    fish_add_path $prefix/bin" ;;
	*/"${HOME:-none}/.local") echo "    export PATH=\"\$HOME/.local/bin:\$PATH\"" ;;
	*) echo "    export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
}

# uninstall removes the files that install writes, under their fixed names. Without the list of install, it removes
# nothing: the files are of another package. From the list it learns which folders were made, and no other path.
uninstall() {
	[ -f "$installed" ] || fail "there is nothing to remove: this script has not installed askback in $prefix"
	is_own "$installed" || fail "another user has installed askback in $prefix: uninstall it as this user"
	state=${XDG_STATE_HOME:-${HOME:-}/.local/state}/askback
	[ ! -f "$state/init.json" ] ||
		fail "agents are set up to call askback: run \"askback init --remove\" first, or delete $state/init.json"
	made=$(cat "$installed") || fail "cannot read $installed"
	for name in bin/askback share/bash-completion/completions/askback \
		share/fish/vendor_completions.d/askback.fish share/zsh/site-functions/_askback \
		share/man/man1/askback.1 share/askback/installed; do
		rm -f "$prefix/$name" || fail "cannot remove $prefix/$name; correct this, and try again"
		folder=/$name
		while [ -n "$folder" ]; do
			folder=${folder%/*}
			! echo "$made" | grep -qxF "prefix$folder" ||
				rmdir "$prefix$folder" 2>/dev/null || break # other files are in it
		done
	done
	echo "Removed askback from $prefix"
	[ ! -d "$state" ] || echo "Questions and tokens stay in $state. To remove them, delete this folder."
}

# is_own reports whether a file is a regular file of this user.
is_own() {
	[ -n "$(find "$1" -prune -type f -user "$(id -u)" 2>/dev/null)" ]
}

# All of the script is read before this line runs: an incomplete download does nothing.
{
	main "$@"
	exit
}

#!/bin/sh
# Stops the server before the package is removed. During an upgrade it runs until postinstall.sh.
set -e

case ${1-} in
remove | 0) ;; # deb, rpm
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl --quiet disable --now askback.service || :
fi

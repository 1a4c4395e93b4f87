#!/bin/sh
# Says where the data is after the package has been removed. No package deletes it, because it cannot be restored.
set -e

case ${1-} in
remove | purge | 0) ;; # deb, rpm
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ -e /var/lib/askback/askback.db ]; then
	echo "askback: the asks and answers in /var/lib/askback are kept; to delete them: rm -r /var/lib/askback"
fi

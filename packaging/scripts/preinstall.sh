#!/bin/sh
# Adds the user of the server, before files that belong to it are unpacked. sysusers.conf has the same user.
set -e

if getent passwd askback >/dev/null; then
	exit 0
fi
if command -v useradd >/dev/null; then
	useradd --system --user-group --no-create-home --home-dir /var/lib/askback --shell /usr/sbin/nologin \
		--comment Askback askback
else # Alpine
	addgroup -S askback
	adduser -S -D -H -h /var/lib/askback -s /sbin/nologin -G askback -g Askback askback
fi

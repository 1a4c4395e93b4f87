#!/bin/sh
# Restarts the server if it runs. A new installation starts nothing: many people only need the commands.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# If the server does not start, its log has the reason. The package is installed all the same.
	systemctl try-restart askback.service || :
fi

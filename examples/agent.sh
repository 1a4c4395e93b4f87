#!/usr/bin/env bash
# An agent that asks and stops. Start it again, and it continues with the answer.
#
#   ASKBACK_URL=http://127.0.0.1:7575 ASKBACK_TOKEN=askback_... bash agent.sh RUN
set -euo pipefail

run=$1    # the name of this run (letters, digits, dashes): start again with the same name to continue it
paused=75 # the exit code that asks to be started again

call() { # METHOD PATH [BODY]
	# The token goes through a pipe: all users can see the arguments of a program.
	printf 'header = "Authorization: Bearer %s"\n' "$ASKBACK_TOKEN" | curl -K - -sS --fail-with-body -X "$1" \
		-H 'Content-Type: application/json' ${3:+--data "$3"} "$ASKBACK_URL/api/v1$2"
}

# find prints the first match, which is enough for the ids and labels used here.
find() { grep -o "$1" <<<"$2" | head -n 1; }

# Both calls are safe to repeat: the same names are the same session and the same ask.
session=$(find 'ses_[0-9a-z]*' "$(call POST /sessions '{"external": true, "session_key": "'"$run"'",
	"title": "Write a poem"}')")
ask=$(call POST '/asks?wait=1s' '{"session_key": "'"$run"'", "key": "'"$run"'/style",
	"question": "What style?", "options": ["haiku", "sonnet"], "allow_custom": false}')
case $(find '"status":"[a-z]*"' "$ask") in
*pending*)
	echo "waiting for a person: $(find '"page_url":"[^"]*"' "$ask" | cut -d '"' -f 4)"
	exit "$paused"
	;;
*answered*) style=$(find '"selected":\["[^"]*"' "$ask" | cut -d '"' -f 4) ;;
*)
	call POST "/sessions/$session/complete" '{"status": "failed", "error": "no style was chosen"}' >/dev/null
	echo "no style was chosen" >&2
	exit 1
	;;
esac

# A model would read:
call GET "/sessions/$session/resume-context"
call POST "/sessions/$session/complete" '{"status": "completed", "result": {"poem": "A '"$style"'."}}' >/dev/null
echo "done: $style"

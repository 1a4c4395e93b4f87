#!/usr/bin/env python3
"""An agent that asks and stops. Start it again, and it continues with the answer.

    ASKBACK_URL=http://127.0.0.1:7575 ASKBACK_TOKEN=askback_... python3 agent.py RUN
"""
import json, os, sys, urllib.request

URL = os.environ["ASKBACK_URL"] + "/api/v1"
RUN = sys.argv[1]  # the name of this run: start again with the same name to continue it
PAUSED = 75        # the exit code that asks to be started again


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, method=method, headers={
        "Authorization": "Bearer " + os.environ["ASKBACK_TOKEN"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        text = reply.read().decode()
        return text if reply.headers.get_content_type() == "text/plain" else json.loads(text)


# Both calls are safe to repeat: the same names are the same session and the same ask.
session = call("POST", "/sessions", {"external": True, "session_key": RUN, "title": "Write a poem"})
ask = call("POST", "/asks?wait=1s", {
    "session_key": RUN, "key": RUN + "/style", "question": "What style?", "options": ["haiku", "sonnet"]})
if ask["status"] == "pending":
    print("waiting for a person:", ask["page_url"])
    sys.exit(PAUSED)

# A person answered or declined the question, or it was withdrawn. A model would read:
print(call("GET", f"/sessions/{session['id']}/resume-context"))
answers = (ask["outcome"] or {}).get("answers") or []
if ask["status"] != "answered" or not answers:
    call("POST", f"/sessions/{session['id']}/complete", {"status": "failed", "error": "no style was chosen"})
    sys.exit("no style was chosen")
style = answers[0]["other"] or answers[0]["selected"][0]
call("POST", f"/sessions/{session['id']}/complete", {"status": "completed", "result": {"poem": f"A {style}."}})
print("done:", style)

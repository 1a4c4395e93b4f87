"""Makes one call of the package, and prints its result as JSON. A test controls it.

The first argument is "sync" or "async": which client makes the call.
"""

import asyncio
import inspect
import json
import sys

import askback
from askback import Askback, AsyncAskback

mode, command = sys.argv[1], json.loads(sys.argv[2])
request = command["request"]
wait = {"wait": command["waitMs"] / 1000} if "waitMs" in command else {}


async def done(result):
    return await result if inspect.isawaitable(result) else result


async def run():
    if command["call"] == "canonical":
        return {"canonical": [askback.canonical(v) for v in request]}
    patience = {"patience": command["patienceMs"] / 1000} if "patienceMs" in command else {}
    client = (Askback if mode == "sync" else AsyncAskback)(defaults={"session_key": "run-1"}, **patience)
    match command["call"]:
        case "ask":
            a = await done(client.ask(**request, **wait))
            return {"text": a.text, "answers": a.answers, "defaultApplied": a.default_applied}
        case "confirm":
            d = await done(client.confirm(**request, **wait))
            return {
                "approved": d.approved,
                "input": d.input,
                "edited": d.edited,
                "reason": d.reason,
                "message": d.message,
            }
        case "spend":
            d = await done(client.decide(**request, **wait))
            await done(d.spend(command["input"]))
            return {"approved": d.approved, "input": command["input"]}
        case "cancel":
            return {"status": (await done(client.cancel(await done(client.open(**request)), "not needed")))["status"]}


try:
    result = asyncio.run(run())
except askback.AskbackError as err:
    result = {"error": type(err).__name__, "message": str(err)}
    result |= {name: getattr(err, name) for name in ("pointer", "status", "reason") if hasattr(err, name)}
print(json.dumps(result, ensure_ascii=False))

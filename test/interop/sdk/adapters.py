"""Calls the adapter of a framework with objects as the framework has them, because it cannot be
installed here. It prints what the framework would do."""

import asyncio
import json
import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace as Object

from askback import Askback, AsyncAskback

INPUT = {"to": "prod"}


def pydantic_ai():
    @dataclass
    class ToolApproved:
        override_args: dict | None = None

    @dataclass
    class ToolDenied:
        message: str

    framework = sys.modules["pydantic_ai"] = ModuleType("pydantic_ai")
    framework.ToolApproved, framework.ToolDenied = ToolApproved, ToolDenied
    from askback.pydantic_ai import approvals

    part = Object(tool_name="deploy", tool_call_id="call-1", args_as_dict=lambda: INPUT)
    got = asyncio.run(approvals(AsyncAskback(), Object(approvals=[part]), "run"))["call-1"]
    if isinstance(got, ToolDenied):
        return None, got.message
    return got.override_args or INPUT, ""


def langchain():
    from askback.langchain import resume

    value = {
        "action_requests": [{"name": "deploy", "args": INPUT, "description": "Deploy the shop"}],
        "review_configs": [{"action_name": "deploy", "allowed_decisions": ["approve", "edit", "reject"]}],
    }
    (decision,) = resume(Askback(), {"__interrupt__": [Object(id="i-1", value=value)]}, "run")["i-1"]["decisions"]
    match decision:
        case {"type": "approve"}:
            return INPUT, ""
        case {"type": "edit", "edited_action": {"name": "deploy", "args": args}}:
            return args, ""
        case {"type": "reject", "message": message}:
            return None, message


def langchain_question():
    """Prints the result of a tool that only a person can answer."""
    from askback.langchain import resume

    value = {
        "action_requests": [
            {"name": "ask_user", "args": {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}},
            {"name": "deploy", "args": INPUT},
        ],
        "review_configs": [
            {"action_name": "ask_user", "allowed_decisions": ["respond"]},
            {"action_name": "deploy", "allowed_decisions": ["approve", "reject"]},
        ],
    }
    asked, called = resume(Askback(), {"__interrupt__": [Object(id="i-1", value=value)]}, "run")["i-1"]["decisions"]
    assert asked["type"] == "respond", asked
    return (INPUT if called["type"] == "approve" else None), asked["message"]


def openai_agents():
    from askback.openai_agents import settle

    class State:
        done = None, "neither approved nor rejected"

        def approve(self, item):
            self.done = INPUT, ""

        def reject(self, item, always_reject=False, *, rejection_message=None):
            self.done = None, rejection_message

    state = State()
    item = Object(raw_item=Object(name="deploy", arguments=json.dumps(INPUT), call_id="call-1", type="function_call"))
    asyncio.run(settle(AsyncAskback(), state, [item], "run"))
    return state.done


def crewai():
    from askback.crewai import gate

    context = Object(tool_name="deploy", tool_input=dict(INPUT))
    hook = gate(Askback(patience=1), "run", ["deploy"])
    assert hook(Object(tool_name="read", tool_input={})) is None
    return (None, "blocked") if hook(context) is False else (context.tool_input, "")


def google_adk():
    from askback.google_adk import responses

    original = {"id": "call-1", "name": "deploy", "args": INPUT}
    call = Object(id="adk-1", name="adk_request_confirmation", args={"originalFunctionCall": original})
    (got,) = asyncio.run(responses(AsyncAskback(), [Object(get_function_calls=lambda: [call])], "run"))
    assert (got["id"], got["name"]) == ("adk-1", "adk_request_confirmation")
    return (INPUT, "") if got["response"]["confirmed"] is True else (None, "not confirmed")


def agent_framework():
    from askback.agent_framework import approvals

    call = Object(name="deploy", arguments=json.dumps(INPUT), call_id="call-1")
    request = Object(function_call=call, to_function_approval_response=lambda approved: Object(approved=approved))
    (got,) = asyncio.run(approvals(AsyncAskback(), Object(user_input_requests=[request]), "run"))
    return (INPUT, "") if got.approved is True else (None, "not approved")


ran, message = globals()[sys.argv[1]]()
print(json.dumps({"ran": [] if ran is None else [ran], "text": message}))

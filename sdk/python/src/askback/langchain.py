"""For LangChain 1.0 or newer: interrupts of HumanInTheLoopMiddleware."""

from __future__ import annotations

from typing import Any, Mapping

from ._client import Askback
from ._verdict import ToolCall, Verdict, call_key, verdicts
from ._wire import ConfirmFields


def resume(askback: Askback, result: Mapping[str, Any], run: str, wait: float | None = None) -> dict[str, Any]:
    """Ask people about the interrupts of a result, and return the value for Command(resume=…).

    It uses the approvals, so resume the agent immediately. run is your name for the run, such as the
    thread_id.
    """
    calls: list[ToolCall] = []
    groups: list[tuple[str, list[Mapping[str, Any]]]] = []
    for interrupt in result.get("__interrupt__") or ():
        groups.append((interrupt.id, interrupt.value["action_requests"]))
        for i, action in enumerate(interrupt.value["action_requests"]):
            allowed = [
                decision
                for config in interrupt.value["review_configs"]
                if config["action_name"] == action["name"]
                for decision in config["allowed_decisions"]
            ]
            fields: ConfirmFields = {} if "edit" in allowed else {"no_edit": True}
            if action.get("description"):
                fields["description"] = action["description"]
            calls.append(ToolCall(action["name"], action["args"], call_key(run, f"{interrupt.id}/{i}"), fields))
    decided = iter(verdicts(askback, calls, wait))
    return {
        id: {"decisions": [_decision(action["name"], next(decided)) for action in actions]} for id, actions in groups
    }


def _decision(name: str, v: Verdict) -> dict[str, Any]:
    if not v.approved:
        return {"type": "reject", "message": v.message}
    return {"type": "edit", "edited_action": {"name": name, "args": dict(v.input)}} if v.edited else {"type": "approve"}

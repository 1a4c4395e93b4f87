"""For Google's Agent Development Kit: tools with require_confirmation."""

from __future__ import annotations

from typing import Any, Sequence

from ._client import AsyncAskback
from ._verdict import ToolCall, averdicts, call_key

CONFIRMATION = "adk_request_confirmation"


async def responses(
    askback: AsyncAskback, events: Sequence[Any], run: str, wait: float | None = None
) -> list[dict[str, Any]]:
    """Ask people about the confirmations that events request, and return the arguments of a FunctionResponse for each.

    It uses the approvals, so send the responses immediately, as the next message.
    """
    asked = [c for event in events for c in event.get_function_calls() if c.name == CONFIRMATION]
    calls = []
    for c in asked:
        call = c.args["originalFunctionCall"]
        calls.append(ToolCall(call["name"], dict(call.get("args") or {}), call_key(run, call.get("id"))))
    decided = await averdicts(askback, calls, wait)
    return [{"id": c.id, "name": CONFIRMATION, "response": {"confirmed": v.approved}} for c, v in zip(asked, decided)]

"""For Pydantic AI: tools with requires_approval=True, and the output DeferredToolRequests."""

from __future__ import annotations

import importlib
from typing import Any

from ._client import AsyncAskback
from ._verdict import ToolCall, averdicts, call_key


async def approvals(askback: AsyncAskback, requests: Any, run: str, wait: float | None = None) -> dict[str, Any]:
    """Ask people about deferred calls, and return the approvals for DeferredToolResults.

    It uses the approvals, so run the agent with them immediately.
    """
    framework = importlib.import_module("pydantic_ai")  # not needed by the other adapters
    calls = [ToolCall(p.tool_name, p.args_as_dict(), call_key(run, p.tool_call_id), {}) for p in requests.approvals]
    results = {}
    for part, v in zip(requests.approvals, await averdicts(askback, calls, wait)):
        approved = framework.ToolApproved(override_args=dict(v.input)) if v.edited else framework.ToolApproved()
        results[part.tool_call_id] = approved if v.approved else framework.ToolDenied(v.message)
    return results

"""For Microsoft Agent Framework: tools with approval_mode="always_require"."""

from __future__ import annotations

from typing import Any

from ._client import AsyncAskback
from ._verdict import ToolCall, arguments, averdicts, call_key


async def approvals(askback: AsyncAskback, response: Any, run: str, wait: float | None = None) -> list[Any]:
    """Ask people about the calls that a response requests, and return the contents of the next message of the user.

    It uses the approvals, so run the agent with them immediately.
    """
    requests = list(response.user_input_requests)
    calls = [
        ToolCall(f.name, arguments(f.arguments), call_key(run, f.call_id)) for f in (r.function_call for r in requests)
    ]
    contents = []
    for request, v in zip(requests, await averdicts(askback, calls, wait)):
        reply = getattr(request, "to_function_approval_response", None) or request.create_response  # the older name
        contents.append(reply(v.approved))
    return contents

"""For the OpenAI Agents SDK: tools with needs_approval."""

from __future__ import annotations

import inspect
from typing import Any, Mapping, Sequence

from ._client import AsyncAskback
from ._verdict import ToolCall, arguments, averdicts, call_key


async def settle(
    askback: AsyncAskback, state: Any, interruptions: Sequence[Any], run: str, wait: float | None = None
) -> None:
    """Ask people about interruptions, and settle them in a state.

    It uses the approvals, so run the agent with the state immediately.
    """
    calls = []
    for item in interruptions:
        raw = item.raw_item if isinstance(item.raw_item, Mapping) else vars(item.raw_item)
        calls.append(ToolCall(raw["name"], arguments(raw.get("arguments")), call_key(run, raw.get("call_id"))))
    says_why = "rejection_message" in inspect.signature(state.reject).parameters  # newer versions
    for item, v in zip(interruptions, await averdicts(askback, calls, wait)):
        if v.approved:
            state.approve(item)
        elif says_why:
            state.reject(item, rejection_message=v.message)
        else:
            state.reject(item)

"""For CrewAI: a hook for before_tool_call. CrewAI does not pause, so the hook waits."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, Callable, Collection

from ._client import Askback
from ._digest import digest
from ._verdict import ToolCall, verdicts

_log = logging.getLogger(__name__)


def gate(askback: Askback, run: str, tools: Collection[str]) -> Callable[[Any], bool | None]:
    """Return a hook that lets the named tools run only after an approval.

    A call has no id in CrewAI. So its key is run, the tool, the arguments, and the number of times that the same
    call was made before.
    """
    made: Counter[str] = Counter()

    def before_tool_call(context: Any) -> bool | None:
        if context.tool_name not in tools:
            return None
        try:
            same = digest("", None, context.tool_name, context.tool_input)
            made[same] += 1
            call = ToolCall(context.tool_name, dict(context.tool_input), f"{run}/{same}/{made[same]}", {})
            (v,) = verdicts(askback, [call])
        except Exception as err:  # CrewAI would run the tool after an error of a hook
            _log.error("%s was not approved: %s", context.tool_name, err)
            return False
        if v.approved and v.edited:
            context.tool_input.clear()
            context.tool_input.update(v.input)
        return None if v.approved else False

    return before_tool_call

"""Decisions as frameworks need them: every outcome except an approval is a denial, with its reason."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from ._client import Askback, AsyncAskback
from ._errors import BOUNDARY, AskbackError, ConsumedError, DigestError, InvalidError, NotAnsweredError
from ._wire import ConfirmFields, Input


@dataclass
class ToolCall:
    """A call of a framework that needs an approval."""

    name: str
    input: Input
    key: str
    fields: ConfirmFields = field(default_factory=lambda: ConfirmFields(no_edit=True))

    def all_fields(self) -> ConfirmFields:
        fields = self.fields.copy()
        fields["key"] = self.key
        return fields


@dataclass
class Verdict:
    """A decision: the arguments to run, and the text for a model."""

    approved: bool
    message: str
    input: Mapping[str, Any] = field(default_factory=dict)
    edited: bool = False


_DENIES = (NotAnsweredError, ConsumedError, DigestError, InvalidError)


def _denied(err: AskbackError) -> Verdict:
    if isinstance(err, ConsumedError):
        return Verdict(
            False,
            "This approval was used before, so the call may have run already. "
            "Check that first; then it can be asked again.",
        )
    return Verdict(False, f"Not approved: {BOUNDARY}. {err}")


def verdicts(askback: Askback, calls: Sequence[ToolCall], wait: float | None = None) -> list[Verdict]:
    """Ask about all calls together, wait for all decisions, and use the approvals. Run the calls immediately.

    An ask without an answer, a used approval and an invalid request are denials. All other errors
    are raised: they are no decision.
    """
    for call in calls if len(calls) > 1 else ():
        try:
            askback.open_confirmation(call.name, call.input, **call.all_fields())
        except _DENIES:
            pass  # decide raises it again
    return [_each(askback, call, spend, wait) for spend in (False, True) for call in calls][len(calls) :]


def _each(askback: Askback, call: ToolCall, spend: bool, wait: float | None) -> Verdict:
    ask = askback.confirm if spend else askback.decide
    try:
        d = ask(call.name, call.input, wait=wait, **call.all_fields())
    except _DENIES as err:
        return _denied(err)
    return Verdict(d.approved, d.message, d.input, d.edited)


async def averdicts(askback: AsyncAskback, calls: Sequence[ToolCall], wait: float | None = None) -> list[Verdict]:
    """Return the decisions as verdicts does, for asyncio."""
    await asyncio.gather(*(_aeach(askback, call, False, wait) for call in calls))
    return await asyncio.gather(*(_aeach(askback, call, True, wait) for call in calls))


async def _aeach(askback: AsyncAskback, call: ToolCall, spend: bool, wait: float | None) -> Verdict:
    ask = askback.confirm if spend else askback.decide
    try:
        d = await ask(call.name, call.input, wait=wait, **call.all_fields())
    except _DENIES as err:
        return _denied(err)
    return Verdict(d.approved, d.message, d.input, d.edited)


def call_key(run: str, call: str | None) -> str:
    """Return the name of a call within a run, which makes sure that it is asked once."""
    if not call:
        raise ValueError("the call has no id, so its ask would have no key")
    return f"{run}/{call}"


def arguments(raw: Any) -> dict[str, Any]:
    """Return the arguments of a call, which may be JSON in a text."""
    value = json.loads(raw or "{}") if isinstance(raw, str) else raw or {}
    if not isinstance(value, Mapping):
        raise AskbackError("the arguments of the call are not an object")
    return dict(value)

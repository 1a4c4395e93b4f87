from __future__ import annotations

import json
from typing import Any, Mapping, cast

from ._wire import Ask, Mistake


class AskbackError(Exception):
    """The base of all errors of this package. None of them is an approval."""


class UnreachableError(AskbackError):
    """The server cannot be reached, or its reply cannot be read."""


class PendingError(AskbackError):
    """The wait ended before a person answered. The ask stays open: wait again with the same key."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(f"{ask['id']} is still open: no person has answered yet ({ask.get('page_url')})")
        self.ask = ask


class NotAnsweredError(AskbackError):
    """The ask ended without an answer: it was declined or cancelled, or it expired."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(_not_answered(ask))
        outcome = ask.get("outcome")
        self.ask = ask
        self.status: str = ask["status"]
        self.reason: str | None = outcome.get("reason") if outcome else None


def _not_answered(ask: Ask) -> str:
    outcome = cast("Mapping[str, Any]", ask.get("outcome") or {})
    by = outcome.get("by") or {}
    kind = by.get("kind")
    name = "An operator" if kind == "operator" else "A person"
    if kind == "person" and by.get("name"):
        name = quoted(by["name"])
    reason = f" Reason: {quoted(outcome['reason'])}." if outcome.get("reason") and kind != "timer" else ""
    cancelled = {
        "agent": "The agent withdrew this request before it was answered.",
        "timer": "The session of this request failed before it was answered.",
    }
    unreached = kind == "timer" and outcome.get("reason") == "no one could be reached in time"
    what = {
        "declined": f"{name} declined to answer.",
        "cancelled": cancelled.get(str(kind), f"{name} cancelled this request before it was answered."),
        "expired": "No one could be reached: no message about this request was delivered before the deadline."
        if unreached
        else "There was no answer in time: the deadline passed.",
    }.get(ask["status"], f"The ask ended without an answer, with the status {quoted(ask['status'])}.")
    return f"{what}{reason} This is not consent{': ' + BOUNDARY if ask.get('confirmation') else ''}."


BOUNDARY = "do not do this, and do not reach the same end in another way, such as with another tool or command"


def quoted(text: str) -> str:
    """Return a text in quotes, on one line."""
    return json.dumps(text, ensure_ascii=False)


class ProblemError(AskbackError):
    """The server rejected the request. The message is from the server.

    type is the last word of the problem's type, such as "invalid"; errors has all mistakes.
    """

    def __init__(self, status: int, type: str, detail: str, errors: list[Mistake], retry_after: float | None) -> None:
        super().__init__(detail)
        self.status = status
        self.type = type
        self.errors = errors
        self.retry_after = retry_after

    @property
    def pointer(self) -> str | None:
        """The place of the first mistake (RFC 6901), or None."""
        return self.errors[0]["pointer"] if self.errors else None


class InvalidError(ProblemError):
    """The request has invalid values, at the places in errors."""


class AccessError(ProblemError):
    """The token is unknown, expired or revoked, or must not do this."""


class KeyReusedError(ProblemError):
    """The key was used for another request."""


class ConsumedError(ProblemError):
    """The approval was used before.

    The call may have run then: do not run it now. To run it again, ask with another key.
    """


class DigestError(ProblemError):
    """The arguments differ from the approved arguments: do not run the call."""


_CLASSES: dict[str, type[ProblemError]] = {
    "invalid": InvalidError,
    "unauthorized": AccessError,
    "forbidden": AccessError,
    "key-reused": KeyReusedError,
    "consumed": ConsumedError,
    "digest": DigestError,
}


def problem_error(status: int, body: object, retry_after: str | None) -> ProblemError:
    """Return the error for a reply."""
    b: Mapping[str, Any] = body if isinstance(body, dict) else {}
    type = str(b.get("type") or "unknown").removeprefix("urn:askback:problem:")
    detail = b.get("detail")
    errors = b.get("errors")
    return _CLASSES.get(type, ProblemError)(
        status,
        type,
        detail if isinstance(detail, str) else f"the server replied with status {status}",
        errors if isinstance(errors, list) else [],
        float(retry_after) if retry_after and retry_after.isdigit() else None,
    )

"""The steps of the clients, without input and output.

A flow is a generator. It yields a Call, and gets the reply or an UnreachableError; or it yields a
Pause. So the blocking client and the client for asyncio share all steps.
"""

from __future__ import annotations

import json
import math
import random
import uuid
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generator, Mapping, TypeVar, Union, cast
from urllib.parse import quote

from ._digest import canonical, digest
from ._errors import (
    BOUNDARY,
    AskbackError,
    NotAnsweredError,
    PendingError,
    ProblemError,
    UnreachableError,
    problem_error,
)
from ._wire import CONFIRMATION_FIELDS, Ask, Input

# How long a reply may take in addition to the time that the server was asked to wait, in seconds.
REPLY_TIME = 30.0

# How long one poll waits, in seconds: shorter than the usual time-outs of proxies.
POLL_TIME = 50.0

# Statuses after which the same request may succeed.
_TRANSIENT = {408, 429, 502, 503, 504}


@dataclass
class Call:
    """One request. The server may wait as long as wait, and take limit in addition."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    key: str | None = None
    wait: float | None = None
    limit: float = REPLY_TIME

    def timeout(self) -> float:
        return self.limit + (self.wait or 0)

    def target(self) -> str:
        return self.path if self.wait is None else f"{self.path}?wait={math.ceil(self.wait)}"

    def headers(self, token: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        return headers

    def data(self) -> bytes | None:
        return None if self.body is None else canonical(self.body).encode()


@dataclass
class Pause:
    seconds: float


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


T = TypeVar("T")
Flow = Generator[Union[Call, Pause], Union[Reply, UnreachableError, None], T]


def repeat(call: Call, patience: float) -> Flow[object]:
    """Send a request until it gets a reply, for at most patience seconds."""
    end = monotonic() + patience
    failures = 0
    while True:
        reply = yield call
        result = _read(reply)
        if not isinstance(result, AskbackError):
            return result
        pause = _pause_after(result, failures)
        if pause is None or monotonic() + pause > end:
            raise result
        yield Pause(pause)
        failures += 1


def _read(reply: Reply | UnreachableError | None) -> object:
    """Return the JSON of a reply, or raise its error."""
    if not isinstance(reply, Reply):
        return reply
    body: object = None
    unread: Exception | None = None
    try:
        body = json.loads(reply.body)
    except (ValueError, RecursionError) as err:  # a proxy replied, or the reply was cut off
        unread = err
    if not 200 <= reply.status < 300:
        return problem_error(reply.status, body, reply.headers.get("Retry-After"))
    if unread is not None:
        return UnreachableError(f"the reply with status {reply.status} is not JSON")
    return body


def _pause_after(err: AskbackError, failures: int) -> float | None:
    """Return the pause before a request is repeated, or None if it must not be repeated."""
    backoff = min(2.0, 0.1 * 2 ** min(failures, 10)) * random.uniform(0.75, 1.25)
    if isinstance(err, ProblemError):
        return max(backoff, err.retry_after or 0) if err.status in _TRANSIENT else None
    return backoff if isinstance(err, UnreachableError) else None


def create(body: Mapping[str, Any], patience: float) -> Flow[Ask]:
    """Open an ask. A request without a key gets one, so that it can be repeated."""
    key = None if "key" in body else str(uuid.uuid4())
    return as_ask((yield from repeat(Call("POST", "/asks", body, key), patience)))


def confirmation(tool_name: str, input: Input | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request for an approval."""
    call = {"tool_name": tool_name, "input": dict(input or {})}
    call.update((name, fields[name]) for name in CONFIRMATION_FIELDS if name in fields)
    body: dict[str, Any] = {name: value for name, value in fields.items() if name not in CONFIRMATION_FIELDS}
    return {**body, "confirmation": call}


def get(id: str, patience: float) -> Flow[Ask]:
    return as_ask((yield from repeat(Call("GET", _path(id)), patience)), id)


def cancel(id: str, reason: str | None, patience: float) -> Flow[Ask]:
    body = {} if reason is None else {"reason": reason}
    return as_ask((yield from repeat(Call("POST", _path(id, "/cancel"), body), patience)), id)


def wait_for(ask: Ask, wait: float | None) -> Flow[Ask]:
    """Wait until an ask is settled, also through restarts of the server."""
    end = math.inf if wait is None else monotonic() + wait
    early = 0
    while ask["status"] == "pending":
        left = end - monotonic()
        if left <= 0:
            raise PendingError(ask)
        begun = monotonic()
        ask = yield from _poll(ask, left)
        early = early + 1 if monotonic() - begun < 1 else 0
        if early and ask["status"] == "pending":  # the reply came without waiting
            yield Pause(max(0.0, min(2.0, 0.05 * 2 ** min(early, 10), end - monotonic())))
    return ask


def _poll(last: Ask, left: float) -> Flow[Ask]:
    """Poll once. While the server is away, repeat the poll, at most until the wait ends."""
    id, seconds = last["id"], max(1.0, min(POLL_TIME, left))
    call = Call("GET", _path(id), wait=math.ceil(seconds), limit=min(REPLY_TIME, left + 2))
    try:
        return as_ask((yield from repeat(call, left)), id)
    except UnreachableError:
        if left == math.inf:
            raise
        raise PendingError(last) from None


def ack(ask: Ask) -> Flow[None]:
    """Record that the agent has the outcome. It is shown to people, and nothing depends on it."""
    if ask.get("acked_at") is None:
        yield Call("POST", _path(ask["id"], "/ack"), {})


def consume(ask: Ask, input: Input, patience: float) -> Flow[None]:
    """Use an approval for a call with the given arguments."""
    call = ask.get("confirmation") or {}
    body = {"digest": digest(ask["agent"], call.get("server"), call.get("tool_name", ""), input)}
    as_ask((yield from repeat(Call("POST", _path(ask["id"], "/consume"), body), patience)), ask["id"])


class Answered:
    """The answer of a person to the questions of an ask."""

    def __init__(self, ask: Ask) -> None:
        outcome = ask.get("outcome")
        defaulted = outcome is not None and outcome["status"] == "expired" and outcome.get("default_applied") is True
        if outcome is None or ask["kind"] != "questions" or not (outcome["status"] == "answered" or defaulted):
            raise NotAnsweredError(ask)
        self.ask = ask
        self.outcome = outcome

    @property
    def answers(self) -> dict[str, str | list[str] | None]:
        """The answers by the texts of the questions.

        An answer is a label or a text, a list for a multi-select, or None if there is none.
        """
        multi = {q["id"]: bool(q.get("multiSelect")) for q in self.ask["questions"]}
        answers: dict[str, str | list[str] | None] = {}
        for a in self.outcome["answers"]:
            values = _values(a)
            answers[a["question"]] = values if multi.get(a["id"]) else values[0] if values else None
        return answers

    @property
    def text(self) -> str:
        """The answer to the first question as a text, or "" if there is none."""
        answers = self.outcome["answers"]
        return ", ".join(_values(answers[0])) if answers else ""

    @property
    def default_applied(self) -> bool:
        """Whether a timer applied the defaults, so that no person answered."""
        return self.outcome["default_applied"]


def _values(answer: Mapping[str, Any]) -> list[str]:
    return [*answer["selected"], *([] if answer["other"] is None else [answer["other"]])]


class BaseDecision:
    """The decision of a person about a call."""

    def __init__(self, ask: Ask) -> None:
        outcome = ask.get("outcome")
        if outcome is None or ask["kind"] != "confirmation" or outcome["status"] != "answered":
            raise NotAnsweredError(ask)
        self.ask = ask
        self.outcome = outcome

    @property
    def approved(self) -> bool:
        """Whether the call was approved. The approval is used by spend."""
        return self.outcome.get("decision") in ("approved", "approve_all") and bool(self.outcome.get("digest"))

    @property
    def input(self) -> dict[str, Any]:
        """The arguments to run: the arguments of the request, or the changed arguments of a person."""
        edited = self.outcome.get("input")
        if edited is not None:
            return edited
        return cast("dict[str, Any]", (self.ask["confirmation"] or {}).get("input", {}))

    @property
    def edited(self) -> bool:
        """Whether a person changed the arguments."""
        return self.outcome.get("input") is not None

    @property
    def reason(self) -> str | None:
        return self.outcome.get("reason")

    @property
    def message(self) -> str:
        """The decision in words for a model."""
        name = canonical(self.outcome["by"]["name"])
        reason = f" Reason: {canonical(self.reason)}." if self.reason else ""
        return f"Approved by {name}.{reason}" if self.approved else f"Denied by {name}: {BOUNDARY}.{reason}"

    def spending(self, input: Input | None, patience: float) -> Flow[None]:
        """Return the flow that uses the approval."""
        if not self.approved:
            raise AskbackError(self.message)
        return consume(self.ask, self.input if input is None else input, patience)


def _path(id: str, resource: str = "") -> str:
    return f"/asks/{quote(id, safe='')}{resource}"


def as_ask(reply: object, id: str | None = None) -> Ask:
    """Return a reply as an ask. Any other reply, and another ask, is an error."""
    if isinstance(reply, dict) and isinstance(reply.get("id"), str) and isinstance(reply.get("status"), str):
        if id is None or reply["id"] == id:
            return cast(Ask, reply)
    raise UnreachableError(f"the reply is not the ask {id or ''}: {str(reply)[:200]}")

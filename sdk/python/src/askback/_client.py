from __future__ import annotations

import asyncio
import http.client
import io
import os
import time
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, Any, Mapping, TypeVar, cast
from urllib.parse import urlsplit

from . import _flow as flow
from ._connection import connection, host_of
from ._errors import AskbackError, UnreachableError
from ._flow import Answered, BaseDecision, Call, Flow, Pause, Reply
from ._wire import Ask, AskFields, ConfirmFields, Input

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    try:
        from typing import Unpack
    except ImportError:  # before Python 3.11, where only type checkers have it

        class Unpack:
            def __class_getitem__(cls, item: Any) -> Any:
                return Any


T = TypeVar("T")


class _Base:
    """The common part of both clients."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: float = 30.0,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a client of a server, with the token of an agent.

        Without a URL or a token, ASKBACK_URL and ASKBACK_TOKEN are used. While the server
        cannot be reached, a request is repeated for patience seconds; a wait for a person has no
        such limit. Requests have the fields of defaults, such as session_key, unless they have
        their own.
        """
        self._url = _needed(url or os.environ.get("ASKBACK_URL"), "ASKBACK_URL").rstrip("/") + "/api/v1"
        self._token = _needed(token or os.environ.get("ASKBACK_TOKEN"), "ASKBACK_TOKEN")
        self._patience = patience
        self._defaults = dict(defaults or {})

    def _ask(self, question: str | None, fields: AskFields, wait: float | None) -> Flow[Answered]:
        answered = Answered((yield from flow.wait_for((yield from self._open(question, fields)), wait)))
        yield from flow.ack(answered.ask)
        return answered

    def _open(self, question: str | None, fields: Mapping[str, Any]) -> Flow[Ask]:
        body = {**self._defaults, **fields}
        if question is not None:
            body["question"] = question
        return flow.create(body, self._patience)

    def _open_confirmation(self, tool_name: str, input: Input | None, fields: Mapping[str, Any]) -> Flow[Ask]:
        return flow.create(flow.confirmation(tool_name, input, {**self._defaults, **fields}), self._patience)

    def _decide(
        self, tool_name: str, input: Input | None, fields: ConfirmFields, wait: float | None
    ) -> Flow[BaseDecision]:
        ask = yield from self._open_confirmation(tool_name, input, fields)
        decision = BaseDecision((yield from flow.wait_for(ask, wait)))
        if not decision.approved:
            yield from flow.ack(decision.ask)
        return decision

    def _confirm(
        self, tool_name: str, input: Input | None, fields: ConfirmFields, wait: float | None
    ) -> Flow[BaseDecision]:
        decision = yield from self._decide(tool_name, input, fields, wait)
        if decision.approved:
            yield from decision.spending(None, self._patience)
        return decision

    def _wait(self, ask: Ask | str, wait: float | None) -> Flow[Ask]:
        if isinstance(ask, str):
            ask = yield from flow.get(ask, self._patience)
        return (yield from flow.wait_for(ask, wait))

    def _cancel(self, ask: Ask | str, reason: str | None) -> Flow[Ask]:
        return flow.cancel(ask if isinstance(ask, str) else ask["id"], reason, self._patience)


class Decision(BaseDecision):
    """The decision of a person about a call."""

    def __init__(self, ask: Ask, client: Askback) -> None:
        super().__init__(ask)
        self._client = client

    def spend(self, input: Input | None = None) -> None:
        """Use the approval for a call with the given arguments, or with the arguments in input.

        Run the call right after it, and only if it raises nothing: it raises a DigestError if a
        person approved other arguments, and a ConsumedError if the approval was used before.
        """
        self._client._run(self.spending(input, self._client._patience))


class Askback(_Base):
    """Asks people through an Askback server. Its methods block."""

    def ask(self, question: str | None = None, *, wait: float | None = None, **fields: Unpack[AskFields]) -> Answered:
        """Ask a question, or up to four, and wait for the answer of a person.

        With a key, the same call continues to wait for the same ask, also in another process.
        Without an answer it raises a NotAnsweredError. If wait is given, it raises a PendingError
        after that many seconds, and the ask stays open.
        """
        return self._run(self._ask(question, fields, wait))

    def confirm(
        self, tool_name: str, input: Input | None = None, *, wait: float | None = None, **fields: Unpack[ConfirmFields]
    ) -> Decision:
        """Ask for the approval of a call, wait for the decision, and use the approval.

        If the decision is approved, run the call immediately, with the input of the decision. A denial
        is a decision. Without a decision it raises a NotAnsweredError.
        """
        return Decision(self._run(self._confirm(tool_name, input, fields, wait)).ask, self)

    def decide(
        self, tool_name: str, input: Input | None = None, *, wait: float | None = None, **fields: Unpack[ConfirmFields]
    ) -> Decision:
        """Ask for the approval of a call as confirm does, but leave its use to spend.

        A call of confirm with the same key can use it, too.
        """
        return Decision(self._run(self._decide(tool_name, input, fields, wait)).ask, self)

    def open(self, question: str | None = None, **fields: Unpack[AskFields]) -> Ask:
        """Open an ask without waiting."""
        return self._run(self._open(question, fields))

    def open_confirmation(self, tool_name: str, input: Input | None = None, **fields: Unpack[ConfirmFields]) -> Ask:
        """Open a confirmation without waiting."""
        return self._run(self._open_confirmation(tool_name, input, fields))

    def wait(self, ask: Ask | str, wait: float | None = None) -> Ask:
        """Wait until an ask is settled, also through restarts of the server, and return it."""
        return self._run(self._wait(ask, wait))

    def get(self, id: str) -> Ask:
        """Return an ask."""
        return self._run(flow.get(id, self._patience))

    def cancel(self, ask: Ask | str, reason: str | None = None) -> Ask:
        """Withdraw an ask that is no longer needed. A settled ask raises a ProblemError of type "settled"."""
        return self._run(self._cancel(ask, reason))

    def _run(self, steps: Flow[T]) -> T:
        reply: Reply | UnreachableError | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return cast(T, end.value)
            reply = None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                try:
                    reply = self._send(step)
                except (OSError, http.client.HTTPException) as err:
                    reply = _unreachable(err)

    def _send(self, call: Call) -> Reply:
        request = urllib.request.Request(
            self._url + call.target(), call.data(), call.headers(self._token), method=call.method
        )
        try:
            with _opener.open(request, timeout=call.timeout()) as reply:
                return Reply(reply.status, reply.headers, reply.read())
        except urllib.error.HTTPError as err:
            with err:
                return Reply(err.code, cast("Mapping[str, str]", err.headers), err.read())


class AsyncDecision(BaseDecision):
    """The decision of a person about a call."""

    def __init__(self, ask: Ask, client: AsyncAskback) -> None:
        super().__init__(ask)
        self._client = client

    async def spend(self, input: Input | None = None) -> None:
        """Use the approval, as Decision.spend does."""
        await self._client._run(self.spending(input, self._client._patience))


class AsyncAskback(_Base):
    """Asks people as Askback does, for asyncio. A cancelled call leaves its ask open."""

    async def ask(
        self, question: str | None = None, *, wait: float | None = None, **fields: Unpack[AskFields]
    ) -> Answered:
        """Ask a question, or up to four, as Askback.ask does."""
        return await self._run(self._ask(question, fields, wait))

    async def confirm(
        self, tool_name: str, input: Input | None = None, *, wait: float | None = None, **fields: Unpack[ConfirmFields]
    ) -> AsyncDecision:
        """Ask for the approval of a call and use it, as Askback.confirm does."""
        return AsyncDecision((await self._run(self._confirm(tool_name, input, fields, wait))).ask, self)

    async def decide(
        self, tool_name: str, input: Input | None = None, *, wait: float | None = None, **fields: Unpack[ConfirmFields]
    ) -> AsyncDecision:
        """Ask for the approval of a call as confirm does, but leave its use to spend.

        A call of confirm with the same key can use it, too.
        """
        return AsyncDecision((await self._run(self._decide(tool_name, input, fields, wait))).ask, self)

    async def open(self, question: str | None = None, **fields: Unpack[AskFields]) -> Ask:
        """Open an ask without waiting."""
        return await self._run(self._open(question, fields))

    async def open_confirmation(
        self, tool_name: str, input: Input | None = None, **fields: Unpack[ConfirmFields]
    ) -> Ask:
        """Open a confirmation without waiting."""
        return await self._run(self._open_confirmation(tool_name, input, fields))

    async def wait(self, ask: Ask | str, wait: float | None = None) -> Ask:
        """Wait until an ask is settled, also through restarts of the server, and return it."""
        return await self._run(self._wait(ask, wait))

    async def get(self, id: str) -> Ask:
        """Return an ask."""
        return await self._run(flow.get(id, self._patience))

    async def cancel(self, ask: Ask | str, reason: str | None = None) -> Ask:
        """Withdraw an ask that is no longer needed."""
        return await self._run(self._cancel(ask, reason))

    async def _run(self, steps: Flow[T]) -> T:
        reply: Reply | UnreachableError | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return cast(T, end.value)
            reply = None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                try:
                    reply = await asyncio.wait_for(self._send(step), step.timeout())
                except (OSError, asyncio.TimeoutError, http.client.HTTPException) as err:
                    reply = _unreachable(err)

    async def _send(self, call: Call) -> Reply:
        url = urlsplit(self._url)
        async with connection(url) as (reader, writer, base, more):
            headers = {**call.headers(self._token), **more}
            writer.write(_request(call, host_of(url), base + url.path, headers))
            await writer.drain()
            return _reply(await reader.read())


def _request(call: Call, host: str, base: str, headers: Mapping[str, str]) -> bytes:
    """Return a request of HTTP/1.1, after whose reply the server closes the connection."""
    data = call.data() or b""
    fields = {"Host": host, "Connection": "close", "Content-Length": str(len(data)), **headers}
    for value in fields.values():
        if not value.isprintable():
            raise AskbackError("the address or the token has a character that a header cannot have")
    lines = [f"{call.method} {base}{call.target()} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


class _Received:
    """A connection from which a reply was read."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, *_: Any) -> IO[bytes]:
        return io.BytesIO(self._raw)


def _reply(raw: bytes) -> Reply:
    reply = http.client.HTTPResponse(cast(Any, _Received(raw)))
    reply.begin()
    return Reply(reply.status, cast("Mapping[str, str]", reply.headers), reply.read())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because another address must not get the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _unreachable(err: Exception) -> UnreachableError:
    cause = err.reason if isinstance(err, urllib.error.URLError) else err
    return UnreachableError(f"the server cannot be reached: {cause or type(cause).__name__}")


_SOURCE = {
    "ASKBACK_URL": "the address of a server on this machine is http://127.0.0.1:7575",
    "ASKBACK_TOKEN": '"askback token add --kind agent --name NAME" makes a token',
}


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise AskbackError(f"set {name}, or pass it; {_SOURCE[name]}")
    return value

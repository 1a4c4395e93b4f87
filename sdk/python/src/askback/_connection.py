"""Connections for asyncio, also through the proxy of the environment, as urllib has them."""

from __future__ import annotations

import asyncio
import base64
import ssl
import urllib.request
from contextlib import asynccontextmanager
from typing import AsyncIterator, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit


class Connection(NamedTuple):
    """A connection to a server, or to a proxy that sends requests on."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    base: str  # what a request has before its path
    headers: dict[str, str]  # for the proxy


def host_of(url: SplitResult) -> str:
    """Return the host and the port of a URL, without a user."""
    return url.netloc.rpartition("@")[2]


@asynccontextmanager
async def connection(url: SplitResult) -> AsyncIterator[Connection]:
    """Connect to the server of a URL, and close the connection at the end."""
    tls = ssl.create_default_context() if url.scheme == "https" else None
    proxy = _proxy(url)
    if proxy is None:
        reader, writer = await asyncio.open_connection(url.hostname, url.port or (443 if tls else 80), ssl=tls)
        try:
            yield Connection(reader, writer, "", {})
        finally:
            writer.close()
        return
    reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port or 80)
    try:
        if tls is None:
            yield Connection(reader, writer, f"{url.scheme}://{host_of(url)}", _authorization(proxy))
            return
        inside = await _tunnel(reader, writer, url, proxy, tls)
        try:
            yield inside
        finally:
            inside.writer.close()
    finally:
        writer.close()


def _proxy(url: SplitResult) -> SplitResult | None:
    """Return the proxy for a URL, or None."""
    found = urllib.request.getproxies().get(url.scheme)
    if not found or urllib.request.proxy_bypass(host_of(url)):
        return None
    proxy = urlsplit(found if "://" in found else "http://" + found)
    if proxy.scheme != "http" or not proxy.hostname:
        raise OSError(f"the proxy for {url.scheme} must be an address with http")
    return proxy


def _authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(user.encode()).decode()}


async def _tunnel(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    url: SplitResult,
    proxy: SplitResult,
    tls: ssl.SSLContext,
) -> Connection:
    """Return a connection with TLS to the server, inside a connection to the proxy."""
    host = url.hostname or ""
    target = f"[{host}]" if ":" in host else host
    target += f":{url.port or 443}"
    fields = {"Host": target, **_authorization(proxy)}
    lines = [f"CONNECT {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    writer.write("\r\n".join(lines).encode("latin-1"))
    await writer.drain()
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as err:
        raise OSError("the proxy did not reply") from err
    status = head.split(b" ")[1:2]
    if status != [b"200"]:
        raise OSError(f"the proxy replied {b''.join(status).decode('latin-1')!r}")
    inside = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(inside)
    loop = asyncio.get_running_loop()
    transport = await loop.start_tls(writer.transport, protocol, tls, server_hostname=host)
    if transport is None:
        raise OSError("the proxy closed the connection")
    protocol.connection_made(transport)
    return Connection(inside, asyncio.StreamWriter(transport, protocol, inside, loop), "", {})

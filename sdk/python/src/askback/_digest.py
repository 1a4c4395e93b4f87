from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from math import isfinite
from typing import Mapping

from ._errors import AskbackError


def canonical(value: object) -> str:
    """Return the canonical JSON of a value (RFC 8785)."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical(v) for v in value) + "]"
    if isinstance(value, Mapping):
        members = []
        for key in value:
            if not isinstance(key, str):
                raise AskbackError(f"{key!r} cannot be a key in JSON")
            members.append(key)
        members.sort(key=lambda k: k.encode("utf-16-be", "surrogatepass"))  # by UTF-16 code units
        return "{" + ",".join(f"{_text(k)}:{canonical(value[k])}" for k in members) + "}"
    raise AskbackError(f"a value of type {type(value).__name__} cannot be sent as JSON")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as err:
        raise AskbackError("a text with half of a surrogate pair cannot be sent as JSON") from err
    return json.dumps(value, ensure_ascii=False)


def _number(value: int | float) -> str:
    """Return a number as ECMAScript writes it."""
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if not isfinite(double) or Decimal(repr(double)) != Decimal(repr(value)):
        raise AskbackError(f"{value!r} changes when it is read as a double: send it as a string")
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    _, tuple_digits, exponent = Decimal(repr(abs(double))).normalize().as_tuple()
    digits = "".join(map(str, tuple_digits))
    point = len(digits) + int(exponent)  # the place of the decimal point
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def digest(agent: str, server: str | None, tool_name: str, input: object) -> str:
    """Return the digest of a call. An approval of exactly this call has the same digest."""
    call = {"agent": agent, "server": server or "", "tool_name": tool_name, "input": input}
    return "sha256:" + hashlib.sha256(canonical(call).encode()).hexdigest()

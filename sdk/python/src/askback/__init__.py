"""Let an agent ask a person, wait as long as it takes, and continue with the answer."""

from ._client import Askback, AsyncAskback, AsyncDecision, Decision
from ._digest import canonical, digest
from ._errors import (
    AccessError,
    AskbackError,
    ConsumedError,
    DigestError,
    InvalidError,
    KeyReusedError,
    NotAnsweredError,
    PendingError,
    ProblemError,
    UnreachableError,
)
from ._flow import Answered
from ._wire import Ask, Input, Option, Outcome, Question

__all__ = [
    "AccessError",
    "Answered",
    "Ask",
    "Askback",
    "AskbackError",
    "AsyncAskback",
    "AsyncDecision",
    "ConsumedError",
    "Decision",
    "DigestError",
    "Input",
    "InvalidError",
    "KeyReusedError",
    "NotAnsweredError",
    "Option",
    "Outcome",
    "PendingError",
    "ProblemError",
    "Question",
    "UnreachableError",
    "canonical",
    "digest",
]

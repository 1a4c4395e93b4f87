"""The JSON of the HTTP API, as far as an agent needs it, with the names of docs/api.md."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

Input = Mapping[str, Any]


class _OptionLabel(TypedDict):
    label: str


class Option(_OptionLabel, total=False):
    """An option of a question."""

    description: str
    preview: str


class _QuestionText(TypedDict):
    question: str


class QuestionFields(TypedDict, total=False):
    """A question without its text. Options: 2 to 50, or none for free text."""

    header: str
    options: Sequence[Union[str, Option]]
    multiSelect: bool
    allow_custom: bool
    required: bool
    default: Union[str, int, Sequence[Union[str, int]]]
    format: str


class Question(_QuestionText, QuestionFields):
    """One question of a form."""


class Common(TypedDict, total=False):
    """The common fields of questions and confirmations.

    The same key with the same content is the same ask, also after a restart of the caller.
    Without a key, each call is another ask. timeout is how long the ask stays open, as "2h" or a
    number of seconds; on_timeout is the effect of its end. A timer never approves a confirmation.
    """

    key: str
    session_key: str
    session_id: str
    agent: str
    title: str
    to: Sequence[str]
    tags: Sequence[str]
    started_by: str
    timeout: Union[str, int]
    deadline: str
    on_timeout: Literal["fail", "decline", "default", "wait"]
    callback_url: str


class AskFields(Common, QuestionFields, total=False):
    """One question in the flat form, or one to four questions in the list questions."""

    questions: Sequence[Question]
    context: Union[str, Mapping[str, Any]]


class ConfirmFields(Common, total=False):
    """The optional fields of a call."""

    server: str
    description: str
    input_preview: str
    dangerous: bool
    no_edit: bool
    context: str
    quorum: int


CONFIRMATION_FIELDS = ("server", "description", "input_preview", "dangerous", "no_edit", "context")


class QuestionAnswer(TypedDict):
    id: str
    question: str
    selected: list[str]
    other: Union[str, None]
    notes: Union[str, None]


class Actor(TypedDict):
    kind: str
    name: str


class Outcome(TypedDict):
    """The outcome of an ask."""

    status: str
    answers: list[QuestionAnswer]
    comment: Union[str, None]
    decision: Union[str, None]
    input: Union[dict[str, Any], None]
    digest: Union[str, None]
    grant_id: Union[str, None]
    reason: Union[str, None]
    by: Actor
    via: Union[str, None]
    at: str
    default_applied: bool


class Ask(TypedDict):
    """An ask. The server sends further fields."""

    id: str
    session_id: str
    agent: str
    kind: str
    questions: list[dict[str, Any]]
    confirmation: Union[dict[str, Any], None]
    status: str
    created_at: str
    deadline: Union[str, None]
    page_url: str
    warnings: list[dict[str, Any]]
    outcome: Union[Outcome, None]
    acked_at: Union[str, None]
    consumed_at: Union[str, None]


class Mistake(TypedDict):
    """A mistake in a request: its place, the problem, and the fix."""

    pointer: str
    detail: str
    fix: Union[str, None]

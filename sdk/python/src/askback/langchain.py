"""For LangChain 1.0 or newer: interrupts of HumanInTheLoopMiddleware."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Callable, Mapping

from ._client import Askback
from ._errors import InvalidError, NotAnsweredError
from ._flow import Answered
from ._verdict import ToolCall, Verdict, call_key, verdicts
from ._wire import AskFields, ConfirmFields


def resume(askback: Askback, result: Mapping[str, Any], run: str, wait: float | None = None) -> dict[str, Any]:
    """Ask people about the interrupts of a result, and return the value for Command(resume=…).

    An action that allows only the decision "respond" is a question: the answer is the result of the tool. It uses
    the approvals, so resume the agent immediately. run is your name for the run, such as the thread_id.
    """
    calls: list[ToolCall] = []
    questions: dict[str, AskFields] = {}
    groups: list[tuple[str, list[Callable[[], dict[str, Any]]]]] = []
    decided: dict[str, Verdict] = {}
    answers: dict[str, tuple[bool, str]] = {}
    for interrupt in result.get("__interrupt__") or ():
        decisions: list[Callable[[], dict[str, Any]]] = []
        for i, action in enumerate(interrupt.value["action_requests"]):
            key = call_key(run, f"{interrupt.id}/{i}")
            allowed = [
                decision
                for config in interrupt.value["review_configs"]
                if config["action_name"] == action["name"]
                for decision in config["allowed_decisions"]
            ]
            if "respond" in allowed and not {"approve", "edit"} & set(allowed):
                questions[key] = _question(action, key)
                decisions.append(partial(_response, answers, key, allowed))
                continue
            fields: ConfirmFields = {} if "edit" in allowed else {"no_edit": True}
            if action.get("description"):
                fields["description"] = action["description"]
            calls.append(ToolCall(action["name"], action["args"], key, fields))
            decisions.append(partial(_decision, decided, key, action["name"]))
        groups.append((interrupt.id, decisions))
    for key, question in questions.items():
        askback.open(**question)
    if questions:
        for call in calls:
            _open(askback, call)
    for key, question in questions.items():
        answers[key] = _answer(askback, question, wait)
    decided.update(zip((call.key for call in calls), verdicts(askback, calls, wait)))
    return {id: {"decisions": [decision() for decision in decisions]} for id, decisions in groups}


def _open(askback: Askback, call: ToolCall) -> None:
    try:
        askback.open_confirmation(call.name, call.input, **call.all_fields())
    except InvalidError:
        pass  # verdicts makes it a denial


def _question(action: Mapping[str, Any], key: str) -> AskFields:
    """Return the question of an action: what its arguments ask, or else its description with the arguments."""
    args = action["args"]
    asked = args.get("question")
    if not isinstance(asked, str) or not asked.strip():
        return {"questions": [{"question": action.get("description") or action["name"]}], "context": args, "key": key}
    question: Any = {"question": asked}
    options = args.get("options")
    if isinstance(options, list) and len(options) > 1 and all(isinstance(o, str) for o in options):
        question["options"] = options
    return {"questions": [question], "key": key}


def _answer(askback: Askback, question: AskFields, wait: float | None) -> tuple[bool, str]:
    try:
        answered: Answered = askback.ask(wait=wait, **question)
    except NotAnsweredError as err:
        return False, f"Not answered. {err} This is not consent."
    answer = answered.outcome["answers"][0]
    text = answered.text
    if answer["notes"]:
        text += f" [notes: {json.dumps(answer['notes'], ensure_ascii=False)}]"
    if answered.default_applied:
        text += " [no person answered in time; this is the default]"
    return True, text


def _response(answers: Mapping[str, tuple[bool, str]], key: str, allowed: list[str]) -> dict[str, Any]:
    answered, text = answers[key]
    return {"type": "respond" if answered or "reject" not in allowed else "reject", "message": text}


def _decision(decided: Mapping[str, Verdict], key: str, name: str) -> dict[str, Any]:
    v = decided[key]
    if not v.approved:
        return {"type": "reject", "message": v.message}
    return {"type": "edit", "edited_action": {"name": name, "args": dict(v.input)}} if v.edited else {"type": "approve"}

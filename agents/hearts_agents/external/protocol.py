"""The messages of `hearts-agent/1`, the protocol between a match and an agent in another process, line by line.

    -> {"hello": "hearts-agent/1", "rules": {...}}      <- {"name": "...", "ready": true}
    -> {"id": 7, "seat": 2, "phase": "play", ...}       <- {"id": 7, "action": "QS"}
    -> {"bye": true}

Requests are made and read in `protocol_view`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hearts_env.cards import ACTION_NAMES, NUM_ACTIONS, CardError
from hearts_env.game.rules import Rules, RulesError
from hearts_env.text.notation import parse_action

PROTOCOL = "hearts-agent/1"
MAX_LINE = 1 << 16
"""Bytes that a line may have, either way."""
BYE = b'{"bye":true}\n'
_ACTIONS = {name: action for action, name in enumerate(ACTION_NAMES[:NUM_ACTIONS])}
_LARGEST_ID = 2**63 - 1


class ProtocolError(ValueError):
    """A line that is no message of the protocol, or that says what cannot be."""


def loaded(line: bytes) -> dict[str, Any]:
    """The JSON object in a line.  Raises ProtocolError."""
    if len(line) > MAX_LINE:
        raise ProtocolError(f"the line has {len(line)} bytes; at most {MAX_LINE} are allowed")
    try:
        payload = json.loads(line)
    except (ValueError, RecursionError) as error:
        # Text that is no UTF-8, no JSON, or a number of thousands of digits.
        reason = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "it is damaged"
        raise ProtocolError(f"the line is no JSON: {reason}") from None
    if not isinstance(payload, dict):
        raise ProtocolError(f"a message is a JSON object, not {payload!r:.60}")
    return payload


def whole(name: str, value: object, low: int, high: int) -> int:
    """`value` if it is a whole number from low to high.  Raises ProtocolError."""
    if type(value) is not int or not low <= value <= high:
        raise ProtocolError(f"{name}: {value!r:.60} is no whole number from {low} to {high}")
    return value


def hello_line(rules: Rules) -> bytes:
    """The line that opens a conversation: the protocol, and the fields of the rules that differ from the defaults."""
    return _line({"hello": PROTOCOL, "rules": rules.changes()})


def parse_hello(payload: Mapping[str, Any]) -> Rules:
    """The rules of a hello.  Raises ProtocolError for another protocol, and for rules that cannot be."""
    if payload.get("hello") != PROTOCOL:
        raise ProtocolError(f"hello is {payload.get('hello')!r:.60}: this end speaks {PROTOCOL!r}")
    try:
        return Rules.from_dict(payload.get("rules", {}))
    except RulesError as error:
        raise ProtocolError(f"rules: {error}") from None


def welcome_line(name: str, error: str = "") -> bytes:
    """The answer to a hello: ready, or with `error` not."""
    return _line({"name": name, "ready": False, "error": error} if error else {"name": name, "ready": True})


def parse_welcome(line: bytes) -> str:
    """The name that an agent gives itself in its answer to a hello ("" if it gives none).

    Raises ProtocolError unless it is ready and speaks this protocol.
    """
    payload = loaded(line)
    if payload.get("hello", PROTOCOL) != PROTOCOL:
        raise ProtocolError(f"it speaks {payload['hello']!r:.60}, not {PROTOCOL!r}")
    if payload.get("ready") is not True:
        reason = payload.get("error")
        raise ProtocolError("it is not ready" + (f": {reason:.200}" if isinstance(reason, str) else ""))
    name = payload.get("name", "")
    if not isinstance(name, str):
        raise ProtocolError(f"its name is {name!r:.60}, which is no text")
    return name


def answer_line(number: int, action: int) -> bytes:
    """The answer to the request of this id."""
    return b'{"id":%d,"action":"%s"}\n' % (number, ACTION_NAMES[action].encode())


def parse_answer(line: bytes) -> tuple[int, int]:
    """The id and the action of an answer.  Whether they fit a request is for the caller to see.

    Raises ProtocolError for what is no answer.
    """
    payload = loaded(line)
    number, name = payload.get("id"), payload.get("action")
    if type(number) is not int:
        raise ProtocolError(f"id is {number!r:.60}: must be the whole number of a request")
    action = _ACTIONS.get(name) if isinstance(name, str) else None
    if action is None:
        try:
            action = parse_action(name)  # type: ignore[arg-type]
        except CardError as error:
            raise ProtocolError(f"action: {error}") from None
    return number, action


def parse_id(payload: Mapping[str, Any]) -> int:
    """The id of a request.  Raises ProtocolError."""
    return whole("id", payload.get("id"), -_LARGEST_ID, _LARGEST_ID)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"

"""Messages, as docs/message-json.md describes them."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Union
from uuid import UUID

from ._values import Duration, camel, iso, plain, read, span, typed, untyped

__tracebackhide__ = True  # pytest shows the line of the test


@dataclass(repr=False)
class Message:
    """A message: to send one, set what it needs; the rest is what Minibus says of a message that is there.

    body is a str, or bytes if it is no text. A dict or list is sent as its JSON. application_properties have
    Python's own types. A datetime without a zone means UTC.
    """

    body: Any = None
    message_id: str | UUID | None = None
    correlation_id: str | UUID | None = None
    session_id: str | None = None
    partition_key: str | None = None
    subject: str | None = None
    content_type: str | None = None
    content_encoding: str | None = None
    to: str | None = None
    reply_to: str | None = None
    reply_to_session_id: str | None = None
    time_to_live: Duration | None = None
    scheduled_enqueue_time: datetime | None = None
    application_properties: dict[str, Any] = field(default_factory=dict)

    sequence_number: int | None = None
    enqueued_sequence_number: int | None = None
    delivery_count: int | None = None
    enqueued_time: datetime | None = None
    locked_until: datetime | None = None
    expires_at: datetime | None = None
    state: str | None = None
    locked_by: str | None = None
    dead_letter_reason: str | None = None
    dead_letter_source: str | None = None
    size_bytes: int | None = None
    body_bytes: int | None = None
    body_cut: bool = False

    raw: dict[str, Any] = field(default_factory=dict, compare=False)
    """The message JSON of a message that is there, with what has no attribute here."""

    @property
    def dead_letter_error_description(self) -> str | None:
        value = self.application_properties.get("DeadLetterErrorDescription")
        return value if isinstance(value, str) else None

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def __repr__(self) -> str:
        shown = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self) if f.name != "raw")
        return f"Message({', '.join(f'{name}={value!r}' for name, value in shown if value not in (None, {}, False))})"


Sendable = Union[Message, str, bytes, Mapping[str, Any]]
"""A message to send: a Message, a body, or a mapping with the names of Message or of message JSON."""

_BODIES = ("body", "bodyBase64", "bodySections", "bodyValue", "bodySequence")
# The service sets them; in what is sent they mean nothing.
_OF_THE_SERVICE = frozenset(camel(f.name) for f in dataclasses.fields(Message)[14:])


def message_of(raw: dict[str, Any]) -> Message:
    """The message of its JSON."""
    converted = dict(raw)
    converted["body"] = _body_of(raw)
    converted["applicationProperties"] = {
        name: untyped(value) for name, value in raw.get("applicationProperties", {}).items()
    }
    for name in ("messageId", "correlationId"):
        if name in raw:
            converted[name] = untyped(raw[name])
    if "timeToLive" in raw:
        converted["timeToLive"] = span(raw["timeToLive"])
    message = read(Message, converted)
    message.raw = raw
    return message


def _body_of(raw: Mapping[str, Any]) -> Any:
    if "bodyBase64" in raw:
        return base64.b64decode(raw["bodyBase64"])
    if "bodySections" in raw:
        return b"".join(base64.b64decode(section) for section in raw["bodySections"])
    if "bodyValue" in raw:
        return untyped(raw["bodyValue"])
    if "bodySequence" in raw:
        return [[untyped(value) for value in sequence] for sequence in raw["bodySequence"]]
    return raw.get("body")


def to_json(message: Sendable) -> dict[str, Any]:
    """The message JSON to send."""
    if isinstance(message, (str, bytes, bytearray)):
        return _body_json(message)
    if isinstance(message, Message):
        return _resendable(message)
    names = {camel(name): value for name, value in message.items()}
    body = _body_json(names.pop("body")) if "body" in names else {}
    return {**{name: _value(name, value) for name, value in names.items() if value is not None}, **body}


def _resendable(message: Message) -> dict[str, Any]:
    """A message that was read keeps the types of what was not changed, and what has no attribute here."""
    old = message_of(message.raw) if message.raw else Message()
    out = {
        name: value
        for name, value in message.raw.items()
        if name not in _OF_THE_SERVICE and name not in ("bodyBytes", "malformed")
    }
    for f in dataclasses.fields(Message)[1:13]:
        value, name = getattr(message, f.name), camel(f.name)
        if value is None:
            out.pop(name, None)
        elif value != getattr(old, f.name):
            out[name] = _value(name, value)
    if message.body != old.body:
        for name in _BODIES:
            out.pop(name, None)
        out |= _body_json(message.body)
    properties = message.raw.get("applicationProperties", {})
    if message.application_properties:
        out["applicationProperties"] = {
            name: properties[name] if name in properties and untyped(properties[name]) == value else typed(value)
            for name, value in message.application_properties.items()
        }
    else:
        out.pop("applicationProperties", None)
    return out


def _body_json(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    if isinstance(body, (bytes, bytearray)):
        return {"bodyBase64": base64.b64encode(body).decode()}
    return {"body": plain(body)}


def _value(name: str, value: Any) -> Any:
    if name == "applicationProperties":
        return {key: typed(item) for key, item in value.items()}
    if name in ("messageId", "correlationId"):
        return typed(value)
    if name == "timeToLive" and isinstance(value, (str, timedelta)):
        return iso(value)
    return plain(value)


def as_list(messages: Sendable | Iterable[Sendable]) -> list[Sendable]:
    """One message or several."""
    if isinstance(messages, (Message, str, bytes, bytearray, Mapping)):
        return [messages]
    return list(messages)

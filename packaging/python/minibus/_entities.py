"""Queues, topics and subscriptions as they are declared, and as Config.json has them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, TypedDict, TypeVar, Union

from ._values import Duration, camel, iso, pascal, plain

__tracebackhide__ = True  # pytest shows the line of the test


T = TypeVar("T")


class _Named(TypedDict):
    name: str


class _Settings(_Named, total=False):
    lock_duration: Duration
    max_delivery_count: int
    default_message_time_to_live: Duration
    requires_session: bool
    dead_lettering_on_message_expiration: bool
    forward_to: str
    forward_dead_lettered_messages_to: str
    auto_delete_on_idle: Duration
    enable_batched_operations: bool
    status: str
    user_metadata: str


class Queue(_Settings, total=False):
    """A queue. The settings are those of Config.json."""

    requires_duplicate_detection: bool
    duplicate_detection_history_time_window: Duration
    enable_partitioning: bool
    max_size_in_megabytes: int
    max_message_size_in_kilobytes: int


class Rule(_Named, total=False):
    """A rule: filter is a SQL expression, or a mapping for a correlation filter; action is a SQL expression."""

    filter: Union[str, Mapping[str, Any]]
    action: str


class Subscription(_Settings, total=False):
    """A subscription with a filter, or with several rules. Without either it gets all messages."""

    filter: Union[str, Mapping[str, Any]]
    rules: Iterable[Rule]
    dead_lettering_on_filter_evaluation_exceptions: bool


class Topic(_Named, total=False):
    """A topic with its subscriptions. The settings are those of Config.json."""

    subscriptions: Iterable[Union[str, Subscription, Mapping[str, Any]]]
    default_message_time_to_live: Duration
    requires_duplicate_detection: bool
    duplicate_detection_history_time_window: Duration
    auto_delete_on_idle: Duration
    enable_batched_operations: bool
    enable_partitioning: bool
    support_ordering: bool
    max_size_in_megabytes: int
    max_message_size_in_kilobytes: int
    status: str
    user_metadata: str


Queues = Iterable[Union[str, Queue, Mapping[str, Any]]]
Topics = Iterable[Union[str, Topic, Mapping[str, Any]]]
Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A Config.json: its path, or what is in it."""

_DURATIONS = ("LockDuration", "DefaultMessageTimeToLive", "AutoDeleteOnIdle", "DuplicateDetectionHistoryTimeWindow")
_SYSTEM_PROPERTIES = (
    "ContentType",
    "CorrelationId",
    "Label",
    "MessageId",
    "ReplyTo",
    "ReplyToSessionId",
    "SessionId",
    "To",
    "Properties",
)


def namespace_json(queues: Queues, topics: Topics) -> dict[str, Any]:
    """The entities as a namespace of Config.json has them."""
    return {
        "Queues": [_entity(queue) for queue in listed(queues)],
        "Topics": [_entity(topic) for topic in listed(topics)],
    }


def listed(entities: Iterable[T]) -> list[T]:
    """The entities, unless they are a single one: a text would be as many as it has letters."""
    if isinstance(entities, (str, Mapping)):
        raise TypeError(f"Write a list, such as [{entities!r}].")
    return list(entities)


def config_json(config: Config) -> dict[str, Any]:
    """What is in a Config.json."""
    if isinstance(config, Mapping):
        return plain(config)  # type: ignore[no-any-return]
    with open(config, encoding="utf-8-sig") as file:
        return json.load(file)  # type: ignore[no-any-return]


def _entity(entity: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(entity, str):
        return {"Name": entity}
    out: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, value in entity.items():
        name = pascal(key)
        if name == "Name":
            out[name] = value
        elif name == "Properties":
            settings.update(value)
        elif name == "Subscriptions":
            out[name] = [_entity(subscription) for subscription in value]
        elif name == "Rules":
            out[name] = [_rule(rule) for rule in value]
        elif name == "Filter":
            out["Rules"] = [_rule({"name": "$Default", "filter": value})]
        elif name == "AuthorizationRules":
            out[name] = plain(value)
        elif name in _DURATIONS and isinstance(value, (str, timedelta)):
            settings[name] = iso(value)
        else:
            settings[name] = plain(value)
    if settings:
        out["Properties"] = plain(settings)
    return out


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    if "Properties" in rule:  # as in Config.json
        return plain(rule)  # type: ignore[no-any-return]
    given = {pascal(key): value for key, value in rule.items()}
    properties: dict[str, Any] = {"FilterType": "True"}
    what = given.get("Filter")
    if isinstance(what, str):
        properties = {"FilterType": "Sql", "SqlFilter": {"SqlExpression": what}}
    elif what is not None:
        properties = {"FilterType": "Correlation", "CorrelationFilter": _correlation(what)}
    if "Action" in given:
        properties["Action"] = {"SqlExpression": given["Action"]}
    return {"Name": given.get("Name", "$Default"), "Properties": properties}


def _correlation(what: Mapping[str, Any]) -> dict[str, Any]:
    """{"subject": "red", "color": "blue"}: names of system properties, and the application properties besides."""
    out: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in what.items():
        name = "Label" if camel(key) == "subject" else pascal(key)
        if name == "Properties":
            own.update(value)
        elif name in _SYSTEM_PROPERTIES:
            out[name] = plain(value)
        else:
            own[key] = plain(value)
    return {**out, "Properties": own} if own else out

"""Minibus, a local Azure Service Bus, for tests in Python.

    from minibus import Minibus

    with Minibus.start(queues=["orders"]) as bus:
        ...  # bus.connection_string is for azure.servicebus

AsyncMinibus has the same methods for asyncio. With pytest the fixtures minibus and minibus_namespace need no import.
"""

from ._answers import (
    Client,
    Connection,
    Counts,
    Event,
    FaultState,
    Finding,
    Link,
    Match,
    Reason,
    Refusal,
    RuleMatch,
    SubscriptionMatch,
    Waited,
    Why,
)
from ._async import AsyncClock, AsyncFault, AsyncFaults, AsyncMinibus, AsyncNamespace
from ._binary import find_binary
from ._entities import Queue, Rule, Subscription, Topic
from ._message import Message
from ._sync import Clock, Fault, FaultOptions, Faults, Minibus, Namespace
from ._wire import MinibusError

__all__ = [
    "AsyncClock",
    "AsyncFault",
    "AsyncFaults",
    "AsyncMinibus",
    "AsyncNamespace",
    "Client",
    "Clock",
    "Connection",
    "Counts",
    "Event",
    "Fault",
    "FaultOptions",
    "FaultState",
    "Faults",
    "Finding",
    "Link",
    "Match",
    "Message",
    "Minibus",
    "MinibusError",
    "Namespace",
    "Queue",
    "Reason",
    "Refusal",
    "Rule",
    "RuleMatch",
    "Subscription",
    "SubscriptionMatch",
    "Topic",
    "Waited",
    "Why",
    "find_binary",
]

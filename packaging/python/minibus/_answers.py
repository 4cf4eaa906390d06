"""What Minibus answers, as dataclasses. Times are datetimes in UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Counts:
    """How many messages an entity has. Locked and deferred ones count as active."""

    active: int
    deferred: int
    scheduled: int
    dead_lettered: int = field(metadata={"json": "deadLetter"})
    transfer: int
    transfer_dead_lettered: int = field(metadata={"json": "transferDeadLetter"})
    size_bytes: int


@dataclass(frozen=True)
class Client:
    """Who did something: a link of a connection, with what the client says of itself."""

    remote: str
    connection: str | None = None
    link: str | None = None
    container: str | None = None
    product: str | None = None


@dataclass(frozen=True)
class Event:
    """What happened to a message. text says it in a sentence."""

    number: int
    kind: str
    time: datetime
    entity: str
    text: str
    delivery_count: int
    sub_queue: str | None = None
    sequence_number: int | None = None
    new_sequence_number: int | None = None
    enqueued_sequence_number: int | None = None
    message_id: str | None = None
    detail: str | None = None
    copies: int | None = None
    locked_until: datetime | None = None
    scheduled_for: datetime | None = None
    client: Client | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """A reason why messages are received from an entity, or not. fix says what to do."""

    code: str
    text: str
    blocks: bool
    fix: str | None = None


@dataclass(frozen=True)
class Why:
    """Why messages are received from an entity, or not. As a str it has all findings."""

    entity: str
    blocked: bool
    available: int
    receivers: int
    findings: tuple[Finding, ...]

    @property
    def text(self) -> str:
        return "\n".join(" ".join(filter(None, (finding.text, finding.fix))) for finding in self.findings)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Waited:
    """What was there when a wait was over. next is the number of the next event, to go on from."""

    text: str
    events: int
    next: int
    counts: Counts | None = None
    sequence_number: int | None = None


@dataclass(frozen=True)
class Refusal:
    """A link or a token that was refused."""

    time: datetime
    operation: str
    condition: str
    text: str
    client: Client
    entity: str | None = None
    sub_queue: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Link:
    """A sender or receiver of a connection."""

    id: int
    role: str
    address: str
    credit: int
    unsettled: int
    deliveries: int
    waits_for: str
    since: datetime
    last_active: datetime
    entity: str | None = None
    sub_queue: str | None = None
    name: str | None = None
    mode: str | None = None
    session_id: str | None = None
    session_locked_until: datetime | None = None


@dataclass(frozen=True)
class Connection:
    """A client that is connected."""

    id: str
    remote: str
    transport: str
    since: datetime
    busy: bool
    ending: bool
    links: tuple[Link, ...]
    policies: tuple[str, ...]
    container: str | None = None
    product: str | None = None
    version: str | None = None
    platform: str | None = None
    host: str | None = None


@dataclass(frozen=True)
class Reason:
    """A condition of a filter, and whether it holds."""

    condition: str
    outcome: str
    text: str


@dataclass(frozen=True)
class RuleMatch:
    """What a rule says of a message: outcome is true, false, unknown or error."""

    name: str
    filter: str
    outcome: str
    reasons: tuple[Reason, ...] = ()
    action: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class SubscriptionMatch:
    """What a subscription would get of a message."""

    name: str
    status: str
    rules: tuple[RuleMatch, ...]
    path: str | None = None


@dataclass(frozen=True)
class Match:
    """Which subscriptions of a topic a message would reach."""

    topic: str
    reached: tuple[str, ...]
    duplicate: bool
    subscriptions: tuple[SubscriptionMatch, ...]
    refused: str | None = None
    scheduled_for: datetime | None = None


@dataclass(frozen=True)
class FaultState:
    """A fault, and how many operations it has hit. state is active, spent, over or removed."""

    id: int
    kind: str
    state: str
    hits: int
    operations: tuple[str, ...] = ()
    entity: str | None = None
    client: str | None = None
    condition: str | None = None
    count: int | None = None
    skip: int | None = None
    until: datetime | None = None

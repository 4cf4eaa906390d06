"""The classes that wait for Minibus."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ._answers import Connection, Counts, Event, FaultState, Match, Refusal, Waited, Why
from ._entities import Config, Queues, Topics, config_json, namespace_json
from ._message import Message, Sendable
from ._process import Paths, Process
from ._values import Duration, seconds
from ._verbs import Count, Verbs, create_namespace, delete_namespace, filter_of, namespace_of
from ._wire import Endpoint, MinibusError, Steps, run

__tracebackhide__ = True  # pytest shows the line of the test

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
N = TypeVar("N", bound="Namespace")

VARIABLE = "SERVICEBUS_CONNECTION_STRING"


class FaultOptions(TypedDict, total=False):
    """Which operations a fault hits.

    operation is one or several of attachSender, attachReceiver, send, receive, settle, renew, manage, authenticate and
    now; for_ is a time by the namespace's clock, delay one by the machine's.
    """

    operation: str | Sequence[str]
    client: str
    condition: str
    skip: int
    count: int
    probability: float
    seed: int
    for_: Duration
    delay: Duration | float
    after: bool


class Fault:
    """A fault that was injected. As a context manager it is removed at the end."""

    def __init__(self, namespace: Namespace, state: FaultState) -> None:
        self._namespace = namespace
        self.id = state.id
        self.kind = state.kind

    def hits(self) -> int:
        """How many operations it has hit."""
        return self.state().hits

    def state(self) -> FaultState:
        """What it is now."""
        return self._namespace._run(self._namespace._verbs.fault(self.id))

    def remove(self) -> None:
        """Remove it. What it keeps back goes on."""
        return self._namespace._run(self._namespace._verbs.remove_fault(self.id))

    def __enter__(self) -> Fault:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<Fault {self.id} {self.kind}>"


class Faults:
    """What goes wrong for clients. Each kind of docs/faults.md has a method; without an entity it hits all of them."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def inject(self, kind: str, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Inject a fault of a kind.

        throttle, refuse, detach, drop, close, loseLock, loseSession, delay, starve, failJournal or expireToken.
        """
        return self._namespace._injected(self._namespace._verbs.inject({"kind": kind, "entity": entity, **options}))

    def throttle(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Refuse with server-busy."""
        return self.inject("throttle", entity, **options)

    def refuse(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Refuse with the condition."""
        return self.inject("refuse", entity, **options)

    def detach(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Detach the link."""
        return self.inject("detach", entity, **options)

    def drop(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Cut the connection."""
        return self.inject("drop", entity, **options)

    def close(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Close the connection with an error."""
        return self.inject("close", entity, **options)

    def lose_lock(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """End the lock of the message."""
        return self.inject("loseLock", entity, **options)

    def lose_session(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """End the lock of the session."""
        return self.inject("loseSession", entity, **options)

    def delay(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Delay the outcome, by the option delay."""
        return self.inject("delay", entity, **options)

    def starve(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Give senders no credit and receivers no messages."""
        return self.inject("starve", entity, **options)

    def fail_journal(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Fail the write, as on a full disk."""
        return self.inject("failJournal", entity, **options)

    def expire_token(self, entity: str | None = None, **options: Unpack[FaultOptions]) -> Fault:
        """Let the connection's tokens expire."""
        return self.inject("expireToken", entity, **options)

    def list(self) -> builtins.list[FaultState]:
        """All faults of the namespace."""
        return self._namespace._run(self._namespace._verbs.faults())

    def remove(self) -> None:
        """Remove all faults of the namespace."""
        return self._namespace._run(self._namespace._verbs.remove_faults())


class Clock:
    """The clock of a namespace. Each method returns the time that it shows."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def now(self) -> datetime:
        """What it shows."""
        return self._namespace._run(self._namespace._verbs.now())

    def advance(self, by: Duration, *, timeout: Duration | float | None = None) -> datetime:
        """Advance it, by a timedelta or a text such as "1h". What falls due on the way has happened at the end."""
        return self._namespace._run(self._namespace._verbs.advance(by, timeout))

    def set(self, time: datetime | str, *, timeout: Duration | float | None = None) -> datetime:
        """Advance it to a time. A datetime without a zone means UTC."""
        return self._namespace._run(self._namespace._verbs.set_clock(time, timeout))

    def freeze(self) -> datetime:
        """Stop it."""
        return self._namespace._run(self._namespace._verbs.clock("freeze"))

    def resume(self) -> datetime:
        """Let a frozen one run again."""
        return self._namespace._run(self._namespace._verbs.clock("resume"))


class Namespace:
    """Entities, messages and a clock, apart from all other namespaces. As a context manager it is deleted at the end.

    Entities are named by their paths: orders, events/Subscriptions/audit, orders/$DeadLetterQueue. A duration is a
    timedelta, or a text such as "1h30m", "90s" or "PT1H". What Minibus refuses raises a MinibusError.
    """

    def __init__(self, endpoint: Endpoint, info: Mapping[str, Any]) -> None:
        self._endpoint = endpoint
        self._verbs = Verbs(info["name"])
        self.name: str = info["name"]
        self.connection_string: str = info["connectionString"]
        self.clock = Clock(self)
        self.faults = Faults(self)

    @property
    def explorer_url(self) -> str:
        """The web explorer of the namespace."""
        return f"http://{self._endpoint.address}/#/{self.name}"

    def put(self, *, queues: Queues = (), topics: Topics = ()) -> None:
        """Create entities, or make them what is declared."""
        return self._run(self._verbs.put(queues, topics))

    def delete(self, entity: str) -> None:
        """Delete an entity."""
        return self._run(self._verbs.delete(entity))

    def counts(self, entity: str) -> Counts:
        """How many messages an entity has."""
        return self._run(self._verbs.counts(entity))

    def snapshot(self, name: str) -> None:
        """Save what is in the namespace under a name. An earlier snapshot of the name is replaced."""
        return self._run(self._verbs.save(name))

    def restore(self, name: str) -> None:
        """Restore a snapshot. Clients stay connected."""
        return self._run(self._verbs.restore(name))

    def reset(self) -> None:
        """Reset the namespace to its start: no messages, the entities of then, no faults, the machine's time."""
        return self._run(self._verbs.reset())

    def wait_for(
        self,
        entity: str | None = None,
        *,
        idle: bool = False,
        active: Count | None = None,
        deferred: Count | None = None,
        scheduled: Count | None = None,
        dead_lettered: Count | None = None,
        transfer: Count | None = None,
        transfer_dead_lettered: Count | None = None,
        message: bool | Mapping[str, Any] | None = None,
        events: str | Sequence[str] | None = None,
        times: int = 1,
        message_id: str | None = None,
        client: str | None = None,
        first: int | None = None,
        timeout: Duration | float = 10,
    ) -> Waited:
        """Wait until everything that you name holds at one moment, or raise a MinibusError after the timeout.

        idle: no message is available, locked or waiting to be forwarded.
        A count is 3, "3+" for so many or more, or "0-5".
        message: True, or the filter of a message that is there: states, sql, text, reason, session_id, before.
        events: kinds of docs/history.md, or "any"; so many times, from now on or from the number of the first one.
        message_id and client choose among them.
        timeout: in seconds, or a duration.
        """
        counts = {
            "active": active,
            "deferred": deferred,
            "scheduled": scheduled,
            "dead_lettered": dead_lettered,
            "transfer": transfer,
            "transfer_dead_lettered": transfer_dead_lettered,
        }
        return self._run(
            self._verbs.wait_for(
                entity,
                idle=idle,
                counts=counts,
                message=message,
                events=events,
                times=times,
                message_id=message_id,
                client=client,
                first=first,
                timeout=timeout,
            )
        )

    def send(self, entity: str, messages: Sendable | Iterable[Sendable]) -> list[int]:
        """Send a message or several, and return their sequence numbers. Up to 1,000 are sent all or none."""
        return self._run(self._verbs.send(entity, messages))

    def messages(
        self,
        entity: str,
        *,
        state: str | Iterable[str] | None = None,
        reason: str | None = None,
        text: str | None = None,
        sql: str | None = None,
        session_id: str | None = None,
        enqueued_after: datetime | None = None,
        enqueued_before: datetime | None = None,
        newest: bool = False,
        limit: int | None = None,
    ) -> list[Message]:
        """Browse messages, without locking them. state is active, locked, deferred or scheduled."""
        return self._run(
            self._verbs.messages(
                entity,
                state=state,
                reason=reason,
                text=text,
                sql=sql,
                session_id=session_id,
                enqueued_after=enqueued_after,
                enqueued_before=enqueued_before,
                newest=newest,
                limit=limit,
            )
        )

    def dead_letters(
        self,
        entity: str,
        *,
        reason: str | None = None,
        text: str | None = None,
        sql: str | None = None,
        session_id: str | None = None,
        newest: bool = False,
        limit: int | None = None,
    ) -> list[Message]:
        """Browse the messages of the dead-letter queue of an entity."""
        return self.messages(
            f"{entity}/$DeadLetterQueue",
            reason=reason,
            text=text,
            sql=sql,
            session_id=session_id,
            newest=newest,
            limit=limit,
        )

    def resubmit(
        self,
        entity: str,
        *,
        reason: str | None = None,
        text: str | None = None,
        sql: str | None = None,
        session_id: str | None = None,
        before: datetime | None = None,
        sequence_numbers: Iterable[int] | None = None,
        edit: Mapping[str, Any] | None = None,
        target: str | None = None,
        max: int | None = None,
    ) -> int:
        """Resubmit dead letters, and return how many.

        edit says what changes in each: subject, body, application_properties and others.
        """
        numbers = None if sequence_numbers is None else list(sequence_numbers)
        filter = filter_of(
            dict(reason=reason, text=text, sql=sql, session_id=session_id, before=before, sequence_numbers=numbers)
        )
        return self._run(self._verbs.job("resubmit", entity, filter, edit=edit, target=target, max=max))

    def purge(
        self,
        entity: str,
        *,
        states: str | Iterable[str] | None = None,
        reason: str | None = None,
        text: str | None = None,
        sql: str | None = None,
        session_id: str | None = None,
        before: datetime | None = None,
        sequence_numbers: Iterable[int] | None = None,
        max: int | None = None,
    ) -> int:
        """Purge messages, and return how many. Without states, active ones."""
        numbers = None if sequence_numbers is None else list(sequence_numbers)
        filter = filter_of(
            dict(
                states=states,
                reason=reason,
                text=text,
                sql=sql,
                session_id=session_id,
                before=before,
                sequence_numbers=numbers,
            )
        )
        return self._run(self._verbs.job("purge", entity, filter, max=max))

    def history(self, message_id: str) -> list[Event]:
        """What happened to the messages with an id, with all their copies."""
        return self._run(self._verbs.history(message_id))

    def events(
        self,
        entity: str | None = None,
        *,
        kind: str | Iterable[str] | None = None,
        sequence_number: int | None = None,
        message_id: str | None = None,
        client: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        newest: bool = False,
        limit: int | None = None,
    ) -> list[Event]:
        """What happened to messages, oldest first. The kinds stand in docs/history.md."""
        return self._run(
            self._verbs.events(
                limit=limit,
                newest=newest,
                kind=kind,
                entity=entity,
                sequence_number=sequence_number,
                message_id=message_id,
                client=client,
                since=since,
                before=before,
            )
        )

    def why(self, entity: str) -> Why:
        """Why messages are received from an entity, or not."""
        return self._run(self._verbs.why(entity))

    def match(self, topic: str, message: Sendable) -> Match:
        """Which subscriptions of a topic a message would reach."""
        return self._run(self._verbs.match(topic, message))

    def refusals(self) -> list[Refusal]:
        """Links and tokens that were refused."""
        return self._run(self._verbs.refusals())

    def connections(self, entity: str | None = None) -> list[Connection]:
        """Clients that are connected; those of an entity."""
        return self._run(self._verbs.connections(entity))

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the control API, below the namespace, and return the JSON of its answer.

        bus.request("GET", "entities/orders/activity")
        """
        return self._run(self._verbs.request(method, path, body))

    def close(self) -> None:
        """Delete the namespace."""
        return self._run(delete_namespace(self.name))

    def __enter__(self: N) -> N:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} at {self._endpoint.address}>"

    # AsyncNamespace calls the methods of one that returns the steps instead of taking them.
    def _run(self, steps: Steps[T]) -> T:
        return run(self._endpoint, steps)

    def _injected(self, steps: Steps[FaultState]) -> Fault:
        return Fault(self, self._run(steps))


class Minibus(Namespace):
    """A Minibus, and its default namespace (with connect, that of the connection string).

    with Minibus.start(queues=["orders"]) as bus:
        client = ServiceBusClient.from_connection_string(bus.connection_string)
    """

    def __init__(self, endpoint: Endpoint, info: Mapping[str, Any], process: Process | None = None) -> None:
        super().__init__(endpoint, info)
        self._process = process

    @classmethod
    def start(
        cls,
        *,
        queues: Queues = (),
        topics: Topics = (),
        config: Config | None = None,
        limits: str | None = None,
        seed: Paths | None = None,
        data: str | os.PathLike[str] | None = None,
        args: Iterable[str] = (),
        binary: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: Duration | float = 30,
    ) -> Minibus:
        """Start a Minibus on a free port, in memory, with these entities. It ends with stop, and with this process.

        queues and topics are names, or mappings such as
        {"name": "work", "requires_session": True, "lock_duration": "30s"} and
        {"name": "events", "subscriptions": ["all", {"name": "large", "filter": "amount > 5"}]}.
        config is a Config.json, seed a file or several with messages to send, data a database, args are further flags.
        """
        configs = [] if config is None else [whole(config) if isinstance(config, Mapping) else config]
        entities = namespace_json(queues, topics)
        if any(entities.values()) or config is None:
            configs.append(whole(entities))
        process = Process(
            configs,
            limits=limits,
            seed=seed,
            data=data,
            args=args,
            binary=binary,
            env=env,
            timeout=seconds(timeout),
        )
        try:
            return cls(*connect_to(process_string(process, env), process.ending), process)
        except BaseException:
            process.stop()
            raise

    @classmethod
    def connect(cls, connection_string: str | None = None) -> Minibus:
        """Use a Minibus that runs, by default that of SERVICEBUS_CONNECTION_STRING. stop leaves it running."""
        given = given_string(connection_string)
        endpoint, info = connect_to(given)
        if endpoint.key:  # the port may be mapped, which the server does not know
            info["connectionString"] = given
        return cls(endpoint, info)

    def namespace(
        self,
        name: str | None = None,
        *,
        queues: Queues = (),
        topics: Topics = (),
        config: Config | None = None,
        limits: str | None = None,
    ) -> Namespace:
        """Create a namespace for a test or a worker. As a context manager it is deleted at the end."""
        return Namespace(self._endpoint, self._run(create_namespace(name, queues, topics, config, limits)))

    @property
    def log(self) -> str:
        """The last lines that the process has logged. Empty with connect."""
        return self._process.log if self._process else ""

    @property
    def pid(self) -> int | None:
        """The id of the process. None with connect."""
        return self._process.pid if self._process else None

    def stop(self) -> None:
        """Stop the process. With connect it does nothing."""
        if self._process:
            self._process.stop()

    def close(self) -> None:
        """The same as stop."""
        self.stop()


def whole(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Config.json of the entities of a namespace. One that is whole stays."""
    config = config_json(config)
    return config if "UserConfig" in config else {"UserConfig": {"Namespaces": [config]}}


def process_string(process: Process, env: Mapping[str, str] | None) -> str:
    """A connection string for the first request; the answer has the right one."""
    key = (env or {}).get("MINIBUS_ROOT_KEY", "SAS_KEY_VALUE")
    return (
        f"Endpoint=sb://localhost:{process.port};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={key}"
    )


def given_string(connection_string: str | None) -> str:
    given = connection_string or os.environ.get(VARIABLE)
    if not given:
        raise MinibusError(
            f"There is no connection string: pass one, or set the variable {VARIABLE}, as minibus run does."
        )
    return given


def connect_to(
    connection_string: str, ending: Callable[[], str | None] = lambda: None
) -> tuple[Endpoint, dict[str, Any]]:
    endpoint = Endpoint.of(connection_string, ending)
    return endpoint, run(endpoint, namespace_of())

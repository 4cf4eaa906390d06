"""The classes for asyncio. They have the methods of _sync with the same arguments, each as a coroutine.

Requests run in the event loop. Only starting and stopping the process takes a thread.
"""

from __future__ import annotations

import asyncio
import copy
import functools
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from ._answers import FaultState
from ._entities import Config, Queues, Topics
from ._sync import Clock, Fault, Faults, Minibus, Namespace
from ._verbs import create_namespace, delete_namespace
from ._wire import Steps, run_async

__tracebackhide__ = True  # pytest shows the line of the test

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")


class _Scope(Protocol):
    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


S = TypeVar("S", bound=_Scope)


class Pending(Coroutine[Any, Any, S]):
    """What await returns and async with enters: a server, a namespace or a fault."""

    def __init__(self, making: Coroutine[Any, Any, S]) -> None:
        self._making = making
        self._made: S | None = None

    def __await__(self) -> Generator[Any, Any, S]:
        return self._making.__await__()

    def send(self, value: Any) -> Any:
        return self._making.send(value)

    def throw(self, *error: Any) -> Any:
        return self._making.throw(*error)

    def close(self) -> None:
        self._making.close()

    async def __aenter__(self) -> S:
        self._made = await self._making
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._made is not None:
            await self._made.__aexit__(kind, error, trace)


def _awaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The coroutine of a method of _sync."""

    @functools.wraps(method)
    async def call(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = cast("Steps[T]", method(self._plan, *args, **kwargs))
        return await run_async(self._namespace._endpoint, steps)

    return cast("Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]", call)


def _injected(method: Callable[Concatenate[Any, P], Fault]) -> Callable[Concatenate[Any, P], Pending[AsyncFault]]:
    """A method of Faults that injects one."""

    @functools.wraps(method)
    def call(self: Any, *args: P.args, **kwargs: P.kwargs) -> Pending[AsyncFault]:
        async def inject() -> AsyncFault:
            steps = cast("Steps[FaultState]", method(self._plan, *args, **kwargs))
            return AsyncFault(self._namespace, await run_async(self._namespace._endpoint, steps))

        return Pending(inject())

    return cast("Callable[Concatenate[Any, P], Pending[AsyncFault]]", call)


class AsyncFault:
    """A fault that was injected. As a context manager it is removed at the end."""

    def __init__(self, namespace: Namespace, state: FaultState) -> None:
        self._namespace = namespace
        self._plan = Fault(_plan_of(namespace), state)
        self.id = state.id
        self.kind = state.kind

    async def hits(self) -> int:
        """How many operations it has hit."""
        return (await self.state()).hits

    state = _awaited(Fault.state)
    remove = _awaited(Fault.remove)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.remove()

    def __repr__(self) -> str:
        return f"<AsyncFault {self.id} {self.kind}>"


class AsyncFaults:
    """What goes wrong for clients, as Faults."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._plan = Faults(_plan_of(namespace))

    inject = _injected(Faults.inject)
    throttle = _injected(Faults.throttle)
    refuse = _injected(Faults.refuse)
    detach = _injected(Faults.detach)
    drop = _injected(Faults.drop)
    close = _injected(Faults.close)
    lose_lock = _injected(Faults.lose_lock)
    lose_session = _injected(Faults.lose_session)
    delay = _injected(Faults.delay)
    starve = _injected(Faults.starve)
    fail_journal = _injected(Faults.fail_journal)
    expire_token = _injected(Faults.expire_token)
    list = _awaited(Faults.list)
    remove = _awaited(Faults.remove)


class AsyncClock:
    """The clock of a namespace, as Clock."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._plan = Clock(_plan_of(namespace))

    now = _awaited(Clock.now)
    advance = _awaited(Clock.advance)
    set = _awaited(Clock.set)
    freeze = _awaited(Clock.freeze)
    resume = _awaited(Clock.resume)


class AsyncNamespace:
    """A namespace, as Namespace. As a context manager it is deleted at the end."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._plan = _plan_of(namespace)
        self.name = namespace.name
        self.connection_string = namespace.connection_string
        self.explorer_url = namespace.explorer_url
        self.clock = AsyncClock(namespace)
        self.faults = AsyncFaults(namespace)

    put = _awaited(Namespace.put)
    delete = _awaited(Namespace.delete)
    counts = _awaited(Namespace.counts)
    snapshot = _awaited(Namespace.snapshot)
    restore = _awaited(Namespace.restore)
    reset = _awaited(Namespace.reset)
    wait_for = _awaited(Namespace.wait_for)
    send = _awaited(Namespace.send)
    messages = _awaited(Namespace.messages)
    dead_letters = _awaited(Namespace.dead_letters)
    resubmit = _awaited(Namespace.resubmit)
    purge = _awaited(Namespace.purge)
    history = _awaited(Namespace.history)
    events = _awaited(Namespace.events)
    why = _awaited(Namespace.why)
    match = _awaited(Namespace.match)
    refusals = _awaited(Namespace.refusals)
    connections = _awaited(Namespace.connections)
    request = _awaited(Namespace.request)

    async def close(self) -> None:
        """Delete the namespace."""
        await run_async(self._namespace._endpoint, delete_namespace(self.name))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} at {self._namespace._endpoint.address}>"


def _connected(method: Callable[P, Minibus]) -> Callable[P, Pending[AsyncMinibus]]:
    """start or connect."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> Pending[AsyncMinibus]:
        async def connect() -> AsyncMinibus:
            started = asyncio.ensure_future(asyncio.to_thread(method, *args, **kwargs))
            try:
                return AsyncMinibus(await asyncio.shield(started))
            except asyncio.CancelledError:
                started.add_done_callback(_stop)
                raise

        return Pending(connect())

    return call


def _stop(started: asyncio.Future[Minibus]) -> None:
    """Stop a server that nobody waits for any more."""
    if not started.cancelled() and not started.exception():
        started.result().stop()


class AsyncMinibus(AsyncNamespace):
    """A Minibus, and its default namespace, as Minibus.

    async with AsyncMinibus.start(queues=["orders"]) as bus:
        client = ServiceBusClient.from_connection_string(bus.connection_string)
    """

    _namespace: Minibus

    start = staticmethod(_connected(Minibus.start))
    connect = staticmethod(_connected(Minibus.connect))

    def namespace(
        self,
        name: str | None = None,
        *,
        queues: Queues = (),
        topics: Topics = (),
        config: Config | None = None,
        limits: str | None = None,
    ) -> Pending[AsyncNamespace]:
        """Create a namespace for a test or a worker. As a context manager it is deleted at the end."""

        async def create() -> AsyncNamespace:
            endpoint = self._namespace._endpoint
            info = await run_async(endpoint, create_namespace(name, queues, topics, config, limits))
            return AsyncNamespace(Namespace(endpoint, info))

        return Pending(create())

    @property
    def log(self) -> str:
        """The last lines that the process has logged. Empty with connect."""
        return self._namespace.log

    @property
    def pid(self) -> int | None:
        """The id of the process. None with connect."""
        return self._namespace.pid

    async def stop(self) -> None:
        """Stop the process. With connect it does nothing."""
        await asyncio.to_thread(self._namespace.stop)

    async def close(self) -> None:
        """The same as stop."""
        await self.stop()


def _plan_of(namespace: Namespace) -> Namespace:
    """A namespace whose methods return their steps."""
    plan = copy.copy(namespace)
    plan._run = plan._injected = lambda steps: steps  # type: ignore[method-assign,assignment,return-value]
    return plan

"""Both kits for each test: bus is a Namespace, and then an AsyncNamespace whose methods are awaited."""

import asyncio
import inspect

import pytest
from azure.servicebus import ServiceBusClient

from minibus import AsyncMinibus, Minibus

pytest_plugins = "pytester"


class Awaiting:
    """Calls the coroutines of an object of asyncio and waits for them."""

    def __init__(self, runner, of):
        self._runner = runner
        self._of = of

    def __getattr__(self, name):
        value = getattr(self._of, name)
        if name in ("clock", "faults"):
            return Awaiting(self._runner, value)
        if not callable(value):
            return value

        def call(*args, **kwargs):
            result = value(*args, **kwargs)
            if inspect.isawaitable(result):
                result = self._wait(result)
            return Awaiting(self._runner, result) if type(result).__name__.startswith("Async") else result

        return call

    def __enter__(self):
        self._runner.run_until_complete(self._of.__aenter__())
        return self

    def __exit__(self, *error):
        self._runner.run_until_complete(self._of.__aexit__(*error))

    def _wait(self, awaitable):
        async def wait():
            return await awaitable

        return self._runner.run_until_complete(wait())


@pytest.fixture(scope="session")
def runner():
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@pytest.fixture(params=["sync", "async"])
def server(request, minibus, runner):
    """The server of the run."""
    if request.param == "sync":
        return Minibus.connect(minibus.connection_string)
    return Awaiting(runner, runner.run_until_complete(AsyncMinibus.connect(minibus.connection_string).__aenter__()))


@pytest.fixture
def bus(server):
    """A namespace with orders, sessions, and a topic events."""
    queues = ["orders", {"name": "sessions", "requires_session": True}]
    topics = [{"name": "events", "subscriptions": ["all", {"name": "large", "filter": "amount > 5"}]}]
    with server.namespace(queues=queues, topics=topics) as namespace:
        yield namespace


@pytest.fixture
def client(bus):
    with ServiceBusClient.from_connection_string(
        bus.connection_string, retry_total=2, retry_backoff_factor=0.1
    ) as client:
        yield client

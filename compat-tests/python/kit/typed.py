"""What the checker of types must accept, and what it must refuse: an ignored error that is none fails too."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from typing_extensions import assert_type

from minibus import AsyncFault, AsyncMinibus, AsyncNamespace, Counts, Event, Fault, Message, Minibus, Namespace, Queue

work: Queue = {"name": "work", "requires_session": True, "lock_duration": "30s"}
wrong: Queue = {"name": "work", "lock": 5}  # type: ignore[typeddict-unknown-key]


def sync() -> None:
    with Minibus.start(queues=["orders", work], topics=[{"name": "events", "subscriptions": ["all"]}]) as bus:
        assert_type(bus, Minibus)
        assert_type(bus.counts("orders"), Counts)
        assert_type(bus.clock.advance(timedelta(hours=1)), datetime)
        assert_type(bus.faults.throttle("orders", count=2, for_="1m"), Fault)
        assert_type(bus.dead_letters("orders")[0].dead_letter_reason, str | None)
        assert_type(bus.request("GET", "tree"), Any)
        assert_type(bus.send("orders", ["a", b"b", {"body": 1}, Message("c")]), list[int])
        bus.wait_for("orders", idle=True, timeout=5)
        bus.counts(5)  # type: ignore[arg-type]
        bus.faults.throttle("orders", counts=2)  # type: ignore[call-arg]
        with bus.namespace() as namespace:
            assert_type(namespace, Namespace)


async def main() -> None:
    async with AsyncMinibus.start(queues=["orders"]) as bus:
        assert_type(bus, AsyncMinibus)
        assert_type(await bus.counts("orders"), Counts)
        assert_type(await bus.history("order-7"), list[Event])
        assert_type(await bus.clock.now(), datetime)
        assert_type(await bus.faults.throttle("orders", count=2), AsyncFault)
        assert_type(await bus.namespace(), AsyncNamespace)
        await bus.wait_for("orders", idle=True, timeout=timedelta(seconds=5))
        await bus.counts(5)  # type: ignore[arg-type]
        await bus.clock.advance()  # type: ignore[call-arg]
        async with bus.namespace(queues=["orders"]) as namespace:
            assert_type(namespace, AsyncNamespace)


if __name__ == "__main__":
    sync()
    asyncio.run(main())

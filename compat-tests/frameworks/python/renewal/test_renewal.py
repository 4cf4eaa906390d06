"""The asyncio client with AutoLockRenewer: workers that take longer than a lock lasts, on a queue and on sessions."""

import asyncio
import datetime
import os
import unittest

from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusMessage
from azure.servicebus.aio import AutoLockRenewer, ServiceBusClient
from azure.servicebus.exceptions import (
    AutoLockRenewTimeout,
    MessageLockLostError,
    ServiceBusError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)

WAIT = 60  # seconds for what is certain to come
LOCK = 10  # seconds
LONG = LOCK * 2.5  # how long the work takes


def client():
    return ServiceBusClient.from_connection_string(os.environ["MINIBUS_CONNECTION_STRING"], retry_total=0)


async def send(client, queue, *messages):
    async with client.get_queue_sender(queue) as sender:
        await sender.send_messages(list(messages))


async def receive(receiver):
    [message] = await receiver.receive_messages(1, max_wait_time=WAIT)
    return message


def now():
    return datetime.datetime.now(datetime.timezone.utc)


class Renewal(unittest.IsolatedAsyncioTestCase):
    async def test_messages_of_a_prefetching_worker(self):
        """All that it has taken stay its own, while it works on them one after another."""
        async with client() as bus, AutoLockRenewer() as renewer:
            await send(bus, "orders", *(ServiceBusMessage(f"{n}") for n in range(5)))
            async with bus.get_queue_receiver("orders") as receiver:
                taken = []
                while len(taken) < 5:
                    taken += await receiver.receive_messages(5, max_wait_time=WAIT)
                first = taken[-1].locked_until_utc
                for message in taken:
                    renewer.register(receiver, message, max_lock_renewal_duration=60)
                for message in taken:
                    await asyncio.sleep(LONG / 5)
                    last = message.locked_until_utc
                    # Before the completion: a renewal that is under way then fails, as it should.
                    self.assertIsNone(message.auto_renew_error)
                    await receiver.complete_message(message)
                self.assertGreater(last, first + datetime.timedelta(seconds=LOCK))
                self.assertEqual([m.delivery_count for m in taken], [0] * 5)
                self.assertEqual(await receiver.peek_messages(1), [])

    async def test_iterating_receiver_registers_by_itself(self):
        async with client() as bus, AutoLockRenewer(max_lock_renewal_duration=60) as renewer:
            await send(bus, "parcels", ServiceBusMessage("p"))
            async with bus.get_queue_receiver("parcels", auto_lock_renewer=renewer, max_wait_time=2) as receiver:
                got = []
                async for message in receiver:
                    await asyncio.sleep(LONG)
                    await receiver.complete_message(message)
                    got.append(str(message))
                self.assertEqual(got, ["p"])

    async def test_renewal_ends_and_says_so(self):
        async with client() as bus, AutoLockRenewer() as renewer:
            await send(bus, "letters", ServiceBusMessage("l"))
            async with bus.get_queue_receiver("letters") as receiver:
                message = await receive(receiver)
                first = message.locked_until_utc
                renewer.register(receiver, message, max_lock_renewal_duration=LOCK)
                async with asyncio.timeout(WAIT):
                    while message.auto_renew_error is None:
                        await asyncio.sleep(0.1)
                self.assertIsInstance(message.auto_renew_error, AutoLockRenewTimeout)
                self.assertGreater(message.locked_until_utc, first)
                await asyncio.sleep(max(0, (message.locked_until_utc - now()).total_seconds()) + 0.5)
                with self.assertRaises(MessageLockLostError):
                    await receiver.complete_message(message)
                again = await receive(receiver)
                self.assertEqual((str(again), again.delivery_count), ("l", 1))
                await receiver.complete_message(again)

    async def test_session(self):
        """The session stays held, with its state and its messages, and is free again at the end."""
        async with client() as bus, AutoLockRenewer() as renewer:
            await send(bus, "carts", *(ServiceBusMessage(f"{n}", session_id="ada") for n in range(3)))
            async with bus.get_queue_receiver("carts", session_id="ada") as receiver:
                renewer.register(receiver, receiver.session, max_lock_renewal_duration=60)
                for n in range(3):
                    message = await receive(receiver)
                    await asyncio.sleep(LONG / 3)
                    await receiver.session.set_state(str(n))
                    await receiver.complete_message(message)
                with self.assertRaises(SessionCannotBeLockedError):
                    async with bus.get_queue_receiver("carts", session_id="ada"):
                        pass
                self.assertGreater(receiver.session.locked_until_utc, now())
            async with bus.get_queue_receiver("carts", session_id="ada") as receiver:
                self.assertEqual(await receiver.session.get_state(), b"2")
                self.assertEqual(await receiver.peek_messages(1), [])

    async def test_sessions_of_many_workers(self):
        """Workers take one session after another; each session goes to one of them."""
        ids = [f"s{n}" for n in range(6)]

        async def work(bus, renewer):
            done = []
            for _ in range(2):
                async with bus.get_queue_receiver("baskets", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=WAIT) as receiver:
                    renewer.register(receiver, receiver.session, max_lock_renewal_duration=60)
                    message = await receive(receiver)
                    await asyncio.sleep(LOCK + 1)
                    await receiver.complete_message(message)
                    done.append(receiver.session.session_id)
            return done

        async with client() as bus, AutoLockRenewer() as renewer:
            await send(bus, "baskets", *(ServiceBusMessage("m", session_id=i) for i in ids))
            done = await asyncio.gather(*(work(bus, renewer) for _ in range(3)))
            self.assertEqual(sorted(sum(done, [])), ids)

    async def test_session_without_renewal_is_lost(self):
        async with client() as bus:
            await send(bus, "visits", ServiceBusMessage("v", session_id="ada"))
            async with bus.get_queue_receiver("visits", session_id="ada") as receiver:
                message = await receive(receiver)
                await asyncio.sleep(LOCK + 1)
                with self.assertRaises(SessionLockLostError):
                    await receiver.complete_message(message)
                with self.assertRaises(ServiceBusError):
                    await receiver.session.set_state("late")


if __name__ == "__main__":
    unittest.main(verbosity=2)

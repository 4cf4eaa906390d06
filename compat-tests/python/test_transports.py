"""The main path of the data plane over AMQP and AMQPS, with both clients."""

import datetime
import unittest

import bus
from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import ServiceBusError

LARGE = "x" * 200_000  # several AMQP frames, and several reads of a WebSocket


def later():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)


class Paths(bus.Case):
    """The main path; a subclass says over which transports."""

    def queue_path(self, client):
        queue = self.queue()
        sending = client.get_queue_sender(queue, **bus.QUICK)
        with sending as sender, client.get_queue_receiver(queue, **bus.QUICK) as receiver:
            numbers = sender.schedule_messages([ServiceBusMessage("late"), ServiceBusMessage("later")], later())
            sender.cancel_scheduled_messages(numbers)
            batch = sender.create_message_batch()
            for body in ("complete", "abandon", "defer", "dead-letter"):
                batch.add_message(ServiceBusMessage(body))
            sender.send_messages(batch)
            sender.send_messages(ServiceBusMessage(LARGE))
            self.assertEqual(bus.texts(receiver.peek_messages(5))[:2], ["complete", "abandon"])
            complete, abandon, defer, dead, large = self.receive(receiver, 5)
            self.assertEqual(str(large), LARGE)
            receiver.renew_message_lock(large)
            receiver.complete_message(large)
            receiver.complete_message(complete)
            receiver.defer_message(defer)
            receiver.dead_letter_message(dead, reason="because", error_description="of that")
            receiver.abandon_message(abandon)
            [again] = self.receive(receiver)
            self.assertEqual((str(again), again.delivery_count), ("abandon", 1))
            receiver.complete_message(again)
            [deferred] = receiver.receive_deferred_messages([defer.sequence_number])
            receiver.complete_message(deferred)
            with client.get_queue_receiver(queue, **bus.QUICK, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as letters:
                [letter] = self.receive(letters)
                self.assertEqual((str(letter), letter.dead_letter_reason), ("dead-letter", "because"))
                letters.complete_message(letter)
            self.assertEqual(receiver.peek_messages(5), [])

    def session_path(self, client):
        queue = self.queue(requires_session=True)
        with client.get_queue_sender(queue, **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("m", session_id="blue"))
        with client.get_queue_receiver(queue, **bus.QUICK, session_id=NEXT_AVAILABLE_SESSION) as receiver:
            self.assertEqual(receiver.session.session_id, "blue")
            receiver.session.set_state("half way")
            self.assertEqual(receiver.session.get_state(), b"half way")
            [m] = self.receive(receiver)
            receiver.complete_message(m)

    def topic_path(self, client):
        topic = self.topic("a", "b")
        with client.get_topic_sender(topic, **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("to both"))
        for subscription in ("a", "b"):
            with client.get_subscription_receiver(topic, subscription, **bus.QUICK) as receiver:
                [m] = self.receive(receiver)
                self.assertEqual(str(m), "to both")
                receiver.complete_message(m)

    def main_path(self, transport):
        with bus.client(transport) as client:
            self.queue_path(client)
            self.session_path(client)
            self.topic_path(client)


class Synchronous(Paths):
    @bus.proves("conn.amqp", "conn.shared", "auth.emulator", "send.single", "settle.complete")
    def test_amqp(self):
        self.main_path("amqp")

    @bus.proves("conn.amqps", "conn.endpoint")
    def test_amqps(self):
        self.main_path("amqps")


class AsyncPaths(bus.AsyncCase):
    """The main path for asyncio."""

    async def queue_path(self, client):
        queue = await self.queue()
        sending = client.get_queue_sender(queue, **bus.QUICK)
        async with sending as sender, client.get_queue_receiver(queue, **bus.QUICK) as receiver:
            numbers = await sender.schedule_messages([ServiceBusMessage("late"), ServiceBusMessage("later")], later())
            await sender.cancel_scheduled_messages(numbers)
            batch = await sender.create_message_batch()
            for body in ("complete", "abandon", "defer", "dead-letter"):
                batch.add_message(ServiceBusMessage(body))
            await sender.send_messages(batch)
            await sender.send_messages(ServiceBusMessage(LARGE))
            self.assertEqual(bus.texts(await receiver.peek_messages(5))[:2], ["complete", "abandon"])
            complete, abandon, defer, dead, large = await self.receive(receiver, 5)
            self.assertEqual(str(large), LARGE)
            await receiver.renew_message_lock(large)
            await receiver.complete_message(large)
            await receiver.complete_message(complete)
            await receiver.defer_message(defer)
            await receiver.dead_letter_message(dead, reason="because", error_description="of that")
            await receiver.abandon_message(abandon)
            [again] = await self.receive(receiver)
            self.assertEqual((str(again), again.delivery_count), ("abandon", 1))
            await receiver.complete_message(again)
            [deferred] = await receiver.receive_deferred_messages([defer.sequence_number])
            await receiver.complete_message(deferred)
            async with client.get_queue_receiver(queue, **bus.QUICK, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as letters:
                [letter] = await self.receive(letters)
                self.assertEqual((str(letter), letter.dead_letter_reason), ("dead-letter", "because"))
                await letters.complete_message(letter)
            self.assertEqual(await receiver.peek_messages(5), [])

    async def session_path(self, client):
        queue = await self.queue(requires_session=True)
        async with client.get_queue_sender(queue, **bus.QUICK) as sender:
            await sender.send_messages(ServiceBusMessage("m", session_id="blue"))
        async with client.get_queue_receiver(queue, **bus.QUICK, session_id=NEXT_AVAILABLE_SESSION) as receiver:
            self.assertEqual(receiver.session.session_id, "blue")
            await receiver.session.set_state("half way")
            self.assertEqual(await receiver.session.get_state(), b"half way")
            await receiver.session.renew_lock()
            [m] = await self.receive(receiver)
            await receiver.complete_message(m)

    async def topic_path(self, client):
        topic = await self.topic("a", "b")
        async with client.get_topic_sender(topic, **bus.QUICK) as sender:
            await sender.send_messages(ServiceBusMessage("to both"))
        for subscription in ("a", "b"):
            async with client.get_subscription_receiver(topic, subscription, **bus.QUICK) as receiver:
                [m] = await self.receive(receiver)
                self.assertEqual(str(m), "to both")
                await receiver.complete_message(m)

    async def main_path(self, transport):
        async with bus.async_client(transport) as client:
            await self.queue_path(client)
            await self.session_path(client)
            await self.topic_path(client)


class Asynchronous(AsyncPaths):
    @bus.proves("recv.async")
    async def test_amqp(self):
        await self.main_path("amqp")

    async def test_amqps(self):
        await self.main_path("amqps")


class Trust(unittest.TestCase):
    """Without the authority's certificate nothing is sent: the certificate is really checked."""

    @bus.proves("conn.untrusted")
    def test_unknown_authority(self):
        with bus.client("amqps", connection_verify=None, retry_total=0) as client:
            with self.assertRaisesRegex(ServiceBusError, "CERTIFICATE_VERIFY_FAILED"):
                client.get_queue_sender("any", **bus.QUICK).send_messages(ServiceBusMessage("m"))


if __name__ == "__main__":
    unittest.main()

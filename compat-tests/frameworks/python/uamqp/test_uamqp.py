"""The Python SDK of 2022, whose engine is uAMQP: over AMQP with TLS on port 5671, and over WebSockets; and uAMQP alone.

SERVICEBUS_CONNECTION_STRING names the server, ADMINISTRATION_CONNECTION_STRING the same with a port, MINIBUS_CA the file of the authority.
"""

import datetime
import os
import time
import unittest
import urllib.parse

import uamqp
from azure.servicebus import AutoLockRenewer, NEXT_AVAILABLE_SESSION, ServiceBusClient, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusError, SessionCannotBeLockedError
from azure.servicebus.management import ServiceBusAdministrationClient, SqlRuleFilter

# Its first connections, made by several threads at the same time, fail now and then to prepare OpenSSL.
uamqp._Platform.initialize()

SECURE = os.environ["SERVICEBUS_CONNECTION_STRING"]
ADMIN = os.environ["ADMINISTRATION_CONNECTION_STRING"]
CA = os.environ["MINIBUS_CA"]
HOST = urllib.parse.urlparse(SECURE.split(";")[0].partition("=")[2]).hostname

WAIT = 60  # seconds for what is certain to come
LARGE = "x" * 200_000  # several frames
TRUST = {"connection_verify": CA, "retry_total": 0}
WEBSOCKET = {"custom_endpoint_address": f"sb://{HOST}:5671"}  # which this SDK speaks to over a WebSocket, always


def receive(receiver, count=1):
    """Receives exactly so many messages."""
    got = []
    end = time.monotonic() + WAIT
    while len(got) < count and time.monotonic() < end:
        got += receiver.receive_messages(count - len(got), max_wait_time=WAIT)
    if len(got) != count:
        raise AssertionError(f"{len(got)} messages, want {count}")
    return got


async def receive_async(receiver):
    [message] = await receiver.receive_messages(1, max_wait_time=WAIT)
    return message


class Case(unittest.TestCase):
    def setUp(self):
        self.admin = self.enterContext(ServiceBusAdministrationClient.from_connection_string(ADMIN))
        self.name = self.id().rpartition(".")[2]

    def client(self, **options):
        return self.enterContext(ServiceBusClient.from_connection_string(SECURE, **TRUST, **options))

    def everyday(self, client):
        """Sends, receives, and settles in every way."""
        queue = self.admin.create_queue(self.name).name
        with client.get_queue_sender(queue) as sender, client.get_queue_receiver(queue) as receiver:
            later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
            sender.cancel_scheduled_messages(sender.schedule_messages(ServiceBusMessage("later"), later))
            batch = sender.create_message_batch()
            for body in ("complete", "abandon", "defer", "dead-letter"):
                batch.add_message(ServiceBusMessage(body, application_properties={"n": 1}, message_id=body))
            sender.send_messages(batch)
            sender.send_messages(ServiceBusMessage(LARGE))
            self.assertEqual([str(m) for m in receiver.peek_messages(2)], ["complete", "abandon"])
            complete, abandon, defer, dead, large = receive(receiver, 5)
            self.assertEqual((complete.message_id, complete.application_properties), ("complete", {b"n": 1}))
            self.assertEqual(str(large), LARGE)
            receiver.complete_message(large)
            receiver.complete_message(complete)
            receiver.defer_message(defer)
            receiver.dead_letter_message(dead, reason="because", error_description="of that")
            receiver.abandon_message(abandon)
            [again] = receive(receiver)
            self.assertEqual((str(again), again.delivery_count), ("abandon", 1))
            receiver.renew_message_lock(again)
            receiver.complete_message(again)
            [deferred] = receiver.receive_deferred_messages([defer.sequence_number])
            receiver.complete_message(deferred)
        with client.get_queue_receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as letters:
            [letter] = receive(letters)
            self.assertEqual((str(letter), letter.dead_letter_reason), ("dead-letter", "because"))
            letters.complete_message(letter)
        self.assert_empty(queue)

    def assert_empty(self, queue):
        """The SDK does not wait until a settlement has arrived."""
        end = time.monotonic() + WAIT
        while (count := self.admin.get_queue_runtime_properties(queue).total_message_count) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(count, 0)


class Synchronous(Case):
    def test_amqp_over_tls(self):
        self.everyday(self.client())

    def test_websocket(self):
        self.everyday(self.client(**WEBSOCKET))

    def test_sessions(self):
        queue = self.admin.create_queue(self.name, requires_session=True, lock_duration=datetime.timedelta(seconds=5)).name
        client = self.client()
        with client.get_queue_sender(queue) as sender:
            sender.send_messages([ServiceBusMessage("m", session_id="ada") for _ in range(2)])
        with client.get_queue_receiver(queue, session_id=NEXT_AVAILABLE_SESSION) as receiver, AutoLockRenewer() as renewer:
            renewer.register(receiver, receiver.session, max_lock_renewal_duration=60)
            self.assertEqual(receiver.session.session_id, "ada")
            receiver.session.set_state("half way")
            time.sleep(7)
            for message in receive(receiver, 2):
                receiver.complete_message(message)
            self.assertEqual(receiver.session.get_state(), b"half way")
            with self.assertRaises(SessionCannotBeLockedError):
                client.get_queue_receiver(queue, session_id="ada").__enter__()

    def test_a_lock_ends(self):
        queue = self.admin.create_queue(self.name, lock_duration=datetime.timedelta(seconds=5)).name
        client = self.client()
        with client.get_queue_sender(queue) as sender, client.get_queue_receiver(queue) as receiver:
            sender.send_messages(ServiceBusMessage("m"))
            [message] = receive(receiver)
            time.sleep(6)
            with self.assertRaisesRegex(ServiceBusError, "lock has expired"):
                receiver.complete_message(message)
            [again] = receive(receiver)
            self.assertEqual(again.delivery_count, 1)
            receiver.complete_message(again)

    def test_topics(self):
        topic = self.admin.create_topic(self.name).name
        self.admin.create_subscription(topic, "all")
        self.admin.create_subscription(topic, "red")
        self.admin.delete_rule(topic, "red", "$Default")
        self.admin.create_rule(topic, "red", "red", filter=SqlRuleFilter("colour = 'red'"))
        client = self.client()
        with client.get_topic_sender(topic) as sender:
            sender.send_messages([ServiceBusMessage(c, application_properties={"colour": c}) for c in ("red", "blue")])
        for subscription, want in (("all", ["red", "blue"]), ("red", ["red"])):
            with client.get_subscription_receiver(topic, subscription) as receiver:
                got = receive(receiver, len(want))
                self.assertEqual([str(m) for m in got], want)
                for message in got:
                    receiver.complete_message(message)

    def test_no_such_queue(self):
        """The SDK calls each refusal of a token so, and may garble the reason."""
        with self.assertRaises(ServiceBusAuthenticationError):
            self.client().get_queue_receiver("missing").receive_messages(1, max_wait_time=1)


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_asyncio(self):
        with ServiceBusAdministrationClient.from_connection_string(ADMIN) as admin:
            admin.create_queue("test_asyncio")
        async with AsyncServiceBusClient.from_connection_string(SECURE, **TRUST) as client:
            async with client.get_queue_sender("test_asyncio") as sender, client.get_queue_receiver("test_asyncio") as receiver:
                await sender.send_messages([ServiceBusMessage(LARGE), ServiceBusMessage("b")])
                large = await receive_async(receiver)
                self.assertEqual(str(large), LARGE)
                await receiver.abandon_message(large)
                for _ in range(2):
                    await receiver.complete_message(await receive_async(receiver))
                self.assertEqual(await receiver.peek_messages(1), [])


class Alone(Case):
    def test_uamqp_without_the_sdk(self):
        queue = self.admin.create_queue(self.name).name
        target = f"amqps://{HOST}/{queue}"
        plain = lambda: uamqp.authentication.SASLPlain(HOST, "RootManageSharedAccessKey", "SAS_KEY_VALUE", verify=CA)
        with uamqp.SendClient(target, auth=plain()) as client:
            client.queue_message(*(uamqp.Message(f"{n}") for n in range(3)))
            self.assertEqual(client.send_all_messages(), [uamqp.constants.MessageState.SendComplete] * 3)
        with uamqp.ReceiveClient(target, auth=plain(), timeout=WAIT * 1000) as client:
            got = []
            while len(got) < 3:
                for message in client.receive_message_batch(3):
                    got.append(str(message))
                    message.accept()
        self.assertEqual(got, ["0", "1", "2"])
        self.assert_empty(queue)

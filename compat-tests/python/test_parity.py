"""What the other modules leave out of compat-tests/cases: many at once, what is refused, ways to connect."""

import concurrent.futures
import datetime
import threading
import time
import unittest

import bus
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.servicebus import (
    NEXT_AVAILABLE_SESSION, ServiceBusClient, ServiceBusMessage, ServiceBusMessageState, ServiceBusReceiveMode, ServiceBusSubQueue,
)
from azure.servicebus.exceptions import MessageNotFoundError, MessageSizeExceededError, ServiceBusAuthenticationError, ServiceBusError
from azure.servicebus.management import AccessRights, AuthorizationRule

UTC = datetime.timezone.utc
SECRET = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
DEAD = ServiceBusSubQueue.DEAD_LETTER
DELETE = ServiceBusReceiveMode.RECEIVE_AND_DELETE


def now():
    return datetime.datetime.now(UTC)


def numbered(count):
    return [ServiceBusMessage(f"{i}") for i in range(count)]


def names(count):
    return [f"{i}" for i in range(count)]


class Sending(bus.Case):
    @bus.proves("send.batchfull")
    def test_a_batch_knows_its_limit(self):
        queue = self.queue()
        sender = self.sender(queue)
        batch = sender.create_message_batch()
        self.assertEqual(batch.max_size_in_bytes, 262_144)
        count = 0
        with self.assertRaises(MessageSizeExceededError):
            while True:
                batch.add_message(ServiceBusMessage(b"x" * 1024))
                count += 1
        self.assertIn(count, range(200, 256))
        sender.send_messages(batch)
        self.receive(self.receiver(queue), count)

    @bus.proves("send.parallel", "recv.order")
    def test_many_at_once(self):
        queue = self.queue()

        def send(first):
            with bus.client(retry_total=0) as client, client.get_queue_sender(queue, **bus.QUICK) as sender:
                for i in range(first, first + 100):
                    sender.send_messages(ServiceBusMessage(f"{i}"))

        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            list(pool.map(send, range(0, 500, 100)))
        got = self.receive(self.receiver(queue, prefetch_count=500), 500)
        self.assertEqual([m.sequence_number for m in got], list(range(1, 501)))
        self.assertEqual(sorted(bus.texts(got), key=int), names(500))

    @bus.proves("send.toolarge")
    def test_the_sender_goes_on(self):
        queue = self.queue()
        with bus.client() as client, client.get_queue_sender(queue, **bus.QUICK) as sender:  # its retry opens the link again
            with self.assertRaises(MessageSizeExceededError):
                sender.send_messages(ServiceBusMessage("x" * 300_000))
            sender.send_messages(ServiceBusMessage("small"))
        self.assertEqual(bus.texts(self.receive(self.receiver(queue))), ["small"])

    @bus.proves("send.again")
    def test_sent_again(self):
        queue = self.queue()
        self.send(queue, ServiceBusMessage("m", subject="s", application_properties={"n": 1}))
        receiver = self.receiver(queue)
        [first] = self.receive(receiver)
        self.sender(queue).send_messages(first)
        [second] = self.receive(receiver)
        self.assertEqual((str(second), second.subject, second.application_properties), ("m", "s", {b"n": 1}))
        self.assertEqual(second.sequence_number, 2)


class Receiving(bus.Case):
    @bus.proves("recv.one", "recv.several", "recv.empty")
    def test_at_once(self):
        queue = self.queue()
        receiver = self.receiver(queue)
        self.assert_empty(receiver)
        timer = threading.Timer(0.5, lambda: self.send(queue, "first"))
        timer.start()
        begin = time.monotonic()
        self.assertEqual(bus.texts(receiver.receive_messages(1, max_wait_time=bus.WAIT)), ["first"])
        self.assertLess(time.monotonic() - begin, bus.WAIT)
        timer.join()
        self.sender(queue).send_messages(numbered(5))
        self.assertEqual(bus.texts(self.receive(receiver, 5)), names(5))

    @bus.proves("recv.deletestays")
    def test_closing_loses_nothing(self):
        queue = self.queue()
        self.sender(queue).send_messages(numbered(60))
        seen = []
        while len(seen) < 60:
            with self.client.get_queue_receiver(queue, receive_mode=DELETE, **bus.QUICK) as taker:
                seen += bus.texts(taker.receive_messages(7, max_wait_time=bus.WAIT))
        self.assertEqual(sorted(seen, key=int), names(60))

    @bus.proves("recv.competing")
    def test_competing(self):
        queue = self.queue()
        self.sender(queue).send_messages(numbered(100))
        readers = [self.receiver(queue), self.receiver(queue)]
        seen = []
        while len(seen) < 100:
            for reader in readers:
                seen += bus.texts(reader.receive_messages(min(7, 100 - len(seen)) or 1, max_wait_time=1))
        self.assertEqual(sorted(seen, key=int), names(100))

    @bus.proves("recv.close")
    def test_a_closed_receiver_takes_nothing(self):
        queue = self.queue()
        with self.client.get_queue_receiver(queue, **bus.QUICK) as closed:
            self.assert_empty(closed)
        self.send(queue, "m")
        [m] = self.receive(self.receiver(queue))
        self.assertEqual(m.delivery_count, 0)

    @bus.proves("settle.many", "settle.gaps")
    def test_settle_many(self):
        queue = self.queue()
        self.sender(queue).send_messages(numbered(70))
        receiver = self.receiver(queue, prefetch_count=70)
        for i, m in enumerate(self.receive(receiver, 70)):
            if i < 50 or i % 2 == 0:
                receiver.complete_message(m)
        self.assertEqual(bus.texts(receiver.peek_messages(70, sequence_number=1)), [f"{i}" for i in range(51, 70, 2)])

    @bus.proves("lock.renew", "lock.connection")
    def test_lock_of_another_connection(self):
        queue = self.queue()
        self.send(queue, "m")
        with bus.client(retry_total=0) as other, other.get_queue_receiver(queue, **bus.QUICK) as first:
            [m] = self.receive(first)
            time.sleep(1)
            until = first.renew_message_lock(m)
            self.assertLess(abs(until - now() - datetime.timedelta(minutes=1)), datetime.timedelta(seconds=5))
        receiver = self.receiver(queue)
        self.assert_empty(receiver)
        receiver.complete_message(m)
        self.assertEqual(receiver.peek_messages(1, sequence_number=1), [])

    @bus.proves("defer.missing", "defer.delete")
    def test_deferred(self):
        queue = self.queue()
        self.send(queue, "a", "b")
        receiver = self.receiver(queue)
        for m in self.receive(receiver, 2):
            receiver.defer_message(m)
        with self.assertRaises(MessageNotFoundError):
            receiver.receive_deferred_messages([1, 99])
        taker = self.receiver(queue, receive_mode=DELETE)
        self.assertEqual(bus.texts(taker.receive_deferred_messages([2, 1])), ["b", "a"])
        self.assertEqual(receiver.peek_messages(1, sequence_number=1), [])

    @bus.proves("peek.states", "prop.state", "peek.deadletter", "dlq.abandon", "dlq.count", "sched.cancelmany")
    def test_every_state(self):
        queue = self.queue()
        self.send(queue, "locked", "deferred", "dead", "active")
        receiver, sender = self.receiver(queue), self.sender(queue)
        numbers = sender.schedule_messages([ServiceBusMessage("scheduled"), ServiceBusMessage("too")], now() + datetime.timedelta(hours=1))
        locked, deferred, dead = self.receive(receiver, 3)
        receiver.abandon_message(dead)
        [dead] = self.receive(receiver)
        receiver.defer_message(deferred)
        receiver.dead_letter_message(dead)
        active, put_off, later = ServiceBusMessageState.ACTIVE, ServiceBusMessageState.DEFERRED, ServiceBusMessageState.SCHEDULED
        peeked = [(str(m), m.state, m.lock_token) for m in receiver.peek_messages(10, sequence_number=1)]
        self.assertEqual(peeked, [("locked", active, None), ("deferred", put_off, None), ("active", active, None),
                                  ("scheduled", later, None), ("too", later, None)])
        receiver.complete_message(locked)
        letters = self.receiver(queue, sub_queue=DEAD)
        self.assertEqual(bus.texts(letters.peek_messages(5)), ["dead"])
        for _ in range(2):  # abandon does not count here
            [letter] = self.receive(letters)
            self.assertEqual(letter.delivery_count, 1)
            letters.abandon_message(letter)
        with self.assertRaises(ServiceBusError):
            sender.cancel_scheduled_messages([numbers[0], 999])
        sender.cancel_scheduled_messages(numbers)
        self.assertEqual(bus.texts(receiver.peek_messages(10, sequence_number=1)), ["deferred", "active"])

    @bus.proves("peek.large")
    def test_peek_many_large_ones(self):
        queue = self.queue()
        sender = self.sender(queue)
        for _ in range(40):
            sender.send_messages(ServiceBusMessage("x" * 20_000))
        receiver = self.receiver(queue)
        peeked = 0
        while page := receiver.peek_messages(40):
            peeked += len(page)
        self.assertEqual(peeked, 40)

    @bus.proves("sched.past")
    def test_past(self):
        queue = self.queue()
        self.sender(queue).schedule_messages(ServiceBusMessage("m"), now() - datetime.timedelta(hours=1))
        self.assertEqual(bus.texts(self.receive(self.receiver(queue))), ["m"])

    @bus.proves("dlq.transfer", "dlq.nosend")
    def test_sub_queues(self):
        queue = self.queue()
        self.assert_empty(self.receiver(queue, sub_queue=ServiceBusSubQueue.TRANSFER_DEAD_LETTER))
        with self.assertRaises(ServiceBusError):
            self.sender(queue + "/$DeadLetterQueue").send_messages(ServiceBusMessage("m"))


class Sessions(bus.Case):
    def send_to(self, queue, session, *bodies):
        self.send(queue, *(ServiceBusMessage(body, session_id=session) for body in bodies))

    @bus.proves("sess.waits")
    def test_next_waits(self):
        queue = self.queue(requires_session=True)
        timer = threading.Timer(1, lambda: self.send_to(queue, "late", "m"))
        timer.start()
        receiver = self.receiver(queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=bus.WAIT)
        timer.join()
        self.assertEqual((receiver.session.session_id, bus.texts(self.receive(receiver))), ("late", ["m"]))

    @bus.proves("sess.state", "sess.release")
    def test_the_next_holder(self):
        queue = self.queue(requires_session=True)
        self.send_to(queue, "a", "1", "2")
        with self.client.get_queue_receiver(queue, session_id="a", **bus.QUICK) as first:
            self.assertFalse(first.session.get_state())
            first.session.set_state("half way")
            self.receive(first, 2)
        second = self.receiver(queue, session_id="a")
        self.assertEqual(second.session.get_state(), b"half way")
        self.assertEqual([(str(m), m.delivery_count) for m in self.receive(second, 2)], [("1", 0), ("2", 0)])
        second.session.set_state(None)
        self.assertFalse(second.session.get_state())

    @bus.proves("sess.schedule", "sess.delete")
    def test_scheduled_and_deleted(self):
        queue = self.queue(requires_session=True)
        due = now() + datetime.timedelta(seconds=1)
        self.sender(queue).schedule_messages(ServiceBusMessage("later", session_id="a"), due)
        receiver = self.receiver(queue, session_id="a", receive_mode=DELETE)
        [m] = self.receive(receiver)
        self.assertGreaterEqual(m.enqueued_time_utc, due - datetime.timedelta(milliseconds=1))
        self.assertEqual(receiver.peek_messages(1, sequence_number=1), [])

    @bus.proves("sess.share")
    def test_shared(self):
        queue = self.queue(requires_session=True)
        sender = self.sender(queue)
        for i in range(10):
            sender.send_messages([ServiceBusMessage(f"{i}", session_id=f"s{s}") for s in range(20)])

        def drain(_):
            with bus.client(retry_total=0) as client:
                with client.get_queue_receiver(queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=bus.WAIT, **bus.QUICK) as receiver:
                    got = self.receive(receiver, 10)
                    for m in got:
                        receiver.complete_message(m)
                    return receiver.session.session_id, bus.texts(got)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            drained = dict(pool.map(drain, range(20)))
        self.assertEqual(drained, {f"s{s}": names(10) for s in range(20)})


class Topics(bus.Case):
    @bus.proves("topic.batch", "topic.defer", "topic.schedule", "topic.noreceive")
    def test_subscription(self):
        topic = self.topic("s")
        sender = self.enterContext(self.client.get_topic_sender(topic, **bus.QUICK))
        batch = sender.create_message_batch()
        for message in numbered(5):
            batch.add_message(message)
        sender.send_messages(batch)
        receiver = self.receiver((topic, "s"))
        got = self.receive(receiver, 5)
        self.assertEqual(bus.texts(got), names(5))
        receiver.defer_message(got[0])
        self.assertEqual(bus.texts(receiver.receive_deferred_messages(got[0].sequence_number)), ["0"])
        due = now() + datetime.timedelta(seconds=8)
        sender.schedule_messages(ServiceBusMessage("later"), due)
        self.assertEqual(bus.texts(receiver.peek_messages(1, sequence_number=6)), [])
        [m] = self.receive(receiver)
        self.assertEqual(str(m), "later")
        self.assertGreaterEqual(m.enqueued_time_utc, due - datetime.timedelta(milliseconds=1))
        with self.assertRaises(ServiceBusError):
            self.receiver(topic).receive_messages(1, max_wait_time=1)


class Connecting(bus.Case):
    def works(self, queue, client):
        with client, client.get_queue_sender(queue, **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("m"))
        receiver = self.receiver(queue)
        [m] = self.receive(receiver)
        receiver.complete_message(m)

    def limited(self):
        rule = AuthorizationRule(type="SharedAccessAuthorizationRule", claim_type="SharedAccessKey", claim_value="None", key_name="sends",
                                 rights=[AccessRights.SEND], primary_key=SECRET, secondary_key=SECRET)
        return self.queue(authorization_rules=[rule])

    def as_policy(self, policy, key):
        return f"Endpoint=sb://localhost:{bus.AMQP};SharedAccessKeyName={policy};SharedAccessKey={key};UseDevelopmentEmulator=true;"

    def secure(self, credential):
        return ServiceBusClient("localhost", credential, retry_total=0, connection_verify=bus.CA,
                                custom_endpoint_address=f"sb://localhost:{bus.TLS}")

    @bus.proves("auth.namedkey")
    def test_named_key(self):
        self.works(self.queue(), self.secure(AzureNamedKeyCredential("RootManageSharedAccessKey", "SAS_KEY_VALUE")))

    @bus.proves("auth.policy", "auth.wrongkey", "admin.policy", "admin.wrongkey")
    def test_policies(self):
        queue = self.limited()
        with ServiceBusClient.from_connection_string(self.as_policy("sends", SECRET), retry_total=0) as client:
            with client.get_queue_sender(queue, **bus.QUICK) as sender:
                sender.send_messages(ServiceBusMessage("m"))
            with self.assertRaises(ServiceBusError), client.get_queue_receiver(queue, **bus.QUICK) as receiver:
                receiver.receive_messages(1, max_wait_time=1)
        self.assertEqual(bus.texts(self.receive(self.receiver(queue))), ["m"])
        with ServiceBusClient.from_connection_string(self.as_policy("RootManageSharedAccessKey", "wrong"), retry_total=0) as client:
            with self.assertRaises(ServiceBusAuthenticationError), client.get_queue_sender(queue, **bus.QUICK) as sender:
                sender.send_messages(ServiceBusMessage("m"))
        for policy, key in (("sends", SECRET), ("RootManageSharedAccessKey", "wrong")):
            string = self.as_policy(policy, key).replace(f":{bus.AMQP};", f":{bus.HTTP};")
            with bus.admin(string) as client, self.assertRaises(ClientAuthenticationError):
                client.get_queue(queue)

    @bus.proves("auth.signature")
    def test_signature(self):
        queue = self.limited()
        string = f"Endpoint=sb://localhost:{bus.AMQP};SharedAccessSignature={bus.signature(queue, 'sends', SECRET)};UseDevelopmentEmulator=true;"
        self.works(queue, ServiceBusClient.from_connection_string(string, retry_total=0))

    @bus.proves("conn.reuse", "conn.close")
    def test_links_in_turn(self):
        queue = self.queue()
        for i in range(25):
            self.send(queue, f"{i}")
            with self.client.get_queue_receiver(queue, **bus.QUICK) as receiver:
                [m] = self.receive(receiver)
                receiver.complete_message(m)
                self.assertEqual(str(m), f"{i}")
        begin = time.monotonic()
        self.client.close()
        self.assertLess(time.monotonic() - begin, 5)

    @bus.proves("conn.idle")
    def test_idle(self):
        """The SDK's own thread keeps the connection alive, so this test does not do without it."""
        queue = self.queue()
        with bus.client(retry_total=0) as client, client.get_queue_sender(queue) as sender:
            sender.send_messages(ServiceBusMessage("before"))
            time.sleep(70)
            sender.send_messages(ServiceBusMessage("after"))
        self.assertEqual(bus.texts(self.receive(self.receiver(queue), 2)), ["before", "after"])

    @bus.proves("err.retry")
    def test_not_tried_again(self):
        begin = time.monotonic()
        queue = self.queue()
        with bus.client(retry_total=5, retry_backoff_factor=10) as client:
            with client.get_queue_sender(queue, **bus.QUICK) as sender, self.assertRaises(MessageSizeExceededError):
                sender.send_messages(ServiceBusMessage("x" * 300_000))
        self.assertLess(time.monotonic() - begin, 10)


if __name__ == "__main__":
    unittest.main()

"""What the other modules leave out of compat-tests/cases: what is not set, names, further sections of a message, credentials."""

import datetime
import time
import unittest
import uuid

import bus
from azure.core.credentials import AccessToken, AzureSasCredential
from azure.core.exceptions import ResourceNotFoundError
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusMessageState, ServiceBusSubQueue
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties
from azure.servicebus.exceptions import MessageSizeExceededError, ServiceBusError, SessionCannotBeLockedError
from azure.servicebus.management import AccessRights, AuthorizationRule

ROOT = "RootManageSharedAccessKey"
UTC = datetime.timezone.utc
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Token:
    """A credential whose token no issuer knows."""

    def get_token(self, *scopes, **options):
        return AccessToken("header.eyJhdWQiOiJzYiJ9.signature", int(time.time()) + 3600)


def secure(credential):
    """A client with a credential, over TLS."""
    return ServiceBusClient("localhost", credential, retry_total=0, **bus.TRANSPORTS["amqps"][1])


class Connections(bus.Case):
    @bus.proves("conn.identifier")
    def test_one_identifier_for_all(self):
        queue = self.queue()
        for _ in range(2):
            with bus.client(retry_total=0) as client, \
                    client.get_queue_sender(queue, client_identifier="worker-1", **bus.QUICK) as sender, \
                    client.get_queue_receiver(queue, client_identifier="worker-1", **bus.QUICK) as receiver:
                sender.send_messages(ServiceBusMessage("m"))
                receiver.complete_message(self.receive(receiver)[0])

    @bus.proves("auth.tokenrefused")
    def test_unknown_issuer(self):
        queue = self.queue()
        with secure(Token()) as client, self.assertRaises(ServiceBusError):
            client.get_queue_sender(queue, **bus.QUICK).send_messages(ServiceBusMessage("m"))


class Messages(bus.Case):
    @bus.proves("send.none")
    def test_nothing_is_sent(self):
        queue = self.queue()
        sender = self.sender(queue)
        sender.send_messages([])
        sender.send_messages(sender.create_message_batch())
        self.assert_empty(self.receiver(queue))

    @bus.proves("send.batchlarge")
    def test_batch_of_a_megabyte(self):
        queue = self.queue(max_message_size_in_kilobytes=2048)
        sender = self.sender(queue)
        batch = sender.create_message_batch()
        self.assertEqual(batch.max_size_in_bytes, 1_048_576)
        with self.assertRaises(MessageSizeExceededError):
            batch.add_message(ServiceBusMessage(b"x" * 1_200_000))
        for _ in range(4):
            batch.add_message(ServiceBusMessage(b"x" * 250_000))
        sender.send_messages(batch)
        self.receive(self.receiver(queue), 4)

    @bus.proves("prop.none")
    def test_nothing_is_set(self):
        queue = self.queue()
        self.send(queue, "m")
        receiver = self.receiver(queue)
        for m in receiver.peek_messages(1) + self.receive(receiver):
            self.assertEqual(
                [m.correlation_id, m.subject, m.content_type, m.to, m.reply_to, m.reply_to_session_id, m.session_id, m.partition_key,
                 m.scheduled_enqueue_time_utc, m.dead_letter_reason, m.dead_letter_error_description, m.dead_letter_source],
                [None] * 12)
            self.assertFalse(m.application_properties)

    @bus.proves("app.names", "trace.keep")
    def test_names_of_properties(self):
        queue = self.queue()
        names = ["name", "NAME", "größe", "日本語", "a b.c-d", "🚌", *(f"n{i}" for i in range(200))]
        properties = {**{name: name for name in names}, "Diagnostic-Id": TRACE, "traceparent": TRACE, "tracestate": "a=b"}
        self.send(queue, ServiceBusMessage("m", application_properties=properties))
        [m] = self.receive(self.receiver(queue))
        self.assertEqual({k.decode(): v.decode() for k, v in m.application_properties.items()}, properties)

    @bus.proves("raw.delivery", "raw.properties", "raw.broker")
    def test_further_sections(self):
        queue = self.queue()
        self.send(queue, AmqpAnnotatedMessage(
            data_body=b"m", delivery_annotations={"x-mine": "d"}, annotations={"x-opt-sequence-number": 77},
            properties=AmqpMessageProperties(user_id=b"user", content_encoding="gzip", group_sequence=9, to="sb://example.test/to")))
        [m] = self.receive(self.receiver(queue))
        self.assertEqual(m.sequence_number, 1)
        raw = m.raw_amqp_message
        self.assertEqual(raw.delivery_annotations[b"x-mine"], b"d")
        p = raw.properties
        self.assertEqual((p.user_id, p.content_encoding, p.group_sequence, p.to), (b"user", b"gzip", 9, b"sb://example.test/to"))

    @bus.proves("body.value")
    def test_values_of_other_kinds(self):
        queue = self.queue()
        sender, receiver = self.sender(queue), self.receiver(queue)
        for value in (True, uuid.UUID(int=77), b"bytes"):
            sender.send_messages(AmqpAnnotatedMessage(value_body=value))
            self.assertEqual(self.receive(receiver)[0].body, value)
        instant = datetime.datetime(2023, 11, 14, 22, 13, 20, 1000, UTC)
        sender.send_messages(AmqpAnnotatedMessage(value_body=instant))
        got = self.receive(receiver)[0].body  # in milliseconds
        self.assertEqual(datetime.datetime.fromtimestamp(got / 1000, UTC), instant)


class Entities(bus.Case):
    @bus.proves("err.deletedsender")
    def test_the_queue_of_a_sender_is_deleted(self):
        queue = self.queue()
        sender = self.enterContext(self.enterContext(bus.client(retry_total=1)).get_queue_sender(queue, **bus.QUICK))
        sender.send_messages(ServiceBusMessage("lost"))
        self.admin.delete_queue(queue)
        with self.assertRaises(ServiceBusError):  # of its kind, or that of a token for what is missing
            sender.send_messages(ServiceBusMessage("m"))
        self.admin.create_queue(queue)
        sender.send_messages(ServiceBusMessage("m"))
        self.assertEqual(self.receive(self.receiver(queue))[0].sequence_number, 1)

    @bus.proves("topic.later")
    def test_a_new_subscription(self):
        topic = self.topic("early")
        with self.client.get_topic_sender(topic, **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("first"))
            self.admin.create_subscription(topic, "late")
            sender.send_messages(ServiceBusMessage("second"))
        self.assertEqual(bus.texts(self.receive(self.receiver((topic, "early")), 2)), ["first", "second"])
        self.assertEqual(bus.texts(self.receive(self.receiver((topic, "late")))), ["second"])

    @bus.proves("sess.case")
    def test_session_ids_in_any_case(self):
        queue = self.queue(requires_session=True)
        self.send(queue, ServiceBusMessage("m", session_id="ORDER-1"))
        with self.client.get_queue_receiver(queue, session_id="order-1", **bus.QUICK) as receiver:
            [m] = self.receive(receiver)
            self.assertEqual(m.session_id, "ORDER-1")
            receiver.session.set_state("half")
            with bus.client(retry_total=0) as other, self.assertRaises(SessionCannotBeLockedError):
                other.get_queue_receiver(queue, session_id="Order-1", **bus.QUICK).__enter__()
            receiver.complete_message(m)
        with self.client.get_queue_receiver(queue, session_id="ORDER-1", **bus.QUICK) as receiver:
            self.assertEqual(receiver.session.get_state(), b"half")

    @bus.proves("peek.deferred")
    def test_deferred_messages_of_a_session(self):
        queue = self.queue(requires_session=True)
        self.send(queue, ServiceBusMessage("m", session_id="s"))
        receiver = self.receiver(queue, session_id="s")
        receiver.defer_message(self.receive(receiver)[0])
        [m] = receiver.peek_messages(1, sequence_number=1)
        self.assertEqual(m.state, ServiceBusMessageState.DEFERRED)
        self.assertIn(b"x-opt-locked-until", m.raw_amqp_message.annotations)


class Further(bus.Case):
    @bus.proves("peek.most")
    def test_250_at_most(self):
        queue = self.queue()
        self.sender(queue).send_messages([ServiceBusMessage(f"{i}") for i in range(300)])
        receiver = self.receiver(queue)
        self.assertEqual([len(receiver.peek_messages(1000)) for _ in range(2)], [250, 50])

    @bus.proves("dlq.twice")
    def test_dead_letters_stay(self):
        queue = self.queue()
        self.send(queue, "m")
        receiver, letters = self.receiver(queue), self.receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER)
        receiver.dead_letter_message(self.receive(receiver)[0])
        with self.assertRaises(ServiceBusError):
            letters.dead_letter_message(self.receive(letters)[0])
        self.assertEqual(bus.texts(letters.peek_messages(5, sequence_number=1)), ["m"])

    @bus.proves("sess.connection", "sess.prefetch")
    def test_a_session_ends(self):
        queue = self.queue(requires_session=True)
        self.send(queue, *(ServiceBusMessage(f"{i}", session_id="a") for i in range(3)))
        with bus.client(retry_total=0) as client:
            session = client.get_queue_receiver(queue, session_id="a", prefetch_count=10, **bus.QUICK).__enter__()
            session.complete_message(self.receive(session)[0])
        self.assertEqual(bus.texts(self.receive(self.receiver(queue, session_id="a"), 2)), ["1", "2"])

    @bus.proves("sess.lists")
    def test_many_sessions_are_listed(self):
        topic = self.topic()
        self.admin.create_subscription(topic, "s", requires_session=True)
        ids = [f"{i:03}" for i in range(250)]
        self.sender(topic).send_messages([ServiceBusMessage(i, session_id=i) for i in ids])
        self.assertEqual(list(self.client.list_subscription_sessions(topic, "s")), ids)


class Administration(bus.Case):
    @bus.proves("admin.lowercase", "admin.hyphen", "admin.dollar", "admin.topicaccess")
    def test_names(self):
        with self.assertRaises(ResourceNotFoundError):
            self.admin.get_queue("$verification")
        queue, topic = bus.name("Further.Queue") + "-", bus.name("Shop/Fault--Order") + "--"
        self.admin.create_queue(queue)
        self.admin.create_topic(topic)
        before = self.admin.get_topic_runtime_properties(topic).accessed_at_utc
        self.admin.create_subscription(topic, "Mixed")
        self.assertGreater(self.admin.get_topic_runtime_properties(topic).accessed_at_utc, before)
        self.assertIn(queue.lower(), [q.name for q in self.admin.list_queues()])
        self.assertIn(topic.lower(), [t.name for t in self.admin.list_topics()])

    @bus.proves("admin.policytimes")
    def test_times_of_authorization_rules(self):
        since = datetime.datetime.now(UTC)
        queue = self.queue(authorization_rules=[AuthorizationRule(type="SharedAccessAuthorizationRule", rights=[AccessRights.SEND], key_name="sends")])
        [rule] = self.admin.get_queue(queue).authorization_rules
        self.assertLessEqual(since - datetime.timedelta(milliseconds=1), rule.created_at_utc)
        self.assertLessEqual(rule.created_at_utc, rule.modified_at_utc)

    @bus.proves("admin.queuepartitions")
    def test_partitioned_queue(self):
        queue = self.queue(enable_partitioning=True, max_size_in_megabytes=2048)
        self.assertEqual(self.admin.get_queue(queue).max_size_in_megabytes, 16 * 2048)

    @bus.proves("admin.versions", "admin.port")
    def test_versions(self):
        queue = self.queue()
        for version, largest in (("2017-04", None), ("2021-05", 256)):
            with bus.admin(api_version=version) as admin:
                self.assertEqual(admin.get_queue(queue).max_message_size_in_kilobytes, largest)


class TokensEnd(bus.Case):
    @bus.proves("auth.end")
    def test_a_link_ends_with_its_token(self):
        """The server waits for a minute more, as clocks may differ."""
        queue = self.queue()
        credential = AzureSasCredential(bus.signature("", ROOT, "SAS_KEY_VALUE", 5))
        with secure(credential) as client:
            sender = self.enterContext(client.get_queue_sender(queue, **bus.QUICK))
            sender.send_messages(ServiceBusMessage("before"))
            with self.assertRaisesRegex(ServiceBusError, "Expired|expired"):
                while True:
                    sender.send_messages(ServiceBusMessage("more"))
                    time.sleep(0.5)
            credential.update(bus.signature("", ROOT, "SAS_KEY_VALUE"))
            sender.send_messages(ServiceBusMessage("after"))
        self.assertEqual(str(self.receiver(queue).peek_messages(250)[-1]), "after")


if __name__ == "__main__":
    unittest.main()

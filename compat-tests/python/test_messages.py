"""Sending, and what of a message arrives: bodies, properties of every type, numbers and times, schedules, batches."""

import datetime
import unittest
import uuid

import bus
from azure.servicebus import ServiceBusMessage, ServiceBusMessageState, ServiceBusReceiveMode
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageBodyType, AmqpMessageHeader, AmqpMessageProperties

UTC = datetime.timezone.utc


def now():
    return datetime.datetime.now(UTC)


class Messages(bus.Case):
    def one(self, message, **properties):
        """Sends a message through a queue of its own and returns what arrives."""
        queue = self.queue(**properties)
        self.send(queue, message)
        [got] = self.receive(self.receiver(queue))
        return got

    @bus.proves("prop.sequence", "prop.enqueued", "prop.lockeduntil", "prop.locktoken", "prop.deliverycount",
                "prop.expires", "send.ttl")
    def test_system_properties(self):
        sent = ServiceBusMessage(
            b"\x00\xff", message_id="id", correlation_id="correlation", subject="subject", content_type="application/x",
            reply_to="answers", reply_to_session_id="theirs", to="somewhere", partition_key="key",
            time_to_live=datetime.timedelta(hours=1),
        )
        before = now()
        got = self.one(sent)
        for key in ("message_id", "correlation_id", "subject", "content_type", "reply_to", "reply_to_session_id", "to",
                    "partition_key", "time_to_live"):
            self.assertEqual(getattr(got, key), getattr(sent, key), key)
        self.assertEqual(b"".join(got.body), b"\x00\xff")
        self.assertEqual((got.delivery_count, got.sequence_number, got.state), (0, 1, ServiceBusMessageState.ACTIVE))
        self.assertLess(abs(got.enqueued_time_utc - before), datetime.timedelta(seconds=5))
        self.assertEqual(got.expires_at_utc, got.enqueued_time_utc + datetime.timedelta(hours=1))
        self.assertGreater(got.locked_until_utc, before)
        self.assertIsInstance(got.lock_token, uuid.UUID)

    def test_application_properties(self):
        values = {
            "string": "text \u20ac", "empty": "", "true": True, "false": False, "int": -7, "zero": 0, "largest": 2**31 - 1,
            "smallest": -(2**31), "double": 1.5, "bytes": b"\x00\x01", "uuid": uuid.uuid4(), "none": None,
        }
        got = self.one(ServiceBusMessage("m", application_properties=dict(values))).application_properties
        self.assertEqual({key.decode(): v.decode() if isinstance(v, bytes) and key != b"bytes" else v
                          for key, v in got.items()}, values)

    def test_datetime_property(self):
        moment = datetime.datetime(2030, 1, 2, 3, 4, 5, 678000, UTC)
        got = self.one(ServiceBusMessage("m", application_properties={"when": moment})).application_properties
        self.assertEqual(got[b"when"], int(moment.timestamp() * 1000))

    @bus.proves("send.noid")
    def test_made_message_id(self):
        """PROP-10: an id that the sender left out is made, and stays."""
        queue = self.queue()
        message = AmqpAnnotatedMessage(data_body=b"m")
        self.send(queue, message)
        receiver = self.receiver(queue)
        [peeked] = receiver.peek_messages(1)
        [got] = self.receive(receiver)
        self.assertRegex(got.message_id, "^[0-9a-f]{32}$")
        self.assertEqual(got.message_id, peeked.message_id)

    @bus.proves("raw.header", "raw.footer", "raw.annotation")
    def test_annotated_messages(self):
        value = {b"list": [1, "two", 3.0], b"map": {b"nested": True}}
        got = self.one(AmqpAnnotatedMessage(
            value_body=value, header=AmqpMessageHeader(priority=7, durable=True),
            properties=AmqpMessageProperties(message_id="v", user_id=b"me", group_id="g"), footer={"f": 1},
            annotations={"x-own": "annotation"}, application_properties={"a": 1},
        ))
        raw = got.raw_amqp_message
        self.assertEqual(got.body_type, AmqpMessageBodyType.VALUE)
        self.assertEqual(got.body[b"list"], [1, b"two", 3.0])
        self.assertEqual(got.body[b"map"], {b"nested": True})
        self.assertEqual((raw.header.priority, raw.header.durable), (7, True))
        self.assertEqual((raw.properties.user_id, raw.properties.group_id), (b"me", b"g"))
        self.assertEqual(raw.footer, {b"f": 1})
        self.assertEqual(raw.annotations[b"x-own"], b"annotation")
        sequence = self.one(AmqpAnnotatedMessage(sequence_body=[[1, 2], ["three"]]))
        self.assertEqual(sequence.body_type, AmqpMessageBodyType.SEQUENCE)
        self.assertEqual(list(sequence.body), [[1, 2], [b"three"]])

    @bus.proves("send.large")
    def test_bodies(self):
        for body in ("", "text \u20ac", b"", b"\x00" * 250_000):
            with self.subTest(size=len(body)):
                want = body.encode() if isinstance(body, str) else body
                self.assertEqual(b"".join(self.one(ServiceBusMessage(body)).body), want)

    @bus.proves("send.several", "send.batch")
    def test_contiguous_numbers_and_times(self):
        """SEQ-1, TIME-1: numbers without gaps, times that never go back, over single sends, lists and batches."""
        queue = self.queue()
        sender = self.sender(queue)
        for i in range(5):
            sender.send_messages(ServiceBusMessage(f"{i}"))
        sender.send_messages([ServiceBusMessage(f"{i}") for i in range(5, 20)])
        batch = sender.create_message_batch()
        for i in range(20, 50):
            batch.add_message(ServiceBusMessage(f"{i}"))
        sender.send_messages(batch)
        got = self.receive(self.receiver(queue, prefetch_count=50), 50)  # see bus.Case.receive
        self.assertEqual([m.sequence_number for m in got], list(range(1, 51)))
        self.assertEqual(bus.texts(got), [str(i) for i in range(50)])
        times = [m.enqueued_time_utc for m in got]
        self.assertEqual(times, sorted(times))

    @bus.proves("sched.one", "sched.several", "sched.number", "sched.cancel")
    def test_schedule_and_cancel(self):
        queue = self.queue()
        sender, receiver = self.sender(queue), self.receiver(queue)
        [far] = sender.schedule_messages(ServiceBusMessage("far"), now() + datetime.timedelta(hours=1))
        due = now() + datetime.timedelta(seconds=8)
        [soon] = sender.schedule_messages([ServiceBusMessage("soon")], due)
        self.assertEqual(soon, far + 1)
        states = {str(m): (m.state, m.sequence_number) for m in receiver.peek_messages(10)}
        scheduled = ServiceBusMessageState.SCHEDULED
        self.assertEqual(states, {"far": (scheduled, far), "soon": (scheduled, soon)})
        [got] = self.receive(receiver)
        self.assertEqual(str(got), "soon")
        self.assertGreaterEqual(got.enqueued_time_utc, got.scheduled_enqueue_time_utc)
        self.assertGreater(got.sequence_number, soon)
        receiver.complete_message(got)
        sender.cancel_scheduled_messages(far)
        self.assertEqual(receiver.peek_messages(10), [])

    @bus.proves("sched.property")
    def test_scheduled_by_property(self):
        queue = self.queue()
        due = now() + datetime.timedelta(hours=1)
        self.send(queue, ServiceBusMessage("m", scheduled_enqueue_time_utc=due))
        [peeked] = self.receiver(queue).peek_messages(1)
        self.assertEqual(peeked.state, ServiceBusMessageState.SCHEDULED)
        self.assertLess(abs(peeked.scheduled_enqueue_time_utc - due), datetime.timedelta(milliseconds=2))
        self.assertEqual(self.admin.get_queue_runtime_properties(queue).scheduled_message_count, 1)

    @bus.proves("peek.from", "peek.pages")
    def test_peek_pages(self):
        queue = self.queue()
        self.sender(queue).send_messages([ServiceBusMessage(f"{i}") for i in range(1, 11)])
        receiver = self.receiver(queue)
        self.assertEqual(bus.texts(receiver.peek_messages(3)), ["1", "2", "3"])
        self.assertEqual(bus.texts(receiver.peek_messages(2)), ["4", "5"])
        self.assertEqual(bus.texts(receiver.peek_messages(20, sequence_number=9)), ["9", "10"])
        self.assertIsNone(receiver.peek_messages(1, sequence_number=1)[0].lock_token)

    @bus.proves("recv.delete", "peek.empty")
    def test_receive_and_delete(self):
        queue = self.queue()
        self.sender(queue).send_messages([ServiceBusMessage("a"), ServiceBusMessage("b")])
        receiver = self.receiver(queue, receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE)
        got = self.receive(receiver, 2)
        self.assertEqual(bus.texts(got), ["a", "b"])
        with self.assertRaises(ValueError):
            receiver.complete_message(got[0])
        self.assertEqual(receiver.peek_messages(1), [])

    @bus.proves("recv.iterate", "recv.prefetch")
    def test_iteration_and_prefetch(self):
        queue = self.queue()
        self.sender(queue).send_messages([ServiceBusMessage(f"{i}") for i in range(30)])
        receiver = self.receiver(queue, prefetch_count=10, max_wait_time=bus.SOON)
        got = []
        for message in receiver:
            got.append(str(message))
            receiver.complete_message(message)
        self.assertEqual(got, [str(i) for i in range(30)])


if __name__ == "__main__":
    unittest.main()

"""What an entity can be told to do by itself: expiry, duplicates, forwarding, status, size."""

import datetime
import unittest

import bus
from azure.core.exceptions import ResourceNotFoundError
from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import (
    MessageSizeExceededError, MessagingEntityDisabledError, MessagingEntityNotFoundError, ServiceBusAuthenticationError,
    ServiceBusError,
)
from azure.servicebus.management import EntityStatus

SECOND = datetime.timedelta(seconds=1)


class Features(bus.Case):
    @bus.proves("entity.expire", "entity.expiredead")
    def test_expiry(self):
        """EXP-1, DLQ-4: what is too old is gone, or in the dead-letter queue if the queue says so."""
        dropping, keeping = self.queue(), self.queue(dead_lettering_on_message_expiration=True)
        for queue in (dropping, keeping):
            self.send(queue, ServiceBusMessage("m", time_to_live=SECOND))
        [letter] = self.receive(self.receiver(keeping, sub_queue=ServiceBusSubQueue.DEAD_LETTER))
        self.assertEqual(letter.dead_letter_reason, "TTLExpiredException")
        self.assertEqual(letter.expires_at_utc, letter.enqueued_time_utc + SECOND)
        self.assertEqual(self.admin.get_queue_runtime_properties(dropping).total_message_count, 0)

    @bus.proves("entity.ttl")
    def test_default_time_to_live(self):
        """EXP-3: the shorter one counts."""
        queue = self.queue(default_message_time_to_live=datetime.timedelta(hours=1))
        self.send(queue, "m", ServiceBusMessage("m", time_to_live=datetime.timedelta(hours=2)))
        for m in self.receiver(queue).peek_messages(2):
            self.assertEqual(m.time_to_live, datetime.timedelta(hours=1))

    @bus.proves("entity.duplicates")
    def test_duplicates(self):
        """DUP-1: of two messages with one id the second is accepted and dropped."""
        queue = self.queue(
            requires_duplicate_detection=True, duplicate_detection_history_time_window=datetime.timedelta(seconds=20))
        self.send(queue, *(ServiceBusMessage(body, message_id=i) for body, i in (("a", "1"), ("b", "1"), ("c", "2"))))
        self.sender(queue).send_messages([ServiceBusMessage("d", message_id="2"), ServiceBusMessage("e", message_id="3")])
        got = self.receive(self.receiver(queue), 3)
        self.assertEqual(bus.texts(got), ["a", "c", "e"])
        self.assertEqual([m.sequence_number for m in got], [1, 2, 3])

    @bus.proves("entity.forward", "entity.forwarddead")
    def test_forwarding(self):
        target = self.queue()
        source = self.queue(forward_to=target)
        letters = self.queue(forward_dead_lettered_messages_to=target, max_delivery_count=1)
        self.send(source, "forwarded")
        self.send(letters, "dead")
        receiver = self.receiver(letters)
        receiver.abandon_message(self.receive(receiver)[0])
        got = self.receive(self.receiver(target), 2)
        self.assertEqual(sorted(bus.texts(got)), ["dead", "forwarded"])
        dead = got[bus.texts(got).index("dead")]
        self.assertEqual(dead.dead_letter_reason, "MaxDeliveryCountExceeded")
        self.assertEqual(dead.dead_letter_source.lower(), letters)

    @bus.proves("entity.partition")
    def test_partitioned(self):
        queue = self.queue(enable_partitioning=True)
        self.send(queue, *(ServiceBusMessage(f"{i}", partition_key="one") for i in range(5)))
        got = self.receive(self.receiver(queue), 5)
        self.assertEqual(bus.texts(got), ["0", "1", "2", "3", "4"])
        self.assertEqual(len({m.sequence_number >> 48 for m in got}), 1)

    @bus.proves("entity.disabled")
    def test_disabled(self):
        queue = self.queue()
        for status, works in ((EntityStatus.SEND_DISABLED, False), (EntityStatus.ACTIVE, True)):
            self.admin.update_queue(self.admin.get_queue(queue), status=status)
            if works:
                self.send(queue, "m")
                continue
            with self.assertRaises(MessagingEntityDisabledError):
                self.send(queue, "m")
        self.admin.update_queue(self.admin.get_queue(queue), status=EntityStatus.RECEIVE_DISABLED)
        with self.assertRaises(MessagingEntityDisabledError):
            self.receiver(queue).receive_messages(1, max_wait_time=1)

    @bus.proves("err.queue", "err.subscription")
    def test_not_found(self):
        """The SDK reports what put-token refuses as a failure of authentication, a missing queue too."""
        with self.assertRaises(ServiceBusAuthenticationError):
            self.send("no-such-queue", "m")
        with self.assertRaises(ServiceBusAuthenticationError):
            self.receiver("no-such-queue").receive_messages(1, max_wait_time=1)
        topic = self.topic()
        with self.assertRaises(MessagingEntityNotFoundError):
            self.receiver((topic, "no-such-subscription")).receive_messages(1, max_wait_time=1)

    @bus.proves("err.deleted")
    def test_deleted_under_a_receiver(self):
        queue = self.queue()
        receiver = self.receiver(queue)
        self.assert_empty(receiver)
        self.admin.delete_queue(queue)
        with self.assertRaises(MessagingEntityNotFoundError):
            receiver.receive_messages(1, max_wait_time=5)
        with self.assertRaises(ResourceNotFoundError):
            self.admin.get_queue(queue)

    def test_too_large(self):
        """QUO-5: 256 KiB, whichever way it is sent."""
        queue = self.queue()
        sender = self.sender(queue)
        with self.assertRaises(MessageSizeExceededError):
            sender.send_messages(ServiceBusMessage("x" * 262_145))
        self.assertEqual(sender.create_message_batch().max_size_in_bytes, 262_144)
        self.assertEqual(self.receiver(queue).peek_messages(1), [])

    @bus.proves("send.larger")
    def test_larger_if_allowed(self):
        queue = self.queue(max_message_size_in_kilobytes=2048)
        body = b"x" * 1_500_000
        self.send(queue, ServiceBusMessage(body))
        [m] = self.receive(self.receiver(queue))
        self.assertEqual(b"".join(m.body), body)

    @bus.proves("sched.cancelunknown")
    def test_bad_cancellation(self):
        sender = self.sender(self.queue())
        with self.assertRaises(ServiceBusError):
            sender.cancel_scheduled_messages(12345)


if __name__ == "__main__":
    unittest.main()

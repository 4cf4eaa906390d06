"""What a receiver does with a message: settle it in every way, lose and renew its lock, read the dead-letter queue."""

import datetime
import unittest

import bus
from azure.servicebus import AutoLockRenewer, ServiceBusMessage, ServiceBusMessageState, ServiceBusSubQueue
from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError, MessageNotFoundError, ServiceBusError

SHORT = datetime.timedelta(seconds=5)  # the shortest lock of the service


class Settlement(bus.Case):
    @bus.proves("settle.abandon", "settle.maxdelivery")
    def test_abandon_counts(self):
        """DC-2, DLQ-2: each delivery counts, and the last one is followed by the dead-letter queue."""
        queue = self.queue(max_delivery_count=2)
        self.send(queue, "m")
        receiver = self.receiver(queue)
        for count in range(2):
            [m] = self.receive(receiver)
            self.assertEqual(m.delivery_count, count)
            receiver.abandon_message(m)
        [letter] = self.receive(self.receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER))
        self.assertEqual(letter.dead_letter_reason, "MaxDeliveryCountExceeded")
        self.assertEqual(
            letter.dead_letter_error_description, "Message could not be consumed after 2 delivery attempts.")
        self.assertEqual(letter.sequence_number, m.sequence_number)

    @bus.proves("settle.deadletter", "settle.deadletterbare", "dlq.receive", "dlq.order")
    def test_dead_letter(self):
        queue = self.queue()
        self.send(queue, ServiceBusMessage("with"), ServiceBusMessage("without", application_properties={"own": 1}))
        receiver = self.receiver(queue)
        first, second = self.receive(receiver, 2)
        receiver.dead_letter_message(first, reason="reason", error_description="description")
        receiver.dead_letter_message(second)
        letters = self.receiver(queue, sub_queue="deadletter")
        first, second = self.receive(letters, 2)
        self.assertEqual((first.dead_letter_reason, first.dead_letter_error_description), ("reason", "description"))
        self.assertEqual((second.dead_letter_reason, second.application_properties[b"own"]), (None, 1))
        counts = self.admin.get_queue_runtime_properties(queue)
        self.assertEqual((counts.active_message_count, counts.dead_letter_message_count), (0, 2))
        letters.complete_message(first)
        letters.abandon_message(second)
        [second] = self.receive(letters)
        letters.complete_message(second)
        self.assertEqual(self.admin.get_queue_runtime_properties(queue).total_message_count, 0)

    @bus.proves("settle.defer", "defer.receive", "defer.renew", "defer.abandon", "defer.deadletter")
    def test_deferred(self):
        queue = self.queue()
        self.send(queue, "a", "b", "c")
        receiver = self.receiver(queue)
        numbers = []
        for m in self.receive(receiver, 3):
            numbers.append(m.sequence_number)
            receiver.defer_message(m)
        self.assert_empty(receiver)
        peeked = receiver.peek_messages(3, sequence_number=1)
        self.assertEqual({m.state for m in peeked}, {ServiceBusMessageState.DEFERRED})
        a, b, c = receiver.receive_deferred_messages(numbers)
        self.assertEqual(a.delivery_count, 1)
        receiver.renew_message_lock(a)
        receiver.complete_message(a)
        receiver.abandon_message(b)
        receiver.dead_letter_message(c, reason="after all")
        [b] = receiver.receive_deferred_messages(numbers[1])
        receiver.defer_message(b)
        [b] = receiver.receive_deferred_messages(numbers[1])
        receiver.complete_message(b)
        with self.assertRaises(MessageNotFoundError):
            receiver.receive_deferred_messages(numbers[1])
        [letter] = self.receive(self.receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER))
        self.assertEqual((str(letter), letter.dead_letter_reason), ("c", "after all"))

    @bus.proves("settle.twice")
    def test_settled_once(self):
        queue = self.queue()
        self.send(queue, "m")
        receiver = self.receiver(queue)
        [m] = self.receive(receiver)
        receiver.complete_message(m)
        with self.assertRaises(MessageAlreadySettled):
            receiver.complete_message(m)

    @bus.proves("settle.elsewhere")
    def test_settled_by_another_link(self):
        """LOCK-10: a lock outlives its link; the SDK settles over $management then."""
        queue = self.queue()
        self.send(queue, "m")
        first = self.client.get_queue_receiver(queue, **bus.QUICK)
        second = self.receiver(queue)
        with first:
            [m] = self.receive(first)
        self.assertEqual(second.peek_messages(1)[0].state, ServiceBusMessageState.ACTIVE)
        second.complete_message(m)
        self.assertEqual(second.peek_messages(1, sequence_number=1), [])

    @bus.proves("lock.lost", "lock.lostcode")
    def test_lock_expires(self):
        """LOCK-5: after its lock a message comes again, and the old token is worth nothing."""
        queue = self.queue(lock_duration=SHORT)
        self.send(queue, "m")
        receiver = self.receiver(queue)
        [m] = self.receive(receiver)
        [again] = self.receive(receiver)
        self.assertEqual(again.delivery_count, 1)
        with self.assertRaises(MessageLockLostError):
            receiver.renew_message_lock(m)
        with self.assertRaises(ServiceBusError):
            receiver.complete_message(m)
        receiver.complete_message(again)

    @bus.proves("lock.auto", "lock.held")
    def test_auto_renewed_lock(self):
        """LOCK-7: the SDK's own renewer keeps a message locked beyond its lock's duration."""
        queue = self.queue(lock_duration=SHORT)
        self.send(queue, "m")
        failures = []
        with AutoLockRenewer(on_lock_renew_failure=lambda *failure: failures.append(failure)) as renewer:
            receiver, other = self.receiver(queue), self.receiver(queue)
            [m] = self.receive(receiver)
            until = m.locked_until_utc
            renewer.register(receiver, m, max_lock_renewal_duration=30)
            self.assertEqual(other.receive_messages(1, max_wait_time=6), [])
            self.assertGreater(m.locked_until_utc, until)
            receiver.complete_message(m)
        self.assertEqual(failures, [])

    @bus.proves("recv.prefetchclose")
    def test_drained_receiver(self):
        """A receiver that is closed gives back what it had not handed out yet, without a delivery being counted twice."""
        queue = self.queue()
        self.sender(queue).send_messages([ServiceBusMessage(f"{i}") for i in range(5)])
        with self.client.get_queue_receiver(queue, prefetch_count=5, **bus.QUICK) as first:
            [m] = self.receive(first)
            first.complete_message(m)
        got = self.receive(self.receiver(queue), 4)
        self.assertEqual(bus.texts(got), ["1", "2", "3", "4"])


if __name__ == "__main__":
    unittest.main()

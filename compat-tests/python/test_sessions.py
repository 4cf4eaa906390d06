"""Sessions: accepted by name and as they come, with state, lock and listing."""

import datetime
import unittest

import bus
from azure.servicebus import NEXT_AVAILABLE_SESSION, AutoLockRenewer, ServiceBusMessage
from azure.servicebus.exceptions import OperationTimeoutError, ServiceBusError, SessionCannotBeLockedError, SessionLockLostError


def now():
    return datetime.datetime.now(datetime.timezone.utc)


class Sessions(bus.Case):
    def sessions(self, *ids, **properties):
        """Makes a queue with one message in each of these sessions."""
        queue = self.queue(requires_session=True, **properties)
        self.send(queue, *(ServiceBusMessage("m of " + i, session_id=i) for i in ids))
        return queue

    @bus.proves("sess.accept")
    def test_named(self):
        queue = self.sessions("red", "blue", "red")
        receiver = self.receiver(queue, session_id="red")
        got = self.receive(receiver, 2)
        self.assertEqual([m.session_id for m in got], ["red", "red"])
        self.assertEqual([m.sequence_number for m in got], [1, 3])
        self.assert_empty(receiver)
        for m in got:
            receiver.complete_message(m)

    @bus.proves("sess.next", "sess.timeout")
    def test_next(self):
        """SESS-4: the next session is one with messages and without a holder."""
        queue = self.sessions("a", "b")
        ids = [self.receiver(queue, session_id=NEXT_AVAILABLE_SESSION).session.session_id for _ in range(2)]
        self.assertEqual(sorted(ids), ["a", "b"])
        with self.assertRaises(OperationTimeoutError):
            self.receiver(queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=1)

    def test_next_waits(self):
        queue = self.queue(requires_session=True)
        receiver = self.client.get_queue_receiver(queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=bus.WAIT, **bus.QUICK)
        self.send(queue, ServiceBusMessage("m", session_id="late"))
        with receiver:
            self.assertEqual(str(self.receive(receiver)[0]), "m")

    @bus.proves("sess.renew")
    def test_state_and_lock(self):
        queue = self.sessions("s")
        receiver = self.receiver(queue, session_id="s")
        session = receiver.session
        self.assertFalse(session.get_state())
        session.set_state(b"\x00state")
        self.assertEqual(session.get_state(), b"\x00state")
        until = session.locked_until_utc
        self.assertGreater(until, now())
        self.assertGreaterEqual(session.renew_lock(), until)
        session.set_state(None)
        self.assertFalse(session.get_state())

    @bus.proves("sess.held")
    def test_held(self):
        """SESS-6: a session has one holder."""
        queue = self.sessions("s")
        self.receiver(queue, session_id="s")
        with self.assertRaises(SessionCannotBeLockedError):
            self.receiver(queue, session_id="s")

    @bus.proves("sess.empty")
    def test_two_characters(self):
        """Older releases wrote ids of two characters in a way of their own."""
        queue = self.sessions("ab", "")
        for session in ("ab", ""):
            receiver = self.receiver(queue, session_id=session)
            self.assertEqual(self.receive(receiver)[0].session_id, session)

    @bus.proves("sess.defer", "sess.deadletter", "sess.order")
    def test_settlement(self):
        queue = self.sessions("s", "s", "s")
        receiver = self.receiver(queue, session_id="s")
        a, b, c = self.receive(receiver, 3)
        receiver.defer_message(a)
        receiver.dead_letter_message(b, reason="why")
        receiver.abandon_message(c)
        [again] = self.receive(receiver)
        self.assertEqual(again.sequence_number, c.sequence_number)
        receiver.complete_message(again)
        [deferred] = receiver.receive_deferred_messages(a.sequence_number)
        receiver.complete_message(deferred)
        [letter] = self.receive(self.receiver(queue, sub_queue="deadletter"))
        self.assertEqual((letter.session_id, letter.dead_letter_reason), ("s", "why"))

    @bus.proves("sess.peek")
    def test_peek(self):
        queue = self.sessions("a", "b", "a")
        self.assertEqual([m.session_id for m in self.receiver(queue, session_id="a").peek_messages(5)], ["a", "a"])

    @bus.proves("sess.list")
    def test_listing(self):
        """SESS-27: with messages or with a state; after a time, those whose state was changed since."""
        queue = self.sessions("messages", "state")
        receiver = self.receiver(queue, session_id="state")
        receiver.session.set_state("kept")
        receiver.complete_message(self.receive(receiver)[0])
        self.assertEqual(sorted(self.client.list_queue_sessions(queue)), ["messages", "state"])
        since = now() - datetime.timedelta(minutes=1)
        self.assertEqual(list(self.client.list_queue_sessions(queue, state_updated_after=since)), ["state"])
        topic = self.admin.create_topic(bus.name("topic")).name
        self.admin.create_subscription(topic, "s", requires_session=True)
        self.send(topic, ServiceBusMessage("m", session_id="x"))
        self.assertEqual(list(self.client.list_subscription_sessions(topic, "s")), ["x"])

    @bus.proves("sess.lost", "sess.auto")
    def test_lock_lost(self):
        """SESS-10: a session's lock expires; auto-renewal keeps it."""
        queue = self.sessions("kept", "lost", lock_duration=datetime.timedelta(seconds=5))
        kept, lost = (self.receiver(queue, session_id=s) for s in ("kept", "lost"))
        with AutoLockRenewer() as renewer:
            renewer.register(kept, kept.session, max_lock_renewal_duration=30)
            [m] = self.receive(lost)
            self.assertEqual(len(self.receive(kept)), 1)
            self.assertTrue(bus.eventually(lambda: lost.session.locked_until_utc < now()))
            with self.assertRaises(SessionLockLostError):
                lost.complete_message(m)
            kept.session.set_state("still mine")

    @bus.proves("sess.noid", "sess.plain", "sess.nosessions")
    def test_wrong_kind(self):
        """SESS-2: a session receiver needs a queue with sessions, and a queue with sessions needs one."""
        plain, sessions = self.queue(), self.sessions()
        with self.assertRaisesRegex(ServiceBusError, "requires sessions"):
            self.receiver(sessions).receive_messages(1, max_wait_time=1)
        with self.assertRaises(ServiceBusError):
            self.receiver(plain, session_id="s")
        with self.assertRaisesRegex(ServiceBusError, "SessionId"):
            self.sender(sessions).send_messages(ServiceBusMessage("no session"))


if __name__ == "__main__":
    unittest.main()

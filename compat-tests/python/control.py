"""The typed client of the control API, and the SDK of Azure on the other side: what the one steers, the other one sees.

Each test has a namespace of its own, which the client makes and deletes. MINIBUS_CONNECTION_STRING says where.
"""

import datetime
import os
import unittest

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import MessageLockLostError, SessionLockLostError
from minibus_control import connect
from minibus_control.rest.api.clock import advance_clock, freeze_clock, get_clock
from minibus_control.rest.api.connections import close_connection, list_connections
from minibus_control.rest.api.entities import get_entity
from minibus_control.rest.api.history import get_life, list_history
from minibus_control.rest.api.jobs import get_job, start_job
from minibus_control.rest.api.namespaces import create_namespace, delete_namespace
from minibus_control.rest.api.receive import receive_messages, settle_messages
from minibus_control.rest.api.sessions import break_session, get_session, set_session_state
from minibus_control.rest.api.state import reset_namespace
from minibus_control.rest.api.wait import wait
from minibus_control.rest.api.why import explain_entity
from minibus_control.rest.models import (
    AdvanceClockRequest, Error, JobOrder, NamespaceCreation, Receiving, SessionState, Settlement, WaitFor,
)

CONTROL = connect(os.environ["MINIBUS_CONNECTION_STRING"])
ENTITIES = {"Queues": [{"Name": "orders", "Properties": {"MaxDeliveryCount": 3}}, {"Name": "sessions", "Properties": {"RequiresSession": True}}]}
WAIT = 30  # seconds


class Control(unittest.TestCase):
    def setUp(self):
        made = create_namespace.sync(client=CONTROL, body=NamespaceCreation.from_dict(ENTITIES))
        self.assertNotIsInstance(made, Error, made)
        self.space = made.name
        self.addCleanup(lambda: delete_namespace.sync_detailed(self.space, client=CONTROL))
        self.client = ServiceBusClient.from_connection_string(made.connection_string, retry_total=2, retry_backoff_factor=0.1)
        self.addCleanup(self.client.close)

    def steer(self, operation, *path, **arguments):
        """Run an operation in the namespace and return its answer, which must be no error."""
        answer = operation.sync_detailed(self.space, *path, client=CONTROL, **arguments)
        self.assertLess(answer.status_code, 300, answer.content)
        return answer.parsed

    def send(self, *messages, to="orders"):
        with self.client.get_queue_sender(to) as sender:
            for m in messages:
                sender.send_messages(m)

    def receiver(self, **options):
        return self.client.get_queue_receiver("orders", max_wait_time=WAIT, **options)

    def test_clock(self):
        """A schedule fires next week, and a lock ends."""
        self.steer(freeze_clock)
        now = self.steer(get_clock).now
        with self.client.get_queue_sender("orders") as sender:
            sender.schedule_messages(ServiceBusMessage("invoice"), now + datetime.timedelta(days=7))
        self.steer(advance_clock, body=AdvanceClockRequest(by="P7D"))
        with self.receiver() as receiver:
            [invoice] = receiver.receive_messages()
            self.assertEqual(str(invoice), "invoice")
            self.steer(advance_clock, body=AdvanceClockRequest(by="PT1H"))
            with self.assertRaises(MessageLockLostError):
                receiver.complete_message(invoice)

    def test_wait_and_history(self):
        """The test goes on when the message is a dead letter, and reads what became of it."""
        self.send(ServiceBusMessage("bad", message_id="order-2"))
        with self.receiver() as receiver:
            for _ in range(3):
                receiver.abandon_message(receiver.receive_messages()[0])
        body = {"entity": "orders", "idle": True, "counts": [{"of": "deadLetter", "least": 1}], "timeoutSeconds": WAIT}
        self.assertTrue(self.steer(wait, body=WaitFor.from_dict(body)).met)
        life = self.steer(get_life, message_id="order-2").items
        self.assertEqual([e.kind for e in life].count("delivered"), 3)
        self.assertEqual((life[-1].kind, life[-1].detail), ("deadLettered", "MaxDeliveryCountExceeded"))
        with self.receiver(sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
            receiver.complete_message(receiver.receive_messages()[0])
        [done] = self.steer(list_history, kind=["completed"]).items
        self.assertEqual((done.entity, str(done.sub_queue)), ("orders", "$DeadLetterQueue"))

    def test_connections_and_why(self):
        """A program connects again."""
        with self.client.get_queue_sender("orders") as sender:
            sender.send_messages(ServiceBusMessage("1"))
            [connection] = self.steer(list_connections).items
            self.assertIn("python", connection.product.lower())
            self.steer(close_connection, connection.id)
            sender.send_messages(ServiceBusMessage("2"))
        why = self.steer(explain_entity, "orders")
        self.assertEqual([str(f.code) for f in why.findings if f.blocks], ["no-receiver"])

    def test_jobs(self):
        """Dead letters go back, and the rest is removed."""
        self.send(ServiceBusMessage("1"), ServiceBusMessage("2"))
        with self.receiver() as receiver:
            receiver.dead_letter_message(receiver.receive_messages()[0], reason="spoilt")

        def job(**order):
            started = self.steer(start_job, body=JobOrder.from_dict(order))
            return self.steer(get_job, started.id, wait="10s")

        self.assertEqual(job(kind="resubmit", entity="orders", edit={"strip": True}, filter={"reason": "spoilt"}).done, 1)
        self.assertEqual(job(kind="purge", entity="orders").done, 2)
        with self.receiver() as receiver:
            self.assertEqual(receiver.peek_messages(), [])

    def test_sessions(self):
        """A state is read and written, and a lock is broken."""
        self.send(ServiceBusMessage("1", session_id="table-7"), to="sessions")
        with self.client.get_queue_receiver("sessions", session_id="table-7", max_wait_time=WAIT) as receiver:
            self.assertEqual(self.steer(get_session, "sessions", "table-7").active, 1)
            self.steer(set_session_state, "sessions", "table-7", body=SessionState(text="served"))
            self.assertEqual(bytes(receiver.session.get_state()), b"served")
            [message] = receiver.receive_messages()
            self.steer(break_session, "sessions", "table-7")
            with self.assertRaises(SessionLockLostError):
                receiver.complete_message(message)

    def test_receive(self):
        """What the SDK sends is received and settled, and the SDK sees it."""
        self.send(ServiceBusMessage("1", message_id="order-1"))
        [got] = self.steer(receive_messages, "orders", body=Receiving(wait="10s")).messages
        self.assertEqual(got.message_id, "order-1")
        body = {"lockTokens": [got.lock_token], "outcome": "deadLetter", "reason": "spoilt"}
        self.steer(settle_messages, "orders", body=Settlement.from_dict(body))
        self.assertEqual(self.steer(get_entity, "orders").counts.dead_letter, 1)
        with self.receiver(sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
            self.assertEqual(receiver.receive_messages()[0].dead_letter_reason, "spoilt")

    def test_reset(self):
        """The queue is empty, and the client lives on."""
        self.send(ServiceBusMessage("old"))
        self.steer(reset_namespace)
        self.send(ServiceBusMessage("new"))
        with self.receiver() as receiver:
            [message] = receiver.receive_messages()
            self.assertEqual((str(message), message.sequence_number), ("new", 1))


if __name__ == "__main__":
    unittest.main()

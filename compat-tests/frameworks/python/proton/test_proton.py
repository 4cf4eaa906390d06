"""Apache Qpid Proton, an AMQP 1.0 client that knows nothing of Service Bus: its blocking client and its handlers.

MINIBUS_ADDR is host:port. The queues orders, bills and, with sessions, carts, and the topic news with the subscription all are there.
"""

import os
import ssl
import unittest
import uuid

from proton import Described, Message, SSLDomain, int32, symbol, timestamp, ulong
from proton.handlers import TransactionalClientHandler
from proton.reactor import AtMostOnce, Container, Filter, Selector
from proton.utils import BlockingConnection, LinkDetached, SendException

PLAIN = f"amqp://{os.environ['MINIBUS_ADDR']}"
SECURE = f"amqps://localhost:{os.environ['MINIBUS_PORT_TLS']}"
USER = {"user": "RootManageSharedAccessKey", "password": "SAS_KEY_VALUE"}

WAIT = 60  # seconds for what is certain to come
SOON = 1  # seconds after which what should not come counts as absent

SESSION = symbol("com.microsoft:session-filter")


class Blocking(unittest.TestCase):
    """proton.utils: one call after another."""

    def connection(self, url=PLAIN, **options):
        connection = BlockingConnection(url, timeout=WAIT, allowed_mechs="PLAIN" if "user" in options else "ANONYMOUS", **options)
        self.addCleanup(connection.close)
        return connection

    def empty(self, connection, address):
        # Proton names a link after container and address, and one container may not have two links of a name.
        receiver = connection.create_receiver(address, credit=1, name=str(uuid.uuid4()))
        try:
            message = receiver.receive(timeout=SOON)
        except Exception as error:
            self.assertIn("timed out", str(error))
        else:
            self.fail(f"{message} is left")
        finally:
            receiver.close()

    def test_messages_keep_their_types(self):
        connection = self.connection()
        sender, receiver = connection.create_sender("types"), connection.create_receiver("types", credit=10)
        bodies = ["text", b"bytes", {"a": [1, None, True], "b": 2.5}, [1, "two"], ulong(7), timestamp(1_000), "x" * 200_000]
        for body in bodies:
            sender.send(Message(body, id=uuid.uuid4(), subject="s", ttl=600, durable=True, properties={"n": int32(5), "s": "t"},
                                annotations={symbol("x-own"): "kept"}))
        for number, body in enumerate(bodies, 1):
            message = receiver.receive(timeout=WAIT)
            receiver.accept()
            self.assertEqual(message.body, body)
            self.assertIsInstance(message.id, uuid.UUID)
            self.assertEqual((message.subject, message.ttl, message.durable, message.properties), ("s", 600, True, {"n": 5, "s": "t"}))
            self.assertEqual(message.annotations["x-own"], "kept")
            self.assertEqual(message.annotations["x-opt-sequence-number"], number)
        self.empty(connection, "types")

    def test_settlements(self):
        connection = self.connection()
        sender = connection.create_sender("orders")
        receiver = connection.create_receiver("orders", credit=1)
        sender.send(Message("o"))
        counts = []
        # Each outcome, and what the broker counts at the next delivery.
        for outcome in ("release", "modify", "reject"):
            counts.append(receiver.receive(timeout=WAIT).delivery_count)
            if outcome == "release":
                receiver.release(delivered=False)
            elif outcome == "modify":
                receiver.release(delivered=True)
            else:
                receiver.reject()
        self.assertEqual(counts, [0, 0, 1])
        letters = connection.create_receiver("orders/$DeadLetterQueue", credit=1)
        letter = letters.receive(timeout=WAIT)
        self.assertEqual(letter.body, "o")
        letters.accept()
        self.empty(connection, "orders")
        self.empty(connection, "orders/$DeadLetterQueue")

    def test_receive_and_delete(self):
        connection = self.connection()
        connection.create_sender("once").send(Message("o"))
        receiver = connection.create_receiver("once", credit=1, options=AtMostOnce())
        self.assertEqual(receiver.receive(timeout=WAIT).body, "o")
        receiver.close()
        self.empty(connection, "once")

    def test_topic_and_subscription(self):
        connection = self.connection()
        connection.create_sender("news").send(Message("n"))
        receiver = connection.create_receiver("news/Subscriptions/all", credit=1)
        self.assertEqual(receiver.receive(timeout=WAIT).body, "n")
        receiver.accept()

    def test_session(self):
        connection = self.connection()
        sender = connection.create_sender("carts")
        for session in ("ada", "bob"):
            sender.send(Message(f"of {session}", group_id=session))
        receiver = connection.create_receiver("carts", credit=1, options=Filter({SESSION: Described(SESSION, "bob")}))
        self.assertEqual(receiver.receive(timeout=WAIT).body, "of bob")
        receiver.accept()
        with self.assertRaises(SendException):
            sender.send(Message("of no session"))
        receiver.close()
        following = connection.create_receiver("carts", credit=1, options=Filter({SESSION: Described(SESSION, None)}))
        self.assertEqual(following.receive(timeout=WAIT).body, "of ada")
        following.accept()

    def test_tls_and_password(self):
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(os.environ["MINIBUS_CA"])
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        connection = self.connection(SECURE, ssl_domain=domain, **USER)
        connection.create_sender("secure").send(Message("s"))
        receiver = connection.create_receiver("secure", credit=1)
        self.assertEqual(receiver.receive(timeout=WAIT).body, "s")
        receiver.accept()

    def test_refusals(self):
        connection = self.connection()
        with self.assertRaisesRegex(LinkDetached, "not-found"):
            connection.create_sender("missing")
        with self.assertRaises(LinkDetached):
            connection.create_receiver("orders", options=Selector("colour ="))

    def test_selector(self):
        connection = self.connection()
        sender = connection.create_sender("orders")
        for colour in "blue", "red":
            sender.send(Message(colour, properties={"colour": colour}))
        for colour in "red", "blue":
            receiver = connection.create_receiver("orders", credit=1, options=Selector(f"colour = '{colour}'"))
            self.assertEqual(receiver.receive(timeout=WAIT).body, colour)
            receiver.accept()
            receiver.close()


class Program(TransactionalClientHandler):
    """What the handlers below share: a connection, an end after a time, and the first error."""

    def __init__(self, **options):
        super().__init__(**options)
        self.error = "the program did not end in time"

    def on_start(self, event):
        self.container = event.container
        self.connection = event.container.connect(PLAIN, allowed_mechs="ANONYMOUS", reconnect=False)
        self.watchdog = event.container.schedule(WAIT, self)
        self.begin()

    def on_timer_task(self, event):
        self.connection.close()

    def done(self, error=None):
        self.error = error
        self.watchdog.cancel()
        self.connection.close()

    def on_link_error(self, event):
        self.done(f"link closed: {event.link.remote_condition}")

    def on_transaction_declare_failed(self, event):
        self.done("the transaction was not declared")

    def on_transaction_commit_failed(self, event):
        self.done(f"the transaction was not committed: {event.delivery.remote.condition}")


class Many(Program):
    """Sends as credit allows, and accepts what it receives, with prefetch."""

    COUNT = 500

    def begin(self):
        self.sent, self.accepted, self.received = 0, 0, []
        self.container.create_receiver(self.connection, "many")
        self.container.create_sender(self.connection, "many")

    def on_sendable(self, event):
        while event.sender.credit and self.sent < self.COUNT:
            event.sender.send(Message(str(self.sent)))
            self.sent += 1

    def on_accepted(self, event):
        self.accepted += 1
        self.finish()

    def on_rejected(self, event):
        self.done(f"rejected: {event.delivery.remote.condition}")

    def on_message(self, event):
        self.received.append(event.message.body)
        self.accept(event.delivery)
        self.finish()

    def finish(self):
        if (self.accepted, len(self.received)) == (self.COUNT, self.COUNT):
            self.done()


class Sending(Program):
    """Sends two messages in a transaction that it aborts, and two in one that it commits."""

    def begin(self):
        self.outcomes = []
        self.sender = self.container.create_sender(self.connection, "work")

    def on_link_opened(self, event):
        if event.link == self.sender:
            self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event):
        for n in range(2):
            event.transaction.send(self.sender, Message(f"{len(self.outcomes)}.{n}"))
        (event.transaction.commit if self.outcomes else event.transaction.abort)()

    def on_transaction_aborted(self, event):
        self.outcomes.append("aborted")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_committed(self, event):
        self.outcomes.append("committed")
        self.done()


class Receiving(Program):
    """Accepts the two messages in a transaction that it aborts, and again in one that it commits."""

    def begin(self):
        self.outcomes, self.got, self.transaction = [], [], None
        self.receiver = self.container.create_receiver(self.connection, "work")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event):
        self.transaction = event.transaction
        self.receiver.flow(2)

    def on_message(self, event):
        self.got.append((event.message.body, event.message.delivery_count))
        self.accept(event.delivery, self.transaction)
        if len(self.got) == 2:
            self.transaction.abort()
        elif len(self.got) == 4:
            self.transaction.commit()

    def on_transaction_aborted(self, event):
        self.outcomes.append("aborted")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_committed(self, event):
        self.outcomes.append("committed")
        self.done()


class Handlers(unittest.TestCase):
    """proton.reactor: handlers of events."""

    def run_program(self, program):
        Container(program).run()
        self.assertIsNone(program.error)
        return program

    def test_many(self):
        program = self.run_program(Many(prefetch=50, auto_accept=False))
        self.assertEqual(program.received, [str(n) for n in range(Many.COUNT)])

    def test_transactions(self):
        self.assertEqual(self.run_program(Sending()).outcomes, ["aborted", "committed"])
        program = self.run_program(Receiving(prefetch=0, auto_accept=False))
        self.assertEqual(program.outcomes, ["aborted", "committed"])
        self.assertEqual(program.got, [("1.0", 0), ("1.1", 0)] * 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)

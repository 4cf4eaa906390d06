"""What the SDK makes of faults that the control API injects (docs/faults.md)."""

import json
import urllib.request

import bus
from azure.servicebus.exceptions import MessageLockLostError, MessagingEntityDisabledError, ServiceBusServerBusyError

FAULTS = f"http://localhost:{bus.HTTP}/$minibus/v1/namespaces/$default/faults"


def ask(method, address, body=None):
    """Sends a request to the control API and returns the answer."""
    headers = {"Content-Type": "application/json", "Authorization": bus.signature("", "RootManageSharedAccessKey", "SAS_KEY_VALUE")}
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method)) as answer:
        return json.loads(answer.read() or "null")


class Faults(bus.Case):
    def inject(self, **fault):
        """Injects a fault until the end of the test, and returns a function that says how often it has hit."""
        address = f"{FAULTS}/{ask('POST', FAULTS, fault)['id']}"
        self.addCleanup(ask, "DELETE", address)
        return lambda: ask("GET", address)["hits"]

    def send_again(self, queue, body, times=3):
        """Sends a message with a client that tries again so often."""
        with bus.client(retry_total=times, retry_backoff_factor=0.1, **bus.QUICK) as client, client.get_queue_sender(queue) as sender:
            sender.send_messages(bus.ServiceBusMessage(body))

    def test_throttled(self):
        """The SDK waits and tries again, and gives up in the end."""
        queue = self.queue()
        hits = self.inject(kind="throttle", entity=queue, count=2)
        self.send_again(queue, "a")
        self.assertEqual(hits(), 2)
        self.inject(kind="throttle", entity=queue)
        with self.assertRaises(ServiceBusServerBusyError):
            self.send_again(queue, "b", 1)

    def test_lost_lock(self):
        """A lock that is lost is the SDK's error for that, and the message comes again."""
        queue = self.queue()
        self.send(queue, "a")
        receiver = self.receiver(queue)
        self.inject(kind="loseLock", entity=queue, count=1)
        with self.assertRaises(MessageLockLostError):
            receiver.renew_message_lock(self.receive(receiver)[0])
        [again] = self.receive(receiver)
        self.assertEqual(again.delivery_count, 1)
        receiver.complete_message(again)

    def test_refused(self):
        queue = self.queue()
        self.inject(kind="refuse", entity=queue, condition="entity-disabled")
        with self.assertRaises(MessagingEntityDisabledError):
            self.send(queue, "a")

    def test_cut(self):
        """The SDK connects again after a connection was cut. If the answer to a send got lost it sends twice."""
        queue = self.queue()
        hits = self.inject(kind="drop", entity=queue, operations=["send"], count=1)
        self.send_again(queue, "a")
        self.assertEqual(hits(), 1)
        hits = self.inject(kind="drop", entity=queue, operations=["send"], after=True, count=1)
        self.send_again(queue, "b")
        self.assertEqual(hits(), 1)
        self.assertEqual(bus.texts(self.receive(self.receiver(queue), 3)), ["a", "b", "b"])

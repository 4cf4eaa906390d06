"""What the tests share: where the server is, how each transport reaches it, and entities of their own."""

import asyncio
import base64
import hmac
import itertools
import os
import time
import unittest
import urllib.parse

from azure.servicebus import ServiceBusClient, ServiceBusMessage, TransportType
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient
from azure.servicebus.aio.management import ServiceBusAdministrationClient as AsyncServiceBusAdministrationClient
from azure.servicebus.management import ServiceBusAdministrationClient

AMQP, TLS, HTTP = (int(os.environ["MINIBUS_PORT_" + name]) for name in ("AMQP", "TLS", "HTTP"))
CA = os.environ["MINIBUS_CA"]
NAMESPACE = os.environ["MINIBUS_NAMESPACE"]

KEY = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
# Without TLS the SDK keeps the port of the endpoint; with TLS and over WebSockets it has its own, 5671 and 443, unless
# custom_endpoint_address names another one.
PLAIN = f"Endpoint=sb://localhost:{AMQP};{KEY};UseDevelopmentEmulator=true;"
SECURE = f"Endpoint=sb://localhost;{KEY}"
ADMIN = f"Endpoint=sb://localhost:{HTTP};{KEY};UseDevelopmentEmulator=true;"

# How to reach each transport: connection string and options of ServiceBusClient.
TRANSPORTS = {
    "amqp": (PLAIN, {}),
    "amqps": (SECURE, {
        "connection_verify": CA,
        "custom_endpoint_address": f"sb://localhost:{TLS}",
        "transport_type": TransportType.Amqp,
    }),
    "ws": (PLAIN, {
        "custom_endpoint_address": f"sb://localhost:{HTTP}",
        "transport_type": TransportType.AmqpOverWebsocket,
    }),
    "wss": (SECURE, {
        "connection_verify": CA,
        "custom_endpoint_address": f"sb://localhost:{TLS}",
        "transport_type": TransportType.AmqpOverWebsocket,
    }),
}

WAIT = 30  # seconds for what is certain to come; nothing waits so long unless it fails
SOON = 0.5  # seconds after which what should not come counts as absent

# The SDK's keep-alive thread notices only once a second that its client was closed, and close waits for it. Tests that open
# many links do without that thread.
QUICK = {"keep_alive": 0}

_numbers = itertools.count(1)


def client(transport="amqp", **options):
    """A client of the data plane."""
    string, given = TRANSPORTS[transport]
    return ServiceBusClient.from_connection_string(string, **{**given, **options})


def async_client(transport="amqp", **options):
    """The same, for asyncio."""
    string, given = TRANSPORTS[transport]
    return AsyncServiceBusClient.from_connection_string(string, **{**given, **options})


def admin(string=ADMIN, **options):
    """An administration client. It speaks TLS only, whatever the connection string says."""
    return ServiceBusAdministrationClient.from_connection_string(string, connection_verify=CA, **options)


def async_admin(**options):
    """The same, for asyncio."""
    return AsyncServiceBusAdministrationClient.from_connection_string(ADMIN, connection_verify=CA, **options)


def signature(entity, policy, key, seconds=3600):
    """A shared access signature, as a program would get it from somewhere else."""
    resource = urllib.parse.quote_plus(f"sb://localhost/{entity}")
    expiry = int(time.time()) + seconds
    digest = hmac.digest(key.encode(), f"{resource}\n{expiry}".encode(), "sha256")
    signed = urllib.parse.quote_plus(base64.b64encode(digest))
    return f"SharedAccessSignature sr={resource}&sig={signed}&se={expiry}&skn={policy}"


def name(prefix):
    """A name that no other test has."""
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


def texts(messages):
    """The bodies of messages."""
    return [str(m) for m in messages]


def eventually(check, seconds=WAIT):
    """Waits until check() is true; its last answer is returned."""
    end = time.monotonic() + seconds
    while not (answer := check()) and time.monotonic() < end:
        time.sleep(0.02)
    return answer


def proves(*ids):
    """Says which behaviours of compat-tests/cases a test proves; run.py notes them once it has passed."""

    def mark(test):
        test.proves = ids
        return test

    return mark


class Case(unittest.TestCase):
    """A test with an administration client and a client of the data plane, both closed at its end."""

    maxDiff = None

    def setUp(self):
        self.admin = self.enterContext(admin())
        # Without retries, so that none hides a failure.
        self.client = self.enterContext(client(retry_total=0))

    def queue(self, **properties):
        """Makes a queue and returns its name."""
        return self.admin.create_queue(name("queue"), **properties).name

    def topic(self, *subscriptions, **properties):
        """Makes a topic with these subscriptions, which take everything, and returns its name."""
        topic = self.admin.create_topic(name("topic"), **properties).name
        for subscription in subscriptions:
            self.admin.create_subscription(topic, subscription)
        return topic

    def sender(self, entity):
        """A sender to a queue or topic."""
        return self.enterContext(self.client.get_queue_sender(entity, **QUICK))

    def receiver(self, entity, **options):
        """A receiver of a queue, or of (topic, subscription)."""
        if isinstance(entity, tuple):
            return self.enterContext(self.client.get_subscription_receiver(*entity, **QUICK, **options))
        return self.enterContext(self.client.get_queue_receiver(entity, **QUICK, **options))

    def send(self, entity, *messages):
        """Sends messages one after another; strings become messages."""
        with self.client.get_queue_sender(entity, **QUICK) as sender:
            for m in messages:
                sender.send_messages(ServiceBusMessage(m) if isinstance(m, str) else m)

    def receive(self, receiver, count=1):
        """
        Receives exactly so many messages. On a busy machine that takes several calls. What arrives between them the SDK gives back,
        and what was on its way behind that overtakes it: for many messages in order, the receiver has to fetch ahead.
        """
        got = []
        end = time.monotonic() + WAIT
        while len(got) < count and time.monotonic() < end:
            got += receiver.receive_messages(count - len(got), max_wait_time=end - time.monotonic())
        self.assertEqual(len(got), count)
        return got

    def assert_empty(self, receiver):
        """Nothing comes."""
        self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=SOON)), [])


class AsyncCase(unittest.IsolatedAsyncioTestCase):
    """The same for asyncio, for the main path."""

    async def asyncSetUp(self):
        self.admin = await self.enterAsyncContext(async_admin())

    async def queue(self, **properties):
        return (await self.admin.create_queue(name("queue"), **properties)).name

    async def topic(self, *subscriptions):
        topic = (await self.admin.create_topic(name("topic"))).name
        for subscription in subscriptions:
            await self.admin.create_subscription(topic, subscription)
        return topic

    async def receive(self, receiver, count=1):
        """Receives exactly so many messages."""
        got = []
        async with asyncio.timeout(WAIT):
            while len(got) < count:
                got += await receiver.receive_messages(count - len(got), max_wait_time=WAIT)
        self.assertEqual(len(got), count)
        return got

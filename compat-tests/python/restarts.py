"""The SDK over restarts of Minibus: python run.py restarts. MINIBUS_CONTROL is where the server is restarted, MINIBUS_RELAY an
address whose connections can be cut. The queues are r.1 to r.6 and r.sessions.
"""

import datetime
import os
import threading
import time
import unittest
import urllib.request
from unittest import mock

import bus
from azure.core.credentials import AccessToken
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError

RETRIES = {"retry_total": 40, "retry_backoff_factor": 0.25, "retry_mode": "fixed"}


def control(what):
    with urllib.request.urlopen(f"{os.environ['MINIBUS_CONTROL']}/{what}") as answer:
        answer.read()


class Restarts(unittest.TestCase):
    alone = True  # they restart the server that all would use

    def setUp(self):
        self.client = self.enterContext(bus.client(**RETRIES))

    receive = bus.Case.receive

    def both(self, queue, client=None):
        client = client or self.client
        return (self.enterContext(client.get_queue_sender(queue, **bus.QUICK)),
                self.enterContext(client.get_queue_receiver(queue, **bus.QUICK)))

    @bus.proves("restart.send", "restart.receive", "restart.kill")
    def test_sender_and_receiver_go_on(self):
        sender, receiver = self.both("r.1")
        for how in ("restart", "kill"):
            sender.send_messages(ServiceBusMessage("before"))
            receiver.complete_message(self.receive(receiver)[0])
            sender.send_messages(ServiceBusMessage("kept"))
            control(how)
            sender.send_messages(ServiceBusMessage("after"))
            got = self.receive(receiver, 2)
            self.assertEqual(bus.texts(got), ["kept", "after"])
            for m in got:
                receiver.complete_message(m)

    @bus.proves("restart.lock", "restart.deferred")
    def test_locks_end_and_numbers_stay(self):
        sender, receiver = self.both("r.2")
        sender.send_messages([ServiceBusMessage("locked"), ServiceBusMessage("deferred")])
        locked, deferred = self.receive(receiver, 2)
        receiver.defer_message(deferred)
        numbers = sender.schedule_messages(
            ServiceBusMessage("later"), datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1))
        control("restart")
        [again] = self.receive(receiver)
        self.assertEqual((str(again), again.delivery_count), ("locked", 0))
        with self.assertRaises(ServiceBusError):
            receiver.complete_message(locked)
        self.assertEqual(bus.texts(receiver.receive_deferred_messages(2)), ["deferred"])
        sender.send_messages(ServiceBusMessage("new"))  # the SDK tries sends again, and no request on a connection that is gone
        sender.cancel_scheduled_messages(numbers)

    @bus.proves("restart.session")
    def test_a_session_is_accepted_again(self):
        with self.client.get_queue_sender("r.sessions", **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("m", session_id="a"))
        first = self.client.get_queue_receiver("r.sessions", session_id="a", **bus.QUICK)
        with first:
            first.session.set_state("half way")
            self.receive(first)
            control("restart")
        with self.client.get_queue_receiver("r.sessions", session_id="a", **bus.QUICK) as second:
            self.assertEqual(second.session.get_state(), b"half way")
            self.assertEqual(bus.texts(self.receive(second)), ["m"])

    @bus.proves("err.transient")
    def test_a_send_waits_for_the_server(self):
        sender, receiver = self.both("r.3")
        sender.send_messages(ServiceBusMessage("before"))
        control("stop")
        back = threading.Timer(1, control, ["start"])
        back.start()
        sender.send_messages(ServiceBusMessage("while it is away"))
        back.join()
        self.assertEqual(bus.texts(self.receive(receiver, 2)), ["before", "while it is away"])

    @bus.proves("auth.token")
    def test_a_token_of_entra(self):
        """This server checks no tokens; the one of the other tests knows no issuer of such a one."""
        credential = mock.Mock(spec=["get_token"])
        credential.get_token.return_value = AccessToken("header.eyJhdWQiOiJzYiJ9.signature", int(time.time()) + 3600)
        client = ServiceBusClient("localhost", credential, retry_total=0, connection_verify=bus.CA,
                                  custom_endpoint_address=f"sb://localhost:{bus.TLS}")
        sender, receiver = self.both("r.5", self.enterContext(client))
        sender.send_messages(ServiceBusMessage("m"))
        receiver.complete_message(self.receive(receiver)[0])

    @bus.proves("restart.reset")
    def test_a_reset_loses_nothing(self):
        string = bus.PLAIN.replace(f"localhost:{bus.AMQP}", os.environ["MINIBUS_RELAY"])
        relayed = self.enterContext(ServiceBusClient.from_connection_string(string, **RETRIES))
        sender, receiver = self.both("r.4", relayed)
        sender.send_messages(ServiceBusMessage("1"))
        [held] = self.receive(receiver)
        control("cut")
        time.sleep(0.1)
        sender.send_messages(ServiceBusMessage("2"))
        self.assertEqual(bus.texts(self.receive(receiver)), ["2"])
        with self.client.get_queue_receiver("r.4", **bus.QUICK) as other:
            other.complete_message(held)  # by its token


if __name__ == "__main__":
    unittest.main()

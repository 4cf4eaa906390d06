"""azure-servicebus 0.21, which speaks HTTP. It makes properties of a message of every header that it does not know, and writes every value of
BrokerProperties as text. MINIBUS_ADDR is host:port; REQUESTS_CA_BUNDLE names the authority."""

import datetime
import os
import unittest

from azure.servicebus import Message, Queue, ServiceBusService

HOST = os.environ["MINIBUS_ADDR"].rpartition(":")[0]


def connected():
    return ServiceBusService(
        service_namespace=HOST, host_base=":" + os.environ["MINIBUS_PORT_TLS"],
        shared_access_key_name="RootManageSharedAccessKey", shared_access_key_value="SAS_KEY_VALUE")


def made(name):
    bus = connected()
    bus.create_queue(name, Queue(default_message_time_to_live="P1D"), fail_on_exist=True)
    return bus


class Legacy(unittest.TestCase):
    def test_the_properties_of_a_message_are_those_of_its_sender(self):
        bus = made("properties")
        for sent in ({}, {"text": 'a "b"', "number": 7, "half": 0.5, "yes": True, "day": datetime.datetime(2026, 6, 30, 20, 51, 21)}):
            for body in (b"", b"body"):
                for lock in (True, False):
                    with self.subTest(sent=sent, body=body, lock=lock):
                        bus.send_queue_message("properties", Message(body, type="text/plain", custom_properties=sent))
                        got = bus.receive_queue_message("properties", peek_lock=lock, timeout=10)
                        # requests writes the names of headers as it is given them, and reads them in any case.
                        self.assertEqual(got.custom_properties, sent)
                        self.assertEqual((got.body or b"", got.type), (body, "text/plain"))
                        self.assertEqual(got.broker_properties["DeliveryCount"], 1)
                        if lock:
                            got.delete()

    def test_broker_properties_as_text(self):
        bus = made("texts")
        bus.send_queue_message("texts", Message(b"x", broker_properties={
            "TimeToLive": 60, "Label": "new", "MessageId": "7", "ForcePersistence": True, "CorrelationId": 7}))
        got = bus.receive_queue_message("texts", peek_lock=False, timeout=10).broker_properties
        self.assertEqual((got["TimeToLive"], got["Label"], got["MessageId"], got["CorrelationId"]), (60, "new", "7", "7"))
        self.assertLess(got["EnqueuedSequenceNumber"], 1)

    def test_scheduled_times(self):
        bus = made("later")
        due = datetime.datetime(2099, 6, 30, 20, 51, 21)
        for time in (due, str(due), f"{due} UTC", due.isoformat(), due.isoformat() + "Z", f"{due:%a, %d %b %Y %H:%M:%S} UTC"):
            with self.subTest(time=time):
                bus.send_queue_message("later", Message(b"x", broker_properties={"ScheduledEnqueueTimeUtc": time}))
        self.assertEqual(bus.get_queue("later").message_count, 6)
        self.assertIsNone(bus.receive_queue_message("later", peek_lock=False, timeout=0).body)

    def test_locks(self):
        bus = made("locks")
        bus.send_queue_message("locks", Message(b"x"))
        got = bus.receive_queue_message("locks", timeout=10)
        got.renew_lock()
        got.unlock()
        got = bus.receive_queue_message("locks", timeout=10)
        self.assertEqual(got.broker_properties["DeliveryCount"], 2)
        got.delete()
        self.assertIsNone(bus.receive_queue_message("locks", timeout=0).body)


if __name__ == "__main__":
    unittest.main()

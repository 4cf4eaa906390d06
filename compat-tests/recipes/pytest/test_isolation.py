"""Four workers use queues of the same name at the same time."""

import os
import urllib.parse
import urllib.request

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage


@pytest.mark.parametrize("test", range(4))
def test_a_worker_sees_its_own_messages_only(connection_string, worker_id, test):
    with ServiceBusClient.from_connection_string(connection_string) as client:
        sent = [f"{worker_id} {test} {n}" for n in range(3)]
        with client.get_queue_sender("orders") as sender:
            sender.send_messages([ServiceBusMessage(text) for text in sent])
        meet = os.environ["MINIBUS_MEETING"] + "?" + urllib.parse.quote(connection_string, safe="")
        urllib.request.urlopen(meet).close()
        received = []
        with client.get_queue_receiver("orders") as receiver:
            while messages := receiver.receive_messages(max_message_count=100, max_wait_time=2 if len(received) >= len(sent) else 30):
                for message in messages:
                    received.append(str(message))
                    receiver.complete_message(message)
        assert received == sent

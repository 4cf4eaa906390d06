"""Testcontainers for Python with the image of Minibus, by the class of the package minibus, and Azure's client on it."""

import sys
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.management import ServiceBusAdministrationClient
from minibus.testcontainers import MinibusContainer


def round_trip(string: str, queue: str) -> None:
    with ServiceBusClient.from_connection_string(string) as client:
        with client.get_queue_sender(queue) as sender:
            sender.send_messages(ServiceBusMessage("one parcel"))
        with client.get_queue_receiver(queue) as receiver:
            [message] = receiver.receive_messages(max_wait_time=10)
            assert str(message) == "one parcel", message
            receiver.complete_message(message)


def administration(container: MinibusContainer, ca: Path) -> None:
    """The administration client insists on TLS, so it is told the certificate of Minibus's authority."""
    http = f"http://{container.get_container_host_ip()}:{container.get_exposed_port(5300)}"
    urllib.request.urlretrieve(http + "/minibus/ca.pem", ca)
    string = container.get_connection_string()
    with ServiceBusAdministrationClient.from_connection_string(string, connection_verify=str(ca)) as admin:
        admin.create_queue("made")
        round_trip(string, "made")
        assert "made" in [queue.name for queue in admin.list_queues()]
        admin.delete_queue("made")
        assert "made" not in [queue.name for queue in admin.list_queues()]


def main() -> None:
    with MinibusContainer() as container, container.connect() as bus:
        bus.put(queues=["orders"])
        round_trip(container.get_connection_string(), "orders")
        with TemporaryDirectory() as directory:
            administration(container, Path(directory, "ca.pem"))
    print("python: ok")


if __name__ == "__main__":
    sys.exit(main())

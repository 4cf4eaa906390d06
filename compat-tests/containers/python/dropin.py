"""Testcontainers for Python with the image of Minibus, and Azure's client on it."""

import sys
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.management import ServiceBusAdministrationClient
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy


def start() -> DockerContainer:
    """A Minibus with queue.1 and topic.1. As a context manager the container starts and ends with the block."""
    return (
        DockerContainer("minibus")
        .with_exposed_ports(5672, 5300)
        .waiting_for(LogMessageWaitStrategy("Emulator Service is Successfully Up!"))
    )


def connection_string(bus: DockerContainer) -> str:
    endpoint = f"sb://{bus.get_container_host_ip()}:{bus.get_exposed_port(5672)}"
    return f"Endpoint={endpoint};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"


def round_trip(string: str, queue: str) -> None:
    with ServiceBusClient.from_connection_string(string) as client:
        with client.get_queue_sender(queue) as sender:
            sender.send_messages(ServiceBusMessage("one parcel"))
        with client.get_queue_receiver(queue) as receiver:
            [message] = receiver.receive_messages(max_wait_time=10)
            assert str(message) == "one parcel", message
            receiver.complete_message(message)


def administration(bus: DockerContainer, ca: Path) -> None:
    """The administration client insists on TLS, so it is told the certificate of Minibus's authority."""
    http = f"http://{bus.get_container_host_ip()}:{bus.get_exposed_port(5300)}"
    urllib.request.urlretrieve(http + "/minibus/ca.pem", ca)
    string = connection_string(bus)
    with ServiceBusAdministrationClient.from_connection_string(string, connection_verify=str(ca)) as admin:
        admin.create_queue("made")
        round_trip(string, "made")
        assert "made" in [queue.name for queue in admin.list_queues()]
        admin.delete_queue("made")
        assert "made" not in [queue.name for queue in admin.list_queues()]


def main() -> None:
    with start() as bus, TemporaryDirectory() as directory:
        round_trip(connection_string(bus), "queue.1")
        administration(bus, Path(directory, "ca.pem"))
    print("python: ok")


if __name__ == "__main__":
    sys.exit(main())

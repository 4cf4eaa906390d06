"""Minibus as a container of Testcontainers.

with MinibusContainer() as container, container.connect() as bus:
    client = ServiceBusClient.from_connection_string(container.get_connection_string())
"""

from __future__ import annotations

from typing import Any

from ._sync import Minibus

try:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy
except ImportError as missing:
    raise ImportError("minibus.testcontainers needs Testcontainers: pip install testcontainers") from missing


class MinibusContainer(DockerContainer):  # type: ignore[misc,unused-ignore]
    """A container of the image of Minibus, which is ready when start returns."""

    def __init__(self, image: str = "minibus", **options: Any) -> None:
        super().__init__(image, **options)
        self.with_exposed_ports(5672, 5300)
        self.waiting_for(LogMessageWaitStrategy("Emulator Service is Successfully Up!"))

    def get_connection_string(self) -> str:
        endpoint = f"sb://{self.get_container_host_ip()}:{self.get_exposed_port(5672)}"
        key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
        return f"Endpoint={endpoint};{key};UseDevelopmentEmulator=true;"

    def connect(self) -> Minibus:
        return Minibus.connect(self.get_connection_string())

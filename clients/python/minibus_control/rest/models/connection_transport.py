from enum import StrEnum

class ConnectionTransport(StrEnum):
    HTTP = "http"
    MEMORY = "memory"
    TCP = "tcp"
    TLS = "tls"
    WEBSOCKET = "websocket"
    WEBSOCKET_TLS = "websocket-tls"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class ConnectionStringRightsItem(StrEnum):
    LISTEN = "Listen"
    MANAGE = "Manage"
    SEND = "Send"

    def __str__(self) -> str:
        return str(self.value)

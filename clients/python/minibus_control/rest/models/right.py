from enum import StrEnum

class Right(StrEnum):
    LISTEN = "Listen"
    MANAGE = "Manage"
    SEND = "Send"

    def __str__(self) -> str:
        return str(self.value)

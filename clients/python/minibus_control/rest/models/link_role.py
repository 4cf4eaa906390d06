from enum import StrEnum

class LinkRole(StrEnum):
    RECEIVER = "receiver"
    SENDER = "sender"

    def __str__(self) -> str:
        return str(self.value)

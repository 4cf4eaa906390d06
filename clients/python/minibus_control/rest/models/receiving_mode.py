from enum import StrEnum

class ReceivingMode(StrEnum):
    PEEKLOCK = "peekLock"
    RECEIVEANDDELETE = "receiveAndDelete"

    def __str__(self) -> str:
        return str(self.value)

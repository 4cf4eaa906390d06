from enum import StrEnum

class LinkMode(StrEnum):
    PEEKLOCK = "peekLock"
    RECEIVEANDDELETE = "receiveAndDelete"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class JobKind(StrEnum):
    MOVE = "move"
    PURGE = "purge"

    def __str__(self) -> str:
        return str(self.value)

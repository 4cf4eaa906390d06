from enum import StrEnum

class JobKind(StrEnum):
    MOVE = "move"
    PURGE = "purge"
    RESUBMIT = "resubmit"

    def __str__(self) -> str:
        return str(self.value)

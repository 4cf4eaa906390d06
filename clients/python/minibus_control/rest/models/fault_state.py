from enum import StrEnum

class FaultState(StrEnum):
    ACTIVE = "active"
    OVER = "over"
    REMOVED = "removed"
    SPENT = "spent"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class ListMessagesStateType0Item(StrEnum):
    ACTIVE = "active"
    DEFERRED = "deferred"
    LOCKED = "locked"
    SCHEDULED = "scheduled"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class ConditionOf(StrEnum):
    ACTIVE = "active"
    DEADLETTER = "deadLetter"
    DEFERRED = "deferred"
    SCHEDULED = "scheduled"
    TRANSFER = "transfer"
    TRANSFERDEADLETTER = "transferDeadLetter"

    def __str__(self) -> str:
        return str(self.value)

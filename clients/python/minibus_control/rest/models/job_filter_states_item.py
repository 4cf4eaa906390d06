from enum import StrEnum

class JobFilterStatesItem(StrEnum):
    ACTIVE = "active"
    DEFERRED = "deferred"
    SCHEDULED = "scheduled"

    def __str__(self) -> str:
        return str(self.value)

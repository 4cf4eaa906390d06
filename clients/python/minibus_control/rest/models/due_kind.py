from enum import StrEnum

class DueKind(StrEnum):
    EXPIRES = "expires"
    FORWARDRETRIED = "forwardRetried"
    IDLE = "idle"
    LOCKENDS = "lockEnds"
    SCHEDULED = "scheduled"
    SESSIONLOCKENDS = "sessionLockEnds"

    def __str__(self) -> str:
        return str(self.value)

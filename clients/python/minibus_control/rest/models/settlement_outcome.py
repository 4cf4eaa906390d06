from enum import StrEnum

class SettlementOutcome(StrEnum):
    ABANDON = "abandon"
    COMPLETE = "complete"
    DEADLETTER = "deadLetter"
    DEFER = "defer"
    RELEASE = "release"

    def __str__(self) -> str:
        return str(self.value)

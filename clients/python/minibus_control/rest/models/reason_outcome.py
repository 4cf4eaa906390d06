from enum import StrEnum

class ReasonOutcome(StrEnum):
    FALSE = "false"
    TRUE = "true"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class RuleMatchingOutcome(StrEnum):
    ERROR = "error"
    FALSE = "false"
    TRUE = "true"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return str(self.value)

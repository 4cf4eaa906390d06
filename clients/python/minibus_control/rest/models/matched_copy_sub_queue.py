from enum import StrEnum

class MatchedCopySubQueue(StrEnum):
    VALUE_0 = "$DeadLetterQueue"

    def __str__(self) -> str:
        return str(self.value)

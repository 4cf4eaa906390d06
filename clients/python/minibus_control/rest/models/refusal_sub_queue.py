from enum import StrEnum

class RefusalSubQueue(StrEnum):
    VALUE_0 = "$DeadLetterQueue"
    VALUE_1 = "$Transfer/$DeadLetterQueue"

    def __str__(self) -> str:
        return str(self.value)

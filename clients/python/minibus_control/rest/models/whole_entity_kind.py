from enum import StrEnum

class WholeEntityKind(StrEnum):
    QUEUE = "queue"
    SUBSCRIPTION = "subscription"
    TOPIC = "topic"

    def __str__(self) -> str:
        return str(self.value)

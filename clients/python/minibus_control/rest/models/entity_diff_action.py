from enum import StrEnum

class EntityDiffAction(StrEnum):
    CHANGE = "change"
    CREATE = "create"
    DELETE = "delete"
    KEEP = "keep"
    LEAVE = "leave"
    REFUSE = "refuse"

    def __str__(self) -> str:
        return str(self.value)

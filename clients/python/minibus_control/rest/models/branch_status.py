from enum import StrEnum

class BranchStatus(StrEnum):
    ACTIVE = "Active"
    DISABLED = "Disabled"
    RECEIVEDISABLED = "ReceiveDisabled"
    SENDDISABLED = "SendDisabled"

    def __str__(self) -> str:
        return str(self.value)

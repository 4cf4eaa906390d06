from enum import StrEnum

class CreateNamespaceLimits(StrEnum):
    EMULATOR = "emulator"
    PREMIUM = "premium"
    RELAXED = "relaxed"
    STANDARD = "standard"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class FaultKind(StrEnum):
    CLOSE = "close"
    DELAY = "delay"
    DETACH = "detach"
    DROP = "drop"
    EXPIRETOKEN = "expireToken"
    FAILJOURNAL = "failJournal"
    LOSELOCK = "loseLock"
    LOSESESSION = "loseSession"
    REFUSE = "refuse"
    STARVE = "starve"
    THROTTLE = "throttle"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class LinkWaitsFor(StrEnum):
    CREDIT = "credit"
    DETACH = "detach"
    FAULT = "fault"
    JOURNAL = "journal"
    MESSAGE = "message"
    READING = "reading"
    SESSION = "session"
    SETTLEMENT = "settlement"
    WINDOW = "window"

    def __str__(self) -> str:
        return str(self.value)

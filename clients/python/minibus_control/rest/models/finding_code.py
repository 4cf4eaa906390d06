from enum import StrEnum

class FindingCode(StrEnum):
    BEING_WRITTEN = "being-written"
    DEAD_LETTERED = "dead-lettered"
    DEFERRED = "deferred"
    DISABLED = "disabled"
    EMPTY = "empty"
    EXPIRED = "expired"
    FORWARDS = "forwards"
    FORWARD_WAITS = "forward-waits"
    LOCKED = "locked"
    NO_CREDIT = "no-credit"
    NO_RECEIVER = "no-receiver"
    NO_RULES = "no-rules"
    NO_SUBSCRIPTIONS = "no-subscriptions"
    OTHER_SESSION = "other-session"
    PARKED = "parked"
    RECEIVING = "receiving"
    REFUSED = "refused"
    RULES_LEAVE_OUT = "rules-leave-out"
    RULES_MATCH_NOTHING = "rules-match-nothing"
    SCHEDULED = "scheduled"
    SEND_DISABLED = "send-disabled"
    SESSIONS_HELD = "sessions-held"
    SESSION_REQUIRED = "session-required"
    TOPIC = "topic"
    WRONG_SUB_QUEUE = "wrong-sub-queue"

    def __str__(self) -> str:
        return str(self.value)

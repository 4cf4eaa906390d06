from enum import StrEnum

class FaultOperationsItem(StrEnum):
    ATTACHRECEIVER = "attachReceiver"
    ATTACHSENDER = "attachSender"
    AUTHENTICATE = "authenticate"
    MANAGE = "manage"
    NOW = "now"
    RECEIVE = "receive"
    RENEW = "renew"
    SEND = "send"
    SETTLE = "settle"

    def __str__(self) -> str:
        return str(self.value)

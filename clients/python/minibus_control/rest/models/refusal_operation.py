from enum import StrEnum

class RefusalOperation(StrEnum):
    ATTACH = "attach"
    PUT_TOKEN = "put-token"

    def __str__(self) -> str:
        return str(self.value)

from enum import StrEnum

class RulePropertiesFilterType(StrEnum):
    CORRELATION = "Correlation"
    FALSE = "False"
    SQL = "Sql"
    TRUE = "True"

    def __str__(self) -> str:
        return str(self.value)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.settlement_outcome import SettlementOutcome
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.settlement_properties import SettlementProperties





T = TypeVar("T", bound="Settlement")



@_attrs_define
class Settlement:
    """ 
        Attributes:
            lock_tokens (list[str]): As receive gave them
            outcome (SettlementOutcome): release gives them back without counting a failed delivery
            description (str | Unset): DeadLetterErrorDescription, with deadLetter
            properties (SettlementProperties | Unset): Application properties to change, with abandon, defer and deadLetter
            reason (str | Unset): DeadLetterReason, with deadLetter
     """

    lock_tokens: list[str]
    outcome: SettlementOutcome
    description: str | Unset = UNSET
    properties: SettlementProperties | Unset = UNSET
    reason: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.settlement_properties import SettlementProperties # noqa: PLC0415
        lock_tokens = self.lock_tokens



        outcome = self.outcome.value

        description = self.description

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()

        reason = self.reason


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "lockTokens": lock_tokens,
            "outcome": outcome,
        })
        if description is not UNSET:
            field_dict["description"] = description
        if properties is not UNSET:
            field_dict["properties"] = properties
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.settlement_properties import SettlementProperties # noqa: PLC0415
        d = dict(src_dict)
        lock_tokens = cast(list[str], d.pop("lockTokens"))


        outcome = SettlementOutcome(d.pop("outcome"))




        description = d.pop("description", UNSET)

        _properties = d.pop("properties", UNSET)
        properties: SettlementProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = SettlementProperties.from_dict(_properties)




        reason = d.pop("reason", UNSET)

        settlement = cls(
            lock_tokens=lock_tokens,
            outcome=outcome,
            description=description,
            properties=properties,
            reason=reason,
        )

        return settlement


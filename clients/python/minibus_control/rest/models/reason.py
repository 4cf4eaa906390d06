from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.reason_outcome import ReasonOutcome
from typing import cast

if TYPE_CHECKING:
  from ..models.seen_value import SeenValue





T = TypeVar("T", bound="Reason")



@_attrs_define
class Reason:
    """ 
        Attributes:
            condition (str):
            outcome (ReasonOutcome):
            seen (list[SeenValue]): The properties that it read
            text (str): The same as a sentence
     """

    condition: str
    outcome: ReasonOutcome
    seen: list[SeenValue]
    text: str





    def to_dict(self) -> dict[str, Any]:
        from ..models.seen_value import SeenValue # noqa: PLC0415
        condition = self.condition

        outcome = self.outcome.value

        seen = []
        for seen_item_data in self.seen:
            seen_item = seen_item_data.to_dict()
            seen.append(seen_item)



        text = self.text


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "condition": condition,
            "outcome": outcome,
            "seen": seen,
            "text": text,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.seen_value import SeenValue # noqa: PLC0415
        d = dict(src_dict)
        condition = d.pop("condition")

        outcome = ReasonOutcome(d.pop("outcome"))




        seen = []
        _seen = d.pop("seen")
        for seen_item_data in (_seen):
            seen_item = SeenValue.from_dict(seen_item_data)



            seen.append(seen_item)


        text = d.pop("text")

        reason = cls(
            condition=condition,
            outcome=outcome,
            seen=seen,
            text=text,
        )

        return reason


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.condition_of import ConditionOf
from ..types import UNSET, Unset






T = TypeVar("T", bound="Condition")



@_attrs_define
class Condition:
    """ 
        Attributes:
            of (ConditionOf): As in the counts of an entity
            least (int | Unset): At least so many
            most (int | Unset): At most so many; none: no limit
     """

    of: ConditionOf
    least: int | Unset = UNSET
    most: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        of = self.of.value

        least = self.least

        most = self.most


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "of": of,
        })
        if least is not UNSET:
            field_dict["least"] = least
        if most is not UNSET:
            field_dict["most"] = most

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        of = ConditionOf(d.pop("of"))




        least = d.pop("least", UNSET)

        most = d.pop("most", UNSET)

        condition = cls(
            of=of,
            least=least,
            most=most,
        )

        return condition


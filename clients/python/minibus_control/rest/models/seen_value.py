from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="SeenValue")



@_attrs_define
class SeenValue:
    """ 
        Attributes:
            name (str):
            missing (bool | Unset): The message does not have it
            value (Any | Unset): As in messages; none: null, or missing
     """

    name: str
    missing: bool | Unset = UNSET
    value: Any | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        missing = self.missing

        value = self.value


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "name": name,
        })
        if missing is not UNSET:
            field_dict["missing"] = missing
        if value is not UNSET:
            field_dict["value"] = value

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        missing = d.pop("missing", UNSET)

        value = d.pop("value", UNSET)

        seen_value = cls(
            name=name,
            missing=missing,
            value=value,
        )

        return seen_value


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="PropertyChange")



@_attrs_define
class PropertyChange:
    """ 
        Attributes:
            property_ (str): Of the application, or sys. and the name of the service's
            after (Any | Unset): None: it is removed, or null
            before (Any | Unset): None: it is new, or was null
            removed (bool | Unset):
     """

    property_: str
    after: Any | Unset = UNSET
    before: Any | Unset = UNSET
    removed: bool | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        property_ = self.property_

        after = self.after

        before = self.before

        removed = self.removed


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "property": property_,
        })
        if after is not UNSET:
            field_dict["after"] = after
        if before is not UNSET:
            field_dict["before"] = before
        if removed is not UNSET:
            field_dict["removed"] = removed

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        property_ = d.pop("property")

        after = d.pop("after", UNSET)

        before = d.pop("before", UNSET)

        removed = d.pop("removed", UNSET)

        property_change = cls(
            property_=property_,
            after=after,
            before=before,
            removed=removed,
        )

        return property_change


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="SaveSnapshotRequest")



@_attrs_define
class SaveSnapshotRequest:
    """ 
        Attributes:
            name (str): 1 to 50 letters, digits, hyphens, dots and underscores; begins with a letter or a digit. Names are
                compared without case
            replace (bool | Unset): Takes the place of a snapshot of that name, which stays if saving fails
     """

    name: str
    replace: bool | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        replace = self.replace


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "name": name,
        })
        if replace is not UNSET:
            field_dict["replace"] = replace

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        replace = d.pop("replace", UNSET)

        save_snapshot_request = cls(
            name=name,
            replace=replace,
        )

        return save_snapshot_request


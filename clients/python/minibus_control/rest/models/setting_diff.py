from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="SettingDiff")



@_attrs_define
class SettingDiff:
    """ 
        Attributes:
            name (str): As in Config.json; a rule is Rules and its name in brackets. Of policies only names and rights are
                shown
            fixed (bool | Unset): Whether it can't be changed: delete the entity first, with its messages
            from_ (Any | Unset): What it is; none: there is no such rule
            to (Any | Unset): What it would be; none: the rule is deleted
     """

    name: str
    fixed: bool | Unset = UNSET
    from_: Any | Unset = UNSET
    to: Any | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        fixed = self.fixed

        from_ = self.from_

        to = self.to


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "name": name,
        })
        if fixed is not UNSET:
            field_dict["fixed"] = fixed
        if from_ is not UNSET:
            field_dict["from"] = from_
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        fixed = d.pop("fixed", UNSET)

        from_ = d.pop("from", UNSET)

        to = d.pop("to", UNSET)

        setting_diff = cls(
            name=name,
            fixed=fixed,
            from_=from_,
            to=to,
        )

        return setting_diff


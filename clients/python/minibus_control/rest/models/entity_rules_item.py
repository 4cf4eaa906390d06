from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.right import Right
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="EntityRulesItem")



@_attrs_define
class EntityRulesItem:
    """ 
        Attributes:
            key_name (str):
            primary_key (str):
            rights (list[Right]):
            secondary_key (str | Unset):
     """

    key_name: str
    primary_key: str
    rights: list[Right]
    secondary_key: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        key_name = self.key_name

        primary_key = self.primary_key

        rights = []
        for rights_item_data in self.rights:
            rights_item = rights_item_data.value
            rights.append(rights_item)



        secondary_key = self.secondary_key


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "KeyName": key_name,
            "PrimaryKey": primary_key,
            "Rights": rights,
        })
        if secondary_key is not UNSET:
            field_dict["SecondaryKey"] = secondary_key

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key_name = d.pop("KeyName")

        primary_key = d.pop("PrimaryKey")

        rights = []
        _rights = d.pop("Rights")
        for rights_item_data in (_rights):
            rights_item = Right(rights_item_data)



            rights.append(rights_item)


        secondary_key = d.pop("SecondaryKey", UNSET)

        entity_rules_item = cls(
            key_name=key_name,
            primary_key=primary_key,
            rights=rights,
            secondary_key=secondary_key,
        )

        return entity_rules_item


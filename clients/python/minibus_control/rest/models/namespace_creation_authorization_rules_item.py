from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.right import Right
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="NamespaceCreationAuthorizationRulesItem")



@_attrs_define
class NamespaceCreationAuthorizationRulesItem:
    """ 
        Attributes:
            key_name (str): Like the keys without semicolons, quotation marks, blanks and control characters; without equals
                signs too
            rights (list[Right]): Manage needs Send and Listen
            primary_key (str | Unset): Empty: a random one
            secondary_key (str | Unset): Empty: a random one
     """

    key_name: str
    rights: list[Right]
    primary_key: str | Unset = UNSET
    secondary_key: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        key_name = self.key_name

        rights = []
        for rights_item_data in self.rights:
            rights_item = rights_item_data.value
            rights.append(rights_item)



        primary_key = self.primary_key

        secondary_key = self.secondary_key


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "keyName": key_name,
            "rights": rights,
        })
        if primary_key is not UNSET:
            field_dict["primaryKey"] = primary_key
        if secondary_key is not UNSET:
            field_dict["secondaryKey"] = secondary_key

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key_name = d.pop("keyName")

        rights = []
        _rights = d.pop("rights")
        for rights_item_data in (_rights):
            rights_item = Right(rights_item_data)



            rights.append(rights_item)


        primary_key = d.pop("primaryKey", UNSET)

        secondary_key = d.pop("secondaryKey", UNSET)

        namespace_creation_authorization_rules_item = cls(
            key_name=key_name,
            rights=rights,
            primary_key=primary_key,
            secondary_key=secondary_key,
        )

        return namespace_creation_authorization_rules_item


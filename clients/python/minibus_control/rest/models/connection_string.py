from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.connection_string_rights_item import ConnectionStringRightsItem
from typing import cast






T = TypeVar("T", bound="ConnectionString")



@_attrs_define
class ConnectionString:
    """ 
        Attributes:
            connection_string (str):
            key_name (str):
            rights (list[ConnectionStringRightsItem]):
     """

    connection_string: str
    key_name: str
    rights: list[ConnectionStringRightsItem]





    def to_dict(self) -> dict[str, Any]:
        connection_string = self.connection_string

        key_name = self.key_name

        rights = []
        for rights_item_data in self.rights:
            rights_item = rights_item_data.value
            rights.append(rights_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "connectionString": connection_string,
            "keyName": key_name,
            "rights": rights,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        connection_string = d.pop("connectionString")

        key_name = d.pop("keyName")

        rights = []
        _rights = d.pop("rights")
        for rights_item_data in (_rights):
            rights_item = ConnectionStringRightsItem(rights_item_data)



            rights.append(rights_item)


        connection_string = cls(
            connection_string=connection_string,
            key_name=key_name,
            rights=rights,
        )

        return connection_string


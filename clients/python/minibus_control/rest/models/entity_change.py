from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.entity_properties import EntityProperties





T = TypeVar("T", bound="EntityChange")



@_attrs_define
class EntityChange:
    """ 
        Attributes:
            properties (EntityProperties): Settings by their names in Config.json. Not every kind of entity has all of them
            name (str | Unset): That of the path, or none
     """

    properties: EntityProperties
    name: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        properties = self.properties.to_dict()

        name = self.name


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "Properties": properties,
        })
        if name is not UNSET:
            field_dict["Name"] = name

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        d = dict(src_dict)
        properties = EntityProperties.from_dict(d.pop("Properties"))




        name = d.pop("Name", UNSET)

        entity_change = cls(
            properties=properties,
            name=name,
        )

        return entity_change


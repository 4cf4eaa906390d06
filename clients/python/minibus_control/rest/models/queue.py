from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.queue_properties import QueueProperties





T = TypeVar("T", bound="Queue")



@_attrs_define
class Queue:
    """ 
        Attributes:
            name (str):
            properties (QueueProperties | Unset):
     """

    name: str
    properties: QueueProperties | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.queue_properties import QueueProperties # noqa: PLC0415
        name = self.name

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "Name": name,
        })
        if properties is not UNSET:
            field_dict["Properties"] = properties

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue_properties import QueueProperties # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("Name")

        _properties = d.pop("Properties", UNSET)
        properties: QueueProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = QueueProperties.from_dict(_properties)




        queue = cls(
            name=name,
            properties=properties,
        )

        return queue


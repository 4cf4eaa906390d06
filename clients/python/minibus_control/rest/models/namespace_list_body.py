from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.namespace import Namespace





T = TypeVar("T", bound="NamespaceListBody")



@_attrs_define
class NamespaceListBody:
    """ 
        Attributes:
            namespaces (list[Namespace]):
     """

    namespaces: list[Namespace]





    def to_dict(self) -> dict[str, Any]:
        from ..models.namespace import Namespace # noqa: PLC0415
        namespaces = []
        for namespaces_item_data in self.namespaces:
            namespaces_item = namespaces_item_data.to_dict()
            namespaces.append(namespaces_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "namespaces": namespaces,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.namespace import Namespace # noqa: PLC0415
        d = dict(src_dict)
        namespaces = []
        _namespaces = d.pop("namespaces")
        for namespaces_item_data in (_namespaces):
            namespaces_item = Namespace.from_dict(namespaces_item_data)



            namespaces.append(namespaces_item)


        namespace_list_body = cls(
            namespaces=namespaces,
        )

        return namespace_list_body


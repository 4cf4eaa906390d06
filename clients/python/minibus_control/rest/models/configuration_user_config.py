from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.configuration_user_config_namespaces_item import ConfigurationUserConfigNamespacesItem





T = TypeVar("T", bound="ConfigurationUserConfig")



@_attrs_define
class ConfigurationUserConfig:
    """ 
        Attributes:
            namespaces (list[ConfigurationUserConfigNamespacesItem] | Unset):
     """

    namespaces: list[ConfigurationUserConfigNamespacesItem] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.configuration_user_config_namespaces_item import ConfigurationUserConfigNamespacesItem # noqa: PLC0415
        namespaces: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.namespaces, Unset):
            namespaces = []
            for namespaces_item_data in self.namespaces:
                namespaces_item = namespaces_item_data.to_dict()
                namespaces.append(namespaces_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if namespaces is not UNSET:
            field_dict["Namespaces"] = namespaces

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.configuration_user_config_namespaces_item import ConfigurationUserConfigNamespacesItem # noqa: PLC0415
        d = dict(src_dict)
        _namespaces = d.pop("Namespaces", UNSET)
        namespaces: list[ConfigurationUserConfigNamespacesItem] | Unset = UNSET
        if _namespaces is not UNSET:
            namespaces = []
            for namespaces_item_data in _namespaces:
                namespaces_item = ConfigurationUserConfigNamespacesItem.from_dict(namespaces_item_data)



                namespaces.append(namespaces_item)


        configuration_user_config = cls(
            namespaces=namespaces,
        )


        configuration_user_config.additional_properties = d
        return configuration_user_config

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

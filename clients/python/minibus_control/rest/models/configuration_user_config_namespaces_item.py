from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.queue import Queue
  from ..models.topic import Topic





T = TypeVar("T", bound="ConfigurationUserConfigNamespacesItem")



@_attrs_define
class ConfigurationUserConfigNamespacesItem:
    """ 
        Attributes:
            name (str | Unset):
            queues (list[Queue] | Unset):
            topics (list[Topic] | Unset):
     """

    name: str | Unset = UNSET
    queues: list[Queue] | Unset = UNSET
    topics: list[Topic] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.queue import Queue # noqa: PLC0415
        from ..models.topic import Topic # noqa: PLC0415
        name = self.name

        queues: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.queues, Unset):
            queues = []
            for queues_item_data in self.queues:
                queues_item = queues_item_data.to_dict()
                queues.append(queues_item)



        topics: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.topics, Unset):
            topics = []
            for topics_item_data in self.topics:
                topics_item = topics_item_data.to_dict()
                topics.append(topics_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if name is not UNSET:
            field_dict["Name"] = name
        if queues is not UNSET:
            field_dict["Queues"] = queues
        if topics is not UNSET:
            field_dict["Topics"] = topics

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.queue import Queue # noqa: PLC0415
        from ..models.topic import Topic # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("Name", UNSET)

        _queues = d.pop("Queues", UNSET)
        queues: list[Queue] | Unset = UNSET
        if _queues is not UNSET:
            queues = []
            for queues_item_data in _queues:
                queues_item = Queue.from_dict(queues_item_data)



                queues.append(queues_item)


        _topics = d.pop("Topics", UNSET)
        topics: list[Topic] | Unset = UNSET
        if _topics is not UNSET:
            topics = []
            for topics_item_data in _topics:
                topics_item = Topic.from_dict(topics_item_data)



                topics.append(topics_item)


        configuration_user_config_namespaces_item = cls(
            name=name,
            queues=queues,
            topics=topics,
        )


        configuration_user_config_namespaces_item.additional_properties = d
        return configuration_user_config_namespaces_item

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

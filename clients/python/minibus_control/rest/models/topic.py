from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.subscription import Subscription
  from ..models.topic_properties import TopicProperties





T = TypeVar("T", bound="Topic")



@_attrs_define
class Topic:
    """ 
        Attributes:
            name (str):
            properties (TopicProperties | Unset):
            subscriptions (list[Subscription] | Unset):
     """

    name: str
    properties: TopicProperties | Unset = UNSET
    subscriptions: list[Subscription] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.subscription import Subscription # noqa: PLC0415
        from ..models.topic_properties import TopicProperties # noqa: PLC0415
        name = self.name

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()

        subscriptions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.subscriptions, Unset):
            subscriptions = []
            for subscriptions_item_data in self.subscriptions:
                subscriptions_item = subscriptions_item_data.to_dict()
                subscriptions.append(subscriptions_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "Name": name,
        })
        if properties is not UNSET:
            field_dict["Properties"] = properties
        if subscriptions is not UNSET:
            field_dict["Subscriptions"] = subscriptions

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.subscription import Subscription # noqa: PLC0415
        from ..models.topic_properties import TopicProperties # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("Name")

        _properties = d.pop("Properties", UNSET)
        properties: TopicProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = TopicProperties.from_dict(_properties)




        _subscriptions = d.pop("Subscriptions", UNSET)
        subscriptions: list[Subscription] | Unset = UNSET
        if _subscriptions is not UNSET:
            subscriptions = []
            for subscriptions_item_data in _subscriptions:
                subscriptions_item = Subscription.from_dict(subscriptions_item_data)



                subscriptions.append(subscriptions_item)


        topic = cls(
            name=name,
            properties=properties,
            subscriptions=subscriptions,
        )

        return topic


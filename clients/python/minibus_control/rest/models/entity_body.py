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
  from ..models.rule import Rule
  from ..models.subscription import Subscription





T = TypeVar("T", bound="EntityBody")



@_attrs_define
class EntityBody:
    """ An entity in the form of Config.json

        Attributes:
            name (str | Unset): That of the path, or none
            properties (EntityProperties | Unset): Settings by their names in Config.json. Not every kind of entity has all
                of them
            subscriptions (list[Subscription] | Unset): Of a topic. Those that are not named stay as they are
            rules (list[Rule] | Unset): Of a subscription. They replace those that there are; without the key those stay
     """

    name: str | Unset = UNSET
    properties: EntityProperties | Unset = UNSET
    subscriptions: list[Subscription] | Unset = UNSET
    rules: list[Rule] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        from ..models.rule import Rule # noqa: PLC0415
        from ..models.subscription import Subscription # noqa: PLC0415
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



        rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rules, Unset):
            rules = []
            for rules_item_data in self.rules:
                rules_item = rules_item_data.to_dict()
                rules.append(rules_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if name is not UNSET:
            field_dict["Name"] = name
        if properties is not UNSET:
            field_dict["Properties"] = properties
        if subscriptions is not UNSET:
            field_dict["Subscriptions"] = subscriptions
        if rules is not UNSET:
            field_dict["Rules"] = rules

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        from ..models.rule import Rule # noqa: PLC0415
        from ..models.subscription import Subscription # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("Name", UNSET)

        _properties = d.pop("Properties", UNSET)
        properties: EntityProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = EntityProperties.from_dict(_properties)




        _subscriptions = d.pop("Subscriptions", UNSET)
        subscriptions: list[Subscription] | Unset = UNSET
        if _subscriptions is not UNSET:
            subscriptions = []
            for subscriptions_item_data in _subscriptions:
                subscriptions_item = Subscription.from_dict(subscriptions_item_data)



                subscriptions.append(subscriptions_item)


        _rules = d.pop("Rules", UNSET)
        rules: list[Rule] | Unset = UNSET
        if _rules is not UNSET:
            rules = []
            for rules_item_data in _rules:
                rules_item = Rule.from_dict(rules_item_data)



                rules.append(rules_item)


        entity_body = cls(
            name=name,
            properties=properties,
            subscriptions=subscriptions,
            rules=rules,
        )

        return entity_body


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.rule import Rule
  from ..models.subscription_properties import SubscriptionProperties





T = TypeVar("T", bound="Subscription")



@_attrs_define
class Subscription:
    """ 
        Attributes:
            name (str):
            properties (SubscriptionProperties | Unset):
            rules (list[Rule] | Unset): Without any the subscription takes every message
     """

    name: str
    properties: SubscriptionProperties | Unset = UNSET
    rules: list[Rule] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.rule import Rule # noqa: PLC0415
        from ..models.subscription_properties import SubscriptionProperties # noqa: PLC0415
        name = self.name

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()

        rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rules, Unset):
            rules = []
            for rules_item_data in self.rules:
                rules_item = rules_item_data.to_dict()
                rules.append(rules_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "Name": name,
        })
        if properties is not UNSET:
            field_dict["Properties"] = properties
        if rules is not UNSET:
            field_dict["Rules"] = rules

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.rule import Rule # noqa: PLC0415
        from ..models.subscription_properties import SubscriptionProperties # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("Name")

        _properties = d.pop("Properties", UNSET)
        properties: SubscriptionProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = SubscriptionProperties.from_dict(_properties)




        _rules = d.pop("Rules", UNSET)
        rules: list[Rule] | Unset = UNSET
        if _rules is not UNSET:
            rules = []
            for rules_item_data in _rules:
                rules_item = Rule.from_dict(rules_item_data)



                rules.append(rules_item)


        subscription = cls(
            name=name,
            properties=properties,
            rules=rules,
        )

        return subscription


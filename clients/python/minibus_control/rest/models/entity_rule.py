from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.rule_properties import RuleProperties





T = TypeVar("T", bound="EntityRule")



@_attrs_define
class EntityRule:
    """ 
        Attributes:
            created (datetime.datetime):
            name (str):
            properties (RuleProperties):
     """

    created: datetime.datetime
    name: str
    properties: RuleProperties





    def to_dict(self) -> dict[str, Any]:
        from ..models.rule_properties import RuleProperties # noqa: PLC0415
        created = self.created.isoformat()

        name = self.name

        properties = self.properties.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "created": created,
            "name": name,
            "properties": properties,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.rule_properties import RuleProperties # noqa: PLC0415
        d = dict(src_dict)
        created = datetime.datetime.fromisoformat(d.pop("created"))




        name = d.pop("name")

        properties = RuleProperties.from_dict(d.pop("properties"))




        entity_rule = cls(
            created=created,
            name=name,
            properties=properties,
        )

        return entity_rule


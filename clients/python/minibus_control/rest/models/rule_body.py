from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.rule_properties import RuleProperties





T = TypeVar("T", bound="RuleBody")



@_attrs_define
class RuleBody:
    """ A rule in the form of Config.json

        Attributes:
            properties (RuleProperties):
            name (str | Unset): That of the path, or none
     """

    properties: RuleProperties
    name: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.rule_properties import RuleProperties # noqa: PLC0415
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
        from ..models.rule_properties import RuleProperties # noqa: PLC0415
        d = dict(src_dict)
        properties = RuleProperties.from_dict(d.pop("Properties"))




        name = d.pop("Name", UNSET)

        rule_body = cls(
            properties=properties,
            name=name,
        )

        return rule_body


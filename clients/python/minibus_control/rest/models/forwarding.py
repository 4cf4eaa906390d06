from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="Forwarding")



@_attrs_define
class Forwarding:
    """ 
        Attributes:
            dead_letters (bool): Whether dead letters are forwarded, else messages
            entity (str):
            missing (bool | Unset): Whether there is no such entity: messages wait for it
     """

    dead_letters: bool
    entity: str
    missing: bool | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        dead_letters = self.dead_letters

        entity = self.entity

        missing = self.missing


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "deadLetters": dead_letters,
            "entity": entity,
        })
        if missing is not UNSET:
            field_dict["missing"] = missing

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        dead_letters = d.pop("deadLetters")

        entity = d.pop("entity")

        missing = d.pop("missing", UNSET)

        forwarding = cls(
            dead_letters=dead_letters,
            entity=entity,
            missing=missing,
        )

        return forwarding


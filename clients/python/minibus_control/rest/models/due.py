from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.due_kind import DueKind
from typing import cast
import datetime






T = TypeVar("T", bound="Due")



@_attrs_define
class Due:
    """ 
        Attributes:
            at (datetime.datetime):
            entity (str):
            kind (DueKind): What happens: idle means that the entity is deleted unless it is used until then
     """

    at: datetime.datetime
    entity: str
    kind: DueKind





    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        entity = self.entity

        kind = self.kind.value


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "at": at,
            "entity": entity,
            "kind": kind,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))




        entity = d.pop("entity")

        kind = DueKind(d.pop("kind"))




        due = cls(
            at=at,
            entity=entity,
            kind=kind,
        )

        return due


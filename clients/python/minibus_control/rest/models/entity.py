from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.entity_kind import EntityKind
from ..models.entity_status import EntityStatus
from typing import cast

if TYPE_CHECKING:
  from ..models.counts import Counts
  from ..models.traffic import Traffic





T = TypeVar("T", bound="Entity")



@_attrs_define
class Entity:
    """ 
        Attributes:
            counts (Counts):
            kind (EntityKind):
            path (str):
            status (EntityStatus):
            traffic (Traffic):
     """

    counts: Counts
    kind: EntityKind
    path: str
    status: EntityStatus
    traffic: Traffic





    def to_dict(self) -> dict[str, Any]:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        counts = self.counts.to_dict()

        kind = self.kind.value

        path = self.path

        status = self.status.value

        traffic = self.traffic.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "counts": counts,
            "kind": kind,
            "path": path,
            "status": status,
            "traffic": traffic,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        d = dict(src_dict)
        counts = Counts.from_dict(d.pop("counts"))




        kind = EntityKind(d.pop("kind"))




        path = d.pop("path")

        status = EntityStatus(d.pop("status"))




        traffic = Traffic.from_dict(d.pop("traffic"))




        entity = cls(
            counts=counts,
            kind=kind,
            path=path,
            status=status,
            traffic=traffic,
        )

        return entity


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.diff_summary import DiffSummary
  from ..models.entity_diff import EntityDiff





T = TypeVar("T", bound="ConfigDiff")



@_attrs_define
class ConfigDiff:
    """ 
        Attributes:
            applied (bool): Whether it was done
            entities (list[EntityDiff]):
            notes (list[str]): What the configuration has and does not count here
            same (bool): Whether there is nothing to do
            summary (DiffSummary):
            refused (str | Unset): Why none of it can be done
     """

    applied: bool
    entities: list[EntityDiff]
    notes: list[str]
    same: bool
    summary: DiffSummary
    refused: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.diff_summary import DiffSummary # noqa: PLC0415
        from ..models.entity_diff import EntityDiff # noqa: PLC0415
        applied = self.applied

        entities = []
        for entities_item_data in self.entities:
            entities_item = entities_item_data.to_dict()
            entities.append(entities_item)



        notes = self.notes



        same = self.same

        summary = self.summary.to_dict()

        refused = self.refused


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "applied": applied,
            "entities": entities,
            "notes": notes,
            "same": same,
            "summary": summary,
        })
        if refused is not UNSET:
            field_dict["refused"] = refused

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.diff_summary import DiffSummary # noqa: PLC0415
        from ..models.entity_diff import EntityDiff # noqa: PLC0415
        d = dict(src_dict)
        applied = d.pop("applied")

        entities = []
        _entities = d.pop("entities")
        for entities_item_data in (_entities):
            entities_item = EntityDiff.from_dict(entities_item_data)



            entities.append(entities_item)


        notes = cast(list[str], d.pop("notes"))


        same = d.pop("same")

        summary = DiffSummary.from_dict(d.pop("summary"))




        refused = d.pop("refused", UNSET)

        config_diff = cls(
            applied=applied,
            entities=entities,
            notes=notes,
            same=same,
            summary=summary,
            refused=refused,
        )

        return config_diff


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.finding import Finding





T = TypeVar("T", bound="Diagnosis")



@_attrs_define
class Diagnosis:
    """ 
        Attributes:
            available (int): Messages that a receiver could have now
            blocked (bool): Nothing can be received as long as the findings that block hold
            entity (str): The path, with its sub-queue
            findings (list[Finding]): Those that block first; never none
            receivers (int): Those that are attached, of the client if one was named
     """

    available: int
    blocked: bool
    entity: str
    findings: list[Finding]
    receivers: int





    def to_dict(self) -> dict[str, Any]:
        from ..models.finding import Finding # noqa: PLC0415
        available = self.available

        blocked = self.blocked

        entity = self.entity

        findings = []
        for findings_item_data in self.findings:
            findings_item = findings_item_data.to_dict()
            findings.append(findings_item)



        receivers = self.receivers


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "available": available,
            "blocked": blocked,
            "entity": entity,
            "findings": findings,
            "receivers": receivers,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.finding import Finding # noqa: PLC0415
        d = dict(src_dict)
        available = d.pop("available")

        blocked = d.pop("blocked")

        entity = d.pop("entity")

        findings = []
        _findings = d.pop("findings")
        for findings_item_data in (_findings):
            findings_item = Finding.from_dict(findings_item_data)



            findings.append(findings_item)


        receivers = d.pop("receivers")

        diagnosis = cls(
            available=available,
            blocked=blocked,
            entity=entity,
            findings=findings,
            receivers=receivers,
        )

        return diagnosis


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="Counts")



@_attrs_define
class Counts:
    """ 
        Attributes:
            active (int): Active ones, with those that are locked or deferred
            dead_letter (int):
            deferred (int): Of the active ones, those that are deferred
            scheduled (int):
            size_bytes (int): What they take of the entity's quota; of a topic with those of its subscriptions
            transfer (int): Those that wait to be forwarded
            transfer_dead_letter (int): Those that could not be forwarded
     """

    active: int
    dead_letter: int
    deferred: int
    scheduled: int
    size_bytes: int
    transfer: int
    transfer_dead_letter: int





    def to_dict(self) -> dict[str, Any]:
        active = self.active

        dead_letter = self.dead_letter

        deferred = self.deferred

        scheduled = self.scheduled

        size_bytes = self.size_bytes

        transfer = self.transfer

        transfer_dead_letter = self.transfer_dead_letter


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "active": active,
            "deadLetter": dead_letter,
            "deferred": deferred,
            "scheduled": scheduled,
            "sizeBytes": size_bytes,
            "transfer": transfer,
            "transferDeadLetter": transfer_dead_letter,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        active = d.pop("active")

        dead_letter = d.pop("deadLetter")

        deferred = d.pop("deferred")

        scheduled = d.pop("scheduled")

        size_bytes = d.pop("sizeBytes")

        transfer = d.pop("transfer")

        transfer_dead_letter = d.pop("transferDeadLetter")

        counts = cls(
            active=active,
            dead_letter=dead_letter,
            deferred=deferred,
            scheduled=scheduled,
            size_bytes=size_bytes,
            transfer=transfer,
            transfer_dead_letter=transfer_dead_letter,
        )

        return counts


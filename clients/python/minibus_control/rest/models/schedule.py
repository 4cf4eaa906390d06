from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="Schedule")



@_attrs_define
class Schedule:
    """ 
        Attributes:
            scheduled_enqueue_time (datetime.datetime):
            sequence_number (int):
     """

    scheduled_enqueue_time: datetime.datetime
    sequence_number: int





    def to_dict(self) -> dict[str, Any]:
        scheduled_enqueue_time = self.scheduled_enqueue_time.isoformat()

        sequence_number = self.sequence_number


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "scheduledEnqueueTime": scheduled_enqueue_time,
            "sequenceNumber": sequence_number,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        scheduled_enqueue_time = datetime.datetime.fromisoformat(d.pop("scheduledEnqueueTime"))




        sequence_number = d.pop("sequenceNumber")

        schedule = cls(
            scheduled_enqueue_time=scheduled_enqueue_time,
            sequence_number=sequence_number,
        )

        return schedule


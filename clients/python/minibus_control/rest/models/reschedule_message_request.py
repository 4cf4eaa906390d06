from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="RescheduleMessageRequest")



@_attrs_define
class RescheduleMessageRequest:
    """ 
        Attributes:
            scheduled_enqueue_time (datetime.datetime):
     """

    scheduled_enqueue_time: datetime.datetime





    def to_dict(self) -> dict[str, Any]:
        scheduled_enqueue_time = self.scheduled_enqueue_time.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "scheduledEnqueueTime": scheduled_enqueue_time,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        scheduled_enqueue_time = datetime.datetime.fromisoformat(d.pop("scheduledEnqueueTime"))




        reschedule_message_request = cls(
            scheduled_enqueue_time=scheduled_enqueue_time,
        )

        return reschedule_message_request


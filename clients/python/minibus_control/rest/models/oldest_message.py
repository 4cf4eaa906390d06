from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="OldestMessage")



@_attrs_define
class OldestMessage:
    """ 
        Attributes:
            age (str): For how long it has been there, by the clock of the namespace, as an ISO 8601 duration
            enqueued (datetime.datetime):
            sequence_number (int):
     """

    age: str
    enqueued: datetime.datetime
    sequence_number: int





    def to_dict(self) -> dict[str, Any]:
        age = self.age

        enqueued = self.enqueued.isoformat()

        sequence_number = self.sequence_number


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "age": age,
            "enqueued": enqueued,
            "sequenceNumber": sequence_number,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        age = d.pop("age")

        enqueued = datetime.datetime.fromisoformat(d.pop("enqueued"))




        sequence_number = d.pop("sequenceNumber")

        oldest_message = cls(
            age=age,
            enqueued=enqueued,
            sequence_number=sequence_number,
        )

        return oldest_message


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="Traffic")



@_attrs_define
class Traffic:
    """ 
        Attributes:
            completed (int): Removed by receivers
            delivered (int): Given to receivers, again and again if need be
            stored (int): Sent, scheduled, forwarded or copied to it since Minibus started
     """

    completed: int
    delivered: int
    stored: int





    def to_dict(self) -> dict[str, Any]:
        completed = self.completed

        delivered = self.delivered

        stored = self.stored


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "completed": completed,
            "delivered": delivered,
            "stored": stored,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        completed = d.pop("completed")

        delivered = d.pop("delivered")

        stored = d.pop("stored")

        traffic = cls(
            completed=completed,
            delivered=delivered,
            stored=stored,
        )

        return traffic


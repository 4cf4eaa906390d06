from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="AdvanceClockRequest")



@_attrs_define
class AdvanceClockRequest:
    """ 
        Attributes:
            by (str): For how long, as an ISO 8601 duration
     """

    by: str





    def to_dict(self) -> dict[str, Any]:
        by = self.by


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "by": by,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        by = d.pop("by")

        advance_clock_request = cls(
            by=by,
        )

        return advance_clock_request


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="SetClockRequest")



@_attrs_define
class SetClockRequest:
    """ 
        Attributes:
            now (datetime.datetime): What the clock shows from then on
     """

    now: datetime.datetime





    def to_dict(self) -> dict[str, Any]:
        now = self.now.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "now": now,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        now = datetime.datetime.fromisoformat(d.pop("now"))




        set_clock_request = cls(
            now=now,
        )

        return set_clock_request


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="SessionLock")



@_attrs_define
class SessionLock:
    """ 
        Attributes:
            locked_until (datetime.datetime): When the locks of its messages end too
     """

    locked_until: datetime.datetime





    def to_dict(self) -> dict[str, Any]:
        locked_until = self.locked_until.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "lockedUntil": locked_until,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        locked_until = datetime.datetime.fromisoformat(d.pop("lockedUntil"))




        session_lock = cls(
            locked_until=locked_until,
        )

        return session_lock


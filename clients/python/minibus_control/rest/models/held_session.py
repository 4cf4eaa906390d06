from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from uuid import UUID
import datetime






T = TypeVar("T", bound="HeldSession")



@_attrs_define
class HeldSession:
    """ 
        Attributes:
            id (str):
            locked_until (datetime.datetime):
            token (UUID): With which the lock is renewed and released, and more is received
     """

    id: str
    locked_until: datetime.datetime
    token: UUID





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        locked_until = self.locked_until.isoformat()

        token = str(self.token)


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "id": id,
            "lockedUntil": locked_until,
            "token": token,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        locked_until = datetime.datetime.fromisoformat(d.pop("lockedUntil"))




        token = UUID(d.pop("token"))




        held_session = cls(
            id=id,
            locked_until=locked_until,
            token=token,
        )

        return held_session


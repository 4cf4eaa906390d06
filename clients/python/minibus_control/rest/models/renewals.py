from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="Renewals")



@_attrs_define
class Renewals:
    """ 
        Attributes:
            locked_until (list[datetime.datetime]): In the order of the tokens. Of a message in a session it is the end of
                the session's lock, which stays
     """

    locked_until: list[datetime.datetime]





    def to_dict(self) -> dict[str, Any]:
        locked_until = []
        for locked_until_item_data in self.locked_until:
            locked_until_item = locked_until_item_data.isoformat()
            locked_until.append(locked_until_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "lockedUntil": locked_until,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        locked_until = []
        _locked_until = d.pop("lockedUntil")
        for locked_until_item_data in (_locked_until):
            locked_until_item = datetime.datetime.fromisoformat(locked_until_item_data)



            locked_until.append(locked_until_item)


        renewals = cls(
            locked_until=locked_until,
        )

        return renewals


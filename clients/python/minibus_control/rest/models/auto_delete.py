from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="AutoDelete")



@_attrs_define
class AutoDelete:
    """ 
        Attributes:
            at (datetime.datetime): When that happens unless the entity is used until then, by the clock of the namespace
            in_ (str): How long that is from now, as an ISO 8601 duration
            in_use (bool): Whether a receiver waits or a message is scheduled, so that the span begins anew at that time
     """

    at: datetime.datetime
    in_: str
    in_use: bool





    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        in_ = self.in_

        in_use = self.in_use


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "at": at,
            "in": in_,
            "inUse": in_use,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))




        in_ = d.pop("in")

        in_use = d.pop("inUse")

        auto_delete = cls(
            at=at,
            in_=in_,
            in_use=in_use,
        )

        return auto_delete


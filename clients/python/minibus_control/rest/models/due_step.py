from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="DueStep")



@_attrs_define
class DueStep:
    """ 
        Attributes:
            from_ (datetime.datetime):
            messages (int):
     """

    from_: datetime.datetime
    messages: int





    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_.isoformat()

        messages = self.messages


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "from": from_,
            "messages": messages,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        from_ = datetime.datetime.fromisoformat(d.pop("from"))




        messages = d.pop("messages")

        due_step = cls(
            from_=from_,
            messages=messages,
        )

        return due_step


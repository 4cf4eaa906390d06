from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="SessionState")



@_attrs_define
class SessionState:
    """ 
        Attributes:
            base64 (str | Unset): Any other state
            text (str | Unset): The state, if it is text in UTF-8
     """

    base64: str | Unset = UNSET
    text: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        base64 = self.base64

        text = self.text


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if base64 is not UNSET:
            field_dict["base64"] = base64
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        base64 = d.pop("base64", UNSET)

        text = d.pop("text", UNSET)

        session_state = cls(
            base64=base64,
            text=text,
        )

        return session_state


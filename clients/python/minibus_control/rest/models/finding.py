from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.finding_code import FindingCode
from ..types import UNSET, Unset






T = TypeVar("T", bound="Finding")



@_attrs_define
class Finding:
    """ 
        Attributes:
            blocks (bool): Nothing is received while it is so
            code (FindingCode):
            text (str): What is so, in sentences
            cure (str | Unset): What to do
     """

    blocks: bool
    code: FindingCode
    text: str
    cure: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        blocks = self.blocks

        code = self.code.value

        text = self.text

        cure = self.cure


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "blocks": blocks,
            "code": code,
            "text": text,
        })
        if cure is not UNSET:
            field_dict["cure"] = cure

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        blocks = d.pop("blocks")

        code = FindingCode(d.pop("code"))




        text = d.pop("text")

        cure = d.pop("cure", UNSET)

        finding = cls(
            blocks=blocks,
            code=code,
            text=text,
            cure=cure,
        )

        return finding


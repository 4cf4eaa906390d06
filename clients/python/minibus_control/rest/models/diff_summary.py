from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="DiffSummary")



@_attrs_define
class DiffSummary:
    """ 
        Attributes:
            change (int):
            create (int):
            delete (int):
            keep (int): They are what the configuration says
            leave (int): The configuration does not have them, and they stay
            refuse (int): They would have to be deleted and created anew
     """

    change: int
    create: int
    delete: int
    keep: int
    leave: int
    refuse: int





    def to_dict(self) -> dict[str, Any]:
        change = self.change

        create = self.create

        delete = self.delete

        keep = self.keep

        leave = self.leave

        refuse = self.refuse


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "change": change,
            "create": create,
            "delete": delete,
            "keep": keep,
            "leave": leave,
            "refuse": refuse,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        change = d.pop("change")

        create = d.pop("create")

        delete = d.pop("delete")

        keep = d.pop("keep")

        leave = d.pop("leave")

        refuse = d.pop("refuse")

        diff_summary = cls(
            change=change,
            create=create,
            delete=delete,
            keep=keep,
            leave=leave,
            refuse=refuse,
        )

        return diff_summary


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="JobError")



@_attrs_define
class JobError:
    """ 
        Attributes:
            detail (str):
            sequence_number (int):
     """

    detail: str
    sequence_number: int





    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        sequence_number = self.sequence_number


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "detail": detail,
            "sequenceNumber": sequence_number,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        detail = d.pop("detail")

        sequence_number = d.pop("sequenceNumber")

        job_error = cls(
            detail=detail,
            sequence_number=sequence_number,
        )

        return job_error


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset







T = TypeVar("T", bound="Malformed")



@_attrs_define
class Malformed:
    """ 
        Attributes:
            bytes_ (int): How many the section has
            bytes_base_64 (str): The section as its sender encoded it; of a large one the first 4096 bytes
            error (str): What is wrong
            section (str): header, properties, applicationProperties, annotations, deliveryAnnotations, footer, body, or
                message for all of it
     """

    bytes_: int
    bytes_base_64: str
    error: str
    section: str





    def to_dict(self) -> dict[str, Any]:
        bytes_ = self.bytes_

        bytes_base_64 = self.bytes_base_64

        error = self.error

        section = self.section


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "bytes": bytes_,
            "bytesBase64": bytes_base_64,
            "error": error,
            "section": section,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bytes_ = d.pop("bytes")

        bytes_base_64 = d.pop("bytesBase64")

        error = d.pop("error")

        section = d.pop("section")

        malformed = cls(
            bytes_=bytes_,
            bytes_base_64=bytes_base_64,
            error=error,
            section=section,
        )

        return malformed


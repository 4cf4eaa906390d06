from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="Sent")



@_attrs_define
class Sent:
    """ 
        Attributes:
            sequence_numbers (list[int]): In the order of the messages. Where an entity detects duplicates, a duplicate has
                a number too and is not stored. On a topic they are the topic's: the copies have numbers of their own
     """

    sequence_numbers: list[int]





    def to_dict(self) -> dict[str, Any]:
        sequence_numbers = self.sequence_numbers




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "sequenceNumbers": sequence_numbers,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        sequence_numbers = cast(list[int], d.pop("sequenceNumbers"))


        sent = cls(
            sequence_numbers=sequence_numbers,
        )

        return sent


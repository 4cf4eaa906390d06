from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast






T = TypeVar("T", bound="RenewLocksRequest")



@_attrs_define
class RenewLocksRequest:
    """ 
        Attributes:
            lock_tokens (list[str]):
     """

    lock_tokens: list[str]





    def to_dict(self) -> dict[str, Any]:
        lock_tokens = self.lock_tokens




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "lockTokens": lock_tokens,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lock_tokens = cast(list[str], d.pop("lockTokens"))


        renew_locks_request = cls(
            lock_tokens=lock_tokens,
        )

        return renew_locks_request


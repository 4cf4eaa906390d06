from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
import datetime






T = TypeVar("T", bound="Snapshot")



@_attrs_define
class Snapshot:
    """ 
        Attributes:
            bytes_ (int): Of the messages, as of the sizes that clients see
            entities (int): Queues, topics and subscriptions
            frozen (bool): Whether that clock stood still. It does so again after a restore
            messages (int): In all states, dead letters included
            name (str):
            now (datetime.datetime): What the clock of the namespace showed. It shows that again after a restore
            saved (datetime.datetime): By the machine's clock
     """

    bytes_: int
    entities: int
    frozen: bool
    messages: int
    name: str
    now: datetime.datetime
    saved: datetime.datetime





    def to_dict(self) -> dict[str, Any]:
        bytes_ = self.bytes_

        entities = self.entities

        frozen = self.frozen

        messages = self.messages

        name = self.name

        now = self.now.isoformat()

        saved = self.saved.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "bytes": bytes_,
            "entities": entities,
            "frozen": frozen,
            "messages": messages,
            "name": name,
            "now": now,
            "saved": saved,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bytes_ = d.pop("bytes")

        entities = d.pop("entities")

        frozen = d.pop("frozen")

        messages = d.pop("messages")

        name = d.pop("name")

        now = datetime.datetime.fromisoformat(d.pop("now"))




        saved = datetime.datetime.fromisoformat(d.pop("saved"))




        snapshot = cls(
            bytes_=bytes_,
            entities=entities,
            frozen=frozen,
            messages=messages,
            name=name,
            now=now,
            saved=saved,
        )

        return snapshot


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="EventsAwaited")



@_attrs_define
class EventsAwaited:
    """ 
        Attributes:
            client (str | Unset):
            entity (str | Unset):
            from_ (int | Unset): The number of the first event that counts; none: those that come from now on
            kinds (list[str] | Unset): As in the history: sent, delivered, completed and so on; none: any
            message_id (str | Unset): Of messages that come with the id: kinds sent, scheduled, duplicate and sendRefused
            sequence_number (int | Unset):
            times (int | Unset): How many; none: one
     """

    client: str | Unset = UNSET
    entity: str | Unset = UNSET
    from_: int | Unset = UNSET
    kinds: list[str] | Unset = UNSET
    message_id: str | Unset = UNSET
    sequence_number: int | Unset = UNSET
    times: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        client = self.client

        entity = self.entity

        from_ = self.from_

        kinds: list[str] | Unset = UNSET
        if not isinstance(self.kinds, Unset):
            kinds = self.kinds



        message_id = self.message_id

        sequence_number = self.sequence_number

        times = self.times


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if client is not UNSET:
            field_dict["client"] = client
        if entity is not UNSET:
            field_dict["entity"] = entity
        if from_ is not UNSET:
            field_dict["from"] = from_
        if kinds is not UNSET:
            field_dict["kinds"] = kinds
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if sequence_number is not UNSET:
            field_dict["sequenceNumber"] = sequence_number
        if times is not UNSET:
            field_dict["times"] = times

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        client = d.pop("client", UNSET)

        entity = d.pop("entity", UNSET)

        from_ = d.pop("from", UNSET)

        kinds = cast(list[str], d.pop("kinds", UNSET))


        message_id = d.pop("messageId", UNSET)

        sequence_number = d.pop("sequenceNumber", UNSET)

        times = d.pop("times", UNSET)

        events_awaited = cls(
            client=client,
            entity=entity,
            from_=from_,
            kinds=kinds,
            message_id=message_id,
            sequence_number=sequence_number,
            times=times,
        )

        return events_awaited


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.event_sub_queue import EventSubQueue
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.client import Client





T = TypeVar("T", bound="Event")



@_attrs_define
class Event:
    """ 
        Attributes:
            delivery_count (int): After the event
            entity (str):
            kind (str): What happened, such as sent, delivered, lockExpired, deadLettered, completed
            number (int): Of the event, among all of the process
            text (str): The same as a sentence
            time (datetime.datetime):
            client (Client | Unset):
            copies (int | Unset): How many subscriptions of a topic got one
            detail (str | Unset): The reason, the rule, the other entity of a forward, or the error
            enqueued_sequence_number (int | Unset): The number at its first submission, if it is another one
            locked_until (datetime.datetime | Unset):
            message_id (str | Unset): Of messages that come
            new_sequence_number (int | Unset): The number that the message has from now on, if it is another one
            scheduled_for (datetime.datetime | Unset):
            sequence_number (int | Unset):
            sub_queue (EventSubQueue | Unset): None: the main queue
     """

    delivery_count: int
    entity: str
    kind: str
    number: int
    text: str
    time: datetime.datetime
    client: Client | Unset = UNSET
    copies: int | Unset = UNSET
    detail: str | Unset = UNSET
    enqueued_sequence_number: int | Unset = UNSET
    locked_until: datetime.datetime | Unset = UNSET
    message_id: str | Unset = UNSET
    new_sequence_number: int | Unset = UNSET
    scheduled_for: datetime.datetime | Unset = UNSET
    sequence_number: int | Unset = UNSET
    sub_queue: EventSubQueue | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.client import Client # noqa: PLC0415
        delivery_count = self.delivery_count

        entity = self.entity

        kind = self.kind

        number = self.number

        text = self.text

        time = self.time.isoformat()

        client: dict[str, Any] | Unset = UNSET
        if not isinstance(self.client, Unset):
            client = self.client.to_dict()

        copies = self.copies

        detail = self.detail

        enqueued_sequence_number = self.enqueued_sequence_number

        locked_until: str | Unset = UNSET
        if not isinstance(self.locked_until, Unset):
            locked_until = self.locked_until.isoformat()

        message_id = self.message_id

        new_sequence_number = self.new_sequence_number

        scheduled_for: str | Unset = UNSET
        if not isinstance(self.scheduled_for, Unset):
            scheduled_for = self.scheduled_for.isoformat()

        sequence_number = self.sequence_number

        sub_queue: str | Unset = UNSET
        if not isinstance(self.sub_queue, Unset):
            sub_queue = self.sub_queue.value



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "deliveryCount": delivery_count,
            "entity": entity,
            "kind": kind,
            "number": number,
            "text": text,
            "time": time,
        })
        if client is not UNSET:
            field_dict["client"] = client
        if copies is not UNSET:
            field_dict["copies"] = copies
        if detail is not UNSET:
            field_dict["detail"] = detail
        if enqueued_sequence_number is not UNSET:
            field_dict["enqueuedSequenceNumber"] = enqueued_sequence_number
        if locked_until is not UNSET:
            field_dict["lockedUntil"] = locked_until
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if new_sequence_number is not UNSET:
            field_dict["newSequenceNumber"] = new_sequence_number
        if scheduled_for is not UNSET:
            field_dict["scheduledFor"] = scheduled_for
        if sequence_number is not UNSET:
            field_dict["sequenceNumber"] = sequence_number
        if sub_queue is not UNSET:
            field_dict["subQueue"] = sub_queue

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.client import Client # noqa: PLC0415
        d = dict(src_dict)
        delivery_count = d.pop("deliveryCount")

        entity = d.pop("entity")

        kind = d.pop("kind")

        number = d.pop("number")

        text = d.pop("text")

        time = datetime.datetime.fromisoformat(d.pop("time"))




        _client = d.pop("client", UNSET)
        client: Client | Unset
        if isinstance(_client,  Unset):
            client = UNSET
        else:
            client = Client.from_dict(_client)




        copies = d.pop("copies", UNSET)

        detail = d.pop("detail", UNSET)

        enqueued_sequence_number = d.pop("enqueuedSequenceNumber", UNSET)

        _locked_until = d.pop("lockedUntil", UNSET)
        locked_until: datetime.datetime | Unset
        if isinstance(_locked_until,  Unset):
            locked_until = UNSET
        else:
            locked_until = datetime.datetime.fromisoformat(_locked_until)




        message_id = d.pop("messageId", UNSET)

        new_sequence_number = d.pop("newSequenceNumber", UNSET)

        _scheduled_for = d.pop("scheduledFor", UNSET)
        scheduled_for: datetime.datetime | Unset
        if isinstance(_scheduled_for,  Unset):
            scheduled_for = UNSET
        else:
            scheduled_for = datetime.datetime.fromisoformat(_scheduled_for)




        sequence_number = d.pop("sequenceNumber", UNSET)

        _sub_queue = d.pop("subQueue", UNSET)
        sub_queue: EventSubQueue | Unset
        if isinstance(_sub_queue,  Unset):
            sub_queue = UNSET
        else:
            sub_queue = EventSubQueue(_sub_queue)




        event = cls(
            delivery_count=delivery_count,
            entity=entity,
            kind=kind,
            number=number,
            text=text,
            time=time,
            client=client,
            copies=copies,
            detail=detail,
            enqueued_sequence_number=enqueued_sequence_number,
            locked_until=locked_until,
            message_id=message_id,
            new_sequence_number=new_sequence_number,
            scheduled_for=scheduled_for,
            sequence_number=sequence_number,
            sub_queue=sub_queue,
        )

        return event


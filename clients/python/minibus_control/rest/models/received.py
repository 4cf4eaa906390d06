from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from uuid import UUID
import datetime

if TYPE_CHECKING:
  from ..models.received_properties import ReceivedProperties





T = TypeVar("T", bound="Received")



@_attrs_define
class Received:
    """ 
        Attributes:
            delivery_count (int): Earlier deliveries that failed
            enqueued_time (datetime.datetime):
            properties (ReceivedProperties): The application properties. What JSON has no type for is a text
            sequence_number (int):
            body (str | Unset): The body, if it is text in UTF-8
            body_base_64 (str | Unset): Any other body; one that is not bytes or a text is as AMQP encodes it
            content_type (str | Unset):
            correlation_id (str | Unset):
            lock_token (UUID | Unset): With which to settle it; none of a message that is removed
            locked_until (datetime.datetime | Unset):
            message_id (str | Unset):
            reply_to (str | Unset):
            session_id (str | Unset):
            subject (str | Unset):
            to (str | Unset):
     """

    delivery_count: int
    enqueued_time: datetime.datetime
    properties: ReceivedProperties
    sequence_number: int
    body: str | Unset = UNSET
    body_base_64: str | Unset = UNSET
    content_type: str | Unset = UNSET
    correlation_id: str | Unset = UNSET
    lock_token: UUID | Unset = UNSET
    locked_until: datetime.datetime | Unset = UNSET
    message_id: str | Unset = UNSET
    reply_to: str | Unset = UNSET
    session_id: str | Unset = UNSET
    subject: str | Unset = UNSET
    to: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.received_properties import ReceivedProperties # noqa: PLC0415
        delivery_count = self.delivery_count

        enqueued_time = self.enqueued_time.isoformat()

        properties = self.properties.to_dict()

        sequence_number = self.sequence_number

        body = self.body

        body_base_64 = self.body_base_64

        content_type = self.content_type

        correlation_id = self.correlation_id

        lock_token: str | Unset = UNSET
        if not isinstance(self.lock_token, Unset):
            lock_token = str(self.lock_token)

        locked_until: str | Unset = UNSET
        if not isinstance(self.locked_until, Unset):
            locked_until = self.locked_until.isoformat()

        message_id = self.message_id

        reply_to = self.reply_to

        session_id = self.session_id

        subject = self.subject

        to = self.to


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "deliveryCount": delivery_count,
            "enqueuedTime": enqueued_time,
            "properties": properties,
            "sequenceNumber": sequence_number,
        })
        if body is not UNSET:
            field_dict["body"] = body
        if body_base_64 is not UNSET:
            field_dict["bodyBase64"] = body_base_64
        if content_type is not UNSET:
            field_dict["contentType"] = content_type
        if correlation_id is not UNSET:
            field_dict["correlationId"] = correlation_id
        if lock_token is not UNSET:
            field_dict["lockToken"] = lock_token
        if locked_until is not UNSET:
            field_dict["lockedUntil"] = locked_until
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if reply_to is not UNSET:
            field_dict["replyTo"] = reply_to
        if session_id is not UNSET:
            field_dict["sessionId"] = session_id
        if subject is not UNSET:
            field_dict["subject"] = subject
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.received_properties import ReceivedProperties # noqa: PLC0415
        d = dict(src_dict)
        delivery_count = d.pop("deliveryCount")

        enqueued_time = datetime.datetime.fromisoformat(d.pop("enqueuedTime"))




        properties = ReceivedProperties.from_dict(d.pop("properties"))




        sequence_number = d.pop("sequenceNumber")

        body = d.pop("body", UNSET)

        body_base_64 = d.pop("bodyBase64", UNSET)

        content_type = d.pop("contentType", UNSET)

        correlation_id = d.pop("correlationId", UNSET)

        _lock_token = d.pop("lockToken", UNSET)
        lock_token: UUID | Unset
        if isinstance(_lock_token,  Unset):
            lock_token = UNSET
        else:
            lock_token = UUID(_lock_token)




        _locked_until = d.pop("lockedUntil", UNSET)
        locked_until: datetime.datetime | Unset
        if isinstance(_locked_until,  Unset):
            locked_until = UNSET
        else:
            locked_until = datetime.datetime.fromisoformat(_locked_until)




        message_id = d.pop("messageId", UNSET)

        reply_to = d.pop("replyTo", UNSET)

        session_id = d.pop("sessionId", UNSET)

        subject = d.pop("subject", UNSET)

        to = d.pop("to", UNSET)

        received = cls(
            delivery_count=delivery_count,
            enqueued_time=enqueued_time,
            properties=properties,
            sequence_number=sequence_number,
            body=body,
            body_base_64=body_base_64,
            content_type=content_type,
            correlation_id=correlation_id,
            lock_token=lock_token,
            locked_until=locked_until,
            message_id=message_id,
            reply_to=reply_to,
            session_id=session_id,
            subject=subject,
            to=to,
        )

        return received


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.job_edit_properties import JobEditProperties





T = TypeVar("T", bound="JobEdit")



@_attrs_define
class JobEdit:
    """ 
        Attributes:
            body (str | Unset): A text that takes the place of the body
            body_base_64 (str | Unset): Bytes that take the place of the body
            content_type (str | Unset):
            correlation_id (str | Unset):
            message_id (str | Unset):
            properties (JobEditProperties | Unset): Application properties to set
            remove_properties (list[str] | Unset): Application properties to remove
            reply_to (str | Unset):
            scheduled_enqueue_time (datetime.datetime | Unset):
            session_id (str | Unset):
            strip (bool | Unset): Whether to remove the properties DeadLetterReason and DeadLetterErrorDescription; none:
                with resubmit, and not with move
            subject (str | Unset):
            to (str | Unset):
     """

    body: str | Unset = UNSET
    body_base_64: str | Unset = UNSET
    content_type: str | Unset = UNSET
    correlation_id: str | Unset = UNSET
    message_id: str | Unset = UNSET
    properties: JobEditProperties | Unset = UNSET
    remove_properties: list[str] | Unset = UNSET
    reply_to: str | Unset = UNSET
    scheduled_enqueue_time: datetime.datetime | Unset = UNSET
    session_id: str | Unset = UNSET
    strip: bool | Unset = UNSET
    subject: str | Unset = UNSET
    to: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.job_edit_properties import JobEditProperties # noqa: PLC0415
        body = self.body

        body_base_64 = self.body_base_64

        content_type = self.content_type

        correlation_id = self.correlation_id

        message_id = self.message_id

        properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.properties, Unset):
            properties = self.properties.to_dict()

        remove_properties: list[str] | Unset = UNSET
        if not isinstance(self.remove_properties, Unset):
            remove_properties = self.remove_properties



        reply_to = self.reply_to

        scheduled_enqueue_time: str | Unset = UNSET
        if not isinstance(self.scheduled_enqueue_time, Unset):
            scheduled_enqueue_time = self.scheduled_enqueue_time.isoformat()

        session_id = self.session_id

        strip = self.strip

        subject = self.subject

        to = self.to


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if body is not UNSET:
            field_dict["body"] = body
        if body_base_64 is not UNSET:
            field_dict["bodyBase64"] = body_base_64
        if content_type is not UNSET:
            field_dict["contentType"] = content_type
        if correlation_id is not UNSET:
            field_dict["correlationId"] = correlation_id
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if properties is not UNSET:
            field_dict["properties"] = properties
        if remove_properties is not UNSET:
            field_dict["removeProperties"] = remove_properties
        if reply_to is not UNSET:
            field_dict["replyTo"] = reply_to
        if scheduled_enqueue_time is not UNSET:
            field_dict["scheduledEnqueueTime"] = scheduled_enqueue_time
        if session_id is not UNSET:
            field_dict["sessionId"] = session_id
        if strip is not UNSET:
            field_dict["strip"] = strip
        if subject is not UNSET:
            field_dict["subject"] = subject
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_edit_properties import JobEditProperties # noqa: PLC0415
        d = dict(src_dict)
        body = d.pop("body", UNSET)

        body_base_64 = d.pop("bodyBase64", UNSET)

        content_type = d.pop("contentType", UNSET)

        correlation_id = d.pop("correlationId", UNSET)

        message_id = d.pop("messageId", UNSET)

        _properties = d.pop("properties", UNSET)
        properties: JobEditProperties | Unset
        if isinstance(_properties,  Unset):
            properties = UNSET
        else:
            properties = JobEditProperties.from_dict(_properties)




        remove_properties = cast(list[str], d.pop("removeProperties", UNSET))


        reply_to = d.pop("replyTo", UNSET)

        _scheduled_enqueue_time = d.pop("scheduledEnqueueTime", UNSET)
        scheduled_enqueue_time: datetime.datetime | Unset
        if isinstance(_scheduled_enqueue_time,  Unset):
            scheduled_enqueue_time = UNSET
        else:
            scheduled_enqueue_time = datetime.datetime.fromisoformat(_scheduled_enqueue_time)




        session_id = d.pop("sessionId", UNSET)

        strip = d.pop("strip", UNSET)

        subject = d.pop("subject", UNSET)

        to = d.pop("to", UNSET)

        job_edit = cls(
            body=body,
            body_base_64=body_base_64,
            content_type=content_type,
            correlation_id=correlation_id,
            message_id=message_id,
            properties=properties,
            remove_properties=remove_properties,
            reply_to=reply_to,
            scheduled_enqueue_time=scheduled_enqueue_time,
            session_id=session_id,
            strip=strip,
            subject=subject,
            to=to,
        )

        return job_edit


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
  from ..models.malformed import Malformed
  from ..models.send_messages_body_type_1_item_annotations import SendMessagesBodyType1ItemAnnotations
  from ..models.send_messages_body_type_1_item_application_properties import SendMessagesBodyType1ItemApplicationProperties
  from ..models.send_messages_body_type_1_item_delivery_annotations import SendMessagesBodyType1ItemDeliveryAnnotations
  from ..models.send_messages_body_type_1_item_footer import SendMessagesBodyType1ItemFooter





T = TypeVar("T", bound="SendMessagesBodyType1Item")



@_attrs_define
class SendMessagesBodyType1Item:
    """ 
        Attributes:
            absolute_expiry_time (datetime.datetime | Unset):
            annotations (SendMessagesBodyType1ItemAnnotations | Unset): Message annotations, without those that the message
                has as properties here
            application_properties (SendMessagesBodyType1ItemApplicationProperties | Unset): A text, true, false, null, a
                whole number (long), a number with a fraction (double), or a typed value such as {"int":5}
            body (Any | Unset): The body, if it is one data section with text in UTF-8. Who sends may give any JSON, whose
                text becomes the body
            body_base_64 (str | Unset): One data section that is no text
            body_bytes (int | Unset): The size of the body; of one that is no data, as AMQP encodes it
            body_cut (bool | Unset): The body here is only its beginning, or is left out where only all of it would mean
                something
            body_sections (list[str] | Unset): Several data sections
            body_sequence (list[list[Any] | None] | Unset): AMQP sequences
            body_value (Any | Unset): An AMQP value
            content_encoding (str | Unset):
            content_type (str | Unset):
            correlation_id (Any | Unset): A text, or a typed value
            creation_time (datetime.datetime | Unset):
            dead_letter_reason (str | Unset): Why it was dead-lettered; the property DeadLetterReason says it too
            dead_letter_source (str | Unset): Where it was dead-lettered before it was forwarded
            delivery_annotations (SendMessagesBodyType1ItemDeliveryAnnotations | Unset):
            delivery_count (int | Unset): Earlier deliveries that failed
            durable (bool | Unset):
            enqueued_sequence_number (int | Unset): The number at the first submission, if it is another one
            enqueued_time (datetime.datetime | Unset):
            expires_at (datetime.datetime | Unset): When its time to live is over
            first_acquirer (bool | Unset):
            footer (SendMessagesBodyType1ItemFooter | Unset):
            group_sequence (int | Unset):
            lock_token (str | Unset): With which to settle it; of received messages
            locked_by (str | Unset): Who has locked it, in words
            locked_until (datetime.datetime | Unset):
            malformed (list[Malformed] | Unset): Sections that are not shown, since they do not decode. Such a message can't
                be sent as it is shown
            message_id (Any | Unset): A text, or a typed value such as {"uuid":"..."}
            partition_key (str | Unset):
            priority (int | Unset): None: 4
            reply_to (str | Unset):
            reply_to_session_id (str | Unset):
            scheduled_enqueue_time (datetime.datetime | Unset): When it becomes active
            sequence_number (int | Unset):
            session_id (str | Unset):
            size_bytes (int | Unset): Of the encoded message as it was sent
            state (str | Unset): How it stands: active, locked, deferred or scheduled. Of received messages: active or
                deferred
            subject (str | Unset):
            time_to_live (str | Unset): An ISO 8601 duration
            to (str | Unset):
            user_id (Any | Unset): {"binary":"..."}; a text is taken too
     """

    absolute_expiry_time: datetime.datetime | Unset = UNSET
    annotations: SendMessagesBodyType1ItemAnnotations | Unset = UNSET
    application_properties: SendMessagesBodyType1ItemApplicationProperties | Unset = UNSET
    body: Any | Unset = UNSET
    body_base_64: str | Unset = UNSET
    body_bytes: int | Unset = UNSET
    body_cut: bool | Unset = UNSET
    body_sections: list[str] | Unset = UNSET
    body_sequence: list[list[Any] | None] | Unset = UNSET
    body_value: Any | Unset = UNSET
    content_encoding: str | Unset = UNSET
    content_type: str | Unset = UNSET
    correlation_id: Any | Unset = UNSET
    creation_time: datetime.datetime | Unset = UNSET
    dead_letter_reason: str | Unset = UNSET
    dead_letter_source: str | Unset = UNSET
    delivery_annotations: SendMessagesBodyType1ItemDeliveryAnnotations | Unset = UNSET
    delivery_count: int | Unset = UNSET
    durable: bool | Unset = UNSET
    enqueued_sequence_number: int | Unset = UNSET
    enqueued_time: datetime.datetime | Unset = UNSET
    expires_at: datetime.datetime | Unset = UNSET
    first_acquirer: bool | Unset = UNSET
    footer: SendMessagesBodyType1ItemFooter | Unset = UNSET
    group_sequence: int | Unset = UNSET
    lock_token: str | Unset = UNSET
    locked_by: str | Unset = UNSET
    locked_until: datetime.datetime | Unset = UNSET
    malformed: list[Malformed] | Unset = UNSET
    message_id: Any | Unset = UNSET
    partition_key: str | Unset = UNSET
    priority: int | Unset = UNSET
    reply_to: str | Unset = UNSET
    reply_to_session_id: str | Unset = UNSET
    scheduled_enqueue_time: datetime.datetime | Unset = UNSET
    sequence_number: int | Unset = UNSET
    session_id: str | Unset = UNSET
    size_bytes: int | Unset = UNSET
    state: str | Unset = UNSET
    subject: str | Unset = UNSET
    time_to_live: str | Unset = UNSET
    to: str | Unset = UNSET
    user_id: Any | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.malformed import Malformed # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_annotations import SendMessagesBodyType1ItemAnnotations # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_application_properties import SendMessagesBodyType1ItemApplicationProperties # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_delivery_annotations import SendMessagesBodyType1ItemDeliveryAnnotations # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_footer import SendMessagesBodyType1ItemFooter # noqa: PLC0415
        absolute_expiry_time: str | Unset = UNSET
        if not isinstance(self.absolute_expiry_time, Unset):
            absolute_expiry_time = self.absolute_expiry_time.isoformat()

        annotations: dict[str, Any] | Unset = UNSET
        if not isinstance(self.annotations, Unset):
            annotations = self.annotations.to_dict()

        application_properties: dict[str, Any] | Unset = UNSET
        if not isinstance(self.application_properties, Unset):
            application_properties = self.application_properties.to_dict()

        body = self.body

        body_base_64 = self.body_base_64

        body_bytes = self.body_bytes

        body_cut = self.body_cut

        body_sections: list[str] | Unset = UNSET
        if not isinstance(self.body_sections, Unset):
            body_sections = self.body_sections



        body_sequence: list[list[Any] | None] | Unset = UNSET
        if not isinstance(self.body_sequence, Unset):
            body_sequence = []
            for body_sequence_item_data in self.body_sequence:
                body_sequence_item: list[Any] | None
                if isinstance(body_sequence_item_data, list):
                    body_sequence_item = body_sequence_item_data


                else:
                    body_sequence_item = body_sequence_item_data
                body_sequence.append(body_sequence_item)



        body_value = self.body_value

        content_encoding = self.content_encoding

        content_type = self.content_type

        correlation_id = self.correlation_id

        creation_time: str | Unset = UNSET
        if not isinstance(self.creation_time, Unset):
            creation_time = self.creation_time.isoformat()

        dead_letter_reason = self.dead_letter_reason

        dead_letter_source = self.dead_letter_source

        delivery_annotations: dict[str, Any] | Unset = UNSET
        if not isinstance(self.delivery_annotations, Unset):
            delivery_annotations = self.delivery_annotations.to_dict()

        delivery_count = self.delivery_count

        durable = self.durable

        enqueued_sequence_number = self.enqueued_sequence_number

        enqueued_time: str | Unset = UNSET
        if not isinstance(self.enqueued_time, Unset):
            enqueued_time = self.enqueued_time.isoformat()

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        first_acquirer = self.first_acquirer

        footer: dict[str, Any] | Unset = UNSET
        if not isinstance(self.footer, Unset):
            footer = self.footer.to_dict()

        group_sequence = self.group_sequence

        lock_token = self.lock_token

        locked_by = self.locked_by

        locked_until: str | Unset = UNSET
        if not isinstance(self.locked_until, Unset):
            locked_until = self.locked_until.isoformat()

        malformed: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.malformed, Unset):
            malformed = []
            for malformed_item_data in self.malformed:
                malformed_item = malformed_item_data.to_dict()
                malformed.append(malformed_item)



        message_id = self.message_id

        partition_key = self.partition_key

        priority = self.priority

        reply_to = self.reply_to

        reply_to_session_id = self.reply_to_session_id

        scheduled_enqueue_time: str | Unset = UNSET
        if not isinstance(self.scheduled_enqueue_time, Unset):
            scheduled_enqueue_time = self.scheduled_enqueue_time.isoformat()

        sequence_number = self.sequence_number

        session_id = self.session_id

        size_bytes = self.size_bytes

        state = self.state

        subject = self.subject

        time_to_live = self.time_to_live

        to = self.to

        user_id = self.user_id


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if absolute_expiry_time is not UNSET:
            field_dict["absoluteExpiryTime"] = absolute_expiry_time
        if annotations is not UNSET:
            field_dict["annotations"] = annotations
        if application_properties is not UNSET:
            field_dict["applicationProperties"] = application_properties
        if body is not UNSET:
            field_dict["body"] = body
        if body_base_64 is not UNSET:
            field_dict["bodyBase64"] = body_base_64
        if body_bytes is not UNSET:
            field_dict["bodyBytes"] = body_bytes
        if body_cut is not UNSET:
            field_dict["bodyCut"] = body_cut
        if body_sections is not UNSET:
            field_dict["bodySections"] = body_sections
        if body_sequence is not UNSET:
            field_dict["bodySequence"] = body_sequence
        if body_value is not UNSET:
            field_dict["bodyValue"] = body_value
        if content_encoding is not UNSET:
            field_dict["contentEncoding"] = content_encoding
        if content_type is not UNSET:
            field_dict["contentType"] = content_type
        if correlation_id is not UNSET:
            field_dict["correlationId"] = correlation_id
        if creation_time is not UNSET:
            field_dict["creationTime"] = creation_time
        if dead_letter_reason is not UNSET:
            field_dict["deadLetterReason"] = dead_letter_reason
        if dead_letter_source is not UNSET:
            field_dict["deadLetterSource"] = dead_letter_source
        if delivery_annotations is not UNSET:
            field_dict["deliveryAnnotations"] = delivery_annotations
        if delivery_count is not UNSET:
            field_dict["deliveryCount"] = delivery_count
        if durable is not UNSET:
            field_dict["durable"] = durable
        if enqueued_sequence_number is not UNSET:
            field_dict["enqueuedSequenceNumber"] = enqueued_sequence_number
        if enqueued_time is not UNSET:
            field_dict["enqueuedTime"] = enqueued_time
        if expires_at is not UNSET:
            field_dict["expiresAt"] = expires_at
        if first_acquirer is not UNSET:
            field_dict["firstAcquirer"] = first_acquirer
        if footer is not UNSET:
            field_dict["footer"] = footer
        if group_sequence is not UNSET:
            field_dict["groupSequence"] = group_sequence
        if lock_token is not UNSET:
            field_dict["lockToken"] = lock_token
        if locked_by is not UNSET:
            field_dict["lockedBy"] = locked_by
        if locked_until is not UNSET:
            field_dict["lockedUntil"] = locked_until
        if malformed is not UNSET:
            field_dict["malformed"] = malformed
        if message_id is not UNSET:
            field_dict["messageId"] = message_id
        if partition_key is not UNSET:
            field_dict["partitionKey"] = partition_key
        if priority is not UNSET:
            field_dict["priority"] = priority
        if reply_to is not UNSET:
            field_dict["replyTo"] = reply_to
        if reply_to_session_id is not UNSET:
            field_dict["replyToSessionId"] = reply_to_session_id
        if scheduled_enqueue_time is not UNSET:
            field_dict["scheduledEnqueueTime"] = scheduled_enqueue_time
        if sequence_number is not UNSET:
            field_dict["sequenceNumber"] = sequence_number
        if session_id is not UNSET:
            field_dict["sessionId"] = session_id
        if size_bytes is not UNSET:
            field_dict["sizeBytes"] = size_bytes
        if state is not UNSET:
            field_dict["state"] = state
        if subject is not UNSET:
            field_dict["subject"] = subject
        if time_to_live is not UNSET:
            field_dict["timeToLive"] = time_to_live
        if to is not UNSET:
            field_dict["to"] = to
        if user_id is not UNSET:
            field_dict["userId"] = user_id

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.malformed import Malformed # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_annotations import SendMessagesBodyType1ItemAnnotations # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_application_properties import SendMessagesBodyType1ItemApplicationProperties # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_delivery_annotations import SendMessagesBodyType1ItemDeliveryAnnotations # noqa: PLC0415
        from ..models.send_messages_body_type_1_item_footer import SendMessagesBodyType1ItemFooter # noqa: PLC0415
        d = dict(src_dict)
        _absolute_expiry_time = d.pop("absoluteExpiryTime", UNSET)
        absolute_expiry_time: datetime.datetime | Unset
        if isinstance(_absolute_expiry_time,  Unset):
            absolute_expiry_time = UNSET
        else:
            absolute_expiry_time = datetime.datetime.fromisoformat(_absolute_expiry_time)




        _annotations = d.pop("annotations", UNSET)
        annotations: SendMessagesBodyType1ItemAnnotations | Unset
        if isinstance(_annotations,  Unset):
            annotations = UNSET
        else:
            annotations = SendMessagesBodyType1ItemAnnotations.from_dict(_annotations)




        _application_properties = d.pop("applicationProperties", UNSET)
        application_properties: SendMessagesBodyType1ItemApplicationProperties | Unset
        if isinstance(_application_properties,  Unset):
            application_properties = UNSET
        else:
            application_properties = SendMessagesBodyType1ItemApplicationProperties.from_dict(_application_properties)




        body = d.pop("body", UNSET)

        body_base_64 = d.pop("bodyBase64", UNSET)

        body_bytes = d.pop("bodyBytes", UNSET)

        body_cut = d.pop("bodyCut", UNSET)

        body_sections = cast(list[str], d.pop("bodySections", UNSET))


        _body_sequence = d.pop("bodySequence", UNSET)
        body_sequence: list[list[Any] | None] | Unset = UNSET
        if _body_sequence is not UNSET:
            body_sequence = []
            for body_sequence_item_data in _body_sequence:
                def _parse_body_sequence_item(data: object) -> list[Any] | None:
                    if data is None:
                        return data
                    try:
                        if not isinstance(data, list):
                            raise TypeError()
                        body_sequence_item_type_0 = cast(list[Any], data)

                        return body_sequence_item_type_0
                    except (TypeError, ValueError, AttributeError, KeyError):
                        pass
                    return cast(list[Any] | None, data)

                body_sequence_item = _parse_body_sequence_item(body_sequence_item_data)

                body_sequence.append(body_sequence_item)


        body_value = d.pop("bodyValue", UNSET)

        content_encoding = d.pop("contentEncoding", UNSET)

        content_type = d.pop("contentType", UNSET)

        correlation_id = d.pop("correlationId", UNSET)

        _creation_time = d.pop("creationTime", UNSET)
        creation_time: datetime.datetime | Unset
        if isinstance(_creation_time,  Unset):
            creation_time = UNSET
        else:
            creation_time = datetime.datetime.fromisoformat(_creation_time)




        dead_letter_reason = d.pop("deadLetterReason", UNSET)

        dead_letter_source = d.pop("deadLetterSource", UNSET)

        _delivery_annotations = d.pop("deliveryAnnotations", UNSET)
        delivery_annotations: SendMessagesBodyType1ItemDeliveryAnnotations | Unset
        if isinstance(_delivery_annotations,  Unset):
            delivery_annotations = UNSET
        else:
            delivery_annotations = SendMessagesBodyType1ItemDeliveryAnnotations.from_dict(_delivery_annotations)




        delivery_count = d.pop("deliveryCount", UNSET)

        durable = d.pop("durable", UNSET)

        enqueued_sequence_number = d.pop("enqueuedSequenceNumber", UNSET)

        _enqueued_time = d.pop("enqueuedTime", UNSET)
        enqueued_time: datetime.datetime | Unset
        if isinstance(_enqueued_time,  Unset):
            enqueued_time = UNSET
        else:
            enqueued_time = datetime.datetime.fromisoformat(_enqueued_time)




        _expires_at = d.pop("expiresAt", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at,  Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)




        first_acquirer = d.pop("firstAcquirer", UNSET)

        _footer = d.pop("footer", UNSET)
        footer: SendMessagesBodyType1ItemFooter | Unset
        if isinstance(_footer,  Unset):
            footer = UNSET
        else:
            footer = SendMessagesBodyType1ItemFooter.from_dict(_footer)




        group_sequence = d.pop("groupSequence", UNSET)

        lock_token = d.pop("lockToken", UNSET)

        locked_by = d.pop("lockedBy", UNSET)

        _locked_until = d.pop("lockedUntil", UNSET)
        locked_until: datetime.datetime | Unset
        if isinstance(_locked_until,  Unset):
            locked_until = UNSET
        else:
            locked_until = datetime.datetime.fromisoformat(_locked_until)




        _malformed = d.pop("malformed", UNSET)
        malformed: list[Malformed] | Unset = UNSET
        if _malformed is not UNSET:
            malformed = []
            for malformed_item_data in _malformed:
                malformed_item = Malformed.from_dict(malformed_item_data)



                malformed.append(malformed_item)


        message_id = d.pop("messageId", UNSET)

        partition_key = d.pop("partitionKey", UNSET)

        priority = d.pop("priority", UNSET)

        reply_to = d.pop("replyTo", UNSET)

        reply_to_session_id = d.pop("replyToSessionId", UNSET)

        _scheduled_enqueue_time = d.pop("scheduledEnqueueTime", UNSET)
        scheduled_enqueue_time: datetime.datetime | Unset
        if isinstance(_scheduled_enqueue_time,  Unset):
            scheduled_enqueue_time = UNSET
        else:
            scheduled_enqueue_time = datetime.datetime.fromisoformat(_scheduled_enqueue_time)




        sequence_number = d.pop("sequenceNumber", UNSET)

        session_id = d.pop("sessionId", UNSET)

        size_bytes = d.pop("sizeBytes", UNSET)

        state = d.pop("state", UNSET)

        subject = d.pop("subject", UNSET)

        time_to_live = d.pop("timeToLive", UNSET)

        to = d.pop("to", UNSET)

        user_id = d.pop("userId", UNSET)

        send_messages_body_type_1_item = cls(
            absolute_expiry_time=absolute_expiry_time,
            annotations=annotations,
            application_properties=application_properties,
            body=body,
            body_base_64=body_base_64,
            body_bytes=body_bytes,
            body_cut=body_cut,
            body_sections=body_sections,
            body_sequence=body_sequence,
            body_value=body_value,
            content_encoding=content_encoding,
            content_type=content_type,
            correlation_id=correlation_id,
            creation_time=creation_time,
            dead_letter_reason=dead_letter_reason,
            dead_letter_source=dead_letter_source,
            delivery_annotations=delivery_annotations,
            delivery_count=delivery_count,
            durable=durable,
            enqueued_sequence_number=enqueued_sequence_number,
            enqueued_time=enqueued_time,
            expires_at=expires_at,
            first_acquirer=first_acquirer,
            footer=footer,
            group_sequence=group_sequence,
            lock_token=lock_token,
            locked_by=locked_by,
            locked_until=locked_until,
            malformed=malformed,
            message_id=message_id,
            partition_key=partition_key,
            priority=priority,
            reply_to=reply_to,
            reply_to_session_id=reply_to_session_id,
            scheduled_enqueue_time=scheduled_enqueue_time,
            sequence_number=sequence_number,
            session_id=session_id,
            size_bytes=size_bytes,
            state=state,
            subject=subject,
            time_to_live=time_to_live,
            to=to,
            user_id=user_id,
        )

        return send_messages_body_type_1_item


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.status import Status
from ..types import UNSET, Unset






T = TypeVar("T", bound="SubscriptionProperties")



@_attrs_define
class SubscriptionProperties:
    """ 
        Attributes:
            lock_duration (str | Unset): ISO 8601, such as PT1M
            max_delivery_count (int | Unset):
            default_message_time_to_live (str | Unset): ISO 8601, such as PT1M
            dead_lettering_on_message_expiration (bool | Unset):
            dead_lettering_on_filter_evaluation_exceptions (bool | Unset):
            requires_session (bool | Unset):
            forward_to (str | Unset): A queue or topic of the same namespace
            forward_dead_lettered_messages_to (str | Unset): A queue or topic of the same namespace
            auto_delete_on_idle (str | Unset): ISO 8601, such as PT1M
            enable_batched_operations (bool | Unset):
            status (Status | Unset):
            user_metadata (str | Unset):
     """

    lock_duration: str | Unset = UNSET
    max_delivery_count: int | Unset = UNSET
    default_message_time_to_live: str | Unset = UNSET
    dead_lettering_on_message_expiration: bool | Unset = UNSET
    dead_lettering_on_filter_evaluation_exceptions: bool | Unset = UNSET
    requires_session: bool | Unset = UNSET
    forward_to: str | Unset = UNSET
    forward_dead_lettered_messages_to: str | Unset = UNSET
    auto_delete_on_idle: str | Unset = UNSET
    enable_batched_operations: bool | Unset = UNSET
    status: Status | Unset = UNSET
    user_metadata: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        lock_duration = self.lock_duration

        max_delivery_count = self.max_delivery_count

        default_message_time_to_live = self.default_message_time_to_live

        dead_lettering_on_message_expiration = self.dead_lettering_on_message_expiration

        dead_lettering_on_filter_evaluation_exceptions = self.dead_lettering_on_filter_evaluation_exceptions

        requires_session = self.requires_session

        forward_to = self.forward_to

        forward_dead_lettered_messages_to = self.forward_dead_lettered_messages_to

        auto_delete_on_idle = self.auto_delete_on_idle

        enable_batched_operations = self.enable_batched_operations

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value


        user_metadata = self.user_metadata


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if lock_duration is not UNSET:
            field_dict["LockDuration"] = lock_duration
        if max_delivery_count is not UNSET:
            field_dict["MaxDeliveryCount"] = max_delivery_count
        if default_message_time_to_live is not UNSET:
            field_dict["DefaultMessageTimeToLive"] = default_message_time_to_live
        if dead_lettering_on_message_expiration is not UNSET:
            field_dict["DeadLetteringOnMessageExpiration"] = dead_lettering_on_message_expiration
        if dead_lettering_on_filter_evaluation_exceptions is not UNSET:
            field_dict["DeadLetteringOnFilterEvaluationExceptions"] = dead_lettering_on_filter_evaluation_exceptions
        if requires_session is not UNSET:
            field_dict["RequiresSession"] = requires_session
        if forward_to is not UNSET:
            field_dict["ForwardTo"] = forward_to
        if forward_dead_lettered_messages_to is not UNSET:
            field_dict["ForwardDeadLetteredMessagesTo"] = forward_dead_lettered_messages_to
        if auto_delete_on_idle is not UNSET:
            field_dict["AutoDeleteOnIdle"] = auto_delete_on_idle
        if enable_batched_operations is not UNSET:
            field_dict["EnableBatchedOperations"] = enable_batched_operations
        if status is not UNSET:
            field_dict["Status"] = status
        if user_metadata is not UNSET:
            field_dict["UserMetadata"] = user_metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lock_duration = d.pop("LockDuration", UNSET)

        max_delivery_count = d.pop("MaxDeliveryCount", UNSET)

        default_message_time_to_live = d.pop("DefaultMessageTimeToLive", UNSET)

        dead_lettering_on_message_expiration = d.pop("DeadLetteringOnMessageExpiration", UNSET)

        dead_lettering_on_filter_evaluation_exceptions = d.pop("DeadLetteringOnFilterEvaluationExceptions", UNSET)

        requires_session = d.pop("RequiresSession", UNSET)

        forward_to = d.pop("ForwardTo", UNSET)

        forward_dead_lettered_messages_to = d.pop("ForwardDeadLetteredMessagesTo", UNSET)

        auto_delete_on_idle = d.pop("AutoDeleteOnIdle", UNSET)

        enable_batched_operations = d.pop("EnableBatchedOperations", UNSET)

        _status = d.pop("Status", UNSET)
        status: Status | Unset
        if isinstance(_status,  Unset):
            status = UNSET
        else:
            status = Status(_status)




        user_metadata = d.pop("UserMetadata", UNSET)

        subscription_properties = cls(
            lock_duration=lock_duration,
            max_delivery_count=max_delivery_count,
            default_message_time_to_live=default_message_time_to_live,
            dead_lettering_on_message_expiration=dead_lettering_on_message_expiration,
            dead_lettering_on_filter_evaluation_exceptions=dead_lettering_on_filter_evaluation_exceptions,
            requires_session=requires_session,
            forward_to=forward_to,
            forward_dead_lettered_messages_to=forward_dead_lettered_messages_to,
            auto_delete_on_idle=auto_delete_on_idle,
            enable_batched_operations=enable_batched_operations,
            status=status,
            user_metadata=user_metadata,
        )

        return subscription_properties


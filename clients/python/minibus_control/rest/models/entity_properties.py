from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.entity_properties_status_type_1 import EntityPropertiesStatusType1
from ..models.entity_properties_status_type_2_type_1 import EntityPropertiesStatusType2Type1
from ..models.entity_properties_status_type_3_type_1 import EntityPropertiesStatusType3Type1
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.entity_rules_item import EntityRulesItem





T = TypeVar("T", bound="EntityProperties")



@_attrs_define
class EntityProperties:
    """ Settings by their names in Config.json. Not every kind of entity has all of them

        Attributes:
            dead_lettering_on_message_expiration (bool | None | Unset): Queues and subscriptions
            default_message_time_to_live (None | str | Unset): ISO 8601, such as PT1M; the longest one means that messages
                live for ever
            duplicate_detection_history_time_window (None | str | Unset): ISO 8601. Queues and topics
            forward_dead_lettered_messages_to (None | str | Unset): A queue or topic of the same namespace; empty: none.
                Queues and subscriptions
            forward_to (None | str | Unset): A queue or topic of the same namespace; empty: none. Queues and subscriptions
            lock_duration (None | str | Unset): ISO 8601. Queues and subscriptions
            max_delivery_count (int | None | Unset): Queues and subscriptions
            requires_duplicate_detection (bool | None | Unset): Queues and topics; fixed at creation
            requires_session (bool | None | Unset): Queues and subscriptions; fixed at creation
            auto_delete_on_idle (None | str | Unset): ISO 8601; the longest one means never
            dead_lettering_on_filter_evaluation_exceptions (bool | None | Unset): Subscriptions
            enable_batched_operations (bool | None | Unset):
            enable_partitioning (bool | None | Unset): Queues and topics; fixed at creation
            max_message_size_in_kilobytes (int | None | Unset): Queues and topics
            max_size_in_megabytes (int | None | Unset): Queues and topics; of a partitioned one, of each partition
            status (EntityPropertiesStatusType1 | EntityPropertiesStatusType2Type1 | EntityPropertiesStatusType3Type1 | None
                | Unset):
            support_ordering (bool | None | Unset): Topics
            user_metadata (None | str | Unset):
            authorization_rules (list[EntityRulesItem] | Unset):
     """

    dead_lettering_on_message_expiration: bool | None | Unset = UNSET
    default_message_time_to_live: None | str | Unset = UNSET
    duplicate_detection_history_time_window: None | str | Unset = UNSET
    forward_dead_lettered_messages_to: None | str | Unset = UNSET
    forward_to: None | str | Unset = UNSET
    lock_duration: None | str | Unset = UNSET
    max_delivery_count: int | None | Unset = UNSET
    requires_duplicate_detection: bool | None | Unset = UNSET
    requires_session: bool | None | Unset = UNSET
    auto_delete_on_idle: None | str | Unset = UNSET
    dead_lettering_on_filter_evaluation_exceptions: bool | None | Unset = UNSET
    enable_batched_operations: bool | None | Unset = UNSET
    enable_partitioning: bool | None | Unset = UNSET
    max_message_size_in_kilobytes: int | None | Unset = UNSET
    max_size_in_megabytes: int | None | Unset = UNSET
    status: EntityPropertiesStatusType1 | EntityPropertiesStatusType2Type1 | EntityPropertiesStatusType3Type1 | None | Unset = UNSET
    support_ordering: bool | None | Unset = UNSET
    user_metadata: None | str | Unset = UNSET
    authorization_rules: list[EntityRulesItem] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.entity_rules_item import EntityRulesItem # noqa: PLC0415
        dead_lettering_on_message_expiration: bool | None | Unset
        if isinstance(self.dead_lettering_on_message_expiration, Unset):
            dead_lettering_on_message_expiration = UNSET
        else:
            dead_lettering_on_message_expiration = self.dead_lettering_on_message_expiration

        default_message_time_to_live: None | str | Unset
        if isinstance(self.default_message_time_to_live, Unset):
            default_message_time_to_live = UNSET
        else:
            default_message_time_to_live = self.default_message_time_to_live

        duplicate_detection_history_time_window: None | str | Unset
        if isinstance(self.duplicate_detection_history_time_window, Unset):
            duplicate_detection_history_time_window = UNSET
        else:
            duplicate_detection_history_time_window = self.duplicate_detection_history_time_window

        forward_dead_lettered_messages_to: None | str | Unset
        if isinstance(self.forward_dead_lettered_messages_to, Unset):
            forward_dead_lettered_messages_to = UNSET
        else:
            forward_dead_lettered_messages_to = self.forward_dead_lettered_messages_to

        forward_to: None | str | Unset
        if isinstance(self.forward_to, Unset):
            forward_to = UNSET
        else:
            forward_to = self.forward_to

        lock_duration: None | str | Unset
        if isinstance(self.lock_duration, Unset):
            lock_duration = UNSET
        else:
            lock_duration = self.lock_duration

        max_delivery_count: int | None | Unset
        if isinstance(self.max_delivery_count, Unset):
            max_delivery_count = UNSET
        else:
            max_delivery_count = self.max_delivery_count

        requires_duplicate_detection: bool | None | Unset
        if isinstance(self.requires_duplicate_detection, Unset):
            requires_duplicate_detection = UNSET
        else:
            requires_duplicate_detection = self.requires_duplicate_detection

        requires_session: bool | None | Unset
        if isinstance(self.requires_session, Unset):
            requires_session = UNSET
        else:
            requires_session = self.requires_session

        auto_delete_on_idle: None | str | Unset
        if isinstance(self.auto_delete_on_idle, Unset):
            auto_delete_on_idle = UNSET
        else:
            auto_delete_on_idle = self.auto_delete_on_idle

        dead_lettering_on_filter_evaluation_exceptions: bool | None | Unset
        if isinstance(self.dead_lettering_on_filter_evaluation_exceptions, Unset):
            dead_lettering_on_filter_evaluation_exceptions = UNSET
        else:
            dead_lettering_on_filter_evaluation_exceptions = self.dead_lettering_on_filter_evaluation_exceptions

        enable_batched_operations: bool | None | Unset
        if isinstance(self.enable_batched_operations, Unset):
            enable_batched_operations = UNSET
        else:
            enable_batched_operations = self.enable_batched_operations

        enable_partitioning: bool | None | Unset
        if isinstance(self.enable_partitioning, Unset):
            enable_partitioning = UNSET
        else:
            enable_partitioning = self.enable_partitioning

        max_message_size_in_kilobytes: int | None | Unset
        if isinstance(self.max_message_size_in_kilobytes, Unset):
            max_message_size_in_kilobytes = UNSET
        else:
            max_message_size_in_kilobytes = self.max_message_size_in_kilobytes

        max_size_in_megabytes: int | None | Unset
        if isinstance(self.max_size_in_megabytes, Unset):
            max_size_in_megabytes = UNSET
        else:
            max_size_in_megabytes = self.max_size_in_megabytes

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, EntityPropertiesStatusType1):
            status = self.status.value
        elif isinstance(self.status, EntityPropertiesStatusType2Type1):
            status = self.status.value
        elif isinstance(self.status, EntityPropertiesStatusType3Type1):
            status = self.status.value
        else:
            status = self.status

        support_ordering: bool | None | Unset
        if isinstance(self.support_ordering, Unset):
            support_ordering = UNSET
        else:
            support_ordering = self.support_ordering

        user_metadata: None | str | Unset
        if isinstance(self.user_metadata, Unset):
            user_metadata = UNSET
        else:
            user_metadata = self.user_metadata

        authorization_rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.authorization_rules, Unset):
            authorization_rules = []
            for componentsschemas_entity_rules_item_data in self.authorization_rules:
                componentsschemas_entity_rules_item = componentsschemas_entity_rules_item_data.to_dict()
                authorization_rules.append(componentsschemas_entity_rules_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if dead_lettering_on_message_expiration is not UNSET:
            field_dict["DeadLetteringOnMessageExpiration"] = dead_lettering_on_message_expiration
        if default_message_time_to_live is not UNSET:
            field_dict["DefaultMessageTimeToLive"] = default_message_time_to_live
        if duplicate_detection_history_time_window is not UNSET:
            field_dict["DuplicateDetectionHistoryTimeWindow"] = duplicate_detection_history_time_window
        if forward_dead_lettered_messages_to is not UNSET:
            field_dict["ForwardDeadLetteredMessagesTo"] = forward_dead_lettered_messages_to
        if forward_to is not UNSET:
            field_dict["ForwardTo"] = forward_to
        if lock_duration is not UNSET:
            field_dict["LockDuration"] = lock_duration
        if max_delivery_count is not UNSET:
            field_dict["MaxDeliveryCount"] = max_delivery_count
        if requires_duplicate_detection is not UNSET:
            field_dict["RequiresDuplicateDetection"] = requires_duplicate_detection
        if requires_session is not UNSET:
            field_dict["RequiresSession"] = requires_session
        if auto_delete_on_idle is not UNSET:
            field_dict["AutoDeleteOnIdle"] = auto_delete_on_idle
        if dead_lettering_on_filter_evaluation_exceptions is not UNSET:
            field_dict["DeadLetteringOnFilterEvaluationExceptions"] = dead_lettering_on_filter_evaluation_exceptions
        if enable_batched_operations is not UNSET:
            field_dict["EnableBatchedOperations"] = enable_batched_operations
        if enable_partitioning is not UNSET:
            field_dict["EnablePartitioning"] = enable_partitioning
        if max_message_size_in_kilobytes is not UNSET:
            field_dict["MaxMessageSizeInKilobytes"] = max_message_size_in_kilobytes
        if max_size_in_megabytes is not UNSET:
            field_dict["MaxSizeInMegabytes"] = max_size_in_megabytes
        if status is not UNSET:
            field_dict["Status"] = status
        if support_ordering is not UNSET:
            field_dict["SupportOrdering"] = support_ordering
        if user_metadata is not UNSET:
            field_dict["UserMetadata"] = user_metadata
        if authorization_rules is not UNSET:
            field_dict["AuthorizationRules"] = authorization_rules

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entity_rules_item import EntityRulesItem # noqa: PLC0415
        d = dict(src_dict)
        def _parse_dead_lettering_on_message_expiration(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dead_lettering_on_message_expiration = _parse_dead_lettering_on_message_expiration(d.pop("DeadLetteringOnMessageExpiration", UNSET))


        def _parse_default_message_time_to_live(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        default_message_time_to_live = _parse_default_message_time_to_live(d.pop("DefaultMessageTimeToLive", UNSET))


        def _parse_duplicate_detection_history_time_window(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        duplicate_detection_history_time_window = _parse_duplicate_detection_history_time_window(d.pop("DuplicateDetectionHistoryTimeWindow", UNSET))


        def _parse_forward_dead_lettered_messages_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        forward_dead_lettered_messages_to = _parse_forward_dead_lettered_messages_to(d.pop("ForwardDeadLetteredMessagesTo", UNSET))


        def _parse_forward_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        forward_to = _parse_forward_to(d.pop("ForwardTo", UNSET))


        def _parse_lock_duration(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        lock_duration = _parse_lock_duration(d.pop("LockDuration", UNSET))


        def _parse_max_delivery_count(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_delivery_count = _parse_max_delivery_count(d.pop("MaxDeliveryCount", UNSET))


        def _parse_requires_duplicate_detection(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        requires_duplicate_detection = _parse_requires_duplicate_detection(d.pop("RequiresDuplicateDetection", UNSET))


        def _parse_requires_session(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        requires_session = _parse_requires_session(d.pop("RequiresSession", UNSET))


        def _parse_auto_delete_on_idle(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        auto_delete_on_idle = _parse_auto_delete_on_idle(d.pop("AutoDeleteOnIdle", UNSET))


        def _parse_dead_lettering_on_filter_evaluation_exceptions(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dead_lettering_on_filter_evaluation_exceptions = _parse_dead_lettering_on_filter_evaluation_exceptions(d.pop("DeadLetteringOnFilterEvaluationExceptions", UNSET))


        def _parse_enable_batched_operations(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enable_batched_operations = _parse_enable_batched_operations(d.pop("EnableBatchedOperations", UNSET))


        def _parse_enable_partitioning(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enable_partitioning = _parse_enable_partitioning(d.pop("EnablePartitioning", UNSET))


        def _parse_max_message_size_in_kilobytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_message_size_in_kilobytes = _parse_max_message_size_in_kilobytes(d.pop("MaxMessageSizeInKilobytes", UNSET))


        def _parse_max_size_in_megabytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_size_in_megabytes = _parse_max_size_in_megabytes(d.pop("MaxSizeInMegabytes", UNSET))


        def _parse_status(data: object) -> EntityPropertiesStatusType1 | EntityPropertiesStatusType2Type1 | EntityPropertiesStatusType3Type1 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_1 = EntityPropertiesStatusType1(data)



                return status_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_2_type_1 = EntityPropertiesStatusType2Type1(data)



                return status_type_2_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_3_type_1 = EntityPropertiesStatusType3Type1(data)



                return status_type_3_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EntityPropertiesStatusType1 | EntityPropertiesStatusType2Type1 | EntityPropertiesStatusType3Type1 | None | Unset, data)

        status = _parse_status(d.pop("Status", UNSET))


        def _parse_support_ordering(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        support_ordering = _parse_support_ordering(d.pop("SupportOrdering", UNSET))


        def _parse_user_metadata(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        user_metadata = _parse_user_metadata(d.pop("UserMetadata", UNSET))


        _authorization_rules = d.pop("AuthorizationRules", UNSET)
        authorization_rules: list[EntityRulesItem] | Unset = UNSET
        if _authorization_rules is not UNSET:
            authorization_rules = []
            for componentsschemas_entity_rules_item_data in _authorization_rules:
                componentsschemas_entity_rules_item = EntityRulesItem.from_dict(componentsschemas_entity_rules_item_data)



                authorization_rules.append(componentsschemas_entity_rules_item)


        entity_properties = cls(
            dead_lettering_on_message_expiration=dead_lettering_on_message_expiration,
            default_message_time_to_live=default_message_time_to_live,
            duplicate_detection_history_time_window=duplicate_detection_history_time_window,
            forward_dead_lettered_messages_to=forward_dead_lettered_messages_to,
            forward_to=forward_to,
            lock_duration=lock_duration,
            max_delivery_count=max_delivery_count,
            requires_duplicate_detection=requires_duplicate_detection,
            requires_session=requires_session,
            auto_delete_on_idle=auto_delete_on_idle,
            dead_lettering_on_filter_evaluation_exceptions=dead_lettering_on_filter_evaluation_exceptions,
            enable_batched_operations=enable_batched_operations,
            enable_partitioning=enable_partitioning,
            max_message_size_in_kilobytes=max_message_size_in_kilobytes,
            max_size_in_megabytes=max_size_in_megabytes,
            status=status,
            support_ordering=support_ordering,
            user_metadata=user_metadata,
            authorization_rules=authorization_rules,
        )

        return entity_properties


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.status import Status
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.entity_rules_item import EntityRulesItem





T = TypeVar("T", bound="TopicProperties")



@_attrs_define
class TopicProperties:
    """ 
        Attributes:
            default_message_time_to_live (str | Unset): ISO 8601, such as PT1M
            requires_duplicate_detection (bool | Unset):
            duplicate_detection_history_time_window (str | Unset): ISO 8601, such as PT1M
            support_ordering (bool | Unset):
            auto_delete_on_idle (str | Unset): ISO 8601, such as PT1M
            enable_partitioning (bool | Unset):
            max_size_in_megabytes (int | Unset):
            max_message_size_in_kilobytes (int | Unset):
            enable_batched_operations (bool | Unset):
            status (Status | Unset):
            user_metadata (str | Unset):
            authorization_rules (list[EntityRulesItem] | Unset):
     """

    default_message_time_to_live: str | Unset = UNSET
    requires_duplicate_detection: bool | Unset = UNSET
    duplicate_detection_history_time_window: str | Unset = UNSET
    support_ordering: bool | Unset = UNSET
    auto_delete_on_idle: str | Unset = UNSET
    enable_partitioning: bool | Unset = UNSET
    max_size_in_megabytes: int | Unset = UNSET
    max_message_size_in_kilobytes: int | Unset = UNSET
    enable_batched_operations: bool | Unset = UNSET
    status: Status | Unset = UNSET
    user_metadata: str | Unset = UNSET
    authorization_rules: list[EntityRulesItem] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.entity_rules_item import EntityRulesItem # noqa: PLC0415
        default_message_time_to_live = self.default_message_time_to_live

        requires_duplicate_detection = self.requires_duplicate_detection

        duplicate_detection_history_time_window = self.duplicate_detection_history_time_window

        support_ordering = self.support_ordering

        auto_delete_on_idle = self.auto_delete_on_idle

        enable_partitioning = self.enable_partitioning

        max_size_in_megabytes = self.max_size_in_megabytes

        max_message_size_in_kilobytes = self.max_message_size_in_kilobytes

        enable_batched_operations = self.enable_batched_operations

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value


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
        if default_message_time_to_live is not UNSET:
            field_dict["DefaultMessageTimeToLive"] = default_message_time_to_live
        if requires_duplicate_detection is not UNSET:
            field_dict["RequiresDuplicateDetection"] = requires_duplicate_detection
        if duplicate_detection_history_time_window is not UNSET:
            field_dict["DuplicateDetectionHistoryTimeWindow"] = duplicate_detection_history_time_window
        if support_ordering is not UNSET:
            field_dict["SupportOrdering"] = support_ordering
        if auto_delete_on_idle is not UNSET:
            field_dict["AutoDeleteOnIdle"] = auto_delete_on_idle
        if enable_partitioning is not UNSET:
            field_dict["EnablePartitioning"] = enable_partitioning
        if max_size_in_megabytes is not UNSET:
            field_dict["MaxSizeInMegabytes"] = max_size_in_megabytes
        if max_message_size_in_kilobytes is not UNSET:
            field_dict["MaxMessageSizeInKilobytes"] = max_message_size_in_kilobytes
        if enable_batched_operations is not UNSET:
            field_dict["EnableBatchedOperations"] = enable_batched_operations
        if status is not UNSET:
            field_dict["Status"] = status
        if user_metadata is not UNSET:
            field_dict["UserMetadata"] = user_metadata
        if authorization_rules is not UNSET:
            field_dict["AuthorizationRules"] = authorization_rules

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entity_rules_item import EntityRulesItem # noqa: PLC0415
        d = dict(src_dict)
        default_message_time_to_live = d.pop("DefaultMessageTimeToLive", UNSET)

        requires_duplicate_detection = d.pop("RequiresDuplicateDetection", UNSET)

        duplicate_detection_history_time_window = d.pop("DuplicateDetectionHistoryTimeWindow", UNSET)

        support_ordering = d.pop("SupportOrdering", UNSET)

        auto_delete_on_idle = d.pop("AutoDeleteOnIdle", UNSET)

        enable_partitioning = d.pop("EnablePartitioning", UNSET)

        max_size_in_megabytes = d.pop("MaxSizeInMegabytes", UNSET)

        max_message_size_in_kilobytes = d.pop("MaxMessageSizeInKilobytes", UNSET)

        enable_batched_operations = d.pop("EnableBatchedOperations", UNSET)

        _status = d.pop("Status", UNSET)
        status: Status | Unset
        if isinstance(_status,  Unset):
            status = UNSET
        else:
            status = Status(_status)




        user_metadata = d.pop("UserMetadata", UNSET)

        _authorization_rules = d.pop("AuthorizationRules", UNSET)
        authorization_rules: list[EntityRulesItem] | Unset = UNSET
        if _authorization_rules is not UNSET:
            authorization_rules = []
            for componentsschemas_entity_rules_item_data in _authorization_rules:
                componentsschemas_entity_rules_item = EntityRulesItem.from_dict(componentsschemas_entity_rules_item_data)



                authorization_rules.append(componentsschemas_entity_rules_item)


        topic_properties = cls(
            default_message_time_to_live=default_message_time_to_live,
            requires_duplicate_detection=requires_duplicate_detection,
            duplicate_detection_history_time_window=duplicate_detection_history_time_window,
            support_ordering=support_ordering,
            auto_delete_on_idle=auto_delete_on_idle,
            enable_partitioning=enable_partitioning,
            max_size_in_megabytes=max_size_in_megabytes,
            max_message_size_in_kilobytes=max_message_size_in_kilobytes,
            enable_batched_operations=enable_batched_operations,
            status=status,
            user_metadata=user_metadata,
            authorization_rules=authorization_rules,
        )

        return topic_properties


""" Contains all the data models used in inputs/outputs """

from .advance_clock_request import AdvanceClockRequest
from .auto_delete import AutoDelete
from .branch import Branch
from .branch_kind import BranchKind
from .branch_status import BranchStatus
from .client import Client
from .clock import Clock
from .condition import Condition
from .condition_of import ConditionOf
from .config_diff import ConfigDiff
from .configuration import Configuration
from .configuration_user_config import ConfigurationUserConfig
from .configuration_user_config_namespaces_item import ConfigurationUserConfigNamespacesItem
from .connection import Connection
from .connection_string import ConnectionString
from .connection_string_rights_item import ConnectionStringRightsItem
from .connection_transport import ConnectionTransport
from .counts import Counts
from .create_namespace_limits import CreateNamespaceLimits
from .diagnosis import Diagnosis
from .diff_summary import DiffSummary
from .due import Due
from .due_kind import DueKind
from .due_step import DueStep
from .entity import Entity
from .entity_body import EntityBody
from .entity_change import EntityChange
from .entity_diff import EntityDiff
from .entity_diff_action import EntityDiffAction
from .entity_diff_kind import EntityDiffKind
from .entity_kind import EntityKind
from .entity_properties import EntityProperties
from .entity_properties_status_type_1 import EntityPropertiesStatusType1
from .entity_properties_status_type_2_type_1 import EntityPropertiesStatusType2Type1
from .entity_properties_status_type_3_type_1 import EntityPropertiesStatusType3Type1
from .entity_rule import EntityRule
from .entity_rules_item import EntityRulesItem
from .entity_status import EntityStatus
from .error import Error
from .event import Event
from .event_sub_queue import EventSubQueue
from .events_awaited import EventsAwaited
from .fault import Fault
from .fault_kind import FaultKind
from .fault_operations_item import FaultOperationsItem
from .fault_order import FaultOrder
from .fault_order_kind import FaultOrderKind
from .fault_order_operations_item import FaultOrderOperationsItem
from .fault_state import FaultState
from .finding import Finding
from .finding_code import FindingCode
from .forwarding import Forwarding
from .get_document_response_200 import GetDocumentResponse200
from .held_session import HeldSession
from .history_page import HistoryPage
from .job import Job
from .job_edit import JobEdit
from .job_edit_properties import JobEditProperties
from .job_error import JobError
from .job_filter import JobFilter
from .job_filter_states_item import JobFilterStatesItem
from .job_kind import JobKind
from .job_order import JobOrder
from .job_order_kind import JobOrderKind
from .job_state import JobState
from .leaf import Leaf
from .leaf_kind import LeafKind
from .leaf_status import LeafStatus
from .limits import Limits
from .link import Link
from .link_mode import LinkMode
from .link_role import LinkRole
from .link_sub_queue import LinkSubQueue
from .link_waits_for import LinkWaitsFor
from .list_entities_kind import ListEntitiesKind
from .list_history_order import ListHistoryOrder
from .list_messages_order import ListMessagesOrder
from .list_messages_state_type_0_item import ListMessagesStateType0Item
from .malformed import Malformed
from .match_message_body import MatchMessageBody
from .match_message_body_message import MatchMessageBodyMessage
from .match_message_body_message_annotations import MatchMessageBodyMessageAnnotations
from .match_message_body_message_application_properties import MatchMessageBodyMessageApplicationProperties
from .match_message_body_message_delivery_annotations import MatchMessageBodyMessageDeliveryAnnotations
from .match_message_body_message_footer import MatchMessageBodyMessageFooter
from .matched_copy import MatchedCopy
from .matched_copy_sub_queue import MatchedCopySubQueue
from .matching import Matching
from .message import Message
from .message_annotations import MessageAnnotations
from .message_application_properties import MessageApplicationProperties
from .message_awaited import MessageAwaited
from .message_delivery_annotations import MessageDeliveryAnnotations
from .message_footer import MessageFooter
from .message_page import MessagePage
from .namespace import Namespace
from .namespace_creation import NamespaceCreation
from .namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem
from .namespace_limits import NamespaceLimits
from .namespace_list_body import NamespaceListBody
from .of_holder_body import OfHolderBody
from .oldest_message import OldestMessage
from .page_branch import PageBranch
from .page_connection import PageConnection
from .page_entity import PageEntity
from .page_entity_rule import PageEntityRule
from .page_fault import PageFault
from .page_job import PageJob
from .page_refusal import PageRefusal
from .page_session import PageSession
from .page_snapshot import PageSnapshot
from .property_change import PropertyChange
from .put_entity_kind import PutEntityKind
from .queue import Queue
from .queue_properties import QueueProperties
from .reason import Reason
from .reason_outcome import ReasonOutcome
from .receipt import Receipt
from .receiving import Receiving
from .receiving_mode import ReceivingMode
from .refusal import Refusal
from .refusal_operation import RefusalOperation
from .refusal_sub_queue import RefusalSubQueue
from .renew_locks_request import RenewLocksRequest
from .renewals import Renewals
from .reschedule_message_request import RescheduleMessageRequest
from .right import Right
from .rule import Rule
from .rule_body import RuleBody
from .rule_matching import RuleMatching
from .rule_matching_outcome import RuleMatchingOutcome
from .rule_properties import RuleProperties
from .rule_properties_correlation_filter import RulePropertiesCorrelationFilter
from .rule_properties_filter_type import RulePropertiesFilterType
from .save_snapshot_request import SaveSnapshotRequest
from .schedule import Schedule
from .seen_value import SeenValue
from .send_messages_body_type_0 import SendMessagesBodyType0
from .send_messages_body_type_0_annotations import SendMessagesBodyType0Annotations
from .send_messages_body_type_0_application_properties import SendMessagesBodyType0ApplicationProperties
from .send_messages_body_type_0_delivery_annotations import SendMessagesBodyType0DeliveryAnnotations
from .send_messages_body_type_0_footer import SendMessagesBodyType0Footer
from .send_messages_body_type_1_item import SendMessagesBodyType1Item
from .send_messages_body_type_1_item_annotations import SendMessagesBodyType1ItemAnnotations
from .send_messages_body_type_1_item_application_properties import SendMessagesBodyType1ItemApplicationProperties
from .send_messages_body_type_1_item_delivery_annotations import SendMessagesBodyType1ItemDeliveryAnnotations
from .send_messages_body_type_1_item_footer import SendMessagesBodyType1ItemFooter
from .sent import Sent
from .session import Session
from .session_lock import SessionLock
from .session_state import SessionState
from .set_clock_request import SetClockRequest
from .setting_diff import SettingDiff
from .settlement import Settlement
from .settlement_outcome import SettlementOutcome
from .settlement_properties import SettlementProperties
from .snapshot import Snapshot
from .sql_expression import SqlExpression
from .sql_expression_parameters import SqlExpressionParameters
from .status import Status
from .subscription import Subscription
from .subscription_matching import SubscriptionMatching
from .subscription_matching_status import SubscriptionMatchingStatus
from .subscription_properties import SubscriptionProperties
from .topic import Topic
from .topic_properties import TopicProperties
from .traffic import Traffic
from .upcoming import Upcoming
from .wait_for import WaitFor
from .waited import Waited
from .whole_entity import WholeEntity
from .whole_entity_kind import WholeEntityKind
from .whole_entity_status import WholeEntityStatus

__all__ = (
    "AdvanceClockRequest",
    "AutoDelete",
    "Branch",
    "BranchKind",
    "BranchStatus",
    "Client",
    "Clock",
    "Condition",
    "ConditionOf",
    "ConfigDiff",
    "Configuration",
    "ConfigurationUserConfig",
    "ConfigurationUserConfigNamespacesItem",
    "Connection",
    "ConnectionString",
    "ConnectionStringRightsItem",
    "ConnectionTransport",
    "Counts",
    "CreateNamespaceLimits",
    "Diagnosis",
    "DiffSummary",
    "Due",
    "DueKind",
    "DueStep",
    "Entity",
    "EntityBody",
    "EntityChange",
    "EntityDiff",
    "EntityDiffAction",
    "EntityDiffKind",
    "EntityKind",
    "EntityProperties",
    "EntityPropertiesStatusType1",
    "EntityPropertiesStatusType2Type1",
    "EntityPropertiesStatusType3Type1",
    "EntityRule",
    "EntityRulesItem",
    "EntityStatus",
    "Error",
    "Event",
    "EventsAwaited",
    "EventSubQueue",
    "Fault",
    "FaultKind",
    "FaultOperationsItem",
    "FaultOrder",
    "FaultOrderKind",
    "FaultOrderOperationsItem",
    "FaultState",
    "Finding",
    "FindingCode",
    "Forwarding",
    "GetDocumentResponse200",
    "HeldSession",
    "HistoryPage",
    "Job",
    "JobEdit",
    "JobEditProperties",
    "JobError",
    "JobFilter",
    "JobFilterStatesItem",
    "JobKind",
    "JobOrder",
    "JobOrderKind",
    "JobState",
    "Leaf",
    "LeafKind",
    "LeafStatus",
    "Limits",
    "Link",
    "LinkMode",
    "LinkRole",
    "LinkSubQueue",
    "LinkWaitsFor",
    "ListEntitiesKind",
    "ListHistoryOrder",
    "ListMessagesOrder",
    "ListMessagesStateType0Item",
    "Malformed",
    "MatchedCopy",
    "MatchedCopySubQueue",
    "Matching",
    "MatchMessageBody",
    "MatchMessageBodyMessage",
    "MatchMessageBodyMessageAnnotations",
    "MatchMessageBodyMessageApplicationProperties",
    "MatchMessageBodyMessageDeliveryAnnotations",
    "MatchMessageBodyMessageFooter",
    "Message",
    "MessageAnnotations",
    "MessageApplicationProperties",
    "MessageAwaited",
    "MessageDeliveryAnnotations",
    "MessageFooter",
    "MessagePage",
    "Namespace",
    "NamespaceCreation",
    "NamespaceCreationAuthorizationRulesItem",
    "NamespaceLimits",
    "NamespaceListBody",
    "OfHolderBody",
    "OldestMessage",
    "PageBranch",
    "PageConnection",
    "PageEntity",
    "PageEntityRule",
    "PageFault",
    "PageJob",
    "PageRefusal",
    "PageSession",
    "PageSnapshot",
    "PropertyChange",
    "PutEntityKind",
    "Queue",
    "QueueProperties",
    "Reason",
    "ReasonOutcome",
    "Receipt",
    "Receiving",
    "ReceivingMode",
    "Refusal",
    "RefusalOperation",
    "RefusalSubQueue",
    "Renewals",
    "RenewLocksRequest",
    "RescheduleMessageRequest",
    "Right",
    "Rule",
    "RuleBody",
    "RuleMatching",
    "RuleMatchingOutcome",
    "RuleProperties",
    "RulePropertiesCorrelationFilter",
    "RulePropertiesFilterType",
    "SaveSnapshotRequest",
    "Schedule",
    "SeenValue",
    "SendMessagesBodyType0",
    "SendMessagesBodyType0Annotations",
    "SendMessagesBodyType0ApplicationProperties",
    "SendMessagesBodyType0DeliveryAnnotations",
    "SendMessagesBodyType0Footer",
    "SendMessagesBodyType1Item",
    "SendMessagesBodyType1ItemAnnotations",
    "SendMessagesBodyType1ItemApplicationProperties",
    "SendMessagesBodyType1ItemDeliveryAnnotations",
    "SendMessagesBodyType1ItemFooter",
    "Sent",
    "Session",
    "SessionLock",
    "SessionState",
    "SetClockRequest",
    "SettingDiff",
    "Settlement",
    "SettlementOutcome",
    "SettlementProperties",
    "Snapshot",
    "SqlExpression",
    "SqlExpressionParameters",
    "Status",
    "Subscription",
    "SubscriptionMatching",
    "SubscriptionMatchingStatus",
    "SubscriptionProperties",
    "Topic",
    "TopicProperties",
    "Traffic",
    "Upcoming",
    "Waited",
    "WaitFor",
    "WholeEntity",
    "WholeEntityKind",
    "WholeEntityStatus",
)

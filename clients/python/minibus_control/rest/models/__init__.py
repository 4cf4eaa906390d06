""" Contains all the data models used in inputs/outputs """

from .advance_clock_request import AdvanceClockRequest
from .client import Client
from .clock import Clock
from .condition import Condition
from .condition_of import ConditionOf
from .connection import Connection
from .connection_string import ConnectionString
from .connection_string_rights_item import ConnectionStringRightsItem
from .connection_transport import ConnectionTransport
from .counts import Counts
from .diagnosis import Diagnosis
from .due import Due
from .due_kind import DueKind
from .entity import Entity
from .entity_kind import EntityKind
from .entity_rules_item import EntityRulesItem
from .entity_status import EntityStatus
from .error import Error
from .event import Event
from .event_sub_queue import EventSubQueue
from .events_awaited import EventsAwaited
from .finding import Finding
from .finding_code import FindingCode
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
from .limits import Limits
from .link import Link
from .link_mode import LinkMode
from .link_role import LinkRole
from .link_sub_queue import LinkSubQueue
from .link_waits_for import LinkWaitsFor
from .list_entities_kind import ListEntitiesKind
from .list_history_order import ListHistoryOrder
from .namespace import Namespace
from .namespace_creation import NamespaceCreation
from .namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem
from .namespace_limits import NamespaceLimits
from .namespace_list_body import NamespaceListBody
from .page_connection import PageConnection
from .page_entity import PageEntity
from .page_job import PageJob
from .page_session import PageSession
from .queue import Queue
from .queue_properties import QueueProperties
from .receipt import Receipt
from .received import Received
from .received_properties import ReceivedProperties
from .receiving import Receiving
from .receiving_mode import ReceivingMode
from .renew_locks_request import RenewLocksRequest
from .renewals import Renewals
from .right import Right
from .rule import Rule
from .rule_properties import RuleProperties
from .rule_properties_correlation_filter import RulePropertiesCorrelationFilter
from .rule_properties_filter_type import RulePropertiesFilterType
from .session import Session
from .session_state import SessionState
from .set_clock_request import SetClockRequest
from .settlement import Settlement
from .settlement_outcome import SettlementOutcome
from .settlement_properties import SettlementProperties
from .sql_expression import SqlExpression
from .sql_expression_parameters import SqlExpressionParameters
from .status import Status
from .subscription import Subscription
from .subscription_properties import SubscriptionProperties
from .topic import Topic
from .topic_properties import TopicProperties
from .wait_for import WaitFor
from .waited import Waited

__all__ = (
    "AdvanceClockRequest",
    "Client",
    "Clock",
    "Condition",
    "ConditionOf",
    "Connection",
    "ConnectionString",
    "ConnectionStringRightsItem",
    "ConnectionTransport",
    "Counts",
    "Diagnosis",
    "Due",
    "DueKind",
    "Entity",
    "EntityKind",
    "EntityRulesItem",
    "EntityStatus",
    "Error",
    "Event",
    "EventsAwaited",
    "EventSubQueue",
    "Finding",
    "FindingCode",
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
    "Limits",
    "Link",
    "LinkMode",
    "LinkRole",
    "LinkSubQueue",
    "LinkWaitsFor",
    "ListEntitiesKind",
    "ListHistoryOrder",
    "Namespace",
    "NamespaceCreation",
    "NamespaceCreationAuthorizationRulesItem",
    "NamespaceLimits",
    "NamespaceListBody",
    "PageConnection",
    "PageEntity",
    "PageJob",
    "PageSession",
    "Queue",
    "QueueProperties",
    "Receipt",
    "Received",
    "ReceivedProperties",
    "Receiving",
    "ReceivingMode",
    "Renewals",
    "RenewLocksRequest",
    "Right",
    "Rule",
    "RuleProperties",
    "RulePropertiesCorrelationFilter",
    "RulePropertiesFilterType",
    "Session",
    "SessionState",
    "SetClockRequest",
    "Settlement",
    "SettlementOutcome",
    "SettlementProperties",
    "SqlExpression",
    "SqlExpressionParameters",
    "Status",
    "Subscription",
    "SubscriptionProperties",
    "Topic",
    "TopicProperties",
    "Waited",
    "WaitFor",
)

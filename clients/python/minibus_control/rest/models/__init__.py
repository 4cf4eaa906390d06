""" Contains all the data models used in inputs/outputs """

from .advance_clock_request import AdvanceClockRequest
from .clock import Clock
from .connection_string import ConnectionString
from .connection_string_rights_item import ConnectionStringRightsItem
from .counts import Counts
from .due import Due
from .due_kind import DueKind
from .entity import Entity
from .entity_kind import EntityKind
from .entity_rules_item import EntityRulesItem
from .entity_status import EntityStatus
from .error import Error
from .get_document_response_200 import GetDocumentResponse200
from .limits import Limits
from .list_entities_kind import ListEntitiesKind
from .namespace import Namespace
from .namespace_creation import NamespaceCreation
from .namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem
from .namespace_limits import NamespaceLimits
from .namespace_list_body import NamespaceListBody
from .page_entity import PageEntity
from .queue import Queue
from .queue_properties import QueueProperties
from .right import Right
from .rule import Rule
from .rule_properties import RuleProperties
from .rule_properties_correlation_filter import RulePropertiesCorrelationFilter
from .rule_properties_filter_type import RulePropertiesFilterType
from .set_clock_request import SetClockRequest
from .sql_expression import SqlExpression
from .sql_expression_parameters import SqlExpressionParameters
from .status import Status
from .subscription import Subscription
from .subscription_properties import SubscriptionProperties
from .topic import Topic
from .topic_properties import TopicProperties

__all__ = (
    "AdvanceClockRequest",
    "Clock",
    "ConnectionString",
    "ConnectionStringRightsItem",
    "Counts",
    "Due",
    "DueKind",
    "Entity",
    "EntityKind",
    "EntityRulesItem",
    "EntityStatus",
    "Error",
    "GetDocumentResponse200",
    "Limits",
    "ListEntitiesKind",
    "Namespace",
    "NamespaceCreation",
    "NamespaceCreationAuthorizationRulesItem",
    "NamespaceLimits",
    "NamespaceListBody",
    "PageEntity",
    "Queue",
    "QueueProperties",
    "Right",
    "Rule",
    "RuleProperties",
    "RulePropertiesCorrelationFilter",
    "RulePropertiesFilterType",
    "SetClockRequest",
    "SqlExpression",
    "SqlExpressionParameters",
    "Status",
    "Subscription",
    "SubscriptionProperties",
    "Topic",
    "TopicProperties",
)

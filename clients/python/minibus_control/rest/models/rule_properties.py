from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.rule_properties_filter_type import RulePropertiesFilterType
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.rule_properties_correlation_filter import RulePropertiesCorrelationFilter
  from ..models.sql_expression import SqlExpression





T = TypeVar("T", bound="RuleProperties")



@_attrs_define
class RuleProperties:
    """ 
        Attributes:
            filter_type (RulePropertiesFilterType):
            sql_filter (SqlExpression | Unset):
            correlation_filter (RulePropertiesCorrelationFilter | Unset): Values of ContentType, CorrelationId, Label,
                MessageId, ReplyTo, ReplyToSessionId, SessionId, To, and of Properties
            action (SqlExpression | Unset):
     """

    filter_type: RulePropertiesFilterType
    sql_filter: SqlExpression | Unset = UNSET
    correlation_filter: RulePropertiesCorrelationFilter | Unset = UNSET
    action: SqlExpression | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.rule_properties_correlation_filter import RulePropertiesCorrelationFilter # noqa: PLC0415
        from ..models.sql_expression import SqlExpression # noqa: PLC0415
        filter_type = self.filter_type.value

        sql_filter: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sql_filter, Unset):
            sql_filter = self.sql_filter.to_dict()

        correlation_filter: dict[str, Any] | Unset = UNSET
        if not isinstance(self.correlation_filter, Unset):
            correlation_filter = self.correlation_filter.to_dict()

        action: dict[str, Any] | Unset = UNSET
        if not isinstance(self.action, Unset):
            action = self.action.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "FilterType": filter_type,
        })
        if sql_filter is not UNSET:
            field_dict["SqlFilter"] = sql_filter
        if correlation_filter is not UNSET:
            field_dict["CorrelationFilter"] = correlation_filter
        if action is not UNSET:
            field_dict["Action"] = action

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.rule_properties_correlation_filter import RulePropertiesCorrelationFilter # noqa: PLC0415
        from ..models.sql_expression import SqlExpression # noqa: PLC0415
        d = dict(src_dict)
        filter_type = RulePropertiesFilterType(d.pop("FilterType"))




        _sql_filter = d.pop("SqlFilter", UNSET)
        sql_filter: SqlExpression | Unset
        if isinstance(_sql_filter,  Unset):
            sql_filter = UNSET
        else:
            sql_filter = SqlExpression.from_dict(_sql_filter)




        _correlation_filter = d.pop("CorrelationFilter", UNSET)
        correlation_filter: RulePropertiesCorrelationFilter | Unset
        if isinstance(_correlation_filter,  Unset):
            correlation_filter = UNSET
        else:
            correlation_filter = RulePropertiesCorrelationFilter.from_dict(_correlation_filter)




        _action = d.pop("Action", UNSET)
        action: SqlExpression | Unset
        if isinstance(_action,  Unset):
            action = UNSET
        else:
            action = SqlExpression.from_dict(_action)




        rule_properties = cls(
            filter_type=filter_type,
            sql_filter=sql_filter,
            correlation_filter=correlation_filter,
            action=action,
        )

        return rule_properties


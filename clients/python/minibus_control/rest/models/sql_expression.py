from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.sql_expression_parameters import SqlExpressionParameters





T = TypeVar("T", bound="SqlExpression")



@_attrs_define
class SqlExpression:
    """ 
        Attributes:
            sql_expression (str):
            parameters (SqlExpressionParameters | Unset): Values by the names of parameters
     """

    sql_expression: str
    parameters: SqlExpressionParameters | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.sql_expression_parameters import SqlExpressionParameters # noqa: PLC0415
        sql_expression = self.sql_expression

        parameters: dict[str, Any] | Unset = UNSET
        if not isinstance(self.parameters, Unset):
            parameters = self.parameters.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "SqlExpression": sql_expression,
        })
        if parameters is not UNSET:
            field_dict["Parameters"] = parameters

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.sql_expression_parameters import SqlExpressionParameters # noqa: PLC0415
        d = dict(src_dict)
        sql_expression = d.pop("SqlExpression")

        _parameters = d.pop("Parameters", UNSET)
        parameters: SqlExpressionParameters | Unset
        if isinstance(_parameters,  Unset):
            parameters = UNSET
        else:
            parameters = SqlExpressionParameters.from_dict(_parameters)




        sql_expression = cls(
            sql_expression=sql_expression,
            parameters=parameters,
        )

        return sql_expression


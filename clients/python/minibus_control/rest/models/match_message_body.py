from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.match_message_body_message import MatchMessageBodyMessage
  from ..models.rule_body import RuleBody





T = TypeVar("T", bound="MatchMessageBody")



@_attrs_define
class MatchMessageBody:
    """ 
        Attributes:
            message (MatchMessageBodyMessage):
            rule (RuleBody | Unset): A rule in the form of Config.json
     """

    message: MatchMessageBodyMessage
    rule: RuleBody | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.match_message_body_message import MatchMessageBodyMessage # noqa: PLC0415
        from ..models.rule_body import RuleBody # noqa: PLC0415
        message = self.message.to_dict()

        rule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.rule, Unset):
            rule = self.rule.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "message": message,
        })
        if rule is not UNSET:
            field_dict["rule"] = rule

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.match_message_body_message import MatchMessageBodyMessage # noqa: PLC0415
        from ..models.rule_body import RuleBody # noqa: PLC0415
        d = dict(src_dict)
        message = MatchMessageBodyMessage.from_dict(d.pop("message"))




        _rule = d.pop("rule", UNSET)
        rule: RuleBody | Unset
        if isinstance(_rule,  Unset):
            rule = UNSET
        else:
            rule = RuleBody.from_dict(_rule)




        match_message_body = cls(
            message=message,
            rule=rule,
        )

        return match_message_body


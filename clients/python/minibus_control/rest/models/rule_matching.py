from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.rule_matching_outcome import RuleMatchingOutcome
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.reason import Reason





T = TypeVar("T", bound="RuleMatching")



@_attrs_define
class RuleMatching:
    """ 
        Attributes:
            filter_ (str):
            name (str):
            outcome (RuleMatchingOutcome): Only true selects. A comparison with a property that is missing or null, or of a
                type that does not fit, is unknown
            reasons (list[Reason]): The conditions that decided. If the rule does not select the message: those that would
                have to be otherwise
            action (str | Unset):
            action_fails (bool | Unset):
            error (str | Unset): Of the filter or the action. The subscription dead-letters the message or ignores the rule,
                as DeadLetteringOnFilterEvaluationExceptions says
     """

    filter_: str
    name: str
    outcome: RuleMatchingOutcome
    reasons: list[Reason]
    action: str | Unset = UNSET
    action_fails: bool | Unset = UNSET
    error: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.reason import Reason # noqa: PLC0415
        filter_ = self.filter_

        name = self.name

        outcome = self.outcome.value

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)



        action = self.action

        action_fails = self.action_fails

        error = self.error


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "filter": filter_,
            "name": name,
            "outcome": outcome,
            "reasons": reasons,
        })
        if action is not UNSET:
            field_dict["action"] = action
        if action_fails is not UNSET:
            field_dict["actionFails"] = action_fails
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.reason import Reason # noqa: PLC0415
        d = dict(src_dict)
        filter_ = d.pop("filter")

        name = d.pop("name")

        outcome = RuleMatchingOutcome(d.pop("outcome"))




        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in (_reasons):
            reasons_item = Reason.from_dict(reasons_item_data)



            reasons.append(reasons_item)


        action = d.pop("action", UNSET)

        action_fails = d.pop("actionFails", UNSET)

        error = d.pop("error", UNSET)

        rule_matching = cls(
            filter_=filter_,
            name=name,
            outcome=outcome,
            reasons=reasons,
            action=action,
            action_fails=action_fails,
            error=error,
        )

        return rule_matching


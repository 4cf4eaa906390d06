from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.subscription_matching_status import SubscriptionMatchingStatus
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.matched_copy import MatchedCopy
  from ..models.rule_matching import RuleMatching





T = TypeVar("T", bound="SubscriptionMatching")



@_attrs_define
class SubscriptionMatching:
    """ 
        Attributes:
            copies (list[MatchedCopy]): What it would get: one for all rules without an action, and one for each rule with
                one
            name (str): Empty: a new one, with the rule that is tried
            rules (list[RuleMatching]): In the order of their creation
            status (SubscriptionMatchingStatus): Copies come to it whatever the status; it says whether they can be received
            path (str | Unset):
     """

    copies: list[MatchedCopy]
    name: str
    rules: list[RuleMatching]
    status: SubscriptionMatchingStatus
    path: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.matched_copy import MatchedCopy # noqa: PLC0415
        from ..models.rule_matching import RuleMatching # noqa: PLC0415
        copies = []
        for copies_item_data in self.copies:
            copies_item = copies_item_data.to_dict()
            copies.append(copies_item)



        name = self.name

        rules = []
        for rules_item_data in self.rules:
            rules_item = rules_item_data.to_dict()
            rules.append(rules_item)



        status = self.status.value

        path = self.path


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "copies": copies,
            "name": name,
            "rules": rules,
            "status": status,
        })
        if path is not UNSET:
            field_dict["path"] = path

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.matched_copy import MatchedCopy # noqa: PLC0415
        from ..models.rule_matching import RuleMatching # noqa: PLC0415
        d = dict(src_dict)
        copies = []
        _copies = d.pop("copies")
        for copies_item_data in (_copies):
            copies_item = MatchedCopy.from_dict(copies_item_data)



            copies.append(copies_item)


        name = d.pop("name")

        rules = []
        _rules = d.pop("rules")
        for rules_item_data in (_rules):
            rules_item = RuleMatching.from_dict(rules_item_data)



            rules.append(rules_item)


        status = SubscriptionMatchingStatus(d.pop("status"))




        path = d.pop("path", UNSET)

        subscription_matching = cls(
            copies=copies,
            name=name,
            rules=rules,
            status=status,
            path=path,
        )

        return subscription_matching


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.matched_copy_sub_queue import MatchedCopySubQueue
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.property_change import PropertyChange





T = TypeVar("T", bound="MatchedCopy")



@_attrs_define
class MatchedCopy:
    """ 
        Attributes:
            changes (list[PropertyChange]): What differs from the message as it is sent
            forwards (list[str]): Where it would go on to, one entity after another
            dead_letter_error_description (str | Unset):
            dead_letter_reason (str | Unset):
            rule (str | Unset): That selects it; none: a rule failed
            stopped (str | Unset): Why it would go no further; none: it would stay in the last one
            sub_queue (MatchedCopySubQueue | Unset): None: the main queue
     """

    changes: list[PropertyChange]
    forwards: list[str]
    dead_letter_error_description: str | Unset = UNSET
    dead_letter_reason: str | Unset = UNSET
    rule: str | Unset = UNSET
    stopped: str | Unset = UNSET
    sub_queue: MatchedCopySubQueue | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.property_change import PropertyChange # noqa: PLC0415
        changes = []
        for changes_item_data in self.changes:
            changes_item = changes_item_data.to_dict()
            changes.append(changes_item)



        forwards = self.forwards



        dead_letter_error_description = self.dead_letter_error_description

        dead_letter_reason = self.dead_letter_reason

        rule = self.rule

        stopped = self.stopped

        sub_queue: str | Unset = UNSET
        if not isinstance(self.sub_queue, Unset):
            sub_queue = self.sub_queue.value



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "changes": changes,
            "forwards": forwards,
        })
        if dead_letter_error_description is not UNSET:
            field_dict["deadLetterErrorDescription"] = dead_letter_error_description
        if dead_letter_reason is not UNSET:
            field_dict["deadLetterReason"] = dead_letter_reason
        if rule is not UNSET:
            field_dict["rule"] = rule
        if stopped is not UNSET:
            field_dict["stopped"] = stopped
        if sub_queue is not UNSET:
            field_dict["subQueue"] = sub_queue

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.property_change import PropertyChange # noqa: PLC0415
        d = dict(src_dict)
        changes = []
        _changes = d.pop("changes")
        for changes_item_data in (_changes):
            changes_item = PropertyChange.from_dict(changes_item_data)



            changes.append(changes_item)


        forwards = cast(list[str], d.pop("forwards"))


        dead_letter_error_description = d.pop("deadLetterErrorDescription", UNSET)

        dead_letter_reason = d.pop("deadLetterReason", UNSET)

        rule = d.pop("rule", UNSET)

        stopped = d.pop("stopped", UNSET)

        _sub_queue = d.pop("subQueue", UNSET)
        sub_queue: MatchedCopySubQueue | Unset
        if isinstance(_sub_queue,  Unset):
            sub_queue = UNSET
        else:
            sub_queue = MatchedCopySubQueue(_sub_queue)




        matched_copy = cls(
            changes=changes,
            forwards=forwards,
            dead_letter_error_description=dead_letter_error_description,
            dead_letter_reason=dead_letter_reason,
            rule=rule,
            stopped=stopped,
            sub_queue=sub_queue,
        )

        return matched_copy


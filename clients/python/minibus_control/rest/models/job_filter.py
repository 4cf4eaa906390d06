from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.job_filter_states_item import JobFilterStatesItem
from ..types import UNSET, Unset
from typing import cast
import datetime






T = TypeVar("T", bound="JobFilter")



@_attrs_define
class JobFilter:
    """ 
        Attributes:
            before (datetime.datetime | Unset): Enqueued before that time
            reason (str | Unset): The DeadLetterReason
            sequence_numbers (list[int] | Unset): Only these; one that is not there counts as failed
            session_id (str | Unset):
            sql (str | Unset): A SQL filter, as rules have them
            states (list[JobFilterStatesItem] | Unset): None: active ones. A deferred one that moves is active in the
                target; a scheduled one stays scheduled
            text (str | Unset): In the body, in a property or in its name, in letters of any case
     """

    before: datetime.datetime | Unset = UNSET
    reason: str | Unset = UNSET
    sequence_numbers: list[int] | Unset = UNSET
    session_id: str | Unset = UNSET
    sql: str | Unset = UNSET
    states: list[JobFilterStatesItem] | Unset = UNSET
    text: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        before: str | Unset = UNSET
        if not isinstance(self.before, Unset):
            before = self.before.isoformat()

        reason = self.reason

        sequence_numbers: list[int] | Unset = UNSET
        if not isinstance(self.sequence_numbers, Unset):
            sequence_numbers = self.sequence_numbers



        session_id = self.session_id

        sql = self.sql

        states: list[str] | Unset = UNSET
        if not isinstance(self.states, Unset):
            states = []
            for states_item_data in self.states:
                states_item = states_item_data.value
                states.append(states_item)



        text = self.text


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if before is not UNSET:
            field_dict["before"] = before
        if reason is not UNSET:
            field_dict["reason"] = reason
        if sequence_numbers is not UNSET:
            field_dict["sequenceNumbers"] = sequence_numbers
        if session_id is not UNSET:
            field_dict["sessionId"] = session_id
        if sql is not UNSET:
            field_dict["sql"] = sql
        if states is not UNSET:
            field_dict["states"] = states
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _before = d.pop("before", UNSET)
        before: datetime.datetime | Unset
        if isinstance(_before,  Unset):
            before = UNSET
        else:
            before = datetime.datetime.fromisoformat(_before)




        reason = d.pop("reason", UNSET)

        sequence_numbers = cast(list[int], d.pop("sequenceNumbers", UNSET))


        session_id = d.pop("sessionId", UNSET)

        sql = d.pop("sql", UNSET)

        _states = d.pop("states", UNSET)
        states: list[JobFilterStatesItem] | Unset = UNSET
        if _states is not UNSET:
            states = []
            for states_item_data in _states:
                states_item = JobFilterStatesItem(states_item_data)



                states.append(states_item)


        text = d.pop("text", UNSET)

        job_filter = cls(
            before=before,
            reason=reason,
            sequence_numbers=sequence_numbers,
            session_id=session_id,
            sql=sql,
            states=states,
            text=text,
        )

        return job_filter


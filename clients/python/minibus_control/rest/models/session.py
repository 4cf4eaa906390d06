from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
import datetime






T = TypeVar("T", bound="Session")



@_attrs_define
class Session:
    """ 
        Attributes:
            active (int): Messages, with those that are locked
            deferred (int):
            id (str):
            locked (int): Messages that the holder has received and not settled
            scheduled (int):
            holder (str | Unset): The AMQP container that holds the lock, or control API; none if the session is free
            locked_until (datetime.datetime | Unset):
            state_bytes (int | Unset): The size of the state; none if there is none
            state_updated (datetime.datetime | Unset): When the state was written
     """

    active: int
    deferred: int
    id: str
    locked: int
    scheduled: int
    holder: str | Unset = UNSET
    locked_until: datetime.datetime | Unset = UNSET
    state_bytes: int | Unset = UNSET
    state_updated: datetime.datetime | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        active = self.active

        deferred = self.deferred

        id = self.id

        locked = self.locked

        scheduled = self.scheduled

        holder = self.holder

        locked_until: str | Unset = UNSET
        if not isinstance(self.locked_until, Unset):
            locked_until = self.locked_until.isoformat()

        state_bytes = self.state_bytes

        state_updated: str | Unset = UNSET
        if not isinstance(self.state_updated, Unset):
            state_updated = self.state_updated.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "active": active,
            "deferred": deferred,
            "id": id,
            "locked": locked,
            "scheduled": scheduled,
        })
        if holder is not UNSET:
            field_dict["holder"] = holder
        if locked_until is not UNSET:
            field_dict["lockedUntil"] = locked_until
        if state_bytes is not UNSET:
            field_dict["stateBytes"] = state_bytes
        if state_updated is not UNSET:
            field_dict["stateUpdated"] = state_updated

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        active = d.pop("active")

        deferred = d.pop("deferred")

        id = d.pop("id")

        locked = d.pop("locked")

        scheduled = d.pop("scheduled")

        holder = d.pop("holder", UNSET)

        _locked_until = d.pop("lockedUntil", UNSET)
        locked_until: datetime.datetime | Unset
        if isinstance(_locked_until,  Unset):
            locked_until = UNSET
        else:
            locked_until = datetime.datetime.fromisoformat(_locked_until)




        state_bytes = d.pop("stateBytes", UNSET)

        _state_updated = d.pop("stateUpdated", UNSET)
        state_updated: datetime.datetime | Unset
        if isinstance(_state_updated,  Unset):
            state_updated = UNSET
        else:
            state_updated = datetime.datetime.fromisoformat(_state_updated)




        session = cls(
            active=active,
            deferred=deferred,
            id=id,
            locked=locked,
            scheduled=scheduled,
            holder=holder,
            locked_until=locked_until,
            state_bytes=state_bytes,
            state_updated=state_updated,
        )

        return session


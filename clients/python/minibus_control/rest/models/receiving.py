from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.receiving_mode import ReceivingMode
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Receiving")



@_attrs_define
class Receiving:
    """ 
        Attributes:
            max_ (int | Unset): The most messages. With 16 MiB of messages there come no more Default: 1.
            mode (ReceivingMode | Unset):  Default: ReceivingMode.PEEKLOCK.
            next_session (bool | Unset): The next session that is free, instead of session
            sequence_numbers (list[int] | Unset): Deferred messages, all or none, instead of active ones. Several have at
                most 16 MiB together
            session (str | Unset): The id of the session, on an entity that requires sessions
            session_token (str | Unset): The token of session, which an earlier receive has locked, to go on receiving from
                it
            wait (str | Unset): How long to wait for the first one, at most 60s Default: '0s'.
     """

    max_: int | Unset = 1
    mode: ReceivingMode | Unset = ReceivingMode.PEEKLOCK
    next_session: bool | Unset = UNSET
    sequence_numbers: list[int] | Unset = UNSET
    session: str | Unset = UNSET
    session_token: str | Unset = UNSET
    wait: str | Unset = '0s'





    def to_dict(self) -> dict[str, Any]:
        max_ = self.max_

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode.value


        next_session = self.next_session

        sequence_numbers: list[int] | Unset = UNSET
        if not isinstance(self.sequence_numbers, Unset):
            sequence_numbers = self.sequence_numbers



        session = self.session

        session_token = self.session_token

        wait = self.wait


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if max_ is not UNSET:
            field_dict["max"] = max_
        if mode is not UNSET:
            field_dict["mode"] = mode
        if next_session is not UNSET:
            field_dict["nextSession"] = next_session
        if sequence_numbers is not UNSET:
            field_dict["sequenceNumbers"] = sequence_numbers
        if session is not UNSET:
            field_dict["session"] = session
        if session_token is not UNSET:
            field_dict["sessionToken"] = session_token
        if wait is not UNSET:
            field_dict["wait"] = wait

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        max_ = d.pop("max", UNSET)

        _mode = d.pop("mode", UNSET)
        mode: ReceivingMode | Unset
        if isinstance(_mode,  Unset):
            mode = UNSET
        else:
            mode = ReceivingMode(_mode)




        next_session = d.pop("nextSession", UNSET)

        sequence_numbers = cast(list[int], d.pop("sequenceNumbers", UNSET))


        session = d.pop("session", UNSET)

        session_token = d.pop("sessionToken", UNSET)

        wait = d.pop("wait", UNSET)

        receiving = cls(
            max_=max_,
            mode=mode,
            next_session=next_session,
            sequence_numbers=sequence_numbers,
            session=session,
            session_token=session_token,
            wait=wait,
        )

        return receiving


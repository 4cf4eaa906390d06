from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.held_session import HeldSession
  from ..models.message import Message





T = TypeVar("T", bound="Receipt")



@_attrs_define
class Receipt:
    """ 
        Attributes:
            messages (list[Message]): None, if none came in time
            session (HeldSession | Unset):
     """

    messages: list[Message]
    session: HeldSession | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.held_session import HeldSession # noqa: PLC0415
        from ..models.message import Message # noqa: PLC0415
        messages = []
        for messages_item_data in self.messages:
            messages_item = messages_item_data.to_dict()
            messages.append(messages_item)



        session: dict[str, Any] | Unset = UNSET
        if not isinstance(self.session, Unset):
            session = self.session.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "messages": messages,
        })
        if session is not UNSET:
            field_dict["session"] = session

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.held_session import HeldSession # noqa: PLC0415
        from ..models.message import Message # noqa: PLC0415
        d = dict(src_dict)
        messages = []
        _messages = d.pop("messages")
        for messages_item_data in (_messages):
            messages_item = Message.from_dict(messages_item_data)



            messages.append(messages_item)


        _session = d.pop("session", UNSET)
        session: HeldSession | Unset
        if isinstance(_session,  Unset):
            session = UNSET
        else:
            session = HeldSession.from_dict(_session)




        receipt = cls(
            messages=messages,
            session=session,
        )

        return receipt


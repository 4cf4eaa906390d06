from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.link_mode import LinkMode
from ..models.link_role import LinkRole
from ..models.link_sub_queue import LinkSubQueue
from ..models.link_waits_for import LinkWaitsFor
from ..types import UNSET, Unset
from typing import cast
import datetime






T = TypeVar("T", bound="Link")



@_attrs_define
class Link:
    """ 
        Attributes:
            address (str): What the link is attached to: the path of an entity with its sub-queue, its $management, $cbs, or
                coordinator
            credit (int): How many more messages the receiving side takes: of a receiver the client, of a sender Minibus
            deliveries (int): Messages so far
            id (int): Its number on the connection
            last_active (datetime.datetime): When there was traffic last
            role (LinkRole): Of the client
            session_window (int): How many more frames with messages the AMQP session of the link takes in this direction
            since (datetime.datetime):
            unsettled (int): Of a receiver: messages that the client has and has not settled; of a sender: those that are
                being stored
            waits_for (LinkWaitsFor): message: one to receive, or from the client; credit: the client asks for none, or
                Minibus takes none now; session: a free one; window: the client's AMQP session is closed; settlement: the client
                must settle some first; reading: the client does not read; journal: something is being written; detach: the link
                is ending; fault: a fault starves it
            entity (str | Unset): The entity
            mode (LinkMode | Unset): Of a receiver of messages
            name (str | Unset): As the client chose it
            session_id (str | Unset): The session that the receiver holds
            session_locked_until (datetime.datetime | Unset):
            sub_queue (LinkSubQueue | Unset): None: its main queue
     """

    address: str
    credit: int
    deliveries: int
    id: int
    last_active: datetime.datetime
    role: LinkRole
    session_window: int
    since: datetime.datetime
    unsettled: int
    waits_for: LinkWaitsFor
    entity: str | Unset = UNSET
    mode: LinkMode | Unset = UNSET
    name: str | Unset = UNSET
    session_id: str | Unset = UNSET
    session_locked_until: datetime.datetime | Unset = UNSET
    sub_queue: LinkSubQueue | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        address = self.address

        credit = self.credit

        deliveries = self.deliveries

        id = self.id

        last_active = self.last_active.isoformat()

        role = self.role.value

        session_window = self.session_window

        since = self.since.isoformat()

        unsettled = self.unsettled

        waits_for = self.waits_for.value

        entity = self.entity

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode.value


        name = self.name

        session_id = self.session_id

        session_locked_until: str | Unset = UNSET
        if not isinstance(self.session_locked_until, Unset):
            session_locked_until = self.session_locked_until.isoformat()

        sub_queue: str | Unset = UNSET
        if not isinstance(self.sub_queue, Unset):
            sub_queue = self.sub_queue.value



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "address": address,
            "credit": credit,
            "deliveries": deliveries,
            "id": id,
            "lastActive": last_active,
            "role": role,
            "sessionWindow": session_window,
            "since": since,
            "unsettled": unsettled,
            "waitsFor": waits_for,
        })
        if entity is not UNSET:
            field_dict["entity"] = entity
        if mode is not UNSET:
            field_dict["mode"] = mode
        if name is not UNSET:
            field_dict["name"] = name
        if session_id is not UNSET:
            field_dict["sessionId"] = session_id
        if session_locked_until is not UNSET:
            field_dict["sessionLockedUntil"] = session_locked_until
        if sub_queue is not UNSET:
            field_dict["subQueue"] = sub_queue

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        address = d.pop("address")

        credit = d.pop("credit")

        deliveries = d.pop("deliveries")

        id = d.pop("id")

        last_active = datetime.datetime.fromisoformat(d.pop("lastActive"))




        role = LinkRole(d.pop("role"))




        session_window = d.pop("sessionWindow")

        since = datetime.datetime.fromisoformat(d.pop("since"))




        unsettled = d.pop("unsettled")

        waits_for = LinkWaitsFor(d.pop("waitsFor"))




        entity = d.pop("entity", UNSET)

        _mode = d.pop("mode", UNSET)
        mode: LinkMode | Unset
        if isinstance(_mode,  Unset):
            mode = UNSET
        else:
            mode = LinkMode(_mode)




        name = d.pop("name", UNSET)

        session_id = d.pop("sessionId", UNSET)

        _session_locked_until = d.pop("sessionLockedUntil", UNSET)
        session_locked_until: datetime.datetime | Unset
        if isinstance(_session_locked_until,  Unset):
            session_locked_until = UNSET
        else:
            session_locked_until = datetime.datetime.fromisoformat(_session_locked_until)




        _sub_queue = d.pop("subQueue", UNSET)
        sub_queue: LinkSubQueue | Unset
        if isinstance(_sub_queue,  Unset):
            sub_queue = UNSET
        else:
            sub_queue = LinkSubQueue(_sub_queue)




        link = cls(
            address=address,
            credit=credit,
            deliveries=deliveries,
            id=id,
            last_active=last_active,
            role=role,
            session_window=session_window,
            since=since,
            unsettled=unsettled,
            waits_for=waits_for,
            entity=entity,
            mode=mode,
            name=name,
            session_id=session_id,
            session_locked_until=session_locked_until,
            sub_queue=sub_queue,
        )

        return link


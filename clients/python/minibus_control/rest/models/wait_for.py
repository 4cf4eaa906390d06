from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.condition import Condition
  from ..models.events_awaited import EventsAwaited
  from ..models.message_awaited import MessageAwaited





T = TypeVar("T", bound="WaitFor")



@_attrs_define
class WaitFor:
    """ 
        Attributes:
            counts (list[Condition] | Unset):
            entity (str | Unset): Of counts and idle
            events (EventsAwaited | Unset):
            idle (bool | Unset): No message of the entity is available or locked, or waits to be forwarded
            message (MessageAwaited | Unset):
            timeout_seconds (float | Unset): How long to wait; none: 30
     """

    counts: list[Condition] | Unset = UNSET
    entity: str | Unset = UNSET
    events: EventsAwaited | Unset = UNSET
    idle: bool | Unset = UNSET
    message: MessageAwaited | Unset = UNSET
    timeout_seconds: float | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.condition import Condition # noqa: PLC0415
        from ..models.events_awaited import EventsAwaited # noqa: PLC0415
        from ..models.message_awaited import MessageAwaited # noqa: PLC0415
        counts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.counts, Unset):
            counts = []
            for counts_item_data in self.counts:
                counts_item = counts_item_data.to_dict()
                counts.append(counts_item)



        entity = self.entity

        events: dict[str, Any] | Unset = UNSET
        if not isinstance(self.events, Unset):
            events = self.events.to_dict()

        idle = self.idle

        message: dict[str, Any] | Unset = UNSET
        if not isinstance(self.message, Unset):
            message = self.message.to_dict()

        timeout_seconds = self.timeout_seconds


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if counts is not UNSET:
            field_dict["counts"] = counts
        if entity is not UNSET:
            field_dict["entity"] = entity
        if events is not UNSET:
            field_dict["events"] = events
        if idle is not UNSET:
            field_dict["idle"] = idle
        if message is not UNSET:
            field_dict["message"] = message
        if timeout_seconds is not UNSET:
            field_dict["timeoutSeconds"] = timeout_seconds

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.condition import Condition # noqa: PLC0415
        from ..models.events_awaited import EventsAwaited # noqa: PLC0415
        from ..models.message_awaited import MessageAwaited # noqa: PLC0415
        d = dict(src_dict)
        _counts = d.pop("counts", UNSET)
        counts: list[Condition] | Unset = UNSET
        if _counts is not UNSET:
            counts = []
            for counts_item_data in _counts:
                counts_item = Condition.from_dict(counts_item_data)



                counts.append(counts_item)


        entity = d.pop("entity", UNSET)

        _events = d.pop("events", UNSET)
        events: EventsAwaited | Unset
        if isinstance(_events,  Unset):
            events = UNSET
        else:
            events = EventsAwaited.from_dict(_events)




        idle = d.pop("idle", UNSET)

        _message = d.pop("message", UNSET)
        message: MessageAwaited | Unset
        if isinstance(_message,  Unset):
            message = UNSET
        else:
            message = MessageAwaited.from_dict(_message)




        timeout_seconds = d.pop("timeoutSeconds", UNSET)

        wait_for = cls(
            counts=counts,
            entity=entity,
            events=events,
            idle=idle,
            message=message,
            timeout_seconds=timeout_seconds,
        )

        return wait_for


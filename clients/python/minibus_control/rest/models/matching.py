from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.subscription_matching import SubscriptionMatching





T = TypeVar("T", bound="Matching")



@_attrs_define
class Matching:
    """ 
        Attributes:
            duplicate (bool): The topic had a message with the id and would drop this one
            reached (list[str]): The names of the subscriptions that would get the message
            subscriptions (list[SubscriptionMatching]): All of the topic, or the one that was asked for, by name
            topic (str):
            refused (str | Unset): Why the topic would not take the message. The rest says what it would do otherwise
            scheduled_for (datetime.datetime | Unset): When the rules would be asked; none: at once
            unexplained (int | Unset): Rules that do not select the message and are left out, since there are too many
     """

    duplicate: bool
    reached: list[str]
    subscriptions: list[SubscriptionMatching]
    topic: str
    refused: str | Unset = UNSET
    scheduled_for: datetime.datetime | Unset = UNSET
    unexplained: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.subscription_matching import SubscriptionMatching # noqa: PLC0415
        duplicate = self.duplicate

        reached = self.reached



        subscriptions = []
        for subscriptions_item_data in self.subscriptions:
            subscriptions_item = subscriptions_item_data.to_dict()
            subscriptions.append(subscriptions_item)



        topic = self.topic

        refused = self.refused

        scheduled_for: str | Unset = UNSET
        if not isinstance(self.scheduled_for, Unset):
            scheduled_for = self.scheduled_for.isoformat()

        unexplained = self.unexplained


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "duplicate": duplicate,
            "reached": reached,
            "subscriptions": subscriptions,
            "topic": topic,
        })
        if refused is not UNSET:
            field_dict["refused"] = refused
        if scheduled_for is not UNSET:
            field_dict["scheduledFor"] = scheduled_for
        if unexplained is not UNSET:
            field_dict["unexplained"] = unexplained

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.subscription_matching import SubscriptionMatching # noqa: PLC0415
        d = dict(src_dict)
        duplicate = d.pop("duplicate")

        reached = cast(list[str], d.pop("reached"))


        subscriptions = []
        _subscriptions = d.pop("subscriptions")
        for subscriptions_item_data in (_subscriptions):
            subscriptions_item = SubscriptionMatching.from_dict(subscriptions_item_data)



            subscriptions.append(subscriptions_item)


        topic = d.pop("topic")

        refused = d.pop("refused", UNSET)

        _scheduled_for = d.pop("scheduledFor", UNSET)
        scheduled_for: datetime.datetime | Unset
        if isinstance(_scheduled_for,  Unset):
            scheduled_for = UNSET
        else:
            scheduled_for = datetime.datetime.fromisoformat(_scheduled_for)




        unexplained = d.pop("unexplained", UNSET)

        matching = cls(
            duplicate=duplicate,
            reached=reached,
            subscriptions=subscriptions,
            topic=topic,
            refused=refused,
            scheduled_for=scheduled_for,
            unexplained=unexplained,
        )

        return matching


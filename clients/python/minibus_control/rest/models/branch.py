from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.branch_kind import BranchKind
from ..models.branch_status import BranchStatus
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.counts import Counts
  from ..models.leaf import Leaf
  from ..models.traffic import Traffic





T = TypeVar("T", bound="Branch")



@_attrs_define
class Branch:
    """ 
        Attributes:
            counts (Counts):
            kind (BranchKind):
            path (str):
            status (BranchStatus):
            traffic (Traffic):
            forward_dead_lettered_messages_to (str | Unset):
            forward_to (str | Unset):
            subscriptions (list[Leaf] | Unset): Of a topic, by name
     """

    counts: Counts
    kind: BranchKind
    path: str
    status: BranchStatus
    traffic: Traffic
    forward_dead_lettered_messages_to: str | Unset = UNSET
    forward_to: str | Unset = UNSET
    subscriptions: list[Leaf] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.leaf import Leaf # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        counts = self.counts.to_dict()

        kind = self.kind.value

        path = self.path

        status = self.status.value

        traffic = self.traffic.to_dict()

        forward_dead_lettered_messages_to = self.forward_dead_lettered_messages_to

        forward_to = self.forward_to

        subscriptions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.subscriptions, Unset):
            subscriptions = []
            for subscriptions_item_data in self.subscriptions:
                subscriptions_item = subscriptions_item_data.to_dict()
                subscriptions.append(subscriptions_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
            "counts": counts,
            "kind": kind,
            "path": path,
            "status": status,
            "traffic": traffic,
        })
        if forward_dead_lettered_messages_to is not UNSET:
            field_dict["forwardDeadLetteredMessagesTo"] = forward_dead_lettered_messages_to
        if forward_to is not UNSET:
            field_dict["forwardTo"] = forward_to
        if subscriptions is not UNSET:
            field_dict["subscriptions"] = subscriptions

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.leaf import Leaf # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        d = dict(src_dict)
        counts = Counts.from_dict(d.pop("counts"))




        kind = BranchKind(d.pop("kind"))




        path = d.pop("path")

        status = BranchStatus(d.pop("status"))




        traffic = Traffic.from_dict(d.pop("traffic"))




        forward_dead_lettered_messages_to = d.pop("forwardDeadLetteredMessagesTo", UNSET)

        forward_to = d.pop("forwardTo", UNSET)

        _subscriptions = d.pop("subscriptions", UNSET)
        subscriptions: list[Leaf] | Unset = UNSET
        if _subscriptions is not UNSET:
            subscriptions = []
            for subscriptions_item_data in _subscriptions:
                subscriptions_item = Leaf.from_dict(subscriptions_item_data)



                subscriptions.append(subscriptions_item)


        branch = cls(
            counts=counts,
            kind=kind,
            path=path,
            status=status,
            traffic=traffic,
            forward_dead_lettered_messages_to=forward_dead_lettered_messages_to,
            forward_to=forward_to,
            subscriptions=subscriptions,
        )

        return branch


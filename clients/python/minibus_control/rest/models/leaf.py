from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.leaf_kind import LeafKind
from ..models.leaf_status import LeafStatus
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.counts import Counts
  from ..models.traffic import Traffic





T = TypeVar("T", bound="Leaf")



@_attrs_define
class Leaf:
    """ 
        Attributes:
            counts (Counts):
            kind (LeafKind):
            name (str):
            path (str):
            rules (list[str]): The names of its rules
            status (LeafStatus):
            traffic (Traffic):
            forward_dead_lettered_messages_to (str | Unset):
            forward_to (str | Unset):
     """

    counts: Counts
    kind: LeafKind
    name: str
    path: str
    rules: list[str]
    status: LeafStatus
    traffic: Traffic
    forward_dead_lettered_messages_to: str | Unset = UNSET
    forward_to: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        counts = self.counts.to_dict()

        kind = self.kind.value

        name = self.name

        path = self.path

        rules = self.rules



        status = self.status.value

        traffic = self.traffic.to_dict()

        forward_dead_lettered_messages_to = self.forward_dead_lettered_messages_to

        forward_to = self.forward_to


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "counts": counts,
            "kind": kind,
            "name": name,
            "path": path,
            "rules": rules,
            "status": status,
            "traffic": traffic,
        })
        if forward_dead_lettered_messages_to is not UNSET:
            field_dict["forwardDeadLetteredMessagesTo"] = forward_dead_lettered_messages_to
        if forward_to is not UNSET:
            field_dict["forwardTo"] = forward_to

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        d = dict(src_dict)
        counts = Counts.from_dict(d.pop("counts"))




        kind = LeafKind(d.pop("kind"))




        name = d.pop("name")

        path = d.pop("path")

        rules = cast(list[str], d.pop("rules"))


        status = LeafStatus(d.pop("status"))




        traffic = Traffic.from_dict(d.pop("traffic"))




        forward_dead_lettered_messages_to = d.pop("forwardDeadLetteredMessagesTo", UNSET)

        forward_to = d.pop("forwardTo", UNSET)

        leaf = cls(
            counts=counts,
            kind=kind,
            name=name,
            path=path,
            rules=rules,
            status=status,
            traffic=traffic,
            forward_dead_lettered_messages_to=forward_dead_lettered_messages_to,
            forward_to=forward_to,
        )

        return leaf


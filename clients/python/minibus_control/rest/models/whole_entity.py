from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.whole_entity_kind import WholeEntityKind
from ..models.whole_entity_status import WholeEntityStatus
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.auto_delete import AutoDelete
  from ..models.counts import Counts
  from ..models.entity_properties import EntityProperties
  from ..models.entity_rule import EntityRule
  from ..models.forwarding import Forwarding
  from ..models.oldest_message import OldestMessage
  from ..models.traffic import Traffic





T = TypeVar("T", bound="WholeEntity")



@_attrs_define
class WholeEntity:
    """ 
        Attributes:
            counts (Counts):
            created (datetime.datetime):
            forwarded_from (list[Forwarding]): Entities that forward to this one
            forwards_to (list[Forwarding]):
            kind (WholeEntityKind):
            path (str):
            properties (EntityProperties): Settings by their names in Config.json. Not every kind of entity has all of them
            status (WholeEntityStatus):
            traffic (Traffic):
            updated (datetime.datetime): When its settings or rules were changed last
            accessed (datetime.datetime | Unset): When it was used last since the process started
            auto_delete (AutoDelete | Unset):
            oldest (OldestMessage | Unset):
            rules (list[EntityRule] | Unset): Of a subscription, by name. Without rules it takes nothing
            sessions (int | Unset): Of an entity with sessions: those with messages, a state or a lock
            subscriptions (int | Unset): Of a topic
     """

    counts: Counts
    created: datetime.datetime
    forwarded_from: list[Forwarding]
    forwards_to: list[Forwarding]
    kind: WholeEntityKind
    path: str
    properties: EntityProperties
    status: WholeEntityStatus
    traffic: Traffic
    updated: datetime.datetime
    accessed: datetime.datetime | Unset = UNSET
    auto_delete: AutoDelete | Unset = UNSET
    oldest: OldestMessage | Unset = UNSET
    rules: list[EntityRule] | Unset = UNSET
    sessions: int | Unset = UNSET
    subscriptions: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.auto_delete import AutoDelete # noqa: PLC0415
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        from ..models.entity_rule import EntityRule # noqa: PLC0415
        from ..models.forwarding import Forwarding # noqa: PLC0415
        from ..models.oldest_message import OldestMessage # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        counts = self.counts.to_dict()

        created = self.created.isoformat()

        forwarded_from = []
        for forwarded_from_item_data in self.forwarded_from:
            forwarded_from_item = forwarded_from_item_data.to_dict()
            forwarded_from.append(forwarded_from_item)



        forwards_to = []
        for forwards_to_item_data in self.forwards_to:
            forwards_to_item = forwards_to_item_data.to_dict()
            forwards_to.append(forwards_to_item)



        kind = self.kind.value

        path = self.path

        properties = self.properties.to_dict()

        status = self.status.value

        traffic = self.traffic.to_dict()

        updated = self.updated.isoformat()

        accessed: str | Unset = UNSET
        if not isinstance(self.accessed, Unset):
            accessed = self.accessed.isoformat()

        auto_delete: dict[str, Any] | Unset = UNSET
        if not isinstance(self.auto_delete, Unset):
            auto_delete = self.auto_delete.to_dict()

        oldest: dict[str, Any] | Unset = UNSET
        if not isinstance(self.oldest, Unset):
            oldest = self.oldest.to_dict()

        rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rules, Unset):
            rules = []
            for rules_item_data in self.rules:
                rules_item = rules_item_data.to_dict()
                rules.append(rules_item)



        sessions = self.sessions

        subscriptions = self.subscriptions


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "counts": counts,
            "created": created,
            "forwardedFrom": forwarded_from,
            "forwardsTo": forwards_to,
            "kind": kind,
            "path": path,
            "properties": properties,
            "status": status,
            "traffic": traffic,
            "updated": updated,
        })
        if accessed is not UNSET:
            field_dict["accessed"] = accessed
        if auto_delete is not UNSET:
            field_dict["autoDelete"] = auto_delete
        if oldest is not UNSET:
            field_dict["oldest"] = oldest
        if rules is not UNSET:
            field_dict["rules"] = rules
        if sessions is not UNSET:
            field_dict["sessions"] = sessions
        if subscriptions is not UNSET:
            field_dict["subscriptions"] = subscriptions

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.auto_delete import AutoDelete # noqa: PLC0415
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.entity_properties import EntityProperties # noqa: PLC0415
        from ..models.entity_rule import EntityRule # noqa: PLC0415
        from ..models.forwarding import Forwarding # noqa: PLC0415
        from ..models.oldest_message import OldestMessage # noqa: PLC0415
        from ..models.traffic import Traffic # noqa: PLC0415
        d = dict(src_dict)
        counts = Counts.from_dict(d.pop("counts"))




        created = datetime.datetime.fromisoformat(d.pop("created"))




        forwarded_from = []
        _forwarded_from = d.pop("forwardedFrom")
        for forwarded_from_item_data in (_forwarded_from):
            forwarded_from_item = Forwarding.from_dict(forwarded_from_item_data)



            forwarded_from.append(forwarded_from_item)


        forwards_to = []
        _forwards_to = d.pop("forwardsTo")
        for forwards_to_item_data in (_forwards_to):
            forwards_to_item = Forwarding.from_dict(forwards_to_item_data)



            forwards_to.append(forwards_to_item)


        kind = WholeEntityKind(d.pop("kind"))




        path = d.pop("path")

        properties = EntityProperties.from_dict(d.pop("properties"))




        status = WholeEntityStatus(d.pop("status"))




        traffic = Traffic.from_dict(d.pop("traffic"))




        updated = datetime.datetime.fromisoformat(d.pop("updated"))




        _accessed = d.pop("accessed", UNSET)
        accessed: datetime.datetime | Unset
        if isinstance(_accessed,  Unset):
            accessed = UNSET
        else:
            accessed = datetime.datetime.fromisoformat(_accessed)




        _auto_delete = d.pop("autoDelete", UNSET)
        auto_delete: AutoDelete | Unset
        if isinstance(_auto_delete,  Unset):
            auto_delete = UNSET
        else:
            auto_delete = AutoDelete.from_dict(_auto_delete)




        _oldest = d.pop("oldest", UNSET)
        oldest: OldestMessage | Unset
        if isinstance(_oldest,  Unset):
            oldest = UNSET
        else:
            oldest = OldestMessage.from_dict(_oldest)




        _rules = d.pop("rules", UNSET)
        rules: list[EntityRule] | Unset = UNSET
        if _rules is not UNSET:
            rules = []
            for rules_item_data in _rules:
                rules_item = EntityRule.from_dict(rules_item_data)



                rules.append(rules_item)


        sessions = d.pop("sessions", UNSET)

        subscriptions = d.pop("subscriptions", UNSET)

        whole_entity = cls(
            counts=counts,
            created=created,
            forwarded_from=forwarded_from,
            forwards_to=forwards_to,
            kind=kind,
            path=path,
            properties=properties,
            status=status,
            traffic=traffic,
            updated=updated,
            accessed=accessed,
            auto_delete=auto_delete,
            oldest=oldest,
            rules=rules,
            sessions=sessions,
            subscriptions=subscriptions,
        )

        return whole_entity


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.limits import Limits
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem
  from ..models.queue import Queue
  from ..models.topic import Topic





T = TypeVar("T", bound="NamespaceCreation")



@_attrs_define
class NamespaceCreation:
    """ 
        Attributes:
            name (str | Unset): 6 to 50 letters, digits and hyphens; begins with a letter. Empty: one is made up
            limits (Limits | Unset): A profile of limits, as of --limits
            port (int | Unset): A port of its own; 0: one of --namespace-ports
            aliases (list[str] | Unset): Names of hosts that mean the namespace. No addresses, not localhost, and none under
                a domain where the host is the name of a namespace
            authorization_rules (list[NamespaceCreationAuthorizationRulesItem] | Unset): Without any the namespace gets
                RootManageSharedAccessKey with keys of its own
            queues (list[Queue] | Unset): In the form of Config.json
            topics (list[Topic] | Unset): In the form of Config.json
     """

    name: str | Unset = UNSET
    limits: Limits | Unset = UNSET
    port: int | Unset = UNSET
    aliases: list[str] | Unset = UNSET
    authorization_rules: list[NamespaceCreationAuthorizationRulesItem] | Unset = UNSET
    queues: list[Queue] | Unset = UNSET
    topics: list[Topic] | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem # noqa: PLC0415
        from ..models.queue import Queue # noqa: PLC0415
        from ..models.topic import Topic # noqa: PLC0415
        name = self.name

        limits: str | Unset = UNSET
        if not isinstance(self.limits, Unset):
            limits = self.limits.value


        port = self.port

        aliases: list[str] | Unset = UNSET
        if not isinstance(self.aliases, Unset):
            aliases = self.aliases



        authorization_rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.authorization_rules, Unset):
            authorization_rules = []
            for authorization_rules_item_data in self.authorization_rules:
                authorization_rules_item = authorization_rules_item_data.to_dict()
                authorization_rules.append(authorization_rules_item)



        queues: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.queues, Unset):
            queues = []
            for queues_item_data in self.queues:
                queues_item = queues_item_data.to_dict()
                queues.append(queues_item)



        topics: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.topics, Unset):
            topics = []
            for topics_item_data in self.topics:
                topics_item = topics_item_data.to_dict()
                topics.append(topics_item)




        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if name is not UNSET:
            field_dict["name"] = name
        if limits is not UNSET:
            field_dict["limits"] = limits
        if port is not UNSET:
            field_dict["port"] = port
        if aliases is not UNSET:
            field_dict["aliases"] = aliases
        if authorization_rules is not UNSET:
            field_dict["authorizationRules"] = authorization_rules
        if queues is not UNSET:
            field_dict["Queues"] = queues
        if topics is not UNSET:
            field_dict["Topics"] = topics

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.namespace_creation_authorization_rules_item import NamespaceCreationAuthorizationRulesItem # noqa: PLC0415
        from ..models.queue import Queue # noqa: PLC0415
        from ..models.topic import Topic # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name", UNSET)

        _limits = d.pop("limits", UNSET)
        limits: Limits | Unset
        if isinstance(_limits,  Unset):
            limits = UNSET
        else:
            limits = Limits(_limits)




        port = d.pop("port", UNSET)

        aliases = cast(list[str], d.pop("aliases", UNSET))


        _authorization_rules = d.pop("authorizationRules", UNSET)
        authorization_rules: list[NamespaceCreationAuthorizationRulesItem] | Unset = UNSET
        if _authorization_rules is not UNSET:
            authorization_rules = []
            for authorization_rules_item_data in _authorization_rules:
                authorization_rules_item = NamespaceCreationAuthorizationRulesItem.from_dict(authorization_rules_item_data)



                authorization_rules.append(authorization_rules_item)


        _queues = d.pop("Queues", UNSET)
        queues: list[Queue] | Unset = UNSET
        if _queues is not UNSET:
            queues = []
            for queues_item_data in _queues:
                queues_item = Queue.from_dict(queues_item_data)



                queues.append(queues_item)


        _topics = d.pop("Topics", UNSET)
        topics: list[Topic] | Unset = UNSET
        if _topics is not UNSET:
            topics = []
            for topics_item_data in _topics:
                topics_item = Topic.from_dict(topics_item_data)



                topics.append(topics_item)


        namespace_creation = cls(
            name=name,
            limits=limits,
            port=port,
            aliases=aliases,
            authorization_rules=authorization_rules,
            queues=queues,
            topics=topics,
        )

        return namespace_creation


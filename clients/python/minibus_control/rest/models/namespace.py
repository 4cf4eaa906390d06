from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.namespace_limits import NamespaceLimits
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.connection_string import ConnectionString





T = TypeVar("T", bound="Namespace")



@_attrs_define
class Namespace:
    """ 
        Attributes:
            connection_string (str): That of RootManageSharedAccessKey, else of a policy with the Manage right, else of the
                first policy
            connection_strings (list[ConnectionString]): Those of all policies
            created (datetime.datetime):
            default (bool): Whether what names no namespace means this one
            limits (NamespaceLimits): A profile of limits, as of --limits
            name (str):
            aliases (list[str] | Unset): Other names of hosts that mean it
            port (int | Unset): Its own port, if it has one; it takes AMQP, TLS and HTTP
     """

    connection_string: str
    connection_strings: list[ConnectionString]
    created: datetime.datetime
    default: bool
    limits: NamespaceLimits
    name: str
    aliases: list[str] | Unset = UNSET
    port: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.connection_string import ConnectionString # noqa: PLC0415
        connection_string = self.connection_string

        connection_strings = []
        for connection_strings_item_data in self.connection_strings:
            connection_strings_item = connection_strings_item_data.to_dict()
            connection_strings.append(connection_strings_item)



        created = self.created.isoformat()

        default = self.default

        limits = self.limits.value

        name = self.name

        aliases: list[str] | Unset = UNSET
        if not isinstance(self.aliases, Unset):
            aliases = self.aliases



        port = self.port


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "connectionString": connection_string,
            "connectionStrings": connection_strings,
            "created": created,
            "default": default,
            "limits": limits,
            "name": name,
        })
        if aliases is not UNSET:
            field_dict["aliases"] = aliases
        if port is not UNSET:
            field_dict["port"] = port

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.connection_string import ConnectionString # noqa: PLC0415
        d = dict(src_dict)
        connection_string = d.pop("connectionString")

        connection_strings = []
        _connection_strings = d.pop("connectionStrings")
        for connection_strings_item_data in (_connection_strings):
            connection_strings_item = ConnectionString.from_dict(connection_strings_item_data)



            connection_strings.append(connection_strings_item)


        created = datetime.datetime.fromisoformat(d.pop("created"))




        default = d.pop("default")

        limits = NamespaceLimits(d.pop("limits"))




        name = d.pop("name")

        aliases = cast(list[str], d.pop("aliases", UNSET))


        port = d.pop("port", UNSET)

        namespace = cls(
            connection_string=connection_string,
            connection_strings=connection_strings,
            created=created,
            default=default,
            limits=limits,
            name=name,
            aliases=aliases,
            port=port,
        )

        return namespace


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.connection_transport import ConnectionTransport
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.link import Link





T = TypeVar("T", bound="Connection")



@_attrs_define
class Connection:
    """ 
        Attributes:
            busy (bool): The connection did not answer within a quarter of a second: its links, policies and pendingBytes
                are not known
            ending (bool): One of the sides has closed it
            id (str): c1 and so on, as in the log; of HTTP requests http: and the address
            links (list[Link]):
            pending_bytes (int): What waits until the client reads
            policies (list[str]): The policies whose tokens or keys the client has shown; empty without --auth sas
            remote (str): The client's address
            since (datetime.datetime):
            transport (ConnectionTransport):
            container (str | Unset): The client's name for itself: its application id, or else its AMQP container id
            host (str | Unset): The host that the client has named
            platform (str | Unset): On which the client runs
            product (str | Unset): The client library
            version (str | Unset): Of the client library
     """

    busy: bool
    ending: bool
    id: str
    links: list[Link]
    pending_bytes: int
    policies: list[str]
    remote: str
    since: datetime.datetime
    transport: ConnectionTransport
    container: str | Unset = UNSET
    host: str | Unset = UNSET
    platform: str | Unset = UNSET
    product: str | Unset = UNSET
    version: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.link import Link # noqa: PLC0415
        busy = self.busy

        ending = self.ending

        id = self.id

        links = []
        for links_item_data in self.links:
            links_item = links_item_data.to_dict()
            links.append(links_item)



        pending_bytes = self.pending_bytes

        policies = self.policies



        remote = self.remote

        since = self.since.isoformat()

        transport = self.transport.value

        container = self.container

        host = self.host

        platform = self.platform

        product = self.product

        version = self.version


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "busy": busy,
            "ending": ending,
            "id": id,
            "links": links,
            "pendingBytes": pending_bytes,
            "policies": policies,
            "remote": remote,
            "since": since,
            "transport": transport,
        })
        if container is not UNSET:
            field_dict["container"] = container
        if host is not UNSET:
            field_dict["host"] = host
        if platform is not UNSET:
            field_dict["platform"] = platform
        if product is not UNSET:
            field_dict["product"] = product
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.link import Link # noqa: PLC0415
        d = dict(src_dict)
        busy = d.pop("busy")

        ending = d.pop("ending")

        id = d.pop("id")

        links = []
        _links = d.pop("links")
        for links_item_data in (_links):
            links_item = Link.from_dict(links_item_data)



            links.append(links_item)


        pending_bytes = d.pop("pendingBytes")

        policies = cast(list[str], d.pop("policies"))


        remote = d.pop("remote")

        since = datetime.datetime.fromisoformat(d.pop("since"))




        transport = ConnectionTransport(d.pop("transport"))




        container = d.pop("container", UNSET)

        host = d.pop("host", UNSET)

        platform = d.pop("platform", UNSET)

        product = d.pop("product", UNSET)

        version = d.pop("version", UNSET)

        connection = cls(
            busy=busy,
            ending=ending,
            id=id,
            links=links,
            pending_bytes=pending_bytes,
            policies=policies,
            remote=remote,
            since=since,
            transport=transport,
            container=container,
            host=host,
            platform=platform,
            product=product,
            version=version,
        )

        return connection


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset






T = TypeVar("T", bound="Client")



@_attrs_define
class Client:
    """ 
        Attributes:
            remote (str):
            connection (str | Unset): As in connections; none of HTTP requests
            container (str | Unset):
            link (str | Unset):
            product (str | Unset):
     """

    remote: str
    connection: str | Unset = UNSET
    container: str | Unset = UNSET
    link: str | Unset = UNSET
    product: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        remote = self.remote

        connection = self.connection

        container = self.container

        link = self.link

        product = self.product


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "remote": remote,
        })
        if connection is not UNSET:
            field_dict["connection"] = connection
        if container is not UNSET:
            field_dict["container"] = container
        if link is not UNSET:
            field_dict["link"] = link
        if product is not UNSET:
            field_dict["product"] = product

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        remote = d.pop("remote")

        connection = d.pop("connection", UNSET)

        container = d.pop("container", UNSET)

        link = d.pop("link", UNSET)

        product = d.pop("product", UNSET)

        client = cls(
            remote=remote,
            connection=connection,
            container=container,
            link=link,
            product=product,
        )

        return client


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.job_filter import JobFilter





T = TypeVar("T", bound="MessageAwaited")



@_attrs_define
class MessageAwaited:
    """ 
        Attributes:
            entity (str): Where it is: a path, with a sub-queue if that is meant
            filter_ (JobFilter | Unset):
     """

    entity: str
    filter_: JobFilter | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.job_filter import JobFilter # noqa: PLC0415
        entity = self.entity

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "entity": entity,
        })
        if filter_ is not UNSET:
            field_dict["filter"] = filter_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_filter import JobFilter # noqa: PLC0415
        d = dict(src_dict)
        entity = d.pop("entity")

        _filter_ = d.pop("filter", UNSET)
        filter_: JobFilter | Unset
        if isinstance(_filter_,  Unset):
            filter_ = UNSET
        else:
            filter_ = JobFilter.from_dict(_filter_)




        message_awaited = cls(
            entity=entity,
            filter_=filter_,
        )

        return message_awaited


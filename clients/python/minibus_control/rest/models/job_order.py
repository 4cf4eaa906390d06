from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.job_order_kind import JobOrderKind
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.job_edit import JobEdit
  from ..models.job_filter import JobFilter





T = TypeVar("T", bound="JobOrder")



@_attrs_define
class JobOrder:
    """ 
        Attributes:
            entity (str): Where the messages are: a path, with a sub-queue if that is meant. With resubmit, the dead-letter
                queue is meant if none is named
            kind (JobOrderKind): purge removes the messages, move moves them, resubmit moves dead letters without their
                reason, to their own entity unless target names another
            edit (JobEdit | Unset):
            filter_ (JobFilter | Unset):
            max_ (int | Unset): The most messages, the lowest sequence numbers first; none: all
            target (str | Unset): Where they go: the path of a queue or topic
     """

    entity: str
    kind: JobOrderKind
    edit: JobEdit | Unset = UNSET
    filter_: JobFilter | Unset = UNSET
    max_: int | Unset = UNSET
    target: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.job_edit import JobEdit # noqa: PLC0415
        from ..models.job_filter import JobFilter # noqa: PLC0415
        entity = self.entity

        kind = self.kind.value

        edit: dict[str, Any] | Unset = UNSET
        if not isinstance(self.edit, Unset):
            edit = self.edit.to_dict()

        filter_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filter_, Unset):
            filter_ = self.filter_.to_dict()

        max_ = self.max_

        target = self.target


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "entity": entity,
            "kind": kind,
        })
        if edit is not UNSET:
            field_dict["edit"] = edit
        if filter_ is not UNSET:
            field_dict["filter"] = filter_
        if max_ is not UNSET:
            field_dict["max"] = max_
        if target is not UNSET:
            field_dict["target"] = target

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_edit import JobEdit # noqa: PLC0415
        from ..models.job_filter import JobFilter # noqa: PLC0415
        d = dict(src_dict)
        entity = d.pop("entity")

        kind = JobOrderKind(d.pop("kind"))




        _edit = d.pop("edit", UNSET)
        edit: JobEdit | Unset
        if isinstance(_edit,  Unset):
            edit = UNSET
        else:
            edit = JobEdit.from_dict(_edit)




        _filter_ = d.pop("filter", UNSET)
        filter_: JobFilter | Unset
        if isinstance(_filter_,  Unset):
            filter_ = UNSET
        else:
            filter_ = JobFilter.from_dict(_filter_)




        max_ = d.pop("max", UNSET)

        target = d.pop("target", UNSET)

        job_order = cls(
            entity=entity,
            kind=kind,
            edit=edit,
            filter_=filter_,
            max_=max_,
            target=target,
        )

        return job_order


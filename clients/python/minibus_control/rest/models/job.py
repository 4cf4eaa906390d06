from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.job_kind import JobKind
from ..models.job_state import JobState
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.job_error import JobError





T = TypeVar("T", bound="Job")



@_attrs_define
class Job:
    """ 
        Attributes:
            done (int): Removed or moved
            entity (str): Where the messages are, with its sub-queue
            errors (list[JobError]): Of the first that failed, 20 at most
            examined (int):
            failed (int): Those that the target does not take; they are where they were
            id (int):
            kind (JobKind):
            skipped (int): Those that clients had locked, or took meanwhile
            started (datetime.datetime):
            state (JobState):
            total (int): Messages to look at: those that were there when the job began
            ended (datetime.datetime | Unset):
            target (str | Unset): Where they go
            why (str | Unset): Why the job failed, or ended before it was done
     """

    done: int
    entity: str
    errors: list[JobError]
    examined: int
    failed: int
    id: int
    kind: JobKind
    skipped: int
    started: datetime.datetime
    state: JobState
    total: int
    ended: datetime.datetime | Unset = UNSET
    target: str | Unset = UNSET
    why: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.job_error import JobError # noqa: PLC0415
        done = self.done

        entity = self.entity

        errors = []
        for errors_item_data in self.errors:
            errors_item = errors_item_data.to_dict()
            errors.append(errors_item)



        examined = self.examined

        failed = self.failed

        id = self.id

        kind = self.kind.value

        skipped = self.skipped

        started = self.started.isoformat()

        state = self.state.value

        total = self.total

        ended: str | Unset = UNSET
        if not isinstance(self.ended, Unset):
            ended = self.ended.isoformat()

        target = self.target

        why = self.why


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "done": done,
            "entity": entity,
            "errors": errors,
            "examined": examined,
            "failed": failed,
            "id": id,
            "kind": kind,
            "skipped": skipped,
            "started": started,
            "state": state,
            "total": total,
        })
        if ended is not UNSET:
            field_dict["ended"] = ended
        if target is not UNSET:
            field_dict["target"] = target
        if why is not UNSET:
            field_dict["why"] = why

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.job_error import JobError # noqa: PLC0415
        d = dict(src_dict)
        done = d.pop("done")

        entity = d.pop("entity")

        errors = []
        _errors = d.pop("errors")
        for errors_item_data in (_errors):
            errors_item = JobError.from_dict(errors_item_data)



            errors.append(errors_item)


        examined = d.pop("examined")

        failed = d.pop("failed")

        id = d.pop("id")

        kind = JobKind(d.pop("kind"))




        skipped = d.pop("skipped")

        started = datetime.datetime.fromisoformat(d.pop("started"))




        state = JobState(d.pop("state"))




        total = d.pop("total")

        _ended = d.pop("ended", UNSET)
        ended: datetime.datetime | Unset
        if isinstance(_ended,  Unset):
            ended = UNSET
        else:
            ended = datetime.datetime.fromisoformat(_ended)




        target = d.pop("target", UNSET)

        why = d.pop("why", UNSET)

        job = cls(
            done=done,
            entity=entity,
            errors=errors,
            examined=examined,
            failed=failed,
            id=id,
            kind=kind,
            skipped=skipped,
            started=started,
            state=state,
            total=total,
            ended=ended,
            target=target,
            why=why,
        )

        return job


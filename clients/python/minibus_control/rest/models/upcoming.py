from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.due_step import DueStep





T = TypeVar("T", bound="Upcoming")



@_attrs_define
class Upcoming:
    """ 
        Attributes:
            from_ (datetime.datetime): The beginning of the first step
            now (datetime.datetime): What the clock of the namespace shows
            steps (list[DueStep]): Those in which a message becomes active
            to (datetime.datetime): The end of the last step
            total (int): Scheduled messages, whenever they are due
            next_ (datetime.datetime | Unset): When the first of them becomes active; none if there is none
     """

    from_: datetime.datetime
    now: datetime.datetime
    steps: list[DueStep]
    to: datetime.datetime
    total: int
    next_: datetime.datetime | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.due_step import DueStep # noqa: PLC0415
        from_ = self.from_.isoformat()

        now = self.now.isoformat()

        steps = []
        for steps_item_data in self.steps:
            steps_item = steps_item_data.to_dict()
            steps.append(steps_item)



        to = self.to.isoformat()

        total = self.total

        next_: str | Unset = UNSET
        if not isinstance(self.next_, Unset):
            next_ = self.next_.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "from": from_,
            "now": now,
            "steps": steps,
            "to": to,
            "total": total,
        })
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.due_step import DueStep # noqa: PLC0415
        d = dict(src_dict)
        from_ = datetime.datetime.fromisoformat(d.pop("from"))




        now = datetime.datetime.fromisoformat(d.pop("now"))




        steps = []
        _steps = d.pop("steps")
        for steps_item_data in (_steps):
            steps_item = DueStep.from_dict(steps_item_data)



            steps.append(steps_item)


        to = datetime.datetime.fromisoformat(d.pop("to"))




        total = d.pop("total")

        _next_ = d.pop("next", UNSET)
        next_: datetime.datetime | Unset
        if isinstance(_next_,  Unset):
            next_ = UNSET
        else:
            next_ = datetime.datetime.fromisoformat(_next_)




        upcoming = cls(
            from_=from_,
            now=now,
            steps=steps,
            to=to,
            total=total,
            next_=next_,
        )

        return upcoming


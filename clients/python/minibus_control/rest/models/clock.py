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
  from ..models.due import Due





T = TypeVar("T", bound="Clock")



@_attrs_define
class Clock:
    """ 
        Attributes:
            due (list[Due]): What happens next by itself, the earliest first: of each entity the next instant of each kind
            frozen (bool): Whether it stands still
            now (datetime.datetime): What it shows, which locks, schedules, times to live and idle entities follow
            offset (str): By how much it is ahead of the machine's clock, as an ISO 8601 duration; with a minus sign, behind
            goal (datetime.datetime | Unset): The instant to which it is being advanced; none: it is not
     """

    due: list[Due]
    frozen: bool
    now: datetime.datetime
    offset: str
    goal: datetime.datetime | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.due import Due # noqa: PLC0415
        due = []
        for due_item_data in self.due:
            due_item = due_item_data.to_dict()
            due.append(due_item)



        frozen = self.frozen

        now = self.now.isoformat()

        offset = self.offset

        goal: str | Unset = UNSET
        if not isinstance(self.goal, Unset):
            goal = self.goal.isoformat()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "due": due,
            "frozen": frozen,
            "now": now,
            "offset": offset,
        })
        if goal is not UNSET:
            field_dict["goal"] = goal

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.due import Due # noqa: PLC0415
        d = dict(src_dict)
        due = []
        _due = d.pop("due")
        for due_item_data in (_due):
            due_item = Due.from_dict(due_item_data)



            due.append(due_item)


        frozen = d.pop("frozen")

        now = datetime.datetime.fromisoformat(d.pop("now"))




        offset = d.pop("offset")

        _goal = d.pop("goal", UNSET)
        goal: datetime.datetime | Unset
        if isinstance(_goal,  Unset):
            goal = UNSET
        else:
            goal = datetime.datetime.fromisoformat(_goal)




        clock = cls(
            due=due,
            frozen=frozen,
            now=now,
            offset=offset,
            goal=goal,
        )

        return clock


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.event import Event





T = TypeVar("T", bound="HistoryPage")



@_attrs_define
class HistoryPage:
    """ 
        Attributes:
            items (list[Event]):
            next_ (int): The cursor of the next page
            oldest (int): The number of the oldest event that Minibus remembers
     """

    items: list[Event]
    next_: int
    oldest: int





    def to_dict(self) -> dict[str, Any]:
        from ..models.event import Event # noqa: PLC0415
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)



        next_ = self.next_

        oldest = self.oldest


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "items": items,
            "next": next_,
            "oldest": oldest,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event import Event # noqa: PLC0415
        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in (_items):
            items_item = Event.from_dict(items_item_data)



            items.append(items_item)


        next_ = d.pop("next")

        oldest = d.pop("oldest")

        history_page = cls(
            items=items,
            next_=next_,
            oldest=oldest,
        )

        return history_page


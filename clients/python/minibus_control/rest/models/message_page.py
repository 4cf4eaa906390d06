from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.message import Message





T = TypeVar("T", bound="MessagePage")



@_attrs_define
class MessagePage:
    """ 
        Attributes:
            examined (int): Messages that were looked at for this page
            items (list[Message]):
            next_ (str | Unset): The cursor of the next page; none on the last. A page may have few items, or none, and a
                next one
     """

    examined: int
    items: list[Message]
    next_: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.message import Message # noqa: PLC0415
        examined = self.examined

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)



        next_ = self.next_


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "examined": examined,
            "items": items,
        })
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.message import Message # noqa: PLC0415
        d = dict(src_dict)
        examined = d.pop("examined")

        items = []
        _items = d.pop("items")
        for items_item_data in (_items):
            items_item = Message.from_dict(items_item_data)



            items.append(items_item)


        next_ = d.pop("next", UNSET)

        message_page = cls(
            examined=examined,
            items=items,
            next_=next_,
        )

        return message_page


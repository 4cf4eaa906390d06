from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.refusal import Refusal





T = TypeVar("T", bound="PageRefusal")



@_attrs_define
class PageRefusal:
    """ 
        Attributes:
            items (list[Refusal]):
            next_ (str | Unset): The cursor of the next page; none on the last
     """

    items: list[Refusal]
    next_: str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.refusal import Refusal # noqa: PLC0415
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)



        next_ = self.next_


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "items": items,
        })
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.refusal import Refusal # noqa: PLC0415
        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in (_items):
            items_item = Refusal.from_dict(items_item_data)



            items.append(items_item)


        next_ = d.pop("next", UNSET)

        page_refusal = cls(
            items=items,
            next_=next_,
        )

        return page_refusal


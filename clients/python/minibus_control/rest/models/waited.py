from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.counts import Counts
  from ..models.diagnosis import Diagnosis





T = TypeVar("T", bound="Waited")



@_attrs_define
class Waited:
    """ 
        Attributes:
            events (int): How many there were
            met (bool): Whether all holds; if not, the time is over
            next_ (int): The number of the next event, to go on from
            text (str): The same in words
            counts (Counts | Unset):
            sequence_number (int | Unset): Of the message, if the wait is for one and it is there
            wanted (str | Unset): What was waited for, in words, if not all of it holds
            why (Diagnosis | Unset):
     """

    events: int
    met: bool
    next_: int
    text: str
    counts: Counts | Unset = UNSET
    sequence_number: int | Unset = UNSET
    wanted: str | Unset = UNSET
    why: Diagnosis | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.diagnosis import Diagnosis # noqa: PLC0415
        events = self.events

        met = self.met

        next_ = self.next_

        text = self.text

        counts: dict[str, Any] | Unset = UNSET
        if not isinstance(self.counts, Unset):
            counts = self.counts.to_dict()

        sequence_number = self.sequence_number

        wanted = self.wanted

        why: dict[str, Any] | Unset = UNSET
        if not isinstance(self.why, Unset):
            why = self.why.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "events": events,
            "met": met,
            "next": next_,
            "text": text,
        })
        if counts is not UNSET:
            field_dict["counts"] = counts
        if sequence_number is not UNSET:
            field_dict["sequenceNumber"] = sequence_number
        if wanted is not UNSET:
            field_dict["wanted"] = wanted
        if why is not UNSET:
            field_dict["why"] = why

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.counts import Counts # noqa: PLC0415
        from ..models.diagnosis import Diagnosis # noqa: PLC0415
        d = dict(src_dict)
        events = d.pop("events")

        met = d.pop("met")

        next_ = d.pop("next")

        text = d.pop("text")

        _counts = d.pop("counts", UNSET)
        counts: Counts | Unset
        if isinstance(_counts,  Unset):
            counts = UNSET
        else:
            counts = Counts.from_dict(_counts)




        sequence_number = d.pop("sequenceNumber", UNSET)

        wanted = d.pop("wanted", UNSET)

        _why = d.pop("why", UNSET)
        why: Diagnosis | Unset
        if isinstance(_why,  Unset):
            why = UNSET
        else:
            why = Diagnosis.from_dict(_why)




        waited = cls(
            events=events,
            met=met,
            next_=next_,
            text=text,
            counts=counts,
            sequence_number=sequence_number,
            wanted=wanted,
            why=why,
        )

        return waited


from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.refusal_operation import RefusalOperation
from ..models.refusal_sub_queue import RefusalSubQueue
from ..types import UNSET, Unset
from typing import cast
import datetime

if TYPE_CHECKING:
  from ..models.client import Client





T = TypeVar("T", bound="Refusal")



@_attrs_define
class Refusal:
    """ 
        Attributes:
            client (Client):
            condition (str): The AMQP condition of the error
            operation (RefusalOperation):
            text (str): What the client was told
            time (datetime.datetime):
            entity (str | Unset): What the client asked for; none: the whole namespace
            sub_queue (RefusalSubQueue | Unset): None: the main queue
     """

    client: Client
    condition: str
    operation: RefusalOperation
    text: str
    time: datetime.datetime
    entity: str | Unset = UNSET
    sub_queue: RefusalSubQueue | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.client import Client # noqa: PLC0415
        client = self.client.to_dict()

        condition = self.condition

        operation = self.operation.value

        text = self.text

        time = self.time.isoformat()

        entity = self.entity

        sub_queue: str | Unset = UNSET
        if not isinstance(self.sub_queue, Unset):
            sub_queue = self.sub_queue.value



        field_dict: dict[str, Any] = {}

        field_dict.update({
            "client": client,
            "condition": condition,
            "operation": operation,
            "text": text,
            "time": time,
        })
        if entity is not UNSET:
            field_dict["entity"] = entity
        if sub_queue is not UNSET:
            field_dict["subQueue"] = sub_queue

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.client import Client # noqa: PLC0415
        d = dict(src_dict)
        client = Client.from_dict(d.pop("client"))




        condition = d.pop("condition")

        operation = RefusalOperation(d.pop("operation"))




        text = d.pop("text")

        time = datetime.datetime.fromisoformat(d.pop("time"))




        entity = d.pop("entity", UNSET)

        _sub_queue = d.pop("subQueue", UNSET)
        sub_queue: RefusalSubQueue | Unset
        if isinstance(_sub_queue,  Unset):
            sub_queue = UNSET
        else:
            sub_queue = RefusalSubQueue(_sub_queue)




        refusal = cls(
            client=client,
            condition=condition,
            operation=operation,
            text=text,
            time=time,
            entity=entity,
            sub_queue=sub_queue,
        )

        return refusal


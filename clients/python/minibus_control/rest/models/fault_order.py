from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.fault_order_kind import FaultOrderKind
from ..models.fault_order_operations_item import FaultOrderOperationsItem
from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="FaultOrder")



@_attrs_define
class FaultOrder:
    """ 
        Attributes:
            kind (FaultOrderKind): What happens to an operation: it is refused with server-busy, or with a condition; its
                link is detached, its connection cut or closed; the lock of the message or of the session ends before it; its
                outcome comes later; senders get no credit and receivers no messages; its change can't be written; the tokens of
                its connection are over
            after (bool | Unset): With kind detach, drop and close and the operations send and settle: the operation is
                carried out, and only its answer is lost
            client (str | Unset): The id of a connection, its container, client library or address, or a link; none: all
                clients
            condition (str | Unset): Of the error, with kind refuse, detach, close and failJournal; none: what the service
                says
            count (int | Unset): How many operations are struck; none: all
            delay_milliseconds (int | Unset): With kind delay: how long the outcome is kept back, in real time
            entity (str | Unset): A path, with a sub-queue if that is meant; none: all entities
            for_ (str | Unset): How long, by the clock of the namespace, as an ISO 8601 duration; none: until it is removed
            operations (list[FaultOrderOperationsItem] | Unset): Which are struck; none: those that are usual for the kind.
                now strikes at once what is connected
            probability (float | Unset): That an operation is struck; none: it is
            seed (int | Unset): Of the choice: the same seed strikes the same operations again; none: a new one
            skip (int | Unset): How many operations go well first
     """

    kind: FaultOrderKind
    after: bool | Unset = UNSET
    client: str | Unset = UNSET
    condition: str | Unset = UNSET
    count: int | Unset = UNSET
    delay_milliseconds: int | Unset = UNSET
    entity: str | Unset = UNSET
    for_: str | Unset = UNSET
    operations: list[FaultOrderOperationsItem] | Unset = UNSET
    probability: float | Unset = UNSET
    seed: int | Unset = UNSET
    skip: int | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        after = self.after

        client = self.client

        condition = self.condition

        count = self.count

        delay_milliseconds = self.delay_milliseconds

        entity = self.entity

        for_ = self.for_

        operations: list[str] | Unset = UNSET
        if not isinstance(self.operations, Unset):
            operations = []
            for operations_item_data in self.operations:
                operations_item = operations_item_data.value
                operations.append(operations_item)



        probability = self.probability

        seed = self.seed

        skip = self.skip


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "kind": kind,
        })
        if after is not UNSET:
            field_dict["after"] = after
        if client is not UNSET:
            field_dict["client"] = client
        if condition is not UNSET:
            field_dict["condition"] = condition
        if count is not UNSET:
            field_dict["count"] = count
        if delay_milliseconds is not UNSET:
            field_dict["delayMilliseconds"] = delay_milliseconds
        if entity is not UNSET:
            field_dict["entity"] = entity
        if for_ is not UNSET:
            field_dict["for"] = for_
        if operations is not UNSET:
            field_dict["operations"] = operations
        if probability is not UNSET:
            field_dict["probability"] = probability
        if seed is not UNSET:
            field_dict["seed"] = seed
        if skip is not UNSET:
            field_dict["skip"] = skip

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = FaultOrderKind(d.pop("kind"))




        after = d.pop("after", UNSET)

        client = d.pop("client", UNSET)

        condition = d.pop("condition", UNSET)

        count = d.pop("count", UNSET)

        delay_milliseconds = d.pop("delayMilliseconds", UNSET)

        entity = d.pop("entity", UNSET)

        for_ = d.pop("for", UNSET)

        _operations = d.pop("operations", UNSET)
        operations: list[FaultOrderOperationsItem] | Unset = UNSET
        if _operations is not UNSET:
            operations = []
            for operations_item_data in _operations:
                operations_item = FaultOrderOperationsItem(operations_item_data)



                operations.append(operations_item)


        probability = d.pop("probability", UNSET)

        seed = d.pop("seed", UNSET)

        skip = d.pop("skip", UNSET)

        fault_order = cls(
            kind=kind,
            after=after,
            client=client,
            condition=condition,
            count=count,
            delay_milliseconds=delay_milliseconds,
            entity=entity,
            for_=for_,
            operations=operations,
            probability=probability,
            seed=seed,
            skip=skip,
        )

        return fault_order


"""The verbs, for the classes that wait and for those of asyncio.

Each is a generator: it yields requests, is sent their answers, and returns the result. _wire.run and
_wire.run_async drive it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Union
from urllib.parse import quote, urlencode

from ._answers import Connection, Counts, Event, FaultState, Match, Refusal, Waited, Why
from ._entities import Config, Queues, Topics, config_json, namespace_json
from ._message import Message, Sendable, as_list, message_of, to_json
from ._values import Duration, camel, iso, plain, read, seconds, time_of, time_text
from ._wire import MinibusError, Request, Steps

__tracebackhide__ = True  # pytest shows the line of the test

Count = Union[int, str]
"""How many: 3 for exactly so many, "3+" for so many or more, "0-5" for a range."""

_PAGE = 1000
_LONGEST = 60  # seconds that Minibus takes for a request
_SENT_AT_ONCE = 1000
_COUNTS = {"dead_lettered": "deadLetter", "transfer_dead_lettered": "transferDeadLetter"}


def namespace_of(connection: str = "$this") -> Steps[dict[str, Any]]:
    answer = yield Request("GET", f"/namespaces/{quote(connection)}")
    return answer  # type: ignore[no-any-return]


def create_namespace(
    name: str | None, queues: Queues, topics: Topics, config: Config | None, limits: str | None
) -> Steps[dict[str, Any]]:
    """Makes a namespace. With a Config.json the entities come on top of those that it declares."""
    entities = namespace_json(queues, topics)
    query = _query(name=name, limits=limits)
    made = yield Request("POST", "/namespaces" + query, entities if config is None else config_json(config))
    if config is not None and any(entities.values()):
        yield from Verbs(made["name"]).put_json(entities)
    return made  # type: ignore[no-any-return]


def delete_namespace(name: str) -> Steps[None]:
    yield from _delete(f"/namespaces/{quote(name, safe='')}")


def _delete(path: str) -> Steps[None]:
    """Deletes what may be gone already."""
    try:
        yield Request("DELETE", path)
    except MinibusError as refused:
        if refused.status != 404:
            raise


def _query(**arguments: Any) -> str:
    given = []
    for name, value in arguments.items():
        if value is None or value is False:
            continue
        if isinstance(value, datetime):
            value = time_text(value)
        elif not isinstance(value, (str, int, float)):
            value = ",".join(map(str, value))
        given.append((camel(name.rstrip("_")), "true" if value is True else value))
    return "?" + urlencode(given) if given else ""


def _some(value: str | Iterable[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _given(**values: Any) -> dict[str, Any]:
    """The arguments that are not None, with the names of the API."""
    return {camel(name.rstrip("_")): plain(value) for name, value in values.items() if value is not None}


def _condition(name: str, count: Count) -> dict[str, Any]:
    text = str(count)
    least, _, most = text.partition("-")
    if text.endswith("+"):
        least, most = text[:-1], ""
    elif not most:
        most = least
    try:
        condition = {"of": _COUNTS.get(name, name), "least": int(least)}
        return {**condition, "most": int(most)} if most else condition
    except ValueError:
        raise ValueError(f'{name}={count!r}: write 3, "3+" or "0-5".') from None


class Verbs:
    """The verbs of a namespace."""

    def __init__(self, namespace: str) -> None:
        self._base = f"/namespaces/{quote(namespace, safe='')}"

    def _entity(self, entity: str) -> str:
        if not entity:
            raise ValueError("Name an entity, such as orders or events/Subscriptions/audit.")
        return f"{self._base}/entities/{quote(entity, safe='')}"

    def request(self, method: str, path: str, body: Any = None) -> Steps[Any]:
        whole = f"{self._base}/{path.lstrip('/')}" if path else self._base
        answer = yield Request(method, whole, plain(body), _LONGEST)
        return answer

    # Entities

    def put(self, queues: Queues, topics: Topics) -> Steps[None]:
        yield from self.put_json(namespace_json(queues, topics))

    def put_json(self, entities: dict[str, Any]) -> Steps[None]:
        yield Request("POST", f"{self._base}/config", entities)

    def delete(self, entity: str) -> Steps[None]:
        yield Request("DELETE", self._entity(entity))

    def counts(self, entity: str) -> Steps[Counts]:
        answer = yield Request("GET", self._entity(entity))
        return read(Counts, answer["counts"])

    def why(self, entity: str) -> Steps[Why]:
        answer = yield Request("GET", self._entity(entity) + "/why")
        return read(Why, answer)

    def match(self, topic: str, message: Sendable) -> Steps[Match]:
        answer = yield Request("POST", self._entity(topic) + "/match", {"message": to_json(message)})
        return read(Match, answer)

    # Messages

    def send(self, entity: str, messages: Sendable | Iterable[Sendable]) -> Steps[list[int]]:
        out: list[int] = []
        ready = [to_json(message) for message in as_list(messages)]
        for begin in range(0, len(ready), _SENT_AT_ONCE):
            answer = yield Request("POST", self._entity(entity) + "/messages", ready[begin : begin + _SENT_AT_ONCE])
            out += answer["sequenceNumbers"]
        return out

    def messages(
        self,
        entity: str,
        *,
        state: str | Iterable[str] | None,
        reason: str | None,
        text: str | None,
        sql: str | None,
        session_id: str | None,
        enqueued_after: datetime | None,
        enqueued_before: datetime | None,
        newest: bool,
        limit: int | None,
    ) -> Steps[list[Message]]:
        path = self._entity(entity) + "/messages"
        out: list[Message] = []
        cursor: str | None = None
        while limit is None or len(out) < limit:
            query = _query(
                limit=_PAGE if limit is None else min(_PAGE, limit - len(out)),
                cursor=cursor,
                order="newest" if newest else None,
                state=_some(state) or None,
                reason=reason,
                text=text,
                sql=sql,
                session_id=session_id,
                enqueued_after=enqueued_after,
                enqueued_before=enqueued_before,
                body=4096,
                properties=True,
            )
            page = yield Request("GET", path + query)
            for item in page["items"]:
                if item.get("bodyCut"):
                    try:
                        item = yield Request("GET", f"{path}/{item['sequenceNumber']}")
                    except MinibusError as refused:
                        if refused.status != 404:  # it was received meanwhile
                            raise
                out.append(message_of(item))
            cursor = page.get("next")
            if not cursor:
                break
        return out

    def job(
        self,
        kind: str,
        entity: str,
        filter: dict[str, Any],
        *,
        max: int | None,
        edit: Mapping[str, Any] | None = None,
        target: str | None = None,
    ) -> Steps[int]:
        """Starts a job, waits until it has ended, and returns how many messages it has done."""
        order = _given(
            kind=kind, entity=entity, filter=filter or None, max=max, edit=edit and _edit(edit), target=target
        )
        job = yield Request("POST", f"{self._base}/jobs?wait={_LONGEST}s", order, _LONGEST)
        while job["state"] == "running":
            job = yield Request("GET", f"{self._base}/jobs/{job['id']}?wait={_LONGEST}s", wait=_LONGEST)
        if job["state"] != "done":
            done = f"{job['done']} of {job['total']} messages are done"
            raise MinibusError(f"{kind} of {entity}: {job.get('why') or job['state']}; {done}.")
        return job["done"]  # type: ignore[no-any-return]

    # Clock and state

    def now(self) -> Steps[datetime]:
        answer = yield Request("GET", f"{self._base}/clock")
        return time_of(answer["now"])

    def clock(self, verb: str) -> Steps[datetime]:
        answer = yield Request("POST", f"{self._base}/clock/{verb}")
        return time_of(answer["now"])

    def advance(self, by: Duration, timeout: Duration | float | None) -> Steps[datetime]:
        return self._move("POST", "/clock/advance", {"by": iso(by)}, timeout)

    def set_clock(self, time: datetime | str, timeout: Duration | float | None) -> Steps[datetime]:
        return self._move("PUT", "/clock", {"now": time_text(time)}, timeout)

    def _move(self, method: str, path: str, body: dict[str, str], timeout: Duration | float | None) -> Steps[datetime]:
        wait = _LONGEST if timeout is None else math.ceil(seconds(timeout))
        answer = yield Request(method, f"{self._base}{path}{_query(timeoutSeconds=wait)}", body, wait)
        return time_of(answer["now"])

    def save(self, name: str) -> Steps[None]:
        yield Request("POST", f"{self._base}/snapshots", {"name": name, "replace": True})

    def restore(self, name: str) -> Steps[None]:
        yield Request("POST", f"{self._base}/snapshots/{quote(name, safe='')}/restore")

    def reset(self) -> Steps[None]:
        yield Request("POST", f"{self._base}/reset")

    # Faults

    def inject(self, order: Mapping[str, Any]) -> Steps[FaultState]:
        answer = yield Request("POST", f"{self._base}/faults", _fault(order))
        return read(FaultState, answer)

    def fault(self, number: int) -> Steps[FaultState]:
        answer = yield Request("GET", f"{self._base}/faults/{number}")
        return read(FaultState, answer)

    def faults(self) -> Steps[list[FaultState]]:
        answer = yield Request("GET", f"{self._base}/faults")
        return [read(FaultState, item) for item in answer["items"]]

    def remove_fault(self, number: int) -> Steps[None]:
        yield from _delete(f"{self._base}/faults/{number}")

    def remove_faults(self) -> Steps[None]:
        yield Request("DELETE", f"{self._base}/faults")

    # What happened, and what is there

    def wait_for(
        self,
        entity: str | None,
        *,
        idle: bool,
        counts: Mapping[str, Count | None],
        message: bool | Mapping[str, Any] | None,
        events: str | Sequence[str] | None,
        times: int,
        message_id: str | None,
        client: str | None,
        first: int | None,
        timeout: Duration | float,
    ) -> Steps[Waited]:
        patience = seconds(timeout)
        conditions = [_condition(name, count) for name, count in counts.items() if count is not None]
        body: dict[str, Any] = {"timeoutSeconds": max(patience, 0.001)}  # 0 means the default
        if idle or conditions:
            body |= _given(entity=entity, idle=idle or None, counts=conditions or None)
        if message:
            body["message"] = _given(entity=entity, filter=None if message is True else filter_of(message))
        if events is not None:
            kinds = [] if events == "any" else _some(events)
            body["events"] = _given(
                entity=entity, kinds=kinds, times=times, message_id=message_id, client=client, from_=first
            )
        if len(body) == 1:
            choices = "idle=True, a count such as dead_lettered=1, message=True or events='completed'"
            raise ValueError(f"wait_for: say what for: {choices}.")
        answer = yield Request("POST", f"{self._base}/wait", body, patience)
        if answer["met"]:
            return read(Waited, answer)
        why = answer.get("why") and read(Why, answer["why"]).text
        text = f"Waited {patience:g} s for {answer['wanted']}; found {answer['text'] or 'nothing'}."
        raise MinibusError(f"{text}\n{why}" if why else text)

    def history(self, message_id: str) -> Steps[list[Event]]:
        answer = yield Request("GET", f"{self._base}/history/life{_query(message_id=message_id)}")
        return [read(Event, item) for item in answer["items"]]

    def events(
        self, *, limit: int | None, newest: bool, kind: str | Iterable[str] | None, **filter: Any
    ) -> Steps[list[Event]]:
        out: list[Event] = []
        cursor: int | None = None
        while limit is None or len(out) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(out))
            order = "newest" if newest else None
            query = _query(limit=size, cursor=cursor, order=order, kind=_some(kind) or None, **filter)
            page = yield Request("GET", f"{self._base}/history{query}")
            out += [read(Event, item) for item in page["items"]]
            if len(page["items"]) < size:
                break
            cursor = page["next"]
        return out

    def refusals(self) -> Steps[list[Refusal]]:
        answer = yield Request("GET", f"{self._base}/refusals")
        return [read(Refusal, item) for item in answer["items"]]

    def connections(self, entity: str | None) -> Steps[list[Connection]]:
        out: list[Connection] = []
        cursor: str | None = None
        while True:
            page = yield Request("GET", f"{self._base}/connections{_query(limit=_PAGE, cursor=cursor, entity=entity)}")
            out += [read(Connection, item) for item in page["items"]]
            cursor = page.get("next")
            if not cursor:
                return out


def filter_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filter of a job."""
    out = _given(**given)
    if "states" in out:
        out["states"] = _some(out["states"])
    return out


def _edit(edit: Mapping[str, Any]) -> dict[str, Any]:
    """What resubmit changes in each message. There a body is a text, and application_properties are properties."""
    out: dict[str, Any] = {}
    for name, value in edit.items():
        key = camel(name)
        if key in ("properties", "applicationProperties"):
            out["properties"] = to_json({"application_properties": value})["applicationProperties"]
        elif key == "body" and not isinstance(value, (str, bytes)):
            out = {"contentType": "application/json", **out, "body": json.dumps(plain(value))}
        elif key == "body":
            out |= to_json(value)
        else:
            out[key] = plain(value)
    return out


def _fault(order: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in order.items():
        if value is None:
            continue
        if name in ("operation", "operations"):
            out["operations"] = _some(value)
        elif name == "delay":
            out["delayMilliseconds"] = round(seconds(value) * 1000)
        elif name in ("for_", "for", "duration"):
            out["for"] = iso(value)
        else:
            out[camel(name)] = plain(value)
    return out

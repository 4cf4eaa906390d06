from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...types import UNSET, Unset
from typing import cast
import datetime



def _get_kwargs(
    namespace: str,
    *,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,
    client_query: str | Unset = UNSET,
    kind: list[str] | None | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    before: datetime.datetime | Unset = UNSET,
    message_id: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    last_event_id: int | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = str(last_event_id)




    

    params: dict[str, Any] = {}

    params["entity"] = entity

    params["sequenceNumber"] = sequence_number

    params["client"] = client_query

    json_kind: list[str] | None | Unset
    if isinstance(kind, Unset):
        json_kind = UNSET
    elif isinstance(kind, list):
        json_kind = kind


    else:
        json_kind = kind
    params["kind"] = json_kind

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_before: str | Unset = UNSET
    if not isinstance(before, Unset):
        json_before = before.isoformat()
    params["before"] = json_before

    params["messageId"] = message_id

    params["from"] = from_


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/events".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }


    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | str | None:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if response.status_code == 400:
        response_400 = Error.from_dict(response.json())



        return response_400

    if response.status_code == 401:
        response_401 = Error.from_dict(response.json())



        return response_401

    if response.status_code == 404:
        response_404 = Error.from_dict(response.json())



        return response_404

    if response.status_code == 409:
        response_409 = Error.from_dict(response.json())



        return response_409

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())



        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | str]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,
    client_query: str | Unset = UNSET,
    kind: list[str] | None | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    before: datetime.datetime | Unset = UNSET,
    message_id: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    last_event_id: int | Unset = UNSET,

) -> Response[Error | str]:
    """ What happens to messages, as it happens

     Server-sent events. Each has the number of the event as id, event: event, and as data what
    listHistory has for an event. If the reader is too slow, or begins before the oldest event that
    Minibus remembers, event: missed comes with the count of the events that it does not get. The stream
    ends with the namespace, with the token of the request, and with Minibus.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str | Unset): Of an entity or a sub-queue, such as orders/$DeadLetterQueue
        sequence_number (int | Unset): Of the message with the number, in the entity
        client_query (str | Unset): Of a client: the id of its connection, its container or its
            address
        kind (list[str] | None | Unset): Of these kinds, with commas between
        since (datetime.datetime | Unset):
        before (datetime.datetime | Unset):
        message_id (str | Unset): Of messages that came with the id
        from_ (int | Unset): The number of the first event; without it those that come from now on
        last_event_id (int | Unset): The number of the last event that the client has got;
            browsers send it when they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | str]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
sequence_number=sequence_number,
client_query=client_query,
kind=kind,
since=since,
before=before,
message_id=message_id,
from_=from_,
last_event_id=last_event_id,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,
    client_query: str | Unset = UNSET,
    kind: list[str] | None | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    before: datetime.datetime | Unset = UNSET,
    message_id: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    last_event_id: int | Unset = UNSET,

) -> Error | str | None:
    """ What happens to messages, as it happens

     Server-sent events. Each has the number of the event as id, event: event, and as data what
    listHistory has for an event. If the reader is too slow, or begins before the oldest event that
    Minibus remembers, event: missed comes with the count of the events that it does not get. The stream
    ends with the namespace, with the token of the request, and with Minibus.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str | Unset): Of an entity or a sub-queue, such as orders/$DeadLetterQueue
        sequence_number (int | Unset): Of the message with the number, in the entity
        client_query (str | Unset): Of a client: the id of its connection, its container or its
            address
        kind (list[str] | None | Unset): Of these kinds, with commas between
        since (datetime.datetime | Unset):
        before (datetime.datetime | Unset):
        message_id (str | Unset): Of messages that came with the id
        from_ (int | Unset): The number of the first event; without it those that come from now on
        last_event_id (int | Unset): The number of the last event that the client has got;
            browsers send it when they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | str
     """


    return sync_detailed(
        namespace=namespace,
client=client,
entity=entity,
sequence_number=sequence_number,
client_query=client_query,
kind=kind,
since=since,
before=before,
message_id=message_id,
from_=from_,
last_event_id=last_event_id,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,
    client_query: str | Unset = UNSET,
    kind: list[str] | None | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    before: datetime.datetime | Unset = UNSET,
    message_id: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    last_event_id: int | Unset = UNSET,

) -> Response[Error | str]:
    """ What happens to messages, as it happens

     Server-sent events. Each has the number of the event as id, event: event, and as data what
    listHistory has for an event. If the reader is too slow, or begins before the oldest event that
    Minibus remembers, event: missed comes with the count of the events that it does not get. The stream
    ends with the namespace, with the token of the request, and with Minibus.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str | Unset): Of an entity or a sub-queue, such as orders/$DeadLetterQueue
        sequence_number (int | Unset): Of the message with the number, in the entity
        client_query (str | Unset): Of a client: the id of its connection, its container or its
            address
        kind (list[str] | None | Unset): Of these kinds, with commas between
        since (datetime.datetime | Unset):
        before (datetime.datetime | Unset):
        message_id (str | Unset): Of messages that came with the id
        from_ (int | Unset): The number of the first event; without it those that come from now on
        last_event_id (int | Unset): The number of the last event that the client has got;
            browsers send it when they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | str]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
sequence_number=sequence_number,
client_query=client_query,
kind=kind,
since=since,
before=before,
message_id=message_id,
from_=from_,
last_event_id=last_event_id,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,
    client_query: str | Unset = UNSET,
    kind: list[str] | None | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    before: datetime.datetime | Unset = UNSET,
    message_id: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    last_event_id: int | Unset = UNSET,

) -> Error | str | None:
    """ What happens to messages, as it happens

     Server-sent events. Each has the number of the event as id, event: event, and as data what
    listHistory has for an event. If the reader is too slow, or begins before the oldest event that
    Minibus remembers, event: missed comes with the count of the events that it does not get. The stream
    ends with the namespace, with the token of the request, and with Minibus.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str | Unset): Of an entity or a sub-queue, such as orders/$DeadLetterQueue
        sequence_number (int | Unset): Of the message with the number, in the entity
        client_query (str | Unset): Of a client: the id of its connection, its container or its
            address
        kind (list[str] | None | Unset): Of these kinds, with commas between
        since (datetime.datetime | Unset):
        before (datetime.datetime | Unset):
        message_id (str | Unset): Of messages that came with the id
        from_ (int | Unset): The number of the first event; without it those that come from now on
        last_event_id (int | Unset): The number of the last event that the client has got;
            browsers send it when they connect again

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | str
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
entity=entity,
sequence_number=sequence_number,
client_query=client_query,
kind=kind,
since=since,
before=before,
message_id=message_id,
from_=from_,
last_event_id=last_event_id,

    )).parsed

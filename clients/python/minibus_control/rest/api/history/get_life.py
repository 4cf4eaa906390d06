from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.history_page import HistoryPage
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    message_id: str | Unset = UNSET,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    params["messageId"] = message_id

    params["entity"] = entity

    params["sequenceNumber"] = sequence_number


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/history/life".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | HistoryPage | None:
    if response.status_code == 200:
        response_200 = HistoryPage.from_dict(response.json())



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

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())



        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | HistoryPage]:
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
    message_id: str | Unset = UNSET,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,

) -> Response[Error | HistoryPage]:
    """ The life of a message from entity to entity, with that of its copies

     Give the messageId, or an entity and a sequenceNumber. It follows the message through topics,
    forwards and dead-letter queues to its end.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        message_id (str | Unset): Of messages that came with the id
        entity (str | Unset):
        sequence_number (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HistoryPage]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
message_id=message_id,
entity=entity,
sequence_number=sequence_number,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    message_id: str | Unset = UNSET,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,

) -> Error | HistoryPage | None:
    """ The life of a message from entity to entity, with that of its copies

     Give the messageId, or an entity and a sequenceNumber. It follows the message through topics,
    forwards and dead-letter queues to its end.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        message_id (str | Unset): Of messages that came with the id
        entity (str | Unset):
        sequence_number (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HistoryPage
     """


    return sync_detailed(
        namespace=namespace,
client=client,
message_id=message_id,
entity=entity,
sequence_number=sequence_number,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    message_id: str | Unset = UNSET,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,

) -> Response[Error | HistoryPage]:
    """ The life of a message from entity to entity, with that of its copies

     Give the messageId, or an entity and a sequenceNumber. It follows the message through topics,
    forwards and dead-letter queues to its end.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        message_id (str | Unset): Of messages that came with the id
        entity (str | Unset):
        sequence_number (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | HistoryPage]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
message_id=message_id,
entity=entity,
sequence_number=sequence_number,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    message_id: str | Unset = UNSET,
    entity: str | Unset = UNSET,
    sequence_number: int | Unset = UNSET,

) -> Error | HistoryPage | None:
    """ The life of a message from entity to entity, with that of its copies

     Give the messageId, or an entity and a sequenceNumber. It follows the message through topics,
    forwards and dead-letter queues to its end.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        message_id (str | Unset): Of messages that came with the id
        entity (str | Unset):
        sequence_number (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | HistoryPage
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
message_id=message_id,
entity=entity,
sequence_number=sequence_number,

    )).parsed

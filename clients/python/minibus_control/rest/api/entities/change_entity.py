from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.entity_change import EntityChange
from ...models.error import Error
from ...models.whole_entity import WholeEntity
from ...types import File, FileTypes
from io import BytesIO
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    body:    EntityChange  |     File  | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
    }

    if isinstance(body, EntityChange):
        _kwargs["json"] = body.to_dict()

        headers["Content-Type"] = "application/json"
    if isinstance(body, File):
        _kwargs["content"] = body.payload
        headers["Content-Type"] = "application/octet-stream"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | WholeEntity | None:
    if response.status_code == 200:
        response_200 = WholeEntity.from_dict(response.json())



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

    if response.status_code == 413:
        response_413 = Error.from_dict(response.json())



        return response_413

    if response.status_code == 503:
        response_503 = Error.from_dict(response.json())



        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | WholeEntity]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body:    EntityChange  |     File  | Unset = UNSET,

) -> Response[Error | WholeEntity]:
    """ Changes settings of an entity

     The settings that the body does not name stay as they are. One that is null gets the default of
    Config.json. Links of the entity are told to attach again, which SDKs do by themselves.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (EntityChange):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | WholeEntity]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body:    EntityChange  |     File  | Unset = UNSET,

) -> Error | WholeEntity | None:
    """ Changes settings of an entity

     The settings that the body does not name stay as they are. One that is null gets the default of
    Config.json. Links of the entity are told to attach again, which SDKs do by themselves.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (EntityChange):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | WholeEntity
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body:    EntityChange  |     File  | Unset = UNSET,

) -> Response[Error | WholeEntity]:
    """ Changes settings of an entity

     The settings that the body does not name stay as they are. One that is null gets the default of
    Config.json. Links of the entity are told to attach again, which SDKs do by themselves.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (EntityChange):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | WholeEntity]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body:    EntityChange  |     File  | Unset = UNSET,

) -> Error | WholeEntity | None:
    """ Changes settings of an entity

     The settings that the body does not name stay as they are. One that is null gets the default of
    Config.json. Links of the entity are told to attach again, which SDKs do by themselves.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (EntityChange):
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | WholeEntity
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
body=body,

    )).parsed

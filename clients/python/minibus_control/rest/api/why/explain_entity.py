from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.diagnosis import Diagnosis
from ...models.error import Error
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    client_query: str | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    params["client"] = client_query


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/why".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Diagnosis | Error | None:
    if response.status_code == 200:
        response_200 = Diagnosis.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Diagnosis | Error]:
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
    client_query: str | Unset = UNSET,

) -> Response[Diagnosis | Error]:
    """ Why nothing is received from an entity

     Looks at the entity, its messages and locks, its receivers and links, the rules that select for it,
    and what was refused lately. It changes nothing and holds nobody up. Of a deep queue it looks at the
    first few thousand messages.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        client_query (str | Unset): Only this client's receivers: the id of a connection, with
            /LINK for one link; the name of a link, a container, or an address

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Diagnosis | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
client_query=client_query,

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
    client_query: str | Unset = UNSET,

) -> Diagnosis | Error | None:
    """ Why nothing is received from an entity

     Looks at the entity, its messages and locks, its receivers and links, the rules that select for it,
    and what was refused lately. It changes nothing and holds nobody up. Of a deep queue it looks at the
    first few thousand messages.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        client_query (str | Unset): Only this client's receivers: the id of a connection, with
            /LINK for one link; the name of a link, a container, or an address

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Diagnosis | Error
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
client=client,
client_query=client_query,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    client_query: str | Unset = UNSET,

) -> Response[Diagnosis | Error]:
    """ Why nothing is received from an entity

     Looks at the entity, its messages and locks, its receivers and links, the rules that select for it,
    and what was refused lately. It changes nothing and holds nobody up. Of a deep queue it looks at the
    first few thousand messages.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        client_query (str | Unset): Only this client's receivers: the id of a connection, with
            /LINK for one link; the name of a link, a container, or an address

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Diagnosis | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
client_query=client_query,

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
    client_query: str | Unset = UNSET,

) -> Diagnosis | Error | None:
    """ Why nothing is received from an entity

     Looks at the entity, its messages and locks, its receivers and links, the rules that select for it,
    and what was refused lately. It changes nothing and holds nobody up. Of a deep queue it looks at the
    first few thousand messages.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        client_query (str | Unset): Only this client's receivers: the id of a connection, with
            /LINK for one link; the name of a link, a container, or an address

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Diagnosis | Error
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
client_query=client_query,

    )).parsed

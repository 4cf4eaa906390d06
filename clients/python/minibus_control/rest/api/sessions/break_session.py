from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    session: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/sessions/{session}/break".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),session=quote(str(session), safe=""),),
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Any | Error | None:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Any | Error]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    entity: str,
    session: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Any | Error]:
    """ Takes the lock of a session from its holder

     The holder learns of it as if the time of the lock were over: its receiver is detached with session-
    lock-lost. What it had received and not settled is available again, with one more delivery counted.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        session (str): The id, percent-encoded. $empty means the session whose id is the empty
            text

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
session=session,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    entity: str,
    session: str,
    *,
    client: AuthenticatedClient | Client,

) -> Any | Error | None:
    """ Takes the lock of a session from its holder

     The holder learns of it as if the time of the lock were over: its receiver is detached with session-
    lock-lost. What it had received and not settled is available again, with one more delivery counted.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        session (str): The id, percent-encoded. $empty means the session whose id is the empty
            text

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
session=session,
client=client,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    session: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Any | Error]:
    """ Takes the lock of a session from its holder

     The holder learns of it as if the time of the lock were over: its receiver is detached with session-
    lock-lost. What it had received and not settled is available again, with one more delivery counted.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        session (str): The id, percent-encoded. $empty means the session whose id is the empty
            text

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
session=session,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    entity: str,
    session: str,
    *,
    client: AuthenticatedClient | Client,

) -> Any | Error | None:
    """ Takes the lock of a session from its holder

     The holder learns of it as if the time of the lock were over: its receiver is detached with session-
    lock-lost. What it had received and not settled is available again, with one more delivery counted.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        session (str): The id, percent-encoded. $empty means the session whose id is the empty
            text

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
session=session,
client=client,

    )).parsed

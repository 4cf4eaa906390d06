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
    connection: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/$minibus/v1/namespaces/{namespace}/connections/{connection}".format(namespace=quote(str(namespace), safe=""),connection=quote(str(connection), safe=""),),
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
    connection: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Any | Error]:
    """ Close a connection

     Minibus closes it with amqp:connection:forced, as the service does before a restart. Every SDK
    connects again. Locks of messages run on, sessions become free. A connection that does not answer is
    cut.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        connection (str): The id

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
connection=connection,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    connection: str,
    *,
    client: AuthenticatedClient | Client,

) -> Any | Error | None:
    """ Close a connection

     Minibus closes it with amqp:connection:forced, as the service does before a restart. Every SDK
    connects again. Locks of messages run on, sessions become free. A connection that does not answer is
    cut.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        connection (str): The id

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
     """


    return sync_detailed(
        namespace=namespace,
connection=connection,
client=client,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    connection: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Any | Error]:
    """ Close a connection

     Minibus closes it with amqp:connection:forced, as the service does before a restart. Every SDK
    connects again. Locks of messages run on, sessions become free. A connection that does not answer is
    cut.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        connection (str): The id

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
connection=connection,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    connection: str,
    *,
    client: AuthenticatedClient | Client,

) -> Any | Error | None:
    """ Close a connection

     Minibus closes it with amqp:connection:forced, as the service does before a restart. Every SDK
    connects again. Locks of messages run on, sessions become free. A connection that does not answer is
    cut.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        connection (str): The id

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Error
     """


    return (await asyncio_detailed(
        namespace=namespace,
connection=connection,
client=client,

    )).parsed

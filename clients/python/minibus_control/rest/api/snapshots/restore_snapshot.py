from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.snapshot import Snapshot
from typing import cast



def _get_kwargs(
    namespace: str,
    snapshot: str,

) -> dict[str, Any]:
    

    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/snapshots/{snapshot}/restore".format(namespace=quote(str(namespace), safe=""),snapshot=quote(str(snapshot), safe=""),),
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Snapshot | None:
    if response.status_code == 200:
        response_200 = Snapshot.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Snapshot]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    namespace: str,
    snapshot: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Error | Snapshot]:
    """ Makes a namespace what it was when the snapshot was saved

     Afterwards it has those entities and no others, with the same messages, numbers, states of sessions
    and remembered message ids. Messages that were locked are available. Its clock shows what it showed
    then, and goes on from there unless it was frozen. Its keys, port and aliases stay, and so does the
    snapshot. Connections stay open: links are detached, and clients attach them again by themselves.
    Open transactions are rolled back, and jobs end. A process that ends, or a client that goes away,
    meanwhile leaves the old state or the restored one.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        snapshot (str): In letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Snapshot]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
snapshot=snapshot,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    snapshot: str,
    *,
    client: AuthenticatedClient | Client,

) -> Error | Snapshot | None:
    """ Makes a namespace what it was when the snapshot was saved

     Afterwards it has those entities and no others, with the same messages, numbers, states of sessions
    and remembered message ids. Messages that were locked are available. Its clock shows what it showed
    then, and goes on from there unless it was frozen. Its keys, port and aliases stay, and so does the
    snapshot. Connections stay open: links are detached, and clients attach them again by themselves.
    Open transactions are rolled back, and jobs end. A process that ends, or a client that goes away,
    meanwhile leaves the old state or the restored one.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        snapshot (str): In letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Snapshot
     """


    return sync_detailed(
        namespace=namespace,
snapshot=snapshot,
client=client,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    snapshot: str,
    *,
    client: AuthenticatedClient | Client,

) -> Response[Error | Snapshot]:
    """ Makes a namespace what it was when the snapshot was saved

     Afterwards it has those entities and no others, with the same messages, numbers, states of sessions
    and remembered message ids. Messages that were locked are available. Its clock shows what it showed
    then, and goes on from there unless it was frozen. Its keys, port and aliases stay, and so does the
    snapshot. Connections stay open: links are detached, and clients attach them again by themselves.
    Open transactions are rolled back, and jobs end. A process that ends, or a client that goes away,
    meanwhile leaves the old state or the restored one.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        snapshot (str): In letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Snapshot]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
snapshot=snapshot,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    snapshot: str,
    *,
    client: AuthenticatedClient | Client,

) -> Error | Snapshot | None:
    """ Makes a namespace what it was when the snapshot was saved

     Afterwards it has those entities and no others, with the same messages, numbers, states of sessions
    and remembered message ids. Messages that were locked are available. Its clock shows what it showed
    then, and goes on from there unless it was frozen. Its keys, port and aliases stay, and so does the
    snapshot. Connections stay open: links are detached, and clients attach them again by themselves.
    Open transactions are rolled back, and jobs end. A process that ends, or a client that goes away,
    meanwhile leaves the old state or the restored one.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        snapshot (str): In letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Snapshot
     """


    return (await asyncio_detailed(
        namespace=namespace,
snapshot=snapshot,
client=client,

    )).parsed

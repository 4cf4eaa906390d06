from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.save_snapshot_request import SaveSnapshotRequest
from ...models.snapshot import Snapshot
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    body: SaveSnapshotRequest,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/snapshots".format(namespace=quote(str(namespace), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Snapshot | None:
    if response.status_code == 201:
        response_201 = Snapshot.from_dict(response.json())



        return response_201

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Snapshot]:
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
    body: SaveSnapshotRequest,

) -> Response[Error | Snapshot]:
    """ Saves what is in a namespace, under a name

     The snapshot has every entity with its settings and its next sequence numbers, every message in its
    state, the states of sessions, and the message ids that duplicate detection remembers. All that was
    acknowledged before the request is in it. Clients go on meanwhile. Locks are not saved. The answer
    comes when the snapshot is durable; a process that ends before leaves none, and so does a client
    that goes away before. A namespace has at most 100. 409 also says that the disk is full.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (SaveSnapshotRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Snapshot]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: SaveSnapshotRequest,

) -> Error | Snapshot | None:
    """ Saves what is in a namespace, under a name

     The snapshot has every entity with its settings and its next sequence numbers, every message in its
    state, the states of sessions, and the message ids that duplicate detection remembers. All that was
    acknowledged before the request is in it. Clients go on meanwhile. Locks are not saved. The answer
    comes when the snapshot is durable; a process that ends before leaves none, and so does a client
    that goes away before. A namespace has at most 100. 409 also says that the disk is full.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (SaveSnapshotRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Snapshot
     """


    return sync_detailed(
        namespace=namespace,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: SaveSnapshotRequest,

) -> Response[Error | Snapshot]:
    """ Saves what is in a namespace, under a name

     The snapshot has every entity with its settings and its next sequence numbers, every message in its
    state, the states of sessions, and the message ids that duplicate detection remembers. All that was
    acknowledged before the request is in it. Clients go on meanwhile. Locks are not saved. The answer
    comes when the snapshot is durable; a process that ends before leaves none, and so does a client
    that goes away before. A namespace has at most 100. 409 also says that the disk is full.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (SaveSnapshotRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Snapshot]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: SaveSnapshotRequest,

) -> Error | Snapshot | None:
    """ Saves what is in a namespace, under a name

     The snapshot has every entity with its settings and its next sequence numbers, every message in its
    state, the states of sessions, and the message ids that duplicate detection remembers. All that was
    acknowledged before the request is in it. Clients go on meanwhile. Locks are not saved. The answer
    comes when the snapshot is durable; a process that ends before leaves none, and so does a client
    that goes away before. A namespace has at most 100. 409 also says that the disk is full.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (SaveSnapshotRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Snapshot
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
body=body,

    )).parsed

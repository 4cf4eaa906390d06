from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.configuration import Configuration
from ...models.create_namespace_limits import CreateNamespaceLimits
from ...models.error import Error
from ...models.namespace import Namespace
from ...models.namespace_creation import NamespaceCreation
from ...types import File, FileTypes
from ...types import UNSET, Unset
from io import BytesIO
from typing import cast



def _get_kwargs(
    *,
    body:    Configuration | NamespaceCreation  |     File  | Unset = UNSET,
    name: str | Unset = UNSET,
    limits: CreateNamespaceLimits | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    params: dict[str, Any] = {}

    params["name"] = name

    json_limits: str | Unset = UNSET
    if not isinstance(limits, Unset):
        json_limits = limits.value

    params["limits"] = json_limits


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces",
        "params": params,
    }

    if isinstance(body, Configuration | NamespaceCreation):
        
        if isinstance(body, NamespaceCreation):
            _kwargs["json"] = body.to_dict()
        else:
            _kwargs["json"] = body.to_dict()


        headers["Content-Type"] = "application/json"
    if isinstance(body, File):
        if not isinstance(body, Unset):
            _kwargs["content"] = body.payload
        headers["Content-Type"] = "application/octet-stream"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Namespace | None:
    if response.status_code == 201:
        response_201 = Namespace.from_dict(response.json())



        return response_201

    if response.status_code == 400:
        response_400 = Error.from_dict(response.json())



        return response_400

    if response.status_code == 401:
        response_401 = Error.from_dict(response.json())



        return response_401

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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Namespace]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration | NamespaceCreation  |     File  | Unset = UNSET,
    name: str | Unset = UNSET,
    limits: CreateNamespaceLimits | Unset = UNSET,

) -> Response[Error | Namespace]:
    """ Creates a namespace

     The answer comes when the namespace is durable with all of its entities. If anything is wrong, no
    namespace is created. Without a name Minibus makes one up. Without a port the namespace gets one of
    --namespace-ports, if that is set. The case of letters in the keys of the body does not count. The
    body may be a whole Config.json: of a file with several namespaces the one of the query's name
    counts, and AuthorizationRules, Aliases and Port are those of the file.

    Args:
        name (str | Unset): As name in the body. A whole Config.json has none: its namespaces have
            names of their own
        limits (CreateNamespaceLimits | Unset): As limits in the body
        body (Configuration | NamespaceCreation | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Namespace]
     """


    kwargs = _get_kwargs(
        body=body,
name=name,
limits=limits,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration | NamespaceCreation  |     File  | Unset = UNSET,
    name: str | Unset = UNSET,
    limits: CreateNamespaceLimits | Unset = UNSET,

) -> Error | Namespace | None:
    """ Creates a namespace

     The answer comes when the namespace is durable with all of its entities. If anything is wrong, no
    namespace is created. Without a name Minibus makes one up. Without a port the namespace gets one of
    --namespace-ports, if that is set. The case of letters in the keys of the body does not count. The
    body may be a whole Config.json: of a file with several namespaces the one of the query's name
    counts, and AuthorizationRules, Aliases and Port are those of the file.

    Args:
        name (str | Unset): As name in the body. A whole Config.json has none: its namespaces have
            names of their own
        limits (CreateNamespaceLimits | Unset): As limits in the body
        body (Configuration | NamespaceCreation | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Namespace
     """


    return sync_detailed(
        client=client,
body=body,
name=name,
limits=limits,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration | NamespaceCreation  |     File  | Unset = UNSET,
    name: str | Unset = UNSET,
    limits: CreateNamespaceLimits | Unset = UNSET,

) -> Response[Error | Namespace]:
    """ Creates a namespace

     The answer comes when the namespace is durable with all of its entities. If anything is wrong, no
    namespace is created. Without a name Minibus makes one up. Without a port the namespace gets one of
    --namespace-ports, if that is set. The case of letters in the keys of the body does not count. The
    body may be a whole Config.json: of a file with several namespaces the one of the query's name
    counts, and AuthorizationRules, Aliases and Port are those of the file.

    Args:
        name (str | Unset): As name in the body. A whole Config.json has none: its namespaces have
            names of their own
        limits (CreateNamespaceLimits | Unset): As limits in the body
        body (Configuration | NamespaceCreation | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Namespace]
     """


    kwargs = _get_kwargs(
        body=body,
name=name,
limits=limits,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration | NamespaceCreation  |     File  | Unset = UNSET,
    name: str | Unset = UNSET,
    limits: CreateNamespaceLimits | Unset = UNSET,

) -> Error | Namespace | None:
    """ Creates a namespace

     The answer comes when the namespace is durable with all of its entities. If anything is wrong, no
    namespace is created. Without a name Minibus makes one up. Without a port the namespace gets one of
    --namespace-ports, if that is set. The case of letters in the keys of the body does not count. The
    body may be a whole Config.json: of a file with several namespaces the one of the query's name
    counts, and AuthorizationRules, Aliases and Port are those of the file.

    Args:
        name (str | Unset): As name in the body. A whole Config.json has none: its namespaces have
            names of their own
        limits (CreateNamespaceLimits | Unset): As limits in the body
        body (Configuration | NamespaceCreation | Unset):
        body (File | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Namespace
     """


    return (await asyncio_detailed(
        client=client,
body=body,
name=name,
limits=limits,

    )).parsed

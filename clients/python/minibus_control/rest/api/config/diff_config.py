from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.config_diff import ConfigDiff
from ...models.configuration import Configuration
from ...models.error import Error
from ...types import File, FileTypes
from ...types import UNSET, Unset
from io import BytesIO
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    body:    Configuration  |     File  | Unset = UNSET,
    prune: bool | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    params: dict[str, Any] = {}

    params["prune"] = prune


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/config/diff".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }

    if isinstance(body, Configuration):
        _kwargs["json"] = body.to_dict()

        headers["Content-Type"] = "application/json"
    if isinstance(body, File):
        _kwargs["content"] = body.payload
        headers["Content-Type"] = "application/octet-stream"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ConfigDiff | Error | None:
    if response.status_code == 200:
        response_200 = ConfigDiff.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ConfigDiff | Error]:
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
    body:    Configuration  |     File  | Unset = UNSET,
    prune: bool | Unset = UNSET,

) -> Response[ConfigDiff | Error]:
    """ What a configuration would change, setting by setting, and what it can't change

     Nothing is changed. The body is a Config.json, or an object with the Queues and Topics of one
    namespace. Of a file with several namespaces the one of the same name counts.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        prune (bool | Unset): Whether entities that the configuration does not have are deleted,
            with their messages
        body (Configuration): A Config.json, or an object with Queues and Topics
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigDiff | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
prune=prune,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration  |     File  | Unset = UNSET,
    prune: bool | Unset = UNSET,

) -> ConfigDiff | Error | None:
    """ What a configuration would change, setting by setting, and what it can't change

     Nothing is changed. The body is a Config.json, or an object with the Queues and Topics of one
    namespace. Of a file with several namespaces the one of the same name counts.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        prune (bool | Unset): Whether entities that the configuration does not have are deleted,
            with their messages
        body (Configuration): A Config.json, or an object with Queues and Topics
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigDiff | Error
     """


    return sync_detailed(
        namespace=namespace,
client=client,
body=body,
prune=prune,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration  |     File  | Unset = UNSET,
    prune: bool | Unset = UNSET,

) -> Response[ConfigDiff | Error]:
    """ What a configuration would change, setting by setting, and what it can't change

     Nothing is changed. The body is a Config.json, or an object with the Queues and Topics of one
    namespace. Of a file with several namespaces the one of the same name counts.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        prune (bool | Unset): Whether entities that the configuration does not have are deleted,
            with their messages
        body (Configuration): A Config.json, or an object with Queues and Topics
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigDiff | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
prune=prune,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body:    Configuration  |     File  | Unset = UNSET,
    prune: bool | Unset = UNSET,

) -> ConfigDiff | Error | None:
    """ What a configuration would change, setting by setting, and what it can't change

     Nothing is changed. The body is a Config.json, or an object with the Queues and Topics of one
    namespace. Of a file with several namespaces the one of the same name counts.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        prune (bool | Unset): Whether entities that the configuration does not have are deleted,
            with their messages
        body (Configuration): A Config.json, or an object with Queues and Topics
        body (File):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigDiff | Error
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
body=body,
prune=prune,

    )).parsed

from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.list_entities_kind import ListEntitiesKind
from ...models.page_entity import PageEntity
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    kind: ListEntitiesKind | Unset = UNSET,
    text: str | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind.value

    params["kind"] = json_kind

    params["text"] = text


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/entities".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | PageEntity | None:
    if response.status_code == 200:
        response_200 = PageEntity.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | PageEntity]:
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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    kind: ListEntitiesKind | Unset = UNSET,
    text: str | Unset = UNSET,

) -> Response[Error | PageEntity]:
    """ The queues, topics and subscriptions of a namespace, by path

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        kind (ListEntitiesKind | Unset): Only those of a kind
        text (str | Unset): Only those whose path contains the text, in letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PageEntity]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
limit=limit,
cursor=cursor,
kind=kind,
text=text,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    kind: ListEntitiesKind | Unset = UNSET,
    text: str | Unset = UNSET,

) -> Error | PageEntity | None:
    """ The queues, topics and subscriptions of a namespace, by path

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        kind (ListEntitiesKind | Unset): Only those of a kind
        text (str | Unset): Only those whose path contains the text, in letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PageEntity
     """


    return sync_detailed(
        namespace=namespace,
client=client,
limit=limit,
cursor=cursor,
kind=kind,
text=text,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    kind: ListEntitiesKind | Unset = UNSET,
    text: str | Unset = UNSET,

) -> Response[Error | PageEntity]:
    """ The queues, topics and subscriptions of a namespace, by path

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        kind (ListEntitiesKind | Unset): Only those of a kind
        text (str | Unset): Only those whose path contains the text, in letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | PageEntity]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
limit=limit,
cursor=cursor,
kind=kind,
text=text,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    kind: ListEntitiesKind | Unset = UNSET,
    text: str | Unset = UNSET,

) -> Error | PageEntity | None:
    """ The queues, topics and subscriptions of a namespace, by path

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        kind (ListEntitiesKind | Unset): Only those of a kind
        text (str | Unset): Only those whose path contains the text, in letters of any case

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | PageEntity
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
limit=limit,
cursor=cursor,
kind=kind,
text=text,

    )).parsed

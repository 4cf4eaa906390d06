from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.entity_body import EntityBody
from ...models.error import Error
from ...models.put_entity_kind import PutEntityKind
from ...models.whole_entity import WholeEntity
from ...types import File, FileTypes
from ...types import UNSET, Unset
from io import BytesIO
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    body:    EntityBody  |     File  | Unset = UNSET,
    kind: PutEntityKind | Unset = UNSET,
    only_new: bool | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    params: dict[str, Any] = {}

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind.value

    params["kind"] = json_kind

    params["onlyNew"] = only_new


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
        "params": params,
    }

    if isinstance(body, EntityBody):
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

    if response.status_code == 201:
        response_201 = WholeEntity.from_dict(response.json())



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
    body:    EntityBody  |     File  | Unset = UNSET,
    kind: PutEntityKind | Unset = UNSET,
    only_new: bool | Unset = UNSET,

) -> Response[Error | WholeEntity]:
    """ Creates an entity, or makes it what the body says

     The body has the form of an entity in Config.json, with its defaults. A setting that the body does
    not name gets its default. Policies, rules and subscriptions stay if the body does not name them.
    What is fixed at creation can't be changed. The answer comes when the change is durable; all of it
    is made, or nothing.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        kind (PutEntityKind | Unset): Without it that of the entity, if there is one, else what
            the path says: a subscription, or a queue
        only_new (bool | Unset): Whether an entity that exists is a conflict
        body (EntityBody): An entity in the form of Config.json
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
kind=kind,
only_new=only_new,

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
    body:    EntityBody  |     File  | Unset = UNSET,
    kind: PutEntityKind | Unset = UNSET,
    only_new: bool | Unset = UNSET,

) -> Error | WholeEntity | None:
    """ Creates an entity, or makes it what the body says

     The body has the form of an entity in Config.json, with its defaults. A setting that the body does
    not name gets its default. Policies, rules and subscriptions stay if the body does not name them.
    What is fixed at creation can't be changed. The answer comes when the change is durable; all of it
    is made, or nothing.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        kind (PutEntityKind | Unset): Without it that of the entity, if there is one, else what
            the path says: a subscription, or a queue
        only_new (bool | Unset): Whether an entity that exists is a conflict
        body (EntityBody): An entity in the form of Config.json
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
kind=kind,
only_new=only_new,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body:    EntityBody  |     File  | Unset = UNSET,
    kind: PutEntityKind | Unset = UNSET,
    only_new: bool | Unset = UNSET,

) -> Response[Error | WholeEntity]:
    """ Creates an entity, or makes it what the body says

     The body has the form of an entity in Config.json, with its defaults. A setting that the body does
    not name gets its default. Policies, rules and subscriptions stay if the body does not name them.
    What is fixed at creation can't be changed. The answer comes when the change is durable; all of it
    is made, or nothing.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        kind (PutEntityKind | Unset): Without it that of the entity, if there is one, else what
            the path says: a subscription, or a queue
        only_new (bool | Unset): Whether an entity that exists is a conflict
        body (EntityBody): An entity in the form of Config.json
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
kind=kind,
only_new=only_new,

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
    body:    EntityBody  |     File  | Unset = UNSET,
    kind: PutEntityKind | Unset = UNSET,
    only_new: bool | Unset = UNSET,

) -> Error | WholeEntity | None:
    """ Creates an entity, or makes it what the body says

     The body has the form of an entity in Config.json, with its defaults. A setting that the body does
    not name gets its default. Policies, rules and subscriptions stay if the body does not name them.
    What is fixed at creation can't be changed. The answer comes when the change is durable; all of it
    is made, or nothing.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        kind (PutEntityKind | Unset): Without it that of the entity, if there is one, else what
            the path says: a subscription, or a queue
        only_new (bool | Unset): Whether an entity that exists is a conflict
        body (EntityBody): An entity in the form of Config.json
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
kind=kind,
only_new=only_new,

    )).parsed

from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.upcoming import Upcoming
from ...types import UNSET, Unset
from typing import cast
import datetime



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    from_: datetime.datetime | Unset = UNSET,
    step: str | Unset = 'PT1H',
    steps: int | Unset = 24,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    params["step"] = step

    params["steps"] = steps


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/schedule".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Upcoming | None:
    if response.status_code == 200:
        response_200 = Upcoming.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Upcoming]:
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
    from_: datetime.datetime | Unset = UNSET,
    step: str | Unset = 'PT1H',
    steps: int | Unset = 24,

) -> Response[Error | Upcoming]:
    """ How many scheduled messages of a queue or topic become active when

     It costs the same however many there are. listMessages shows those of a step, by dueAfter and
    dueBefore. A message that is due and could not become active yet counts with its time.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        from_ (datetime.datetime | Unset): The beginning, rounded down to a minute; none: now
        step (str | Unset): How long a step is: whole minutes, at most a day, as an ISO 8601
            duration Default: 'PT1H'.
        steps (int | Unset): How many steps Default: 24.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Upcoming]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
from_=from_,
step=step,
steps=steps,

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
    from_: datetime.datetime | Unset = UNSET,
    step: str | Unset = 'PT1H',
    steps: int | Unset = 24,

) -> Error | Upcoming | None:
    """ How many scheduled messages of a queue or topic become active when

     It costs the same however many there are. listMessages shows those of a step, by dueAfter and
    dueBefore. A message that is due and could not become active yet counts with its time.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        from_ (datetime.datetime | Unset): The beginning, rounded down to a minute; none: now
        step (str | Unset): How long a step is: whole minutes, at most a day, as an ISO 8601
            duration Default: 'PT1H'.
        steps (int | Unset): How many steps Default: 24.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Upcoming
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
client=client,
from_=from_,
step=step,
steps=steps,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    from_: datetime.datetime | Unset = UNSET,
    step: str | Unset = 'PT1H',
    steps: int | Unset = 24,

) -> Response[Error | Upcoming]:
    """ How many scheduled messages of a queue or topic become active when

     It costs the same however many there are. listMessages shows those of a step, by dueAfter and
    dueBefore. A message that is due and could not become active yet counts with its time.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        from_ (datetime.datetime | Unset): The beginning, rounded down to a minute; none: now
        step (str | Unset): How long a step is: whole minutes, at most a day, as an ISO 8601
            duration Default: 'PT1H'.
        steps (int | Unset): How many steps Default: 24.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Upcoming]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
from_=from_,
step=step,
steps=steps,

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
    from_: datetime.datetime | Unset = UNSET,
    step: str | Unset = 'PT1H',
    steps: int | Unset = 24,

) -> Error | Upcoming | None:
    """ How many scheduled messages of a queue or topic become active when

     It costs the same however many there are. listMessages shows those of a step, by dueAfter and
    dueBefore. A message that is due and could not become active yet counts with its time.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        from_ (datetime.datetime | Unset): The beginning, rounded down to a minute; none: now
        step (str | Unset): How long a step is: whole minutes, at most a day, as an ISO 8601
            duration Default: 'PT1H'.
        steps (int | Unset): How many steps Default: 24.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Upcoming
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
from_=from_,
step=step,
steps=steps,

    )).parsed

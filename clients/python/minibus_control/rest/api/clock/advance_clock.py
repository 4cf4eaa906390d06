from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.advance_clock_request import AdvanceClockRequest
from ...models.clock import Clock
from ...models.error import Error
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    body: AdvanceClockRequest,
    timeout_seconds: int | Unset = 60,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    params: dict[str, Any] = {}

    params["timeoutSeconds"] = timeout_seconds


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/clock/advance".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Clock | Error | None:
    if response.status_code == 200:
        response_200 = Clock.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Clock | Error]:
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
    body: AdvanceClockRequest,
    timeout_seconds: int | Unset = 60,

) -> Response[Clock | Error]:
    """ Lets time pass in a namespace

     Locks end, messages expire, scheduled ones become active and idle entities are deleted, in one
    order, before the answer. No time passes on the network. If the client goes away, or the time is
    over, the clock stops where it is, everything that fell due until then has happened, and the error
    is 503. While it is being advanced, getClock shows how far it is.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        timeout_seconds (int | Unset): How long the request may take Default: 60.
        body (AdvanceClockRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Clock | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
timeout_seconds=timeout_seconds,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: AdvanceClockRequest,
    timeout_seconds: int | Unset = 60,

) -> Clock | Error | None:
    """ Lets time pass in a namespace

     Locks end, messages expire, scheduled ones become active and idle entities are deleted, in one
    order, before the answer. No time passes on the network. If the client goes away, or the time is
    over, the clock stops where it is, everything that fell due until then has happened, and the error
    is 503. While it is being advanced, getClock shows how far it is.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        timeout_seconds (int | Unset): How long the request may take Default: 60.
        body (AdvanceClockRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Clock | Error
     """


    return sync_detailed(
        namespace=namespace,
client=client,
body=body,
timeout_seconds=timeout_seconds,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: AdvanceClockRequest,
    timeout_seconds: int | Unset = 60,

) -> Response[Clock | Error]:
    """ Lets time pass in a namespace

     Locks end, messages expire, scheduled ones become active and idle entities are deleted, in one
    order, before the answer. No time passes on the network. If the client goes away, or the time is
    over, the clock stops where it is, everything that fell due until then has happened, and the error
    is 503. While it is being advanced, getClock shows how far it is.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        timeout_seconds (int | Unset): How long the request may take Default: 60.
        body (AdvanceClockRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Clock | Error]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
timeout_seconds=timeout_seconds,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: AdvanceClockRequest,
    timeout_seconds: int | Unset = 60,

) -> Clock | Error | None:
    """ Lets time pass in a namespace

     Locks end, messages expire, scheduled ones become active and idle entities are deleted, in one
    order, before the answer. No time passes on the network. If the client goes away, or the time is
    over, the clock stops where it is, everything that fell due until then has happened, and the error
    is 503. While it is being advanced, getClock shows how far it is.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        timeout_seconds (int | Unset): How long the request may take Default: 60.
        body (AdvanceClockRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Clock | Error
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
body=body,
timeout_seconds=timeout_seconds,

    )).parsed

from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.wait_for import WaitFor
from ...models.waited import Waited
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    body: WaitFor,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/wait".format(namespace=quote(str(namespace), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Waited | None:
    if response.status_code == 200:
        response_200 = Waited.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Waited]:
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
    body: WaitFor,

) -> Response[Error | Waited]:
    """ Waits until something holds

     All that the body names has to hold at one moment. The answer comes then, or when the time is over,
    and says how it stands. If not all holds, it also says what was wanted and what stands in the way of
    receiving.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (WaitFor):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Waited]
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
    body: WaitFor,

) -> Error | Waited | None:
    """ Waits until something holds

     All that the body names has to hold at one moment. The answer comes then, or when the time is over,
    and says how it stands. If not all holds, it also says what was wanted and what stands in the way of
    receiving.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (WaitFor):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Waited
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
    body: WaitFor,

) -> Response[Error | Waited]:
    """ Waits until something holds

     All that the body names has to hold at one moment. The answer comes then, or when the time is over,
    and says how it stands. If not all holds, it also says what was wanted and what stands in the way of
    receiving.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (WaitFor):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Waited]
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
    body: WaitFor,

) -> Error | Waited | None:
    """ Waits until something holds

     All that the body names has to hold at one moment. The answer comes then, or when the time is over,
    and says how it stands. If not all holds, it also says what was wanted and what stands in the way of
    receiving.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        body (WaitFor):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Waited
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
body=body,

    )).parsed

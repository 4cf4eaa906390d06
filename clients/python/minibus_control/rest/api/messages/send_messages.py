from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.send_messages_body_type_0 import SendMessagesBodyType0
from ...models.send_messages_body_type_1_item import SendMessagesBodyType1Item
from ...models.sent import Sent
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    body: list[SendMessagesBodyType1Item] | SendMessagesBodyType0,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/messages".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
    }

    
    if isinstance(body, SendMessagesBodyType0):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = []
        for body_type_1_item_data in body:
            body_type_1_item = body_type_1_item_data.to_dict()
            _kwargs["json"].append(body_type_1_item)




    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Sent | None:
    if response.status_code == 201:
        response_201 = Sent.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Sent]:
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
    body: list[SendMessagesBodyType1Item] | SendMessagesBodyType0,

) -> Response[Error | Sent]:
    """ Sends messages to a queue or topic, all or none

     One message, or an array of them. Those with a scheduledEnqueueTime in the future are scheduled. The
    answer comes when all are durable. What only the service sets, such as sequenceNumber, may be there
    and is not looked at, so a message can be sent again as it was shown.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (list[SendMessagesBodyType1Item] | SendMessagesBodyType0):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Sent]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
body=body,

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
    body: list[SendMessagesBodyType1Item] | SendMessagesBodyType0,

) -> Error | Sent | None:
    """ Sends messages to a queue or topic, all or none

     One message, or an array of them. Those with a scheduledEnqueueTime in the future are scheduled. The
    answer comes when all are durable. What only the service sets, such as sequenceNumber, may be there
    and is not looked at, so a message can be sent again as it was shown.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (list[SendMessagesBodyType1Item] | SendMessagesBodyType0):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Sent
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
client=client,
body=body,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    body: list[SendMessagesBodyType1Item] | SendMessagesBodyType0,

) -> Response[Error | Sent]:
    """ Sends messages to a queue or topic, all or none

     One message, or an array of them. Those with a scheduledEnqueueTime in the future are scheduled. The
    answer comes when all are durable. What only the service sets, such as sequenceNumber, may be there
    and is not looked at, so a message can be sent again as it was shown.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (list[SendMessagesBodyType1Item] | SendMessagesBodyType0):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Sent]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
body=body,

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
    body: list[SendMessagesBodyType1Item] | SendMessagesBodyType0,

) -> Error | Sent | None:
    """ Sends messages to a queue or topic, all or none

     One message, or an array of them. Those with a scheduledEnqueueTime in the future are scheduled. The
    answer comes when all are durable. What only the service sets, such as sequenceNumber, may be there
    and is not looked at, so a message can be sent again as it was shown.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (list[SendMessagesBodyType1Item] | SendMessagesBodyType0):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Sent
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
body=body,

    )).parsed

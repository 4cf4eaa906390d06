from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.match_message_body import MatchMessageBody
from ...models.matching import Matching
from typing import cast



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    body: MatchMessageBody,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/match".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Matching | None:
    if response.status_code == 200:
        response_200 = Matching.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Matching]:
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
    body: MatchMessageBody,

) -> Response[Error | Matching]:
    """ Which subscriptions of a topic a message would reach, by which rules and with which changes, and why
    not the others

     Sends nothing. The rules are asked as if the message was sent now; for each that does not select it
    the answer has the conditions that were false or unknown, with the values that they saw. Of a
    subscription it looks at that one only. With a rule it asks this one instead, which is not stored:
    in place of the rules of the subscription, or on a topic as that of a new subscription.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (MatchMessageBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Matching]
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
    body: MatchMessageBody,

) -> Error | Matching | None:
    """ Which subscriptions of a topic a message would reach, by which rules and with which changes, and why
    not the others

     Sends nothing. The rules are asked as if the message was sent now; for each that does not select it
    the answer has the conditions that were false or unknown, with the values that they saw. Of a
    subscription it looks at that one only. With a rule it asks this one instead, which is not stored:
    in place of the rules of the subscription, or on a topic as that of a new subscription.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (MatchMessageBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Matching
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
    body: MatchMessageBody,

) -> Response[Error | Matching]:
    """ Which subscriptions of a topic a message would reach, by which rules and with which changes, and why
    not the others

     Sends nothing. The rules are asked as if the message was sent now; for each that does not select it
    the answer has the conditions that were false or unknown, with the values that they saw. Of a
    subscription it looks at that one only. With a rule it asks this one instead, which is not stored:
    in place of the rules of the subscription, or on a topic as that of a new subscription.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (MatchMessageBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Matching]
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
    body: MatchMessageBody,

) -> Error | Matching | None:
    """ Which subscriptions of a topic a message would reach, by which rules and with which changes, and why
    not the others

     Sends nothing. The rules are asked as if the message was sent now; for each that does not select it
    the answer has the conditions that were false or unknown, with the values that they saw. Of a
    subscription it looks at that one only. With a rule it asks this one instead, which is not stored:
    in place of the rules of the subscription, or on a topic as that of a new subscription.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        body (MatchMessageBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Matching
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
body=body,

    )).parsed

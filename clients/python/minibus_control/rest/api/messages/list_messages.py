from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.list_messages_order import ListMessagesOrder
from ...models.list_messages_state_type_0_item import ListMessagesStateType0Item
from ...models.message_page import MessagePage
from ...types import UNSET, Unset
from typing import cast
import datetime



def _get_kwargs(
    namespace: str,
    entity: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    order: ListMessagesOrder | Unset = ListMessagesOrder.OLDEST,
    state: list[ListMessagesStateType0Item] | None | Unset = UNSET,
    sql: str | Unset = UNSET,
    text: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    enqueued_after: datetime.datetime | Unset = UNSET,
    enqueued_before: datetime.datetime | Unset = UNSET,
    due_after: datetime.datetime | Unset = UNSET,
    due_before: datetime.datetime | Unset = UNSET,
    body: int | Unset = 200,
    properties: bool | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["from"] = from_

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order.value

    params["order"] = json_order

    json_state: list[str] | None | Unset
    if isinstance(state, Unset):
        json_state = UNSET
    elif isinstance(state, list):
        json_state = []
        for state_type_0_item_data in state:
            state_type_0_item = state_type_0_item_data.value
            json_state.append(state_type_0_item)


    else:
        json_state = state
    params["state"] = json_state

    params["sql"] = sql

    params["text"] = text

    params["reason"] = reason

    params["sessionId"] = session_id

    json_enqueued_after: str | Unset = UNSET
    if not isinstance(enqueued_after, Unset):
        json_enqueued_after = enqueued_after.isoformat()
    params["enqueuedAfter"] = json_enqueued_after

    json_enqueued_before: str | Unset = UNSET
    if not isinstance(enqueued_before, Unset):
        json_enqueued_before = enqueued_before.isoformat()
    params["enqueuedBefore"] = json_enqueued_before

    json_due_after: str | Unset = UNSET
    if not isinstance(due_after, Unset):
        json_due_after = due_after.isoformat()
    params["dueAfter"] = json_due_after

    json_due_before: str | Unset = UNSET
    if not isinstance(due_before, Unset):
        json_due_before = due_before.isoformat()
    params["dueBefore"] = json_due_before

    params["body"] = body

    params["properties"] = properties


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/$minibus/v1/namespaces/{namespace}/entities/{entity}/messages".format(namespace=quote(str(namespace), safe=""),entity=quote(str(entity), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | MessagePage | None:
    if response.status_code == 200:
        response_200 = MessagePage.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | MessagePage]:
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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    order: ListMessagesOrder | Unset = ListMessagesOrder.OLDEST,
    state: list[ListMessagesStateType0Item] | None | Unset = UNSET,
    sql: str | Unset = UNSET,
    text: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    enqueued_after: datetime.datetime | Unset = UNSET,
    enqueued_before: datetime.datetime | Unset = UNSET,
    due_after: datetime.datetime | Unset = UNSET,
    due_before: datetime.datetime | Unset = UNSET,
    body: int | Unset = 200,
    properties: bool | Unset = UNSET,

) -> Response[Error | MessagePage]:
    """ The messages of an entity or a sub-queue, with the beginnings of their bodies

     It locks, reorders and delays nothing, and does not count as use. One page looks at a bounded number
    of messages and bytes: where a filter fits few messages, pages may be empty and have a next one. The
    messages of a partitioned entity come partition by partition, as their numbers do. Expired messages
    that are still there are shown as a peek shows them.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        from_ (int | Unset): The first sequence number to look at; without it and a cursor the
            list begins at its end
        order (ListMessagesOrder | Unset): Which come first, by sequence number Default:
            ListMessagesOrder.OLDEST.
        state (list[ListMessagesStateType0Item] | None | Unset): Only those that stand so; several
            with commas between
        sql (str | Unset): Only those that a SQL filter selects, as rules have them
        text (str | Unset): Only those with the text in the body, in a property or in its name, in
            letters of any case
        reason (str | Unset): Only those with this DeadLetterReason. $empty: none
        session_id (str | Unset): Only those of a session. $empty means the one whose id is the
            empty text
        enqueued_after (datetime.datetime | Unset): Only those enqueued then or later
        enqueued_before (datetime.datetime | Unset): Only those enqueued earlier
        due_after (datetime.datetime | Unset): Only scheduled ones that become active then or
            later
        due_before (datetime.datetime | Unset): Only scheduled ones that become active earlier
        body (int | Unset): How many bytes of a body to show, from its beginning Default: 200.
        properties (bool | Unset): Show application properties, annotations and footer too

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessagePage]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
limit=limit,
cursor=cursor,
from_=from_,
order=order,
state=state,
sql=sql,
text=text,
reason=reason,
session_id=session_id,
enqueued_after=enqueued_after,
enqueued_before=enqueued_before,
due_after=due_after,
due_before=due_before,
body=body,
properties=properties,

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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    order: ListMessagesOrder | Unset = ListMessagesOrder.OLDEST,
    state: list[ListMessagesStateType0Item] | None | Unset = UNSET,
    sql: str | Unset = UNSET,
    text: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    enqueued_after: datetime.datetime | Unset = UNSET,
    enqueued_before: datetime.datetime | Unset = UNSET,
    due_after: datetime.datetime | Unset = UNSET,
    due_before: datetime.datetime | Unset = UNSET,
    body: int | Unset = 200,
    properties: bool | Unset = UNSET,

) -> Error | MessagePage | None:
    """ The messages of an entity or a sub-queue, with the beginnings of their bodies

     It locks, reorders and delays nothing, and does not count as use. One page looks at a bounded number
    of messages and bytes: where a filter fits few messages, pages may be empty and have a next one. The
    messages of a partitioned entity come partition by partition, as their numbers do. Expired messages
    that are still there are shown as a peek shows them.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        from_ (int | Unset): The first sequence number to look at; without it and a cursor the
            list begins at its end
        order (ListMessagesOrder | Unset): Which come first, by sequence number Default:
            ListMessagesOrder.OLDEST.
        state (list[ListMessagesStateType0Item] | None | Unset): Only those that stand so; several
            with commas between
        sql (str | Unset): Only those that a SQL filter selects, as rules have them
        text (str | Unset): Only those with the text in the body, in a property or in its name, in
            letters of any case
        reason (str | Unset): Only those with this DeadLetterReason. $empty: none
        session_id (str | Unset): Only those of a session. $empty means the one whose id is the
            empty text
        enqueued_after (datetime.datetime | Unset): Only those enqueued then or later
        enqueued_before (datetime.datetime | Unset): Only those enqueued earlier
        due_after (datetime.datetime | Unset): Only scheduled ones that become active then or
            later
        due_before (datetime.datetime | Unset): Only scheduled ones that become active earlier
        body (int | Unset): How many bytes of a body to show, from its beginning Default: 200.
        properties (bool | Unset): Show application properties, annotations and footer too

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessagePage
     """


    return sync_detailed(
        namespace=namespace,
entity=entity,
client=client,
limit=limit,
cursor=cursor,
from_=from_,
order=order,
state=state,
sql=sql,
text=text,
reason=reason,
session_id=session_id,
enqueued_after=enqueued_after,
enqueued_before=enqueued_before,
due_after=due_after,
due_before=due_before,
body=body,
properties=properties,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    entity: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    order: ListMessagesOrder | Unset = ListMessagesOrder.OLDEST,
    state: list[ListMessagesStateType0Item] | None | Unset = UNSET,
    sql: str | Unset = UNSET,
    text: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    enqueued_after: datetime.datetime | Unset = UNSET,
    enqueued_before: datetime.datetime | Unset = UNSET,
    due_after: datetime.datetime | Unset = UNSET,
    due_before: datetime.datetime | Unset = UNSET,
    body: int | Unset = 200,
    properties: bool | Unset = UNSET,

) -> Response[Error | MessagePage]:
    """ The messages of an entity or a sub-queue, with the beginnings of their bodies

     It locks, reorders and delays nothing, and does not count as use. One page looks at a bounded number
    of messages and bytes: where a filter fits few messages, pages may be empty and have a next one. The
    messages of a partitioned entity come partition by partition, as their numbers do. Expired messages
    that are still there are shown as a peek shows them.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        from_ (int | Unset): The first sequence number to look at; without it and a cursor the
            list begins at its end
        order (ListMessagesOrder | Unset): Which come first, by sequence number Default:
            ListMessagesOrder.OLDEST.
        state (list[ListMessagesStateType0Item] | None | Unset): Only those that stand so; several
            with commas between
        sql (str | Unset): Only those that a SQL filter selects, as rules have them
        text (str | Unset): Only those with the text in the body, in a property or in its name, in
            letters of any case
        reason (str | Unset): Only those with this DeadLetterReason. $empty: none
        session_id (str | Unset): Only those of a session. $empty means the one whose id is the
            empty text
        enqueued_after (datetime.datetime | Unset): Only those enqueued then or later
        enqueued_before (datetime.datetime | Unset): Only those enqueued earlier
        due_after (datetime.datetime | Unset): Only scheduled ones that become active then or
            later
        due_before (datetime.datetime | Unset): Only scheduled ones that become active earlier
        body (int | Unset): How many bytes of a body to show, from its beginning Default: 200.
        properties (bool | Unset): Show application properties, annotations and footer too

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | MessagePage]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
entity=entity,
limit=limit,
cursor=cursor,
from_=from_,
order=order,
state=state,
sql=sql,
text=text,
reason=reason,
session_id=session_id,
enqueued_after=enqueued_after,
enqueued_before=enqueued_before,
due_after=due_after,
due_before=due_before,
body=body,
properties=properties,

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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    from_: int | Unset = UNSET,
    order: ListMessagesOrder | Unset = ListMessagesOrder.OLDEST,
    state: list[ListMessagesStateType0Item] | None | Unset = UNSET,
    sql: str | Unset = UNSET,
    text: str | Unset = UNSET,
    reason: str | Unset = UNSET,
    session_id: str | Unset = UNSET,
    enqueued_after: datetime.datetime | Unset = UNSET,
    enqueued_before: datetime.datetime | Unset = UNSET,
    due_after: datetime.datetime | Unset = UNSET,
    due_before: datetime.datetime | Unset = UNSET,
    body: int | Unset = 200,
    properties: bool | Unset = UNSET,

) -> Error | MessagePage | None:
    """ The messages of an entity or a sub-queue, with the beginnings of their bodies

     It locks, reorders and delays nothing, and does not count as use. One page looks at a bounded number
    of messages and bytes: where a filter fits few messages, pages may be empty and have a next one. The
    messages of a partitioned entity come partition by partition, as their numbers do. Expired messages
    that are still there are shown as a peek shows them.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        entity (str): The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge,
            orders%2F$DeadLetterQueue
        limit (int | Unset): The most items of a page Default: 100.
        cursor (str | Unset): What the page before had in next
        from_ (int | Unset): The first sequence number to look at; without it and a cursor the
            list begins at its end
        order (ListMessagesOrder | Unset): Which come first, by sequence number Default:
            ListMessagesOrder.OLDEST.
        state (list[ListMessagesStateType0Item] | None | Unset): Only those that stand so; several
            with commas between
        sql (str | Unset): Only those that a SQL filter selects, as rules have them
        text (str | Unset): Only those with the text in the body, in a property or in its name, in
            letters of any case
        reason (str | Unset): Only those with this DeadLetterReason. $empty: none
        session_id (str | Unset): Only those of a session. $empty means the one whose id is the
            empty text
        enqueued_after (datetime.datetime | Unset): Only those enqueued then or later
        enqueued_before (datetime.datetime | Unset): Only those enqueued earlier
        due_after (datetime.datetime | Unset): Only scheduled ones that become active then or
            later
        due_before (datetime.datetime | Unset): Only scheduled ones that become active earlier
        body (int | Unset): How many bytes of a body to show, from its beginning Default: 200.
        properties (bool | Unset): Show application properties, annotations and footer too

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | MessagePage
     """


    return (await asyncio_detailed(
        namespace=namespace,
entity=entity,
client=client,
limit=limit,
cursor=cursor,
from_=from_,
order=order,
state=state,
sql=sql,
text=text,
reason=reason,
session_id=session_id,
enqueued_after=enqueued_after,
enqueued_before=enqueued_before,
due_after=due_after,
due_before=due_before,
body=body,
properties=properties,

    )).parsed

from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error import Error
from ...models.job import Job
from ...models.job_order import JobOrder
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    namespace: str,
    *,
    body: JobOrder,
    wait: str | Unset = UNSET,

) -> dict[str, Any]:
    headers: dict[str, Any] = {}


    

    params: dict[str, Any] = {}

    params["wait"] = wait


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/$minibus/v1/namespaces/{namespace}/jobs".format(namespace=quote(str(namespace), safe=""),),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Error | Job | None:
    if response.status_code == 201:
        response_201 = Job.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Error | Job]:
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
    body: JobOrder,
    wait: str | Unset = UNSET,

) -> Response[Error | Job]:
    """ Removes messages, moves them to another entity, or sends dead letters again, in the background

     The job concerns the messages that are there now and leaves alone those that clients have locked.
    Each batch moves in one change on the disk, so no message is lost or doubled whenever the process
    ends. A message that the target can't take stays where it is and counts as failed; if the target is
    full, disabled or gone, the job fails and the rest stays. At most 8 jobs of a namespace run at once.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        wait (str | Unset): How long to wait until the job has ended, at most 60s
        body (JobOrder):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Job]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
wait=wait,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: JobOrder,
    wait: str | Unset = UNSET,

) -> Error | Job | None:
    """ Removes messages, moves them to another entity, or sends dead letters again, in the background

     The job concerns the messages that are there now and leaves alone those that clients have locked.
    Each batch moves in one change on the disk, so no message is lost or doubled whenever the process
    ends. A message that the target can't take stays where it is and counts as failed; if the target is
    full, disabled or gone, the job fails and the rest stays. At most 8 jobs of a namespace run at once.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        wait (str | Unset): How long to wait until the job has ended, at most 60s
        body (JobOrder):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Job
     """


    return sync_detailed(
        namespace=namespace,
client=client,
body=body,
wait=wait,

    ).parsed

async def asyncio_detailed(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: JobOrder,
    wait: str | Unset = UNSET,

) -> Response[Error | Job]:
    """ Removes messages, moves them to another entity, or sends dead letters again, in the background

     The job concerns the messages that are there now and leaves alone those that clients have locked.
    Each batch moves in one change on the disk, so no message is lost or doubled whenever the process
    ends. A message that the target can't take stays where it is and counts as failed; if the target is
    full, disabled or gone, the job fails and the rest stays. At most 8 jobs of a namespace run at once.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        wait (str | Unset): How long to wait until the job has ended, at most 60s
        body (JobOrder):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Error | Job]
     """


    kwargs = _get_kwargs(
        namespace=namespace,
body=body,
wait=wait,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    namespace: str,
    *,
    client: AuthenticatedClient | Client,
    body: JobOrder,
    wait: str | Unset = UNSET,

) -> Error | Job | None:
    """ Removes messages, moves them to another entity, or sends dead letters again, in the background

     The job concerns the messages that are there now and leaves alone those that clients have locked.
    Each batch moves in one change on the disk, so no message is lost or doubled whenever the process
    ends. A message that the target can't take stays where it is and counts as failed; if the target is
    full, disabled or gone, the job fails and the rest stays. At most 8 jobs of a namespace run at once.

    Args:
        namespace (str): The name, in letters of any case. $this means the namespace of the host
            and port of the request, $default the default one
        wait (str | Unset): How long to wait until the job has ended, at most 60s
        body (JobOrder):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Error | Job
     """


    return (await asyncio_detailed(
        namespace=namespace,
client=client,
body=body,
wait=wait,

    )).parsed

"""Requests to the control API: one exchange for each, over a connection of its own, with sockets or with asyncio.

A verb is a generator (see _verbs) that yields requests and gets their answers. run and run_async do what it yields.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import http.client
import io
import ipaddress
import json
import re
import socket
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from urllib.parse import quote_plus, urlsplit

__tracebackhide__ = True  # pytest shows the line of the test

T = TypeVar("T")

_AZURE = re.compile(r"\.servicebus\.")  # in all of its clouds
_AMQP_PORT = 5672  # which takes HTTP too
_PATIENCE = 30.0  # seconds, besides those that Minibus is told to wait


class MinibusError(Exception):
    """What Minibus refused, or why it could not be asked.

    detail says what is wrong and what to do, status is the status of HTTP (None if there was no answer), and errors
    lists single mistakes, for example in a configuration.
    """

    __module__ = "minibus"

    def __init__(self, detail: str, status: int | None = None, errors: tuple[str, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.errors = errors

    def __str__(self) -> str:
        return "\n".join((self.detail, *self.errors)) if len(self.errors) > 1 else self.detail

    def __reduce__(self) -> tuple[Any, ...]:  # for pytest-xdist and multiprocessing
        return (type(self), (self.detail, self.status, self.errors))


@dataclass(frozen=True)
class Request:
    """A request, to a path below /$minibus/v1. wait is how long Minibus may take by its order, in seconds."""

    method: str
    path: str
    body: Any = None
    wait: float = 0


Steps = Generator[Request, Any, T]


def _is_local(host: str) -> bool:
    """Whether a host means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True)
class Endpoint:
    """Where a Minibus answers, and the key that its requests are signed with.

    ending says how its process has ended: None if it runs, or if it is not ours.
    """

    host: str
    port: int
    key_name: str = ""
    key: str = field(default="", repr=False)
    ending: Callable[[], str | None] = field(default=lambda: None, repr=False, compare=False)

    @classmethod
    def of(cls, connection_string: str, ending: Callable[[], str | None] = lambda: None) -> Endpoint:
        pairs = (part.partition("=") for part in connection_string.split(";"))
        parts = {name.strip().lower(): value.strip() for name, _, value in pairs}
        url = urlsplit(parts.get("endpoint", ""))
        if not url.hostname:
            raise MinibusError(
                "The connection string has no Endpoint. Copy the whole string, as Minibus prints it when it starts: "
                "Endpoint=sb://localhost:5672;SharedAccessKeyName=...;SharedAccessKey=...;UseDevelopmentEmulator=true;"
            )
        if _AZURE.search(url.hostname):
            raise MinibusError(
                f"The connection string is that of a namespace of Azure: {url.hostname}. Nothing was sent to it. "
                "Give that of a Minibus, or let your program start one with Minibus.start()."
            )
        if parts.get("usedevelopmentemulator", "").lower() != "true" and not _is_local(url.hostname):
            raise MinibusError(
                f"The connection string for {url.hostname} lacks UseDevelopmentEmulator=true. Nothing was sent there. "
                "If a Minibus runs there, add it."
            )
        return cls(
            url.hostname,
            url.port or _AMQP_PORT,
            parts.get("sharedaccesskeyname", ""),
            parts.get("sharedaccesskey", ""),
            ending,
        )

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def _token(self) -> str:
        resource = quote_plus(f"http://{self.address}/")
        expires = int(time.time()) + 3600
        digest = hmac.new(self.key.encode(), f"{resource}\n{expires}".encode(), hashlib.sha256).digest()
        signature = quote_plus(base64.b64encode(digest))
        return f"SharedAccessSignature sr={resource}&sig={signature}&se={expires}&skn={quote_plus(self.key_name)}"

    def _encode(self, request: Request) -> bytes:
        body = b"" if request.body is None else json.dumps(request.body).encode()
        lines = [f"{request.method} /$minibus/v1{request.path} HTTP/1.1", f"Host: {self.address}", "Connection: close"]
        if body or request.method != "GET":
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        if self.key:
            lines.append(f"Authorization: {self._token()}")
        return "\r\n".join([*lines, "", ""]).encode() + body

    def _silent(self) -> MinibusError:
        return MinibusError(f"{self.address} accepts connections but does not answer. Is it a Minibus?")

    def _unreachable(self, cause: Exception) -> MinibusError:
        if ended := self.ending():
            return MinibusError(ended)
        why = getattr(cause, "strerror", None) or str(cause) or "no answer in time"
        if isinstance(cause, ConnectionRefusedError) or "Connect call failed" in why:  # asyncio, at several addresses
            why = "connection refused"
        return MinibusError(
            f"No Minibus answers at {self.address} ({why}). Start one there with the command minibus, "
            "or let your program start one with Minibus.start()."
        )


def _decode(endpoint: Endpoint, request: Request, raw: bytes) -> Any:
    """Return the JSON of an answer, or raise what it refuses."""
    response = http.client.HTTPResponse(cast(socket.socket, _Received(raw)), method=request.method)
    try:
        response.begin()
        text = response.read()
    except http.client.HTTPException:
        raise MinibusError(
            endpoint.ending()
            or f"Minibus at {endpoint.address} ended while it answered {request.method} {request.path}."
        ) from None
    finally:
        response.close()
    try:
        answer = json.loads(text) if text else None
    except ValueError:
        answer = text.decode(errors="replace")
    if response.status < 400:
        return answer
    if isinstance(answer, dict) and "detail" in answer:
        raise MinibusError(answer["detail"], response.status, tuple(answer.get("errors", ())))
    refused = f"{request.method} {request.path} was refused with {response.status}"
    raise MinibusError(
        f"{refused}: is there a Minibus at {endpoint.address}? {answer or ''}".rstrip(), response.status
    )


class _Received:
    """The part of a socket that http.client needs."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._raw)


def exchange(endpoint: Endpoint, request: Request) -> Any:
    """Send a request, wait for the answer and return its JSON."""
    patience = _PATIENCE + request.wait
    deadline = time.monotonic() + patience
    chunks = []
    try:
        with socket.create_connection((endpoint.host, endpoint.port), patience) as connection:
            try:
                with contextlib.suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # refused before all was sent: the answer says why
                    connection.sendall(endpoint._encode(request))
                while chunk := connection.recv(1 << 16):
                    chunks.append(chunk)
                    connection.settimeout(max(deadline - time.monotonic(), 0.001))
            except TimeoutError:
                raise endpoint._silent() from None
    except OSError as cause:
        raise endpoint._unreachable(cause) from None
    return _decode(endpoint, request, b"".join(chunks))


async def exchange_async(endpoint: Endpoint, request: Request) -> Any:
    """The same with asyncio. Who cancels it closes the connection, which also ends a wait."""

    accepted = False

    async def talk() -> bytes:
        nonlocal accepted
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        accepted = True
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                writer.write(endpoint._encode(request))
                await writer.drain()
            return await reader.read()
        finally:
            writer.close()

    try:
        raw = await asyncio.wait_for(talk(), _PATIENCE + request.wait)
    except (OSError, asyncio.TimeoutError) as cause:
        silent = accepted and isinstance(cause, asyncio.TimeoutError)
        raise endpoint._silent() if silent else endpoint._unreachable(cause) from None
    return _decode(endpoint, request, raw)


def run(endpoint: Endpoint, steps: Steps[T]) -> T:
    """Do the requests of a verb, and return its result."""
    answer, refused = None, None
    while True:
        try:
            request = steps.throw(refused) if refused else steps.send(answer)
        except StopIteration as end:
            return cast(T, end.value)
        answer, refused = None, None
        try:
            answer = exchange(endpoint, request)
        except MinibusError as error:
            refused = error.with_traceback(None)


async def run_async(endpoint: Endpoint, steps: Steps[T]) -> T:
    """The same with asyncio."""
    answer, refused = None, None
    while True:
        try:
            request = steps.throw(refused) if refused else steps.send(answer)
        except StopIteration as end:
            return cast(T, end.value)
        answer, refused = None, None
        try:
            answer = await exchange_async(endpoint, request)
        except MinibusError as error:
            refused = error.with_traceback(None)

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
import json
import socket
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from urllib.parse import quote_plus, urlsplit

__tracebackhide__ = True  # pytest shows the line of the test

T = TypeVar("T")

_AMQP_PORT = 5672  # which takes HTTP too
_PATIENCE = 90.0  # seconds; an advance of the clock takes up to a minute


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
    """A request, to a path below /$minibus/v1."""

    method: str
    path: str
    body: Any = None
    patience: float = _PATIENCE


Steps = Generator[Request, Any, T]


@dataclass(frozen=True)
class Endpoint:
    """Where a Minibus answers, and the key that its requests are signed with."""

    host: str
    port: int
    key_name: str = ""
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, connection_string: str) -> Endpoint:
        parts = dict(part.strip().split("=", 1) for part in connection_string.split(";") if "=" in part)
        url = urlsplit(parts.get("Endpoint", ""))
        if not url.hostname:
            raise MinibusError(
                "The connection string has no Endpoint. Copy the whole string, as Minibus prints it when it starts: "
                "Endpoint=sb://localhost:5672;SharedAccessKeyName=...;SharedAccessKey=...;UseDevelopmentEmulator=true;"
            )
        return cls(
            url.hostname,
            url.port or _AMQP_PORT,
            parts.get("SharedAccessKeyName", ""),
            parts.get("SharedAccessKey", ""),
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

    def _unreachable(self, cause: Exception) -> MinibusError:
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
            f"Minibus at {endpoint.address} ended while it answered {request.method} {request.path}."
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
    chunks = []
    try:
        with socket.create_connection((endpoint.host, endpoint.port), request.patience) as connection:
            with contextlib.suppress(
                BrokenPipeError, ConnectionResetError
            ):  # refused before all was sent: the answer says why
                connection.sendall(endpoint._encode(request))
            while chunk := connection.recv(1 << 16):
                chunks.append(chunk)
    except OSError as cause:
        raise endpoint._unreachable(cause) from None
    return _decode(endpoint, request, b"".join(chunks))


async def exchange_async(endpoint: Endpoint, request: Request) -> Any:
    """The same with asyncio. Who cancels it closes the connection, which also ends a wait."""

    async def talk() -> bytes:
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                writer.write(endpoint._encode(request))
                await writer.drain()
            return await reader.read()
        finally:
            writer.close()

    try:
        raw = await asyncio.wait_for(talk(), request.patience)
    except (OSError, asyncio.TimeoutError) as cause:
        raise endpoint._unreachable(cause) from None
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

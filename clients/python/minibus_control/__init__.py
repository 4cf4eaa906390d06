"""Shows and steers a running Minibus through its control API.

    from minibus_control import connect
    from minibus_control.rest.api.entities import list_entities

    client = connect("Endpoint=sb://localhost:5672;SharedAccessKeyName=...;SharedAccessKey=...;UseDevelopmentEmulator=true;")
    for entity in list_entities.sync("$this", client=client).items:
        print(entity.path, entity.counts.active)

What Minibus refuses raises a ControlError. The package rest is generated from the API's OpenAPI document. It has a module for each operation, with sync and asyncio functions.
"""

import base64
import hashlib
import hmac
import time
from urllib.parse import quote_plus, urlsplit

import httpx

from .rest import AuthenticatedClient

__all__ = ["ControlError", "connect"]


class ControlError(Exception):
    """What Minibus refused: status is that of HTTP, detail says what is wrong, where, and what to do."""

    def __init__(self, status: int, detail: str):
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


def connect(connection_string: str, token_life: float = 3600, raise_errors: bool = True, **options) -> AuthenticatedClient:
    """Return a client for the Minibus of a connection string, with a token that lasts token_life seconds.

    Its functions raise a ControlError for what Minibus refuses. Without raise_errors they return a rest.models.Error
    instead, and the caller has to look at each result. options are those of rest.AuthenticatedClient, such as timeout or
    verify_ssl. A string that lacks a part is a ValueError.
    """
    parts = dict(part.split("=", 1) for part in connection_string.split(";") if "=" in part)
    missing = [name for name in ("Endpoint", "SharedAccessKeyName", "SharedAccessKey") if not parts.get(name)]
    if missing:
        raise ValueError(f"the connection string lacks {', '.join(missing)}: copy the whole string, as Minibus prints it at its start")
    emulator = parts.get("UseDevelopmentEmulator", "").lower() == "true"
    host = urlsplit(parts["Endpoint"]).netloc
    if emulator and urlsplit(parts["Endpoint"]).port is None:
        host += ":5300"
    base = f"{'http' if emulator else 'https'}://{host}"
    kind = _RaisingClient if raise_errors else AuthenticatedClient
    return kind(
        base_url=base, token=_token(base + "/", parts, token_life), prefix="SharedAccessSignature", **options)


class _RaisingClient(AuthenticatedClient):
    """A client whose requests raise a ControlError for each status of 400 and more."""

    def get_httpx_client(self) -> httpx.Client:
        new = self._client is None
        client = super().get_httpx_client()
        if new:
            client.event_hooks["response"].append(_check)
        return client

    def get_async_httpx_client(self) -> httpx.AsyncClient:
        new = self._async_client is None
        client = super().get_async_httpx_client()
        if new:
            client.event_hooks["response"].append(_check_async)
        return client


def _check(response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        raise _error_of(response)


async def _check_async(response: httpx.Response) -> None:
    if response.is_error:
        await response.aread()
        raise _error_of(response)


def _error_of(response: httpx.Response) -> ControlError:
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = response.text or response.reason_phrase
    return ControlError(response.status_code, detail)


def _token(resource: str, parts: dict, life: float) -> str:
    expires = str(int(time.time() + life))
    signed = f"{quote_plus(resource)}\n{expires}".encode()
    signature = base64.b64encode(hmac.new(parts["SharedAccessKey"].encode(), signed, hashlib.sha256).digest())
    return f"sr={quote_plus(resource)}&sig={quote_plus(signature)}&se={expires}&skn={quote_plus(parts['SharedAccessKeyName'])}"

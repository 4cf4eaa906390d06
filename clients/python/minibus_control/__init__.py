"""Shows and steers a running Minibus through its control API.

    from minibus_control import connect
    from minibus_control.rest.api.entities import list_entities

    client = connect("Endpoint=sb://localhost;SharedAccessKeyName=...;SharedAccessKey=...;UseDevelopmentEmulator=true;")
    for entity in list_entities.sync("$this", client=client).items:
        print(entity.path, entity.counts.active)

The package rest is generated from the API's OpenAPI document. It has a module for each operation, with sync and asyncio functions.
"""

import base64
import hashlib
import hmac
import time
from urllib.parse import quote_plus, urlsplit

from .rest import AuthenticatedClient

__all__ = ["connect"]


def connect(connection_string: str, token_life: float = 3600, **options) -> AuthenticatedClient:
    """Return a client for the Minibus of a connection string, with a token that lasts token_life seconds.

    options are those of rest.AuthenticatedClient, such as timeout or verify_ssl.
    """
    parts = dict(part.split("=", 1) for part in connection_string.split(";") if "=" in part)
    emulator = parts.get("UseDevelopmentEmulator", "").lower() == "true"
    host = urlsplit(parts["Endpoint"]).netloc
    if emulator and urlsplit(parts["Endpoint"]).port is None:
        host += ":5300"
    base = f"{'http' if emulator else 'https'}://{host}"
    return AuthenticatedClient(
        base_url=base, token=_token(base + "/", parts, token_life), prefix="SharedAccessSignature", **options)


def _token(resource: str, parts: dict, life: float) -> str:
    expires = str(int(time.time() + life))
    signed = f"{quote_plus(resource)}\n{expires}".encode()
    signature = base64.b64encode(hmac.new(parts["SharedAccessKey"].encode(), signed, hashlib.sha256).digest())
    return f"sr={quote_plus(resource)}&sig={quote_plus(signature)}&se={expires}&skn={quote_plus(parts['SharedAccessKeyName'])}"

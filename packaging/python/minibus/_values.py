"""Values on their way to JSON and back: names, durations, times, the typed values of message JSON, and dataclasses."""

from __future__ import annotations

import base64
import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, TypeVar, Union, cast
from uuid import UUID

from ._wire import MinibusError

__tracebackhide__ = True  # pytest shows the line of the test

Duration = Union[timedelta, str]
"""A timedelta, a text such as "1h30m" or "90s", or one of ISO 8601."""

D = TypeVar("D")

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_ISO = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|z|[+-]\d\d:\d\d)")
_EXACT = 1 << 53  # above it numbers of JSON are not exact everywhere


def camel(name: str) -> str:
    """message_id as messageId."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def pascal(name: str) -> str:
    """lock_duration and lockDuration as LockDuration."""
    name = camel(name)
    return name[:1].upper() + name[1:]


def seconds(duration: Duration | float) -> float:
    """The seconds of a timeout."""
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if isinstance(duration, (int, float)):
        return float(duration)
    if duration.startswith(("P", "-P")):
        return span(duration).total_seconds()
    parts = _SPAN.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(
            f'{duration!r} is no duration. Write a timedelta, or a text such as "90s", "1h30m" or "PT1H".'
        )
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def iso(duration: Duration) -> str:
    """A duration as ISO 8601, which Minibus takes. It checks a text of that form itself."""
    if isinstance(duration, str) and duration.startswith(("P", "-P")):
        return duration
    span = duration if isinstance(duration, timedelta) else timedelta(seconds=seconds(duration))
    sign, span = ("-", -span) if span < timedelta(0) else ("", span)
    fraction = f".{span.microseconds:06}".rstrip("0") if span.microseconds else ""
    return f"{sign}P{span.days}DT{span.seconds}{fraction}S"


def span(text: str) -> timedelta:
    """An ISO 8601 duration as a timedelta."""
    found = _ISO.fullmatch(text)
    if not found:
        raise MinibusError(f"{text!r} is no ISO 8601 duration.")
    days, hours, minutes = (int(part or 0) for part in found.group(2, 3, 4))
    whole, _, fraction = (found.group(5) or "0").partition(".")
    value = timedelta(days, int(whole), int(fraction.ljust(6, "0")[:6]), hours=hours, minutes=minutes)
    return -value if found.group(1) else value


def time_text(time: datetime | str) -> str:
    """A time as RFC 3339. One without a zone means UTC, as in the Azure SDK."""
    if isinstance(time, str):
        return time
    aware = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    return aware.replace(tzinfo=None).isoformat() + "Z"


def time_of(text: str) -> datetime:
    """A time of RFC 3339, with a zone. Beyond microseconds it is cut."""
    found = _TIME.fullmatch(text)
    if not found:
        raise MinibusError(f"{text!r} is no time of RFC 3339.")
    day, clock, fraction, zone = found.groups()
    zone = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(f"{day}T{clock}.{(fraction or '').ljust(6, '0')[:6]}{zone}").astimezone(timezone.utc)


def plain(value: Any) -> Any:
    """A value of a filter, a setting or a message as JSON."""
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, timedelta):
        return iso(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


def typed(value: Any) -> Any:
    """A value of an application property as message JSON has it. What is typed already stays."""
    if isinstance(value, datetime):
        return {"timestamp": time_text(value)}
    if isinstance(value, UUID):
        return {"uuid": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"binary": base64.b64encode(value).decode()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return {"long": str(value)}
    if isinstance(value, date):
        raise TypeError(f"{value!r} is a date. Write a datetime, or a text.")
    return value


def untyped(value: Any) -> Any:
    """The value of an application property, without the name of its type."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind in ("byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong"):
        return int(inner)
    if kind in ("float", "double"):
        return float(inner)
    if kind in ("boolean", "string", "symbol", "char"):
        return inner
    if kind == "timestamp":
        return time_of(inner)
    if kind == "uuid":
        return UUID(inner)
    if kind == "binary":
        return base64.b64decode(inner)
    if kind == "list":
        return [untyped(item) for item in inner]
    if kind == "map":
        return {untyped(key): untyped(item) for key, item in inner}
    if kind == "array":
        return [untyped(item) for item in inner["values"]]
    return value


@functools.cache
def _fields(cls: type[Any]) -> list[tuple[str, str, Any]]:
    hints = typing.get_type_hints(cls)
    return [(f.name, f.metadata.get("json", camel(f.name)), hints[f.name]) for f in dataclasses.fields(cls)]


def read(cls: type[D], answer: Mapping[str, Any]) -> D:
    """Make a dataclass of an answer. What the class does not know is left out."""
    return cls(**{name: _converted(kind, answer[key]) for name, key, kind in _fields(cast(Any, cls)) if key in answer})


def _converted(kind: Any, value: Any) -> Any:
    if typing.get_origin(kind) in (Union, types.UnionType):
        kind = next(k for k in typing.get_args(kind) if k is not type(None))
    if value is None:
        return None
    if kind is datetime:
        return time_of(value)
    if typing.get_origin(kind) is tuple:
        return tuple(_converted(typing.get_args(kind)[0], item) for item in value)
    if dataclasses.is_dataclass(kind):
        return read(cast(type[Any], kind), value)
    return value

"""Finds the program."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from ._wire import MinibusError

__tracebackhide__ = True  # pytest shows the line of the test

_NAME = "minibus.exe" if sys.platform == "win32" else "minibus"


def find_binary(given: str | os.PathLike[str] | None = None) -> str:
    """The path of the program: the given one, that of MINIBUS_PATH, that of this package, or one in the PATH."""
    variable = os.environ.get("MINIBUS_PATH")
    for path, source in ((given, "the path that was given"), (variable, "the variable MINIBUS_PATH")):
        if path:
            if not os.path.isfile(path):
                raise MinibusError(f"minibus was not found: {source} names {path}, which does not exist.")
            return os.path.abspath(path)
    for place in _installed():
        if place.is_file():
            return str(place)
    found = shutil.which("minibus")
    if found:
        return found
    raise MinibusError(
        f"minibus was not found: this installation of the package has no program for {sysconfig.get_platform()}. "
        "Install a wheel of this platform (pip install --force-reinstall minibus), put minibus into your PATH, "
        "or name a program in the variable MINIBUS_PATH."
    )


def _installed() -> Iterator[Path]:
    """Where pip puts the program: beside Python, below the user's home, or below the directory of --target."""
    yield Path(sysconfig.get_path("scripts"), _NAME)
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")), _NAME)
    yield Path(__file__).parent.parent / "bin" / _NAME

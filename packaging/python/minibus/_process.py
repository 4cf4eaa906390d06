"""A Minibus that runs as a child of this process."""

from __future__ import annotations

import atexit
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from ._binary import find_binary
from ._wire import MinibusError

__tracebackhide__ = True  # pytest shows the line of the test

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

_STOP = 5.0  # seconds to end by itself
_DYING = 1.0  # seconds between its last connection and its end
_LINES = 2000


class Process:
    """The process, and the last lines of what it says. It ends with stop, and when this process is gone in any way."""

    def __init__(
        self,
        configs: Iterable[str | os.PathLike[str] | Mapping[str, Any]],
        *,
        limits: str | None,
        seed: Paths | None,
        data: str | os.PathLike[str] | None,
        args: Iterable[str],
        binary: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
        timeout: float,
    ) -> None:
        program = find_binary(binary)
        self._directory = tempfile.mkdtemp(prefix="minibus-")
        self._ports = Path(self._directory, "ports.json")
        command = [program, "--amqp-port", "0", "--tls-port", "off", "--http-port", "off", "--namespace-ports", "0"]
        command += ["--ports-file", str(self._ports)]
        command += ["--ephemeral"] if data is None else ["--data", os.path.abspath(data)]
        for number, config in enumerate(configs):
            if isinstance(config, Mapping):
                written = Path(self._directory, f"Config{number}.json")
                written.write_text(json.dumps(config), encoding="utf-8")
                config = written
            command += ["--config", os.fspath(config)]
        command += [] if limits is None else ["--limits", limits]
        for file in [] if seed is None else [seed] if isinstance(seed, (str, os.PathLike)) else seed:
            command += ["--seed", os.fspath(file)]
        command += args
        # What the environment says of another Minibus must not change a test.
        environ = {name: value for name, value in os.environ.items() if not name.upper().startswith("MINIBUS_")}
        environ |= {"MINIBUS_EXIT_WITH_STDIN": "true", **(env or {})}
        self._command = command
        self._stopped = False
        self._log: collections.deque[str] = collections.deque(maxlen=_LINES)
        # Ctrl-C is for the tests, which may still need it while they end.
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        pipe, log = subprocess.PIPE, subprocess.STDOUT
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, env=environ, **apart)
        except OSError as cause:
            shutil.rmtree(self._directory, ignore_errors=True)
            raise MinibusError(f"{program} can't be run: {cause.strerror}.") from cause
        self._reader = threading.Thread(target=self._read, name="minibus log", daemon=True)
        self._reader.start()
        _running.add(self)
        try:
            self.port = self._wait(timeout)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return "\n".join(list(self._log))

    def stop(self) -> None:
        """Let it end, and remove its files. It may be called again."""
        self._stopped = True
        _running.discard(self)
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()  # which ends it
        if os.name != "nt" and self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_STOP)
        shutil.rmtree(self._directory, ignore_errors=True)

    def ending(self) -> str | None:
        """How it has ended, for a request that failed. None if it runs."""
        if self._stopped:
            return "Minibus was stopped. Start another one with Minibus.start()."
        try:
            code = self._process.wait(_DYING)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(_STOP)
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended, with code {code}"
        return str(self._failed(f"Minibus {how}"))

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self._log.append(line.decode(errors="replace").rstrip())

    def _wait(self, timeout: float) -> int:
        """Wait until it is ready, and return its port."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                ports = json.loads(self._ports.read_text())
                return ports.get("amqp") or ports.get("tls") or ports["http"]  # type: ignore[no-any-return]
            except (OSError, ValueError):
                pass  # not yet
            except KeyError:
                raise self._failed("Minibus listens on no port") from None
            if self._process.poll() is not None:
                self._reader.join(_STOP)
                raise self._failed(f"Minibus ended at its start, with code {self._process.returncode}")
            if time.monotonic() > deadline:
                raise self._failed(f"Minibus was not ready after {timeout:g} s")
            time.sleep(0.005)

    def _failed(self, what: str) -> MinibusError:
        return MinibusError(f"{what}: {' '.join(self._command)}\n{self.log}".rstrip())


_running: weakref.WeakSet[Process] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Stop what nobody has stopped."""
    for process in list(_running):
        process.stop()

"""The pytest plugin: the fixtures minibus and minibus_namespace, and the marker minibus.

One server serves the whole run. With pytest-xdist the controller starts it and passes its connection string to the
workers.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import pytest

from ._entities import listed
from ._process import Paths
from ._sync import VARIABLE, Minibus, Namespace
from ._wire import MinibusError

_SHOWN = 10  # events, dead letters and refusals of a failed test

_bus = pytest.StashKey[Minibus]()
_used = pytest.StashKey["list[Namespace]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("minibus", "Minibus, a local Azure Service Bus")
    group.addoption(
        "--minibus-config",
        metavar="FILE",
        help="Config.json of the server, and of namespaces of tests without a marker",
    )
    group.addoption(
        "--minibus-seed",
        metavar="FILE",
        action="append",
        help="messages that the server has at the start; may be repeated",
    )
    parser.addini(
        "minibus_config", "Config.json of the server, and of namespaces of tests without a marker", type="paths"
    )
    parser.addini("minibus_seed", "files with messages that the server has at the start", type="paths")
    parser.addini("minibus_args", "further flags of the server, such as --limits standard", type="args")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "minibus(queues=[], topics=[], config=None, limits=None): the entities of the test's minibus_namespace",
    )
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(_Controller(config), "minibus-xdist")


def pytest_unconfigure(config: pytest.Config) -> None:
    bus = config.stash.get(_bus, None)
    if bus:
        bus.stop()


class _Controller:
    """Has the hooks of pytest-xdist, which there are only with it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_configure_node(self, node: Any) -> None:
        """Before a worker begins. What goes wrong is for the tests that need Minibus."""
        try:
            node.workerinput["minibus"] = _shared(self._config).connection_string
        except MinibusError as error:
            node.workerinput["minibus_error"] = error.detail


def _shared(config: pytest.Config) -> Minibus:
    """The server of this run, which starts when it is needed."""
    bus = config.stash.get(_bus, None)
    if bus is None:
        bus = config.stash[_bus] = _connect(config)
    return bus


def _connect(config: pytest.Config) -> Minibus:
    of_controller: dict[str, str] = getattr(config, "workerinput", {})
    if "minibus_error" in of_controller:
        raise MinibusError(of_controller["minibus_error"])
    if "minibus" in of_controller:
        return Minibus.connect(of_controller["minibus"])
    given = os.environ.get(VARIABLE, "")
    if "usedevelopmentemulator=true" not in given.lower():  # such as that of a namespace of Azure
        return Minibus.start(config=_config(config), seed=_seed(config), args=config.getini("minibus_args"))
    try:
        return Minibus.connect(given)
    except MinibusError as error:
        raise MinibusError(
            f"{error.detail} Or unset {VARIABLE}, which names it: then pytest starts a Minibus.", error.status
        ) from None


def _config(config: pytest.Config) -> str | None:
    given = config.getoption("--minibus-config") or next(iter(config.getini("minibus_config")), None)
    return str(given) if given else None


def _seed(config: pytest.Config) -> Paths:
    return config.getoption("--minibus-seed") or config.getini("minibus_seed")  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def minibus(request: pytest.FixtureRequest) -> Minibus:
    """The server of this run, which all tests share. Under minibus run it is that one."""
    try:
        return _shared(request.config)
    except MinibusError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def minibus_namespace(request: pytest.FixtureRequest, minibus: Minibus) -> Iterator[Namespace]:
    """A namespace of the test's own, with the entities of its marker minibus."""
    markers = list(request.node.iter_markers("minibus"))
    declared: dict[str, Any] = {"queues": [], "topics": []}
    for marker in reversed(markers):  # the nearest last
        given = ", ".join([*map(repr, marker.args), *(f"{name}={value!r}" for name, value in marker.kwargs.items())])
        if marker.args:
            pytest.fail(
                f"@pytest.mark.minibus({given}): name the arguments, such as queues=[\"orders\"].", pytrace=False
            )
        for name, value in marker.kwargs.items():
            try:
                declared[name] = [*declared[name], *listed(value)] if name in ("queues", "topics") else value
            except TypeError as error:
                pytest.fail(f"@pytest.mark.minibus({given}): {error}", pytrace=False)
    if not markers and _config(request.config):
        declared["config"] = minibus.request("GET", "config")  # the file may be a template of Bicep
    try:
        namespace = minibus.namespace(**declared)
    except MinibusError as error:
        pytest.fail(str(error), pytrace=False)
    with namespace:
        request.node.stash.setdefault(_used, []).append(namespace)
        yield namespace


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Shows what is in the namespace of a failed test."""
    report: pytest.TestReport = (yield).get_result()
    if call.when != "call" or not report.failed:
        return
    for namespace in item.stash.get(_used, []):
        try:
            report.sections.append(("minibus", _summary(namespace)))
        except MinibusError as error:
            report.sections.append(("minibus", error.detail))


def _summary(namespace: Namespace) -> str:
    lines = [f"{namespace.name}, explorer: {namespace.explorer_url}"]
    for branch in namespace.request("GET", "tree?limit=1000")["items"]:
        for entity in [branch, *branch.get("subscriptions", [])]:
            counts = entity["counts"]
            there = [f"{counts[key]} {name}" for key, name in _COUNTS.items() if counts[key]]
            if there and entity["kind"] != "topic":
                lines.append(f"{entity['path']}: {', '.join(there)}")
            if counts["deadLetter"] and entity["kind"] != "topic":
                for message in namespace.dead_letters(entity["path"], newest=True, limit=_SHOWN):
                    said = ": ".join(filter(None, (message.dead_letter_reason, message.dead_letter_error_description)))
                    lines.append(
                        f"  dead letter {message.message_id or message.sequence_number}: {said or 'no reason'}"
                    )
    lines += _section("refused", namespace.refusals()[-_SHOWN:])
    lines += _section("history", reversed(namespace.events(newest=True, limit=_SHOWN)))
    return "\n".join(lines)


_COUNTS = {"active": "active", "scheduled": "scheduled", "deferred": "deferred", "deadLetter": "dead-lettered"}


def _section(title: str, items: Iterable[object]) -> list[str]:
    lines = [f"  {item}" for item in items]
    return [f"{title}:", *lines] if lines else []

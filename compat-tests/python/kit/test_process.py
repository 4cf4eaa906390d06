"""Starting, finding and losing a server, and what the errors say."""

import asyncio
import http.server
import os
import select
import signal
import socket
import subprocess
import sys
import threading

import pytest

from minibus import AsyncMinibus, AsyncNamespace, Minibus, MinibusError, _binary, _wire, find_binary


def wait_until_gone(pid):
    """Fails if a process is still there after 20 seconds."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([process], [], [], 20)[0], f"process {pid} is still there"
    finally:
        os.close(process)


def run_and_read_pid(program):
    """Run a program that starts Minibus and prints its process id. Return that id and the program."""
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return int(child.stdout.readline()), child


@pytest.fixture
def no_variables(monkeypatch):
    for name in ("MINIBUS_PATH", "SERVICEBUS_CONNECTION_STRING"):
        monkeypatch.delenv(name, raising=False)


def test_start_and_stop(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBUS_AUTH", "sas")  # for the usual server of a shell, not for this one
    config = tmp_path / "Config.json"
    config.write_text('{"UserConfig": {"Namespaces": [{"Name": "shop-1", "Queues": [{"Name": "declared"}]}]}}')
    with Minibus.start(config=config, queues=["more"], limits="standard", args=["--history", "1MiB"]) as bus:
        assert bus.name == "shop-1" and bus.counts("declared").active == bus.counts("more").active == 0
        assert bus.request("GET", "")["limits"] == "standard"
        bus.reset()
        assert bus.counts("more").active == 0
        assert repr(bus) == f"<Minibus shop-1 at localhost:{bus.connection_string.split(':')[2].split(';')[0]}>"
        pid = bus.pid
        assert os.getpgid(pid) != os.getpgid(0)  # Ctrl-C does not reach it
    wait_until_gone(pid)
    assert "Minibus" in bus.log
    bus.stop()  # again
    with pytest.raises(MinibusError, match="Minibus was stopped"):
        bus.counts("more")


def test_start_from_a_mapping():
    with Minibus.start(config={"Queues": [{"Name": "declared"}]}) as bus:
        assert bus.counts("declared").active == 0


def test_seed(tmp_path):
    seed = tmp_path / "orders.jsonl"
    seed.write_text('{"body": "one tea", "messageId": "order-{{counter}}"}\n')
    with Minibus.start(queues=["orders"], seed=seed) as bus:
        assert [message.message_id for message in bus.messages("orders")] == ["order-1"]
    with Minibus.start(queues=["orders"], seed=[seed, str(seed)]) as bus:
        assert bus.counts("orders").active == 2
    with pytest.raises(MinibusError, match="none.jsonl"):
        Minibus.start(seed="none.jsonl")


def test_a_database_stays(tmp_path):
    for expected in (0, 1):
        with Minibus.start(queues=["orders"], data=tmp_path / "bus.db") as bus:
            assert bus.counts("orders").active == expected
            bus.send("orders", "kept")


def test_keys():
    with Minibus.start(queues=["orders"], args=["--auth", "sas"], env={"MINIBUS_ROOT_KEY": "c2VjcmV0IGtleQ=="}) as bus:
        assert Minibus.connect(bus.connection_string).counts("orders").active == 0
        wrong = bus.connection_string.replace("c2VjcmV0IGtleQ==", "wrong")
        with pytest.raises(MinibusError) as refused:
            Minibus.connect(wrong)
        assert refused.value.status == 401


def test_asyncio(no_variables):
    async def main():
        async with AsyncMinibus.start(queues=["orders"]) as bus:
            assert bus.pid
            async with bus.namespace(queues=["orders"]) as namespace, bus.faults.throttle("orders") as fault:
                await namespace.send("orders", "1")
                assert (await namespace.counts("orders")).active == 1 and await fault.hits() == 0
            assert await bus.faults.list() == []
            same = await asyncio.create_task(AsyncMinibus.connect(bus.connection_string))
            await same.stop()  # leaves it running

            # Waits run at the same time, and one that is cancelled ends at once.
            waits = [asyncio.create_task(same.wait_for("orders", active=1, timeout=60)) for _ in range(20)]
            cancelled = asyncio.create_task(bus.wait_for("orders", active=2, timeout=60))
            await bus.send("orders", "2")
            await asyncio.gather(*waits)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            return bus.pid, bus

    pid, bus = asyncio.run(main())
    wait_until_gone(pid)
    assert bus.log
    with pytest.raises(MinibusError, match="Minibus was stopped"):
        asyncio.run(bus.counts("orders"))


def test_a_server_that_was_killed():
    with Minibus.start() as bus, bus.namespace(queues=["orders"]) as namespace:
        os.kill(bus.pid, signal.SIGKILL)
        says = "Minibus was ended by SIGKILL: (?s:.*)--ephemeral(?s:.*)Emulator Service is Successfully Up!"
        with pytest.raises(MinibusError, match=says):
            namespace.counts("orders")
        with pytest.raises(MinibusError, match=says):
            asyncio.run(AsyncNamespace(namespace).counts("orders"))
        namespace.close = lambda: None  # it is gone


def test_it_ends_with_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pid, child = run_and_read_pid("from minibus import Minibus; print(Minibus.start().pid, flush=True)")
    assert child.wait() == 0
    wait_until_gone(pid)
    assert list(tmp_path.iterdir()) == []


def test_it_ends_with_a_program_that_is_killed():
    pid, child = run_and_read_pid("from minibus import Minibus; print(Minibus.start().pid, flush=True); input()")
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    wait_until_gone(pid)


def test_the_program_on_the_path(no_variables):
    program = find_binary()
    assert os.path.dirname(program) == os.path.dirname(sys.executable)
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    for command in ([sys.executable, "-m", "minibus", "version"], ["minibus", "version"]):
        environ = {**os.environ, "PATH": os.path.dirname(sys.executable)}
        assert subprocess.run(command, capture_output=True, text=True, env=environ).stdout == version
    assert subprocess.run([sys.executable, "-m", "minibus", "nonsense"], capture_output=True).returncode == 2


def test_no_program(no_variables, monkeypatch, tmp_path):
    monkeypatch.setattr(_binary, "_installed", lambda: iter(()))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MinibusError, match="has no program for linux.*pip install.*MINIBUS_PATH"):
        Minibus.start()
    monkeypatch.setenv("MINIBUS_PATH", str(tmp_path / "none"))
    with pytest.raises(MinibusError, match="MINIBUS_PATH names .*none, which does not exist"):
        Minibus.start()
    with pytest.raises(MinibusError, match="the path that was given names none"):
        Minibus.start(binary="none")
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(MinibusError, match="can't be run: Permission denied"):
        Minibus.start(binary=text)
    monkeypatch.delenv("MINIBUS_PATH")
    program = tmp_path / "minibus"
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    assert find_binary() == str(program)  # in the PATH


def test_a_server_that_does_not_start(tmp_path):
    with pytest.raises(MinibusError, match="ended at its start, with code 2(?s:.)*--limits"):
        Minibus.start(args=["--limits", "none"])
    with pytest.raises(MinibusError, match="(?s)ended at its start.*LockDuration"):
        Minibus.start(queues=[{"name": "orders", "lock_duration": "10m"}])
    silent = tmp_path / "minibus"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    with pytest.raises(MinibusError, match="was not ready after 1 s"):
        Minibus.start(binary=str(silent), timeout=1)


def test_connect_to_nothing(no_variables, monkeypatch):
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    nothing = f"Endpoint=sb://localhost:{port};SharedAccessKeyName=x;SharedAccessKey=y"
    says = (
        f"No Minibus answers at localhost:{port} (connection refused). Start one there with the command minibus, "
        "or let your program start one with Minibus.start()."
    )
    with pytest.raises(MinibusError) as refused:
        Minibus.connect(nothing)
    assert str(refused.value) == says and refused.value.status is None
    monkeypatch.setenv("SERVICEBUS_CONNECTION_STRING", nothing)
    with pytest.raises(MinibusError) as refused:
        asyncio.run(AsyncMinibus.connect().__aenter__())
    assert str(refused.value) == says
    monkeypatch.delenv("SERVICEBUS_CONNECTION_STRING")
    with pytest.raises(MinibusError, match="set the variable SERVICEBUS_CONNECTION_STRING, as minibus run does"):
        Minibus.connect()
    with pytest.raises(MinibusError, match="has no Endpoint"):
        Minibus.connect("SharedAccessKeyName=x")


@pytest.mark.parametrize(
    ("connection_string", "says"),
    [
        ("Endpoint=sb://shop.servicebus.windows.net/", "a namespace of Azure: shop.servicebus.windows.net"),
        ("Endpoint=sb://shop.ServiceBus.windows.net.;UseDevelopmentEmulator=true", "a namespace of Azure"),
        ("endpoint=sb://shop.servicebus.chinacloudapi.cn", "a namespace of Azure"),
        ("Endpoint=sb://bus.example.org", "bus.example.org lacks UseDevelopmentEmulator=true"),
        ("Endpoint=sb://127.example.org", "lacks UseDevelopmentEmulator=true"),
        ("Endpoint=sb://10.0.0.1;UseDevelopmentEmulator=false", "lacks UseDevelopmentEmulator=true"),
    ],
)
def test_no_token_leaves_for_azure(monkeypatch, connection_string, says):
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("a request was sent"))
    connection_string += ";SharedAccessKeyName=x;SharedAccessKey=secret"
    with pytest.raises(MinibusError, match=says) as refused:
        Minibus.connect(connection_string)
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("SERVICEBUS_CONNECTION_STRING", connection_string)
    with pytest.raises(MinibusError, match=says):
        asyncio.run(AsyncMinibus.connect().__aenter__())


def test_hosts_that_may_be_a_minibus(monkeypatch):
    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda address, *_: asked.append(address) or open("/nowhere"))
    local = ["localhost", "shop.localhost", "127.0.0.2", "[::1]"]
    for given in [*local, "servicebus;UseDevelopmentEmulator=true", "bus.example.org;usedevelopmentemulator=True;"]:
        with pytest.raises(MinibusError, match="No Minibus answers"):
            Minibus.connect(f"Endpoint=sb://{given};SharedAccessKey=y")
    names = ["localhost", "shop.localhost", "127.0.0.2", "::1", "servicebus", "bus.example.org"]
    assert asked == [(name, 5672) for name in names]


def test_the_connection_string_that_was_given(minibus):
    """The port of a container is another one outside."""
    given = minibus.connection_string.replace("localhost", "127.0.0.1")
    assert Minibus.connect(given).connection_string == given
    without_key = given.split(";")[0]
    assert "SharedAccessKey=" in Minibus.connect(without_key).connection_string


def test_connect_to_a_port_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(_wire, "_PATIENCE", 0.2)
    with socket.create_server(("localhost", 0)) as mute:
        address = f"localhost:{mute.getsockname()[1]}"
        says = f"{address} accepts connections but does not answer. Is it a Minibus?"
        with pytest.raises(MinibusError) as refused:
            Minibus.connect(f"Endpoint=sb://{address}")
        assert str(refused.value) == says
        with pytest.raises(MinibusError) as refused:
            asyncio.run(AsyncMinibus.connect(f"Endpoint=sb://{address}").__aenter__())
        assert str(refused.value) == says


def test_a_wait_may_take_longer_than_an_answer(minibus, monkeypatch):
    monkeypatch.setattr(_wire, "_PATIENCE", 1)
    with minibus.namespace(queues=["orders"]) as bus:
        with pytest.raises(MinibusError, match="Waited 2 s for"):
            bus.wait_for("orders", active=1, timeout=2)


def test_connect_to_another_server():
    with http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            with pytest.raises(MinibusError, match="refused with 404: is there a Minibus at localhost:") as refused:
                Minibus.connect(f"Endpoint=sb://localhost:{other.server_port}")
            assert refused.value.status == 404
        finally:
            other.shutdown()
            thread.join()


def test_the_image(monkeypatch):
    """The class for Testcontainers, without a container."""
    from minibus.testcontainers import MinibusContainer

    monkeypatch.setattr("testcontainers.core.container.DockerClient", lambda **_: None)
    container = MinibusContainer("minibus:1.2.3")
    assert container.image == "minibus:1.2.3" and set(container.ports) == {"5672", "5300"}
    monkeypatch.setattr(container, "get_container_host_ip", lambda: "docker.local")
    monkeypatch.setattr(container, "get_exposed_port", lambda port: {5672: 32768}[port])
    assert container.get_connection_string().startswith("Endpoint=sb://docker.local:32768;SharedAccessKeyName=")
    for name in list(sys.modules):
        if name.startswith(("testcontainers", "minibus.testcontainers")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "testcontainers", None)
    with pytest.raises(ImportError, match="pip install testcontainers"):
        __import__("minibus.testcontainers")


def test_errors_can_be_sent_to_another_process():
    import pickle

    error = pickle.loads(pickle.dumps(MinibusError("no", 404, ("a",))))
    assert (error.detail, error.status, error.errors) == ("no", 404, ("a",))

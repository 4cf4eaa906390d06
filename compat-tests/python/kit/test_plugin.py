"""The pytest plugin, in runs of its own."""

import pytest

from minibus import Minibus, MinibusError

ORDERS = """
    import os
    import pytest

    def note(minibus):
        with open(os.environ["NOTES"], "a") as file:
            file.write(minibus.connection_string + "\\n")

    @pytest.mark.parametrize("n", range(6))
    @pytest.mark.minibus(queues=["orders"])
    def test_own(minibus, minibus_namespace, n):
        note(minibus)
        assert minibus_namespace.send("orders", "one") == [1]
        assert minibus_namespace.name != minibus.name

    def test_without():
        pass
"""


@pytest.fixture
def run(pytester, monkeypatch, tmp_path):
    monkeypatch.delenv("SERVICEBUS_CONNECTION_STRING", raising=False)
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    return lambda *args: pytester.runpytest_subprocess("-p", "no:cacheprovider", *args)


def servers(tmp_path):
    return set((tmp_path / "notes").read_text().splitlines())


@pytest.mark.parametrize("workers", [(), ("-n", "3")], ids=["one", "three"])
def test_one_server_for_all_tests(pytester, run, tmp_path, workers):
    pytester.makepyfile(ORDERS)
    run(*workers).assert_outcomes(passed=7)
    [server] = servers(tmp_path)
    with pytest.raises(MinibusError, match="connection refused"):
        Minibus.connect(server)


def test_the_server_of_minibus_run(pytester, run, tmp_path, monkeypatch, minibus):
    pytester.makepyfile(ORDERS)
    monkeypatch.setenv("SERVICEBUS_CONNECTION_STRING", minibus.connection_string)
    run().assert_outcomes(passed=7)
    assert servers(tmp_path) == {minibus.connection_string}

    # The variable may name a namespace of Azure. It is none of the plugin's business.
    monkeypatch.setenv(
        "SERVICEBUS_CONNECTION_STRING",
        "Endpoint=sb://shop.servicebus.windows.net;SharedAccessKeyName=a;SharedAccessKey=b",
    )
    run().assert_outcomes(passed=7)
    assert len(servers(tmp_path)) == 2


def test_a_server_that_is_gone(pytester, run, monkeypatch):
    pytester.makepyfile(ORDERS)
    monkeypatch.setenv("SERVICEBUS_CONNECTION_STRING", "Endpoint=sb://localhost:1;UseDevelopmentEmulator=true;")
    result = run()
    result.assert_outcomes(passed=1, errors=6)
    says = "No Minibus answers at localhost:1 (connection refused).*Or unset SERVICEBUS_CONNECTION_STRING*"
    result.stdout.fnmatch_lines([says])
    result.stdout.no_fnmatch_line("*Traceback*")

    monkeypatch.delenv("SERVICEBUS_CONNECTION_STRING")
    monkeypatch.setenv("MINIBUS_PATH", "/nowhere/minibus")
    result = run("-n", "2")
    result.assert_outcomes(passed=1, errors=6)
    says = "minibus was not found: the variable MINIBUS_PATH names /nowhere/minibus, which does not exist."
    result.stdout.fnmatch_lines([says])


def test_markers(pytester, run):
    pytester.makepyfile(
        """
        import pytest
        from minibus import MinibusError

        pytestmark = pytest.mark.minibus(queues=["all"], limits="standard")
        topic = {"name": "t", "subscriptions": ["s"]}

        @pytest.mark.minibus(queues=[{"name": "own"}], topics=[topic], limits="premium")
        def test_all(minibus_namespace):
            for path in ("all", "own", "t/Subscriptions/s"):
                assert minibus_namespace.counts(path).active == 0
            assert minibus_namespace.request("GET", "")["limits"] == "premium"

        def test_module(minibus_namespace):
            with pytest.raises(MinibusError):
                minibus_namespace.counts("own")

        @pytest.mark.minibus(queues=[{"Naem": "own"}])
        def test_mistake(minibus_namespace):
            pass

        @pytest.mark.minibus(queues="orders")
        def test_a_text(minibus_namespace):
            pass

        @pytest.mark.minibus(topics={"name": "events"})
        def test_one_topic(minibus_namespace):
            pass

        @pytest.mark.minibus(["orders"], limits="standard")
        def test_no_name(minibus_namespace):
            pass
        """
    )
    result = run("--strict-markers")
    result.assert_outcomes(passed=2, errors=4)
    result.stdout.fnmatch_lines(
        [
            "*Naem*",
            "@pytest.mark.minibus(queues='orders'): Write a list, such as [[]'orders'].",
            "@pytest.mark.minibus(topics={'name': 'events'}): Write a list, such as [[]{'name': 'events'}].",
            "@pytest.mark.minibus([[]'orders'], limits='standard'): name the arguments, such as queues=[[]\"orders\"].",
        ]
    )


def test_options(pytester, run):
    pytester.makefile(
        ".json", Config='{"UserConfig": {"Namespaces": [{"Name": "shop-1", "Queues": [{"Name": "declared"}]}]}}'
    )
    pytester.makefile(".jsonl", declared='{"body": "one tea"}')
    lines = ["minibus_config = Config.json", "minibus_seed = declared.jsonl", "minibus_args = --limits standard"]
    pytester.makeini("\n".join(["[pytest]", *lines]))
    pytester.makepyfile(
        """
        def test_both(minibus, minibus_namespace):
            assert minibus.counts("declared").active == 1
            assert minibus_namespace.counts("declared").active == 0
            assert minibus.name == "shop-1"
            assert minibus.request("GET", "")["limits"] == "standard"
        """
    )
    run().assert_outcomes(passed=1)
    result = run("--minibus-config", "none.json")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["Minibus ended at its start*", "*none.json*"])


def test_a_failed_test_shows_its_namespace(pytester, run):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.minibus(queues=["orders"], topics=[{"name": "t", "subscriptions": ["s"]}])
        def test_fails(minibus_namespace):
            minibus_namespace.send("t", {"body": "x", "message_id": "order-7"})
            path = "entities/t%2FSubscriptions%2Fs/"
            [got] = minibus_namespace.request("POST", path + "receive", {"wait": "5s"})["messages"]
            reason = {"outcome": "deadLetter", "reason": "unreadable", "description": "no JSON"}
            minibus_namespace.request("POST", path + "settle", {"lockTokens": [got["lockToken"]], **reason})
            minibus_namespace.send("orders", "left")
            minibus_namespace.counts("nowhere")

        def test_passes(minibus_namespace):
            pass
        """
    )
    result = run("-n", "1")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       minibus_namespace.counts(*",
            "E       minibus.MinibusError: The messaging entity 'nowhere' could not be found.",
            "*- minibus -*",
            "*explorer: http://localhost:*/#/*",
            "orders: 1 active",
            "t/Subscriptions/s: 1 dead-lettered",
            "  dead letter order-7: unreadable: no JSON",
            "history:",
            "*moved to the dead-letter queue*",
        ]
    )
    result.stdout.no_fnmatch_line("*self._run*")

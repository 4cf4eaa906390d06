"""Each verb against the server, with both kits (see conftest.py) and the SDK of Azure on the other side."""

import inspect
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import MessageLockLostError, ServiceBusError, SessionLockLostError

import minibus
from minibus import Message, MinibusError

PATIENCE = 30  # seconds


def send(client, *messages, to="orders"):
    with client.get_queue_sender(to) as sender:
        for message in messages:
            sender.send_messages(message)


def receiver(client, queue="orders", **options):
    return client.get_queue_receiver(queue, max_wait_time=PATIENCE, **options)


def dead_letter(client, reason, description=None):
    with receiver(client) as receiving:
        [message] = receiving.receive_messages()
        receiving.dead_letter_message(message, reason=reason, error_description=description)


def test_both_kits_have_the_same_verbs():
    for sync in (minibus.Minibus, minibus.Namespace, minibus.Clock, minibus.Faults, minibus.Fault):
        other = getattr(minibus, "Async" + sync.__name__)
        for name, method in inspect.getmembers(sync, callable):
            if not name.startswith("_"):
                assert (
                    inspect.signature(getattr(other, name)).parameters.keys()
                    == inspect.signature(method).parameters.keys()
                ), name
                assert getattr(other, name).__doc__, name


def test_a_namespace(server, request):
    name = "worker-" + request.node.callspec.params["server"]  # both kits may be at it at once
    with server.namespace(name, queues=["orders"], limits="standard") as bus:
        assert bus.name == name
        assert bus.connection_string.startswith("Endpoint=sb://localhost:")
        assert bus.explorer_url.endswith("/#/" + name) and bus.explorer_url.startswith("http://localhost:")
        assert bus.request("GET", "")["limits"] == "standard"
        with pytest.raises(MinibusError, match=name) as refused:
            server.namespace(name)
        assert refused.value.status == 409
    with pytest.raises(MinibusError) as gone:
        bus.counts("orders")
    assert gone.value.status == 404
    bus.close()  # again


def test_a_namespace_of_a_config(server, tmp_path):
    config = tmp_path / "Config.json"
    config.write_text(
        '\ufeff{"UserConfig": {"Namespaces": [{"Name": "x", "Queues": [{"Name": "declared"}]}]}}', encoding="utf-8"
    )
    with server.namespace(config=config, queues=["more"]) as bus:
        assert bus.counts("declared").active == bus.counts("more").active == 0
    with server.namespace(config={"Queues": [{"Name": "declared"}]}) as bus:
        assert bus.counts("declared").active == 0


def test_put_and_delete(bus):
    bus.put(
        queues=[
            {
                "name": "orders",
                "lock_duration": "30s",
                "maxDeliveryCount": 7,
                "DefaultMessageTimeToLive": timedelta(days=2),
            },
            "new",
        ],
        topics=[
            {
                "name": "prices",
                "subscriptions": [
                    {"name": "red", "filter": {"subject": "red", "color": "blue"}},
                    {
                        "name": "two",
                        "rules": [{"name": "a", "filter": "size > 1", "action": "SET seen = 1"}, {"name": "b"}],
                    },
                ],
            }
        ],
    )
    settings = bus.request("GET", "entities/orders")["properties"]
    assert (settings["LockDuration"], settings["MaxDeliveryCount"], settings["DefaultMessageTimeToLive"]) == (
        "PT30S",
        7,
        "P2D",
    )
    red = bus.request("GET", "entities/prices%2FSubscriptions%2Fred")["rules"]
    assert red[0]["properties"]["CorrelationFilter"] == {"Label": "red", "Properties": {"color": "blue"}}
    assert [rule["name"] for rule in bus.request("GET", "entities/prices%2FSubscriptions%2Ftwo")["rules"]] == [
        "a",
        "b",
    ]
    bus.delete("new")
    with pytest.raises(MinibusError, match="new") as gone:
        bus.delete("new")
    assert gone.value.status == 404
    with pytest.raises(TypeError, match=r"Write a list, such as \['orders'\]"):
        bus.put(queues="orders")


def test_an_unknown_queue(bus):
    with pytest.raises(MinibusError, match="orders.*nowhere|nowhere") as missing:
        bus.counts("nowhere")
    assert missing.value.status == 404 and missing.value.detail == str(missing.value)


def test_a_mistake_in_the_entities(bus):
    with pytest.raises(MinibusError, match="LockDuration") as mistake:
        bus.put(queues=[{"name": "orders", "lock_duration": "10m"}])
    assert mistake.value.status == 400 and len(mistake.value.errors) == 1
    with pytest.raises(ValueError, match="is no duration"):
        bus.put(queues=[{"name": "orders", "lock_duration": "soon"}])


def test_send_and_messages(bus, client):
    at = datetime(2090, 1, 1, tzinfo=timezone.utc)
    unique = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
    properties = {
        "size": 5,
        "big": 1 << 60,
        "ratio": 0.5,
        "when": at,
        "id": unique,
        "bytes": b"\0\1",
        "text": "a",
        "yes": True,
    }
    numbers = bus.send(
        "orders",
        [
            "two coffees",
            {
                "body": {"id": 7},
                "message_id": "order-7",
                "subject": "order",
                "application_properties": properties,
                "time_to_live": "1h",
            },
            {"body": b"\xff\x00", "messageId": unique, "applicationProperties": {"typed": {"int": 5}}},
            Message("later", scheduled_enqueue_time=at.replace(tzinfo=None)),
        ],
    )
    assert numbers == [1, 2, 3, 4]
    first, second, third, fourth = bus.messages("orders")
    assert (first.body, first.sequence_number, first.state) == ("two coffees", 1, "active")
    assert second.json() == {"id": 7} and second.content_type == "application/json"
    assert (second.message_id, second.subject, second.time_to_live) == ("order-7", "order", timedelta(hours=1))
    assert second.application_properties == properties
    assert second.enqueued_time < second.expires_at
    assert (third.body, third.message_id, third.application_properties) == (b"\xff\x00", unique, {"typed": 5})
    assert (fourth.state, fourth.scheduled_enqueue_time) == ("scheduled", at)
    assert "subject='order'" in repr(second) and "reply_to" not in repr(second)
    assert [m.sequence_number for m in bus.messages("orders", state="active", newest=True, limit=2)] == [3, 2]
    assert [m.sequence_number for m in bus.messages("orders", sql="size = 5")] == [2]
    assert bus.messages("orders", enqueued_before=first.enqueued_time - timedelta(minutes=1)) == []

    # What was read can be sent, with the types of its values.
    second.subject = "again"
    third.application_properties["more"] = "b"
    second.body = "changed"
    bus.send("events", [second, third])
    copy, typed = bus.messages("events/Subscriptions/all")
    assert (copy.body, copy.subject, copy.application_properties) == ("changed", "again", properties)
    assert typed.body == third.body
    assert typed.raw["applicationProperties"] == {"typed": {"int": 5}, "more": "b"}

    assert bus.send("orders", "x" * 10_000) == [5]
    assert len(bus.messages("orders")[-1].body) == 10_000
    with receiver(client) as receiving:
        assert str(receiving.receive_messages()[0]) == "two coffees"
    with pytest.raises(MinibusError, match="colour"):
        bus.send("orders", {"colour": "red"})


def test_many_messages(bus):
    assert bus.send("orders", [str(n) for n in range(2345)]) == list(range(1, 2346))
    assert [m.body for m in bus.messages("orders")] == [str(n) for n in range(2345)]
    assert bus.counts("orders").active == 2345
    assert len(bus.events("orders", kind="sent")) == 2345
    assert [e.sequence_number for e in bus.events("orders", newest=True, limit=2)] == [2345, 2344]


def test_clock(bus, client):
    """A schedule fires next week, and a lock ends."""
    now = bus.clock.freeze()
    assert bus.clock.now() == now and now.tzinfo
    with client.get_queue_sender("orders") as sender:
        sender.schedule_messages(ServiceBusMessage("invoice"), now + timedelta(days=7))
    assert bus.counts("orders").scheduled == 1
    assert bus.clock.advance(timedelta(days=7)) == now + timedelta(days=7)
    with receiver(client) as receiving:
        [invoice] = receiving.receive_messages()
        assert str(invoice) == "invoice"
        bus.clock.advance("5m30s")
        with pytest.raises(MessageLockLostError):
            receiving.complete_message(invoice)
    assert bus.clock.set(now + timedelta(days=8), timeout="2m") == now + timedelta(days=8)
    assert bus.clock.resume() >= now + timedelta(days=8)
    with pytest.raises(MinibusError) as back:
        bus.clock.set(now)
    assert back.value.status == 409
    with pytest.raises(MinibusError, match="P1Y"):
        bus.clock.advance("P1Y2X")


def test_faults(bus, client):
    with bus.faults.throttle("orders", count=1) as fault:
        assert fault.hits() == 0
        send(client, ServiceBusMessage("1"))  # the SDK tries again
        assert fault.hits() == 1
        assert [(f.id, f.kind, f.hits, f.state) for f in bus.faults.list()] == [(fault.id, "throttle", 1, "spent")]
    assert bus.faults.list() == []
    refusing = bus.faults.inject("refuse", "orders", operation=["attachReceiver"], condition="not-found", for_="1h")
    with pytest.raises(ServiceBusError):
        with receiver(client) as receiving:
            receiving.receive_messages()
    assert refusing.hits() >= 1
    refusing.remove()
    refusing.remove()  # again
    kinds = [
        "refuse",
        "detach",
        "drop",
        "close",
        "lose_lock",
        "lose_session",
        "starve",
        "fail_journal",
        "expire_token",
    ]
    for kind in kinds:
        options = {"refuse": {"condition": "not-found"}, "starve": {}}.get(kind, {"count": 1})
        assert getattr(bus.faults, kind)("orders", **options).kind == minibus._values.camel(kind)
    assert bus.faults.delay("orders", delay="1ms", probability=0.5, seed=7).state().kind == "delay"
    assert len(bus.faults.list()) == len(kinds) + 1
    bus.faults.remove()
    assert bus.faults.list() == []
    with pytest.raises(MinibusError, match="kind"):
        bus.faults.inject("explode")


def test_snapshot_restore_and_reset(bus, client):
    bus.send("orders", "1")
    bus.snapshot("seeded")
    bus.send("orders", "2")
    bus.snapshot("seeded")  # in its place
    bus.put(queues=["more"])
    bus.purge("orders")
    bus.restore("seeded")
    assert [m.body for m in bus.messages("orders")] == ["1", "2"]
    bus.put(queues=["more"])
    bus.clock.freeze()
    bus.faults.starve("orders")
    bus.reset()
    assert bus.counts("orders").active == 0 and bus.faults.list() == []
    with pytest.raises(MinibusError):
        bus.counts("more")
    send(client, ServiceBusMessage("new"))
    with receiver(client) as receiving:
        [message] = receiving.receive_messages()
        assert (str(message), message.sequence_number) == ("new", 1)
    with pytest.raises(MinibusError, match="never"):
        bus.restore("never")


def test_wait_for(bus, client):
    assert bus.wait_for("orders", idle=True, active=0).counts.active == 0
    bus.send("orders", ["1", "2"])
    waited = bus.wait_for("orders", active="1+", dead_lettered="0-5", scheduled=0)
    assert waited.counts.active == 2 and "2 active" in waited.text
    assert bus.wait_for("orders", message=True).sequence_number == 1
    assert bus.wait_for("orders", message={"text": "2"}).sequence_number == 2
    assert bus.wait_for("orders", events=["sent"], times=2, first=1).events == 2
    assert bus.wait_for(events="any", times=2, first=1, timeout=timedelta(seconds=5)).next > 2
    dead_letter(client, "unreadable")
    bus.wait_for("orders/$DeadLetterQueue", message={"reason": "unreadable"})
    with pytest.raises(MinibusError) as late:
        bus.wait_for("orders", idle=True, timeout="100ms")
    assert late.value.status is None
    assert late.value.detail.startswith("Waited 0.1 s for orders without") and "found 1 active" in late.value.detail
    assert "receiver" in late.value.detail.splitlines()[1]
    with pytest.raises(MinibusError, match="nowhere"):
        bus.wait_for("nowhere", idle=True)
    with pytest.raises(ValueError, match='write 3, "3\\+" or "0-5"'):
        bus.wait_for("orders", active="many")
    with pytest.raises(ValueError, match="say what for"):
        bus.wait_for("orders")


def test_history_and_events(bus, client):
    """The test goes on when the message is a dead letter, and reads what became of it."""
    send(client, ServiceBusMessage("bad", message_id="order-2"))
    with receiver(client) as receiving:
        for _ in range(3):
            receiving.abandon_message(receiving.receive_messages()[0])
    bus.wait_for("orders", idle=True, dead_lettered=1)
    life = bus.history("order-2")
    assert [event.kind for event in life].count("delivered") == 3
    last = life[-1]
    assert (last.kind, last.detail, last.entity, last.message_id) == (
        "deadLettered",
        "MaxDeliveryCountExceeded",
        "orders",
        life[-1].message_id,
    )
    assert "dead-letter queue" in str(last) and last.time.tzinfo
    assert life[0].client and "python" in str(life[0].client.product).lower()
    with receiver(client, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiving:
        receiving.complete_message(receiving.receive_messages()[0])
    [done] = bus.events(kind=["completed"])
    assert (done.entity, done.sub_queue) == ("orders", "$DeadLetterQueue")
    assert bus.events("orders", since=datetime(2090, 1, 1)) == []


def test_dead_letters_and_resubmit(bus, client):
    send(client, ServiceBusMessage("1", message_id="a"), ServiceBusMessage("2", message_id="b"))
    dead_letter(client, "unreadable", "no JSON")
    dead_letter(client, "too late")
    first, _ = bus.dead_letters("orders")
    assert (first.dead_letter_reason, first.dead_letter_error_description) == ("unreadable", "no JSON")
    assert [m.body for m in bus.dead_letters("orders", reason="too late")] == ["2"]
    assert (
        bus.resubmit(
            "orders",
            reason="unreadable",
            edit={"subject": "again", "body": {"id": 1}, "application_properties": {"n": 1}},
        )
        == 1
    )
    [back] = bus.messages("orders")
    assert (back.json(), back.subject, back.application_properties) == ({"id": 1}, "again", {"n": 1})
    assert bus.resubmit("orders", sequence_numbers=[m.sequence_number for m in bus.dead_letters("orders")], max=5) == 1
    assert bus.counts("orders").dead_lettered == 0
    assert bus.purge("orders", text="2") == 1
    assert bus.purge("orders", states=["active"], before=datetime(2090, 1, 1)) == 1
    with receiver(client) as receiving:
        assert receiving.peek_messages() == []


def test_why_refusals_and_connections(bus, client):
    with client.get_queue_sender("orders") as sender:
        sender.send_messages(ServiceBusMessage("1"))
        [connection] = bus.connections("orders")
        assert "python" in str(connection.product).lower() and "orders" in [link.entity for link in connection.links]
        bus.request("DELETE", f"connections/{connection.id}")
        sender.send_messages(ServiceBusMessage("2"))
        assert len(bus.connections()) == 1
    why = bus.why("orders")
    assert [finding.code for finding in why.findings if finding.blocks] == ["no-receiver"] and why.blocked
    assert why.available == 2 and str(why) == why.text and why.findings[0].text in why.text
    assert bus.refusals() == []
    with pytest.raises(ServiceBusError):
        with client.get_queue_receiver("nowhere") as receiving:
            receiving.receive_messages(max_wait_time=1)
    refusal = bus.refusals()[0]
    assert refusal.condition and "nowhere" in str(refusal) and refusal.time.tzinfo


def test_match(bus):
    match = bus.match("events", {"application_properties": {"amount": 7}})
    assert match.reached == ("all", "large") and not match.duplicate
    match = bus.match("events", Message(application_properties={"amount": 1}))
    assert match.reached == ("all",)
    [rule] = next(s for s in match.subscriptions if s.name == "large").rules
    assert (rule.name, rule.filter, rule.outcome) == ("$Default", "amount > 5", "false") and rule.reasons


def test_requests(bus, client):
    """What has no verb: receive and settle, sessions."""
    send(client, ServiceBusMessage("1", message_id="order-1"))
    [got] = bus.request("POST", "entities/orders/receive", {"wait": "10s"})["messages"]
    assert got["messageId"] == "order-1"
    bus.request(
        "POST",
        "/entities/orders/settle",
        {"lockTokens": [got["lockToken"]], "outcome": "deadLetter", "reason": "unreadable"},
    )
    with receiver(client, sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiving:
        assert receiving.receive_messages()[0].dead_letter_reason == "unreadable"

    send(client, ServiceBusMessage("1", session_id="table-7"), to="sessions")
    session = "entities/sessions/sessions/table-7"
    with receiver(client, "sessions", session_id="table-7") as receiving:
        assert bus.request("GET", session)["active"] == 1
        bus.request("PUT", session + "/state", {"text": "served"})
        assert bytes(receiving.session.get_state()) == b"served"
        [message] = receiving.receive_messages()
        bus.request("POST", session + "/break")
        with pytest.raises(SessionLockLostError):
            receiving.complete_message(message)

"""ServiceBusAdministrationClient: queues, and the namespace itself."""

import datetime
import unittest

import bus
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.servicebus import ServiceBusMessage
from azure.servicebus.management import AccessRights, AuthorizationRule, EntityAvailabilityStatus, EntityStatus, MessagingSku

MINUTE = datetime.timedelta(minutes=1)
# The service's longest duration, as far as the SDK can say it.
MAX = datetime.timedelta(days=10675199, seconds=10085, microseconds=477581)
# What the SDK makes of it in an update, a little less, and what stays then.
ALMOST = datetime.timedelta(seconds=MAX.total_seconds() - 0.000001)

# What a queue is when nothing was asked for.
DEFAULTS = {
    "authorization_rules": None, "auto_delete_on_idle": MAX, "dead_lettering_on_message_expiration": False,
    "default_message_time_to_live": MAX, "duplicate_detection_history_time_window": 10 * MINUTE,
    "availability_status": EntityAvailabilityStatus.AVAILABLE, "enable_batched_operations": True, "enable_express": False,
    "enable_partitioning": False, "lock_duration": MINUTE, "max_delivery_count": 10, "max_size_in_megabytes": 1024,
    "requires_duplicate_detection": False, "requires_session": False, "status": EntityStatus.ACTIVE, "forward_to": None,
    "user_metadata": None, "forward_dead_lettered_messages_to": None, "max_message_size_in_kilobytes": 256,
}

# Another value for each property that a create takes, in groups that go together.
GROUPS = [
    {
        "auto_delete_on_idle": 10 * MINUTE, "dead_lettering_on_message_expiration": True,
        "default_message_time_to_live": 11 * MINUTE, "duplicate_detection_history_time_window": 12 * MINUTE,
        "enable_batched_operations": False, "lock_duration": 13 * datetime.timedelta(seconds=1), "max_delivery_count": 14,
        "max_size_in_megabytes": 3072, "requires_duplicate_detection": True, "requires_session": True,
        "user_metadata": "<kept> & \"read\" \u20ac", "max_message_size_in_kilobytes": 2048,
    },
    {"enable_express": True},
    {"enable_partitioning": True, "max_size_in_megabytes": 16384},
    {"status": EntityStatus.SEND_DISABLED},
    {"lock_duration": "PT45S", "default_message_time_to_live": "P1DT2H", "auto_delete_on_idle": "PT300S"},
]

# What changes afterwards, and what the service refuses to change.
CHANGES = {
    "auto_delete_on_idle": 20 * MINUTE, "dead_lettering_on_message_expiration": True,
    "default_message_time_to_live": 21 * MINUTE, "duplicate_detection_history_time_window": 2 * MINUTE,
    "enable_batched_operations": False, "lock_duration": 2 * MINUTE, "max_delivery_count": 24, "max_size_in_megabytes": 2048,
    "user_metadata": "new", "status": EntityStatus.RECEIVE_DISABLED, "max_message_size_in_kilobytes": 512,
}
UPDATED = {**DEFAULTS, "auto_delete_on_idle": ALMOST, "default_message_time_to_live": ALMOST}
IMMUTABLE = {"requires_session": True, "requires_duplicate_detection": True, "enable_partitioning": True}

# Values that no queue may have, with any limits.
REFUSED = {
    "lock_duration": 6 * MINUTE, "max_delivery_count": 0, "default_message_time_to_live": datetime.timedelta(0),
    "auto_delete_on_idle": MINUTE, "duplicate_detection_history_time_window": 8 * datetime.timedelta(days=1),
    "max_message_size_in_kilobytes": 200_000, "max_size_in_megabytes": -1,
}

ISO = {"PT45S": datetime.timedelta(seconds=45), "P1DT2H": datetime.timedelta(days=1, hours=2), "PT300S": 5 * MINUTE}


def readable(given):
    """What the SDK answers for what it was given."""
    return {key: ISO.get(value, value) if isinstance(value, str) else value for key, value in given.items()}


def without_name(properties):
    return {key: value for key, value in dict(properties).items() if key != "name"}


class Queues(bus.Case):
    @bus.proves("admin.queuedefaults")
    def test_defaults(self):
        created = self.admin.create_queue(bus.name("queue"))
        self.assertEqual(without_name(created), DEFAULTS)
        self.assertEqual(without_name(self.admin.get_queue(created.name)), DEFAULTS)

    @bus.proves("admin.queue")
    def test_every_property(self):
        for given in GROUPS:
            with self.subTest(**given):
                created = self.admin.create_queue(bus.name("queue"), **given)
                want = {**DEFAULTS, **readable(given)}
                self.assertEqual(without_name(created), want)
                self.assertEqual(without_name(self.admin.get_queue(created.name)), want)

    @bus.proves("admin.queueforward")
    def test_forwarding(self):
        target = self.queue()
        for key in ("forward_to", "forward_dead_lettered_messages_to"):
            for text in (target, f"sb://localhost:{bus.HTTP}/{target}"):
                with self.subTest(key=key, text=text):
                    queue = self.admin.create_queue(bus.name("queue"), **{key: text})
                    got = self.admin.get_queue(queue.name)
                    self.assertEqual(getattr(got, key), f"sb://localhost:{bus.HTTP}/{target}")
                    setattr(got, key, None)
                    self.admin.update_queue(got)
                    self.assertIsNone(getattr(self.admin.get_queue(queue.name), key))

    def test_update_each_property(self):
        for key, value in CHANGES.items():
            with self.subTest(key=key):
                queue = self.admin.create_queue(bus.name("queue"))
                self.admin.update_queue(queue, **{key: value})
                self.assertEqual(without_name(self.admin.get_queue(queue.name)), {**UPDATED, key: value})

    @bus.proves("admin.queueproperties")
    def test_update_everything(self):
        queue = self.admin.create_queue(bus.name("queue"))
        for key, value in CHANGES.items():
            setattr(queue, key, value)
        self.admin.update_queue(queue)
        self.assertEqual(without_name(self.admin.get_queue(queue.name)), {**DEFAULTS, **CHANGES})
        self.admin.update_queue({**dict(self.admin.get_queue(queue.name)), "max_delivery_count": 7})
        self.assertEqual(self.admin.get_queue(queue.name).max_delivery_count, 7)

    @bus.proves("admin.queuefixed")
    def test_immutable(self):
        for key, value in IMMUTABLE.items():
            with self.subTest(key=key), self.assertRaisesRegex(HttpResponseError, "cannot be changed") as caught:
                self.admin.update_queue(self.admin.create_queue(bus.name("queue")), **{key: value})
            self.assertEqual(caught.exception.status_code, 400)

    @bus.proves("admin.queuebad")
    def test_refused_values(self):
        for key, value in REFUSED.items():
            with self.subTest(key=key), self.assertRaises(HttpResponseError) as caught:
                self.admin.create_queue(bus.name("queue"), **{key: value})
            self.assertEqual(caught.exception.status_code, 400)
            self.assertIn("SubCode=40000", caught.exception.message)

    @bus.proves("admin.queuepolicies")
    def test_authorization_rules(self):
        rule = AuthorizationRule(
            type="SharedAccessAuthorizationRule", claim_type="SharedAccessKey", claim_value="None", key_name="mine",
            rights=[AccessRights.MANAGE, AccessRights.SEND, AccessRights.LISTEN],
            primary_key="MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", secondary_key="ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
        )
        name = self.queue(authorization_rules=[rule])
        [got] = self.admin.get_queue(name).authorization_rules
        for key in ("type", "claim_type", "claim_value", "key_name", "rights", "primary_key", "secondary_key"):
            self.assertEqual(getattr(got, key), getattr(rule, key), key)
        self.admin.update_queue(self.admin.get_queue(name), user_metadata="m")
        self.assertEqual(self.admin.get_queue(name).authorization_rules[0].primary_key, rule.primary_key)

    @bus.proves("admin.queueexists")
    def test_exists(self):
        name = self.queue()
        with self.assertRaises(ResourceExistsError) as caught:
            self.admin.create_queue(name)
        self.assertIn("SubCode=40900", str(caught.exception))
        with self.assertRaises(ResourceExistsError):
            self.admin.create_topic(name)

    @bus.proves("admin.queuemissing")
    def test_not_found(self):
        queue = self.admin.create_queue(bus.name("queue"))
        self.admin.delete_queue(queue.name)
        for call in (self.admin.get_queue, self.admin.get_queue_runtime_properties, self.admin.delete_queue):
            with self.subTest(call=call.__name__), self.assertRaises(ResourceNotFoundError):
                call(queue.name)
        with self.assertRaises(ResourceNotFoundError):
            self.admin.update_queue(queue)

    @bus.proves("admin.queuenames")
    def test_names(self):
        base = bus.name("Queue")
        for name in (base, base + "/with/slashes", base + ".dots_and-dashes", base + "-", "q" * 260):
            with self.subTest(name=name):
                self.assertEqual(self.admin.create_queue(name).name, name)
                self.assertEqual(self.admin.get_queue(name.upper()).max_delivery_count, 10)
                self.assertIn(name.lower(), [q.name for q in self.admin.list_queues()])
                self.admin.delete_queue(name.lower())
        for name in ("q" * 261, "bad name*", "#"):
            with self.subTest(name=name), self.assertRaises(HttpResponseError):
                self.admin.create_queue(name)

    @bus.proves("admin.queuecounts")
    def test_runtime_properties(self):
        name = self.queue()
        sender, receiver = self.sender(name), self.receiver(name)
        for body in ("deferred", "dead", "locked", "waiting"):
            sender.send_messages(ServiceBusMessage(body))
        sender.schedule_messages(ServiceBusMessage("scheduled"), datetime.datetime.now(datetime.timezone.utc) + 60 * MINUTE)
        deferred, dead, _ = self.receive(receiver, 3)
        receiver.defer_message(deferred)
        receiver.dead_letter_message(dead)
        got = self.admin.get_queue_runtime_properties(name)
        self.assertEqual(
            {key: getattr(got, key) for key in dir(got) if key.endswith("_count")},
            {"active_message_count": 3, "dead_letter_message_count": 1, "scheduled_message_count": 1,
             "total_message_count": 5, "transfer_dead_letter_message_count": 0, "transfer_message_count": 0})
        self.assertGreater(got.size_in_bytes, 0)
        now = datetime.datetime.now(datetime.timezone.utc)
        for key in ("created_at_utc", "updated_at_utc", "accessed_at_utc"):
            self.assertLess(abs(getattr(got, key) - now), MINUTE, key)
        [listed] = [q for q in self.admin.list_queues_runtime_properties() if q.name == name]
        self.assertEqual(listed.total_message_count, 5)

    @bus.proves("admin.namespace")
    def test_namespace(self):
        got = self.admin.get_namespace_properties()
        self.assertEqual((got.name, got.messaging_sku, got.namespace_type, got.alias),
                         (bus.NAMESPACE, MessagingSku.STANDARD, "Messaging", None))
        self.assertIsNotNone(got.created_at_utc)
        self.assertIsNotNone(got.modified_at_utc)

    def test_older_api_version(self):
        with bus.admin(api_version="2017-04") as client:
            name = client.create_queue(bus.name("queue"), max_delivery_count=3).name
            self.assertEqual(client.get_queue(name).max_delivery_count, 3)


class Lists(bus.Case):
    """Pages are counted from the beginning, so they are read while nothing is made or deleted."""

    alone = True

    @bus.proves("admin.queuelist")
    def test_pages(self):
        names = [self.queue() for _ in range(7)]
        listed = [q.name for q in self.admin.list_queues(max_page_size=2)]
        self.assertLessEqual(set(names), set(listed))
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(set(names), {q.name for q in self.admin.list_queues_runtime_properties(max_page_size=3)})


if __name__ == "__main__":
    unittest.main()

"""ServiceBusAdministrationClient: topics and subscriptions."""

import datetime
import unittest

import bus
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.servicebus import ServiceBusMessage
from azure.servicebus.management import AccessRights, AuthorizationRule, EntityAvailabilityStatus, EntityStatus
from test_admin_queues import ALMOST, MAX, MINUTE, without_name

TOPIC = {
    "authorization_rules": None, "auto_delete_on_idle": MAX, "availability_status": EntityAvailabilityStatus.AVAILABLE,
    "default_message_time_to_live": MAX, "duplicate_detection_history_time_window": 10 * MINUTE,
    "enable_batched_operations": True, "enable_express": False, "enable_partitioning": False,
    "filtering_messages_before_publishing": False, "max_message_size_in_kilobytes": 256, "max_size_in_megabytes": 1024,
    "requires_duplicate_detection": False, "size_in_bytes": 0, "status": EntityStatus.ACTIVE, "support_ordering": True,
    "user_metadata": None,
}
TOPIC_GROUPS = [
    {
        "auto_delete_on_idle": 10 * MINUTE, "default_message_time_to_live": 11 * MINUTE,
        "duplicate_detection_history_time_window": 12 * MINUTE, "enable_batched_operations": False,
        "max_message_size_in_kilobytes": 2048, "max_size_in_megabytes": 3072, "requires_duplicate_detection": True,
        "support_ordering": False, "user_metadata": "kept",
    },
    {"enable_express": True},
    {"status": EntityStatus.SEND_DISABLED},
]
TOPIC_CHANGES = {
    "auto_delete_on_idle": 20 * MINUTE, "default_message_time_to_live": 21 * MINUTE,
    "duplicate_detection_history_time_window": 2 * MINUTE, "enable_batched_operations": False,
    "max_message_size_in_kilobytes": 512, "max_size_in_megabytes": 2048, "user_metadata": "new",
    "status": EntityStatus.SEND_DISABLED,
}

SUBSCRIPTION = {
    "auto_delete_on_idle": MAX, "availability_status": EntityAvailabilityStatus.AVAILABLE,
    "dead_lettering_on_filter_evaluation_exceptions": True, "dead_lettering_on_message_expiration": False,
    "default_message_time_to_live": MAX, "enable_batched_operations": True, "forward_dead_lettered_messages_to": None,
    "forward_to": None, "lock_duration": MINUTE, "max_delivery_count": 10, "requires_session": False,
    "status": EntityStatus.ACTIVE, "user_metadata": None,
}
SUBSCRIPTION_GROUPS = [
    {
        "auto_delete_on_idle": 10 * MINUTE, "dead_lettering_on_filter_evaluation_exceptions": False,
        "dead_lettering_on_message_expiration": True, "default_message_time_to_live": 11 * MINUTE,
        "enable_batched_operations": False, "lock_duration": datetime.timedelta(seconds=13), "max_delivery_count": 14,
        "requires_session": True, "user_metadata": "kept",
    },
    {"status": EntityStatus.RECEIVE_DISABLED},
]
SUBSCRIPTION_CHANGES = {
    "auto_delete_on_idle": 20 * MINUTE, "dead_lettering_on_filter_evaluation_exceptions": False,
    "dead_lettering_on_message_expiration": True, "default_message_time_to_live": 21 * MINUTE,
    "enable_batched_operations": False, "lock_duration": 2 * MINUTE, "max_delivery_count": 24, "user_metadata": "new",
    "status": EntityStatus.RECEIVE_DISABLED,
}


def updated(defaults):
    """What an update of nothing makes of these."""
    return {**defaults, "auto_delete_on_idle": ALMOST, "default_message_time_to_live": ALMOST}


class Topics(bus.Case):
    def test_every_property(self):
        for given in [{}, *TOPIC_GROUPS]:
            with self.subTest(**given):
                created = self.admin.create_topic(bus.name("topic"), **given)
                self.assertEqual(without_name(created), {**TOPIC, **given})
                self.assertEqual(without_name(self.admin.get_topic(created.name)), {**TOPIC, **given})

    def test_partitioned(self):
        topic = self.topic(enable_partitioning=True)
        self.assertTrue(self.admin.get_topic(topic).enable_partitioning)

    @bus.proves("admin.topic", "admin.topicproperties")
    def test_update(self):
        for key, value in TOPIC_CHANGES.items():
            with self.subTest(key=key):
                topic = self.admin.create_topic(bus.name("topic"))
                self.admin.update_topic(topic, **{key: value})
                self.assertEqual(without_name(self.admin.get_topic(topic.name)), {**updated(TOPIC), key: value})
        self.admin.update_topic({**dict(self.admin.get_topic(topic.name)), **TOPIC_CHANGES})
        self.assertEqual(without_name(self.admin.get_topic(topic.name)), {**TOPIC, **TOPIC_CHANGES})
        with self.assertRaisesRegex(HttpResponseError, "cannot be changed"):
            self.admin.update_topic(self.admin.get_topic(topic.name), requires_duplicate_detection=True)

    def test_authorization_rules(self):
        rule = AuthorizationRule(
            type="SharedAccessAuthorizationRule", claim_type="SharedAccessKey", claim_value="None", key_name="mine",
            rights=[AccessRights.LISTEN], primary_key="MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            secondary_key="ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=")
        [got] = self.admin.get_topic(self.topic(authorization_rules=[rule])).authorization_rules
        self.assertEqual((got.key_name, got.rights, got.primary_key), ("mine", ["Listen"], rule.primary_key))

    @bus.proves("admin.topicerrors")
    def test_exists_and_not_found(self):
        topic = self.admin.create_topic(bus.name("topic"))
        with self.assertRaises(ResourceExistsError):
            self.admin.create_topic(topic.name)
        self.admin.delete_topic(topic.name)
        for call in (self.admin.get_topic, self.admin.get_topic_runtime_properties, self.admin.delete_topic):
            with self.subTest(call=call.__name__), self.assertRaises(ResourceNotFoundError):
                call(topic.name)
        with self.assertRaises(ResourceNotFoundError):
            self.admin.update_topic(topic)
        with self.assertRaises(ResourceNotFoundError):
            self.admin.create_subscription(topic.name, "s")

    @bus.proves("admin.topiccounts")
    def test_runtime_properties(self):
        topic = self.topic("a", "b")
        with self.client.get_topic_sender(topic, **bus.QUICK) as sender:
            sender.send_messages(ServiceBusMessage("m"))
            sender.schedule_messages(ServiceBusMessage("m"), datetime.datetime.now(datetime.timezone.utc) + 60 * MINUTE)
        got = self.admin.get_topic_runtime_properties(topic)
        self.assertEqual((got.name, got.subscription_count, got.scheduled_message_count), (topic, 2, 1))
        self.assertGreater(got.size_in_bytes, 0)
        now = datetime.datetime.now(datetime.timezone.utc)
        for key in ("created_at_utc", "updated_at_utc", "accessed_at_utc"):
            self.assertLess(abs(getattr(got, key) - now), MINUTE, key)


class Subscriptions(bus.Case):
    def test_every_property(self):
        topic = self.topic()
        for given in [{}, *SUBSCRIPTION_GROUPS]:
            with self.subTest(**given):
                created = self.admin.create_subscription(topic, bus.name("s"), **given)
                self.assertEqual(without_name(created), {**SUBSCRIPTION, **given})
                got = self.admin.get_subscription(topic, created.name)
                self.assertEqual(without_name(got), {**SUBSCRIPTION, **given})

    @bus.proves("admin.subforward")
    def test_forwarding(self):
        target, topic = self.queue(), self.topic()
        for key in ("forward_to", "forward_dead_lettered_messages_to"):
            with self.subTest(key=key):
                got = self.admin.create_subscription(topic, bus.name("s"), **{key: target})
                self.assertEqual(getattr(got, key), f"sb://localhost:{bus.HTTP}/{target}")
                self.admin.update_subscription(topic, got, **{key: None})
                self.assertIsNone(getattr(self.admin.get_subscription(topic, got.name), key))

    @bus.proves("admin.sub", "admin.subproperties")
    def test_update(self):
        topic = self.topic()
        for key, value in SUBSCRIPTION_CHANGES.items():
            with self.subTest(key=key):
                s = self.admin.create_subscription(topic, bus.name("s"))
                self.admin.update_subscription(topic, s, **{key: value})
                got = self.admin.get_subscription(topic, s.name)
                self.assertEqual(without_name(got), {**updated(SUBSCRIPTION), key: value})
        self.admin.update_subscription(topic, {**dict(got), **SUBSCRIPTION_CHANGES})
        got = self.admin.get_subscription(topic, s.name)
        self.assertEqual(without_name(got), {**SUBSCRIPTION, **SUBSCRIPTION_CHANGES})
        with self.assertRaisesRegex(HttpResponseError, "cannot be changed"):
            self.admin.update_subscription(topic, got, requires_session=True)

    @bus.proves("admin.suberrors")
    def test_exists_and_not_found(self):
        topic = self.topic("s")
        with self.assertRaises(ResourceExistsError):
            self.admin.create_subscription(topic, "s")
        s = self.admin.get_subscription(topic, "s")
        self.admin.delete_subscription(topic, "s")
        for call in (self.admin.get_subscription, self.admin.get_subscription_runtime_properties, self.admin.delete_subscription):
            with self.subTest(call=call.__name__), self.assertRaises(ResourceNotFoundError):
                call(topic, "s")
        with self.assertRaises(ResourceNotFoundError):
            self.admin.update_subscription(topic, s)

    @bus.proves("admin.subcounts")
    def test_runtime_properties(self):
        topic = self.topic("s")
        self.send(topic, "a", "b")
        receiver = self.receiver((topic, "s"))
        receiver.dead_letter_message(self.receive(receiver)[0])
        got = self.admin.get_subscription_runtime_properties(topic, "s")
        self.assertEqual(
            {key: getattr(got, key) for key in dir(got) if key.endswith("_count")},
            {"active_message_count": 1, "dead_letter_message_count": 1, "total_message_count": 2,
             "transfer_dead_letter_message_count": 0, "transfer_message_count": 0})
        now = datetime.datetime.now(datetime.timezone.utc)
        for key in ("created_at_utc", "updated_at_utc", "accessed_at_utc"):
            self.assertLess(abs(getattr(got, key) - now), MINUTE, key)
        [listed] = self.admin.list_subscriptions_runtime_properties(topic)
        self.assertEqual(listed.total_message_count, 2)

    @bus.proves("admin.sublist")
    def test_lists(self):
        topic = self.topic("a", "b", "c", "d", "e")
        self.assertEqual([s.name for s in self.admin.list_subscriptions(topic, max_page_size=2)], ["a", "b", "c", "d", "e"])
        self.assertEqual(len(list(self.admin.list_subscriptions_runtime_properties(topic, max_page_size=3))), 5)


class Lists(bus.Case):
    alone = True

    @bus.proves("admin.topiclist")
    def test_pages(self):
        names = [self.topic() for _ in range(5)]
        listed = [t.name for t in self.admin.list_topics(max_page_size=2)]
        self.assertLessEqual(set(names), set(listed))
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(set(names), {t.name for t in self.admin.list_topics_runtime_properties()})


if __name__ == "__main__":
    unittest.main()

"""The administration client for asyncio: every operation once."""

import os
import unittest
from unittest import mock

import bus
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.servicebus.management import CorrelationRuleFilter, ServiceBusAdministrationClient, SqlRuleAction, SqlRuleFilter


class Administration(bus.AsyncCase):
    @bus.proves("admin.async")
    async def test_queues(self):
        queue = await self.admin.create_queue(bus.name("queue"), max_delivery_count=3)
        queue.max_delivery_count = 4
        await self.admin.update_queue(queue)
        self.assertEqual((await self.admin.get_queue(queue.name)).max_delivery_count, 4)
        self.assertEqual((await self.admin.get_queue_runtime_properties(queue.name)).total_message_count, 0)
        self.assertIn(queue.name, [q.name async for q in self.admin.list_queues()])
        self.assertIn(queue.name, [q.name async for q in self.admin.list_queues_runtime_properties()])
        with self.assertRaises(ResourceExistsError):
            await self.admin.create_queue(queue.name)
        await self.admin.delete_queue(queue.name)
        with self.assertRaises(ResourceNotFoundError):
            await self.admin.get_queue(queue.name)
        with self.assertRaises(HttpResponseError):
            await self.admin.create_queue(bus.name("queue"), lock_duration="PT6M")

    async def test_topics(self):
        topic = await self.admin.create_topic(bus.name("topic"))
        await self.admin.update_topic(topic, user_metadata="m")
        self.assertEqual((await self.admin.get_topic(topic.name)).user_metadata, "m")
        s = await self.admin.create_subscription(topic.name, "s")
        await self.admin.update_subscription(topic.name, s, max_delivery_count=4)
        self.assertEqual((await self.admin.get_subscription(topic.name, "s")).max_delivery_count, 4)
        self.assertEqual((await self.admin.get_topic_runtime_properties(topic.name)).subscription_count, 1)
        self.assertEqual((await self.admin.get_subscription_runtime_properties(topic.name, "s")).active_message_count, 0)
        self.assertIn(topic.name, [t.name async for t in self.admin.list_topics()])
        self.assertIn(topic.name, [t.name async for t in self.admin.list_topics_runtime_properties()])
        self.assertEqual([s.name async for s in self.admin.list_subscriptions(topic.name)], ["s"])
        self.assertEqual([s.name async for s in self.admin.list_subscriptions_runtime_properties(topic.name)], ["s"])
        await self.admin.delete_subscription(topic.name, "s")
        await self.admin.delete_topic(topic.name)
        with self.assertRaises(ResourceNotFoundError):
            await self.admin.get_topic(topic.name)

    async def test_rules(self):
        topic = await self.topic("s")
        rule = await self.admin.create_rule(
            topic, "s", "r", filter=SqlRuleFilter("a = @b", {"@b": 2**40}), action=SqlRuleAction("SET a = 1"))
        rule.filter = CorrelationRuleFilter(properties={"a": 1.5})
        await self.admin.update_rule(topic, "s", rule)
        self.assertEqual((await self.admin.get_rule(topic, "s", "r")).filter.properties, {"a": 1.5})
        self.assertEqual([r.name async for r in self.admin.list_rules(topic, "s")], ["$Default", "r"])
        await self.admin.delete_rule(topic, "s", "r")
        with self.assertRaises(ResourceNotFoundError):
            await self.admin.get_rule(topic, "s", "r")

    async def test_namespace(self):
        self.assertEqual((await self.admin.get_namespace_properties()).name, bus.NAMESPACE)


class Trust(unittest.TestCase):
    """How an application that is not changed at all trusts the authority: requests reads the environment."""

    alone = True

    def test_environment(self):
        with mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=bus.CA):
            with ServiceBusAdministrationClient.from_connection_string(bus.ADMIN) as client:
                self.assertEqual(client.get_namespace_properties().name, bus.NAMESPACE)

    @bus.proves("admin.trust")
    def test_unknown_authority(self):
        with ServiceBusAdministrationClient.from_connection_string(bus.ADMIN, retry_total=0) as client:
            with self.assertRaisesRegex(Exception, "CERTIFICATE_VERIFY_FAILED"):
                client.get_namespace_properties()


if __name__ == "__main__":
    unittest.main()

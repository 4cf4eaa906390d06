"""Topics: each subscription its copy, through filters and actions of every kind."""

import concurrent.futures
import datetime
import unittest
import uuid

import bus
from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.management import CorrelationRuleFilter, FalseRuleFilter, SqlRuleAction, SqlRuleFilter, TrueRuleFilter

HOUR = datetime.timedelta(hours=1)

# What the filters are asked about: (body, what it is made of).
SAMPLES = [
    ("red", {"subject": "paint", "application_properties": {"color": "red", "size": 3, "weight": 1.5, "sold": True}}),
    ("blue", {"subject": "paint", "application_properties": {"color": "blue", "size": 30, "sold": False}}),
    ("reply", {"subject": "mail", "correlation_id": "c-1", "reply_to": "r", "content_type": "text/plain", "to": "me",
               "message_id": "m-1", "reply_to_session_id": "s"}),
]

# A filter, and the samples that it lets through.
FILTERS = [
    (TrueRuleFilter(), ["red", "blue", "reply"]),
    (FalseRuleFilter(), []),
    (SqlRuleFilter("color = 'red' OR size > 10"), ["red", "blue"]),
    (SqlRuleFilter("color IS NULL"), ["reply"]),
    (SqlRuleFilter("sys.Label LIKE 'p%' AND sold = TRUE"), ["red"]),
    (SqlRuleFilter("size > @least", {"@least": 5}), ["blue"]),
    (SqlRuleFilter("color = @c AND weight < @w AND sold = @s", {"@c": "red", "@w": 2.5, "@s": True}), ["red"]),
    (SqlRuleFilter("size IN (3, 4) AND EXISTS(weight)"), ["red"]),
    (CorrelationRuleFilter(label="paint"), ["red", "blue"]),
    (CorrelationRuleFilter(label="paint", properties={"color": "blue"}), ["blue"]),
    (CorrelationRuleFilter(properties={"size": 3, "sold": True, "weight": 1.5}), ["red"]),
    (CorrelationRuleFilter(correlation_id="c-1", reply_to="r", content_type="text/plain", to="me", message_id="m-1",
                           reply_to_session_id="s"), ["reply"]),
    (CorrelationRuleFilter(correlation_id="C-1"), []),
]


class Topics(bus.Case):
    def ruled(self, topic, subscription, rule, action=None, **properties):
        """Makes a subscription that has this rule alone."""
        self.admin.create_subscription(topic, subscription, **properties)
        self.admin.delete_rule(topic, subscription, "$Default")
        self.admin.create_rule(topic, subscription, "only", filter=rule, action=action)

    def waiting(self, topic, subscription):
        return self.admin.get_subscription_runtime_properties(topic, subscription).active_message_count

    @bus.proves("topic.sql", "topic.correlation")
    def test_filters(self):
        topic = self.topic()
        for i, (rule, _) in enumerate(FILTERS):
            self.ruled(topic, f"s{i}", rule)
        self.send(topic, *(ServiceBusMessage(body, **made) for body, made in SAMPLES))

        def peek(i):
            with self.client.get_subscription_receiver(topic, f"s{i}", **bus.QUICK) as receiver:
                return bus.texts(receiver.peek_messages(5))

        with concurrent.futures.ThreadPoolExecutor() as pool:
            copies = pool.map(peek, range(len(FILTERS)))
        for i, ((rule, want), got) in enumerate(zip(FILTERS, copies, strict=True)):
            with self.subTest(rule=vars(rule)):
                self.assertEqual(got, want)
                self.assertEqual(self.waiting(topic, f"s{i}"), len(want))

    @bus.proves("topic.action")
    def test_action(self):
        """TOP-5: a rule with an action makes a copy of its own, which carries the rule's name."""
        topic = self.topic("plain")
        self.ruled(topic, "changed", TrueRuleFilter(), SqlRuleAction(
            "SET sys.Label = 'new'; SET added = @value; SET size = size + 1; REMOVE color", {"@value": 7}))
        self.send(topic, ServiceBusMessage("m", subject="old", application_properties={"size": 1, "color": "red"}))
        [changed] = self.receive(self.receiver((topic, "changed")))
        self.assertEqual(changed.subject, "new")
        self.assertEqual(changed.application_properties, {b"size": 2, b"added": 7, b"RuleName": b"only"})
        [plain] = self.receive(self.receiver((topic, "plain")))
        self.assertEqual((plain.subject, plain.application_properties), ("old", {b"size": 1, b"color": b"red"}))

    @bus.proves("send.topic", "topic.copies", "topic.number")
    def test_numbers(self):
        """SEQ-15: copies are numbered by their subscription, and keep the number that the topic gave."""
        topic = self.topic("all")
        self.ruled(topic, "some", SqlRuleFilter("take = 1"))
        self.send(topic, *(ServiceBusMessage(f"{i}", application_properties={"take": i % 2}) for i in range(6)))
        some = self.receive(self.receiver((topic, "some")), 3)
        self.assertEqual(bus.texts(some), ["1", "3", "5"])
        self.assertEqual([m.sequence_number for m in some], [1, 2, 3])
        self.assertEqual([m.enqueued_sequence_number for m in some], [2, 4, 6])
        everything = self.receive(self.receiver((topic, "all")), 6)
        self.assertEqual([m.sequence_number for m in everything], [1, 2, 3, 4, 5, 6])
        self.assertEqual([m.enqueued_time_utc for m in everything], sorted(m.enqueued_time_utc for m in everything))

    @bus.proves("topic.deadletter")
    def test_dead_letters_of_a_subscription(self):
        topic = self.topic("s")
        self.send(topic, "m")
        receiver = self.receiver((topic, "s"))
        receiver.dead_letter_message(self.receive(receiver)[0], reason="r")
        [letter] = self.receive(self.receiver((topic, "s"), sub_queue=ServiceBusSubQueue.DEAD_LETTER))
        self.assertEqual(letter.dead_letter_reason, "r")
        self.assertEqual(self.admin.get_subscription_runtime_properties(topic, "s").dead_letter_message_count, 1)

    @bus.proves("topic.cancel")
    def test_scheduled(self):
        topic = self.topic("s")
        with self.client.get_topic_sender(topic, **bus.QUICK) as sender:
            numbers = sender.schedule_messages([ServiceBusMessage("a"), ServiceBusMessage("b")],
                                               datetime.datetime.now(datetime.timezone.utc) + HOUR)
            self.assertEqual(self.admin.get_topic_runtime_properties(topic).scheduled_message_count, 2)
            sender.cancel_scheduled_messages(numbers)
        self.assertEqual(self.admin.get_topic_runtime_properties(topic).scheduled_message_count, 0)
        self.assertEqual(self.waiting(topic, "s"), 0)

    @bus.proves("topic.sessions")
    def test_sessions(self):
        topic = self.topic()
        self.admin.create_subscription(topic, "s", requires_session=True)
        self.send(topic, ServiceBusMessage("m", session_id="a"))
        receiver = self.receiver((topic, "s"), session_id="a")
        [m] = self.receive(receiver)
        receiver.complete_message(m)

    def test_uuid_and_time_of_a_filter(self):
        """A filter's value of a date is one in the message too."""
        moment = datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        topic = self.topic()
        self.ruled(topic, "when", CorrelationRuleFilter(properties={"when": moment}))
        self.ruled(topic, "other", CorrelationRuleFilter(properties={"when": moment + HOUR}))
        self.send(topic, ServiceBusMessage(f"{uuid.uuid4()}", application_properties={"when": moment}))
        self.assertEqual((self.waiting(topic, "when"), self.waiting(topic, "other")), (1, 0))


if __name__ == "__main__":
    unittest.main()

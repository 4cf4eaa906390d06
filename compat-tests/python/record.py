"""Records what the administration client sends, for the golden files of mgmt.

    python record.py DIRECTORY   writes python-queues.txt and python-topics.txt; the server must be a fresh one

What differs from run to run (times, ports) is written as the replay has it: its clock stands still, and its host is
localhost:5300.
"""

import datetime
import pathlib
import re
import sys

import bus
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.transport import RequestsTransport
from azure.servicebus.management import (
    CorrelationRuleFilter, EntityStatus, FalseRuleFilter, SqlRuleAction, SqlRuleFilter, TrueRuleFilter,
)

MINUTE = datetime.timedelta(minutes=1)
KEPT = ("Content-Type", "Accept", "If-Match")  # of a request's header
ANSWERED = ("Content-Type", "Etag")  # of an answer's
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Recorder(RequestsTransport):
    """A transport that keeps what passes."""

    def __init__(self):
        super().__init__(connection_verify=bus.CA)
        self.exchanges = []

    def send(self, request, **options):
        response = super().send(request, **options)
        sent, answer = response.internal_response.request, response.internal_response
        body = sent.body.decode() if isinstance(sent.body, bytes) else sent.body or ""
        lines = [f"{sent.method} {sent.url}"] + [f"{key}: {sent.headers[key]}" for key in KEPT if key in sent.headers]
        answers = [f"--- {answer.status_code}"] + [f"{key}: {answer.headers[key]}" for key in ANSWERED if key in answer.headers]
        self.exchanges.append("\n".join([*lines, "", body, *answers, "", answer.text, "===", ""]))
        return response

    def text(self):
        text = "".join(self.exchanges).replace(f"localhost:{bus.HTTP}", "localhost:5300")
        return TIME.sub("2026-03-01T10:00:00Z", text)


def refused(call, *args, **options):
    """Calls what the service refuses."""
    try:
        call(*args, **options)
    except HttpResponseError:
        return
    raise AssertionError(f"{call.__name__}{args} was not refused")


def queues(client):
    client.get_namespace_properties()
    client.create_queue("target")
    client.create_queue(
        "orders/eu", auto_delete_on_idle=10 * MINUTE, dead_lettering_on_message_expiration=True,
        default_message_time_to_live=11 * MINUTE, duplicate_detection_history_time_window=12 * MINUTE,
        enable_batched_operations=False, enable_partitioning=False, lock_duration=datetime.timedelta(seconds=13),
        max_delivery_count=14, max_size_in_megabytes=3072, requires_duplicate_detection=True, requires_session=False,
        user_metadata="<metadata>", forward_dead_lettered_messages_to="target")
    queue = client.get_queue("orders/eu")
    client.update_queue(queue, status=EntityStatus.RECEIVE_DISABLED, forward_to="target")
    client.get_queue_runtime_properties("orders/eu")
    client.update_queue(client.get_queue("target"), max_delivery_count=5)
    list(client.list_queues(max_page_size=1))
    list(client.list_queues_runtime_properties())
    refused(client.create_queue, "target")
    refused(client.update_queue, queue, requires_session=True)
    refused(client.update_queue, queue, lock_duration=datetime.timedelta(days=25))
    client.delete_queue("orders/eu")
    refused(client.delete_queue, "orders/eu")
    refused(client.update_queue, queue)
    refused(client.get_queue, "orders/eu")


def topics(client):
    topic = client.create_topic(
        "events", auto_delete_on_idle=10 * MINUTE, default_message_time_to_live=11 * MINUTE, max_size_in_megabytes=2048,
        duplicate_detection_history_time_window=12 * MINUTE, requires_duplicate_detection=True, support_ordering=True,
        enable_batched_operations=True, user_metadata="m")
    client.update_topic(topic, default_message_time_to_live=20 * MINUTE)
    client.get_topic("events")
    client.create_subscription(
        "events", "eu", lock_duration=datetime.timedelta(seconds=13), requires_session=True, max_delivery_count=14,
        default_message_time_to_live=11 * MINUTE, dead_lettering_on_message_expiration=True,
        dead_lettering_on_filter_evaluation_exceptions=False, enable_batched_operations=False, user_metadata="m")
    client.update_subscription("events", client.get_subscription("events", "eu"), max_delivery_count=15)
    client.get_topic_runtime_properties("events")
    client.get_subscription_runtime_properties("events", "eu")
    client.create_subscription("events", "us")
    list(client.list_subscriptions("events", max_page_size=1))
    list(client.list_subscriptions_runtime_properties("events"))
    list(client.list_topics())
    list(client.list_topics_runtime_properties())
    rules(client)
    refused(client.create_topic, "events")
    refused(client.create_subscription, "events", "eu")
    client.delete_subscription("events", "eu")
    refused(client.get_subscription, "events", "eu")
    client.delete_topic("events")
    refused(client.get_topic, "events")


def rules(client):
    path = ("events", "eu")
    values = {"text": "a < b", "int": 2, "long": 2147483650, "double": 1.5, "true": True, "span": 90 * MINUTE,
              "time": datetime.datetime(2020, 7, 5, 11, 12, 13)}
    rule = client.create_rule(
        *path, "correlation", filter=CorrelationRuleFilter(correlation_id="c", label="l", properties=values),
        action=SqlRuleAction("SET Priority = @low", {"@low": "low"}))
    client.create_rule(*path, "sql", filter=SqlRuleFilter("a = @a AND b = @b", {"@a": 1, "@b": "x"}))
    client.create_rule(*path, "true", filter=TrueRuleFilter())
    client.create_rule(*path, "false", filter=FalseRuleFilter())
    rule.filter = SqlRuleFilter("a = 1")
    client.update_rule(*path, rule)
    client.get_rule(*path, "correlation")
    list(client.list_rules(*path, max_page_size=3))
    client.delete_rule(*path, "$Default")
    refused(client.create_rule, *path, "sql")
    refused(client.create_rule, *path, "bad", filter=SqlRuleFilter("a ="))
    refused(client.delete_rule, *path, "none")
    refused(client.get_rule, *path, "none")


def main(directory):
    for name, scenario in (("queues", queues), ("topics", topics)):
        recorder = Recorder()
        with bus.admin(transport=recorder) as client:
            scenario(client)
        pathlib.Path(directory, f"python-{name}.txt").write_text(recorder.text())


if __name__ == "__main__":
    main(sys.argv[1])

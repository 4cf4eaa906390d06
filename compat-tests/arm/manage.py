"""azure-mgmt-servicebus as a program uses it, and azure-servicebus with the connection strings that it gets."""

import os

from azure.core.exceptions import ResourceNotFoundError
from azure.identity import ClientSecretCredential
from azure.mgmt.servicebus import ServiceBusManagementClient
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError

base = os.environ["MINIBUS_BASE"]
credential = ClientSecretCredential(
    os.environ["MINIBUS_TENANT"], os.environ["MINIBUS_CLIENT_ID"], os.environ["MINIBUS_SECRET"],
    authority=base, disable_instance_discovery=True)
client = ServiceBusManagementClient(
    credential, os.environ["MINIBUS_SUBSCRIPTION"], base_url=base, credential_scopes=[base + "/.default"])
place = ("python", "python-ns-1")
NEVER = "P10675199DT2H48M5.4775807S"


def equal(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def span(value):
    """The library reads durations or leaves them as texts, from release to release."""
    from isodate import duration_isoformat
    return value if isinstance(value, str) else duration_isoformat(value)


def send(connection, queue):
    with ServiceBusClient.from_connection_string(connection, retry_total=0) as bus, bus.get_queue_sender(queue) as sender:
        sender.send_messages(ServiceBusMessage("x"))


space = client.namespaces.begin_create_or_update(
    *place, {"location": "westeurope", "sku": {"name": "Standard"}, "tags": {"team": "a"}}).result()
equal("state", (space.provisioning_state, space.status, space.tags), ("Succeeded", "Active", {"team": "a"}))

names = [f"q{n:03d}" for n in range(250)]
for name in names:
    client.queues.create_or_update(*place, name, {})
pages = [[queue.name for queue in page] for page in client.queues.list_by_namespace(*place).by_page()]
equal("pages", len(pages), 3)
equal("queues", sorted(sum(pages, [])), names)
try:
    client.queues.get(*place, "none")
    raise AssertionError("a missing queue is there")
except ResourceNotFoundError as error:
    equal("missing queue", error.error.code, "MessagingGatewayNotFoundStatusCode")

client.queues.create_or_update(*place, "durations", {"properties": {
    "lockDuration": "PT1M30S", "defaultMessageTimeToLive": "P14D", "autoDeleteOnIdle": NEVER}})
queue = client.queues.get(*place, "durations")
equal("lock duration", span(queue.lock_duration), "PT1M30S")
equal("time to live", span(queue.default_message_time_to_live), "P14D")

client.topics.create_or_update(*place, "t", {})
client.subscriptions.create_or_update(*place, "t", "s", {})
rules = (*place, "t", "s")
client.rules.create_or_update(*rules, "sql", {"properties": {
    "filterType": "SqlFilter", "sqlFilter": {"sqlExpression": "a = 1"}, "action": {"sqlExpression": "SET b = 2"}}})
client.rules.create_or_update(*rules, "correlation", {"properties": {
    "filterType": "CorrelationFilter", "correlationFilter": {"label": "red", "properties": {"size": "5"}}}})
found = {rule.name: rule for rule in client.rules.list_by_subscriptions(*rules)}
equal("rules", sorted(found), ["$Default", "correlation", "sql"])
equal("SQL", (found["sql"].sql_filter.sql_expression, found["sql"].action.sql_expression), ("a = 1", "SET b = 2"))
equal("correlation", found["correlation"].correlation_filter.properties, {"size": "5"})

client.queues.create_or_update_authorization_rule(*place, "q000", "sender", {"properties": {"rights": ["Send"]}})
before = client.queues.list_keys(*place, "q000", "sender")
send(before.primary_connection_string, "q000")
after = client.queues.regenerate_keys(*place, "q000", "sender", {"keyType": "PrimaryKey"})
equal("secondary key", after.secondary_key, before.secondary_key)
try:
    send(before.primary_connection_string, "q000")
    raise AssertionError("the old key counts")
except ServiceBusError:
    pass
send(after.primary_connection_string, "q000")
send(after.secondary_connection_string, "q000")
send(client.namespaces.list_keys(*place, "RootManageSharedAccessKey").primary_connection_string, "q001")

equal("tags", client.namespaces.update(*place, {"tags": {"team": "b"}}).tags, {"team": "b"})
client.namespaces.begin_delete(*place).result()
try:
    client.namespaces.get(*place)
    raise AssertionError("a deleted namespace is there")
except ResourceNotFoundError as error:
    equal("deleted namespace", error.error.code, "ResourceNotFound")

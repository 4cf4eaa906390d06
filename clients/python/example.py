"""Makes a namespace, looks at its entities, and deletes it: SERVICEBUS_CONNECTION_STRING=... python example.py"""

import asyncio
import os

from minibus_control import ControlError, connect
from minibus_control.rest.api.entities import get_entity, list_entities
from minibus_control.rest.api.namespaces import create_namespace, delete_namespace, get_namespace, list_namespaces
from minibus_control.rest.models import NamespaceCreation

client = connect(os.environ["SERVICEBUS_CONNECTION_STRING"])

made = create_namespace.sync(client=client, body=NamespaceCreation.from_dict({
    "name": "worker-1", "Queues": [{"Name": "jobs"}], "Topics": [{"Name": "events", "Subscriptions": [{"Name": "large"}]}]}))
assert made.name == "worker-1" and made.connection_string.startswith("Endpoint=sb://"), made
assert {n.name for n in list_namespaces.sync(client=client).namespaces} >= {"worker-1"}

paths = [e.path for e in list_entities.sync("worker-1", client=client).items]
assert paths == ["events", "events/Subscriptions/large", "jobs"], paths
assert [e.path for e in asyncio.run(list_entities.asyncio("worker-1", client=client)).items] == paths
large = get_entity.sync("worker-1", "events/Subscriptions/large", client=client)
assert large.kind == "subscription" and large.counts.active == 0, large

delete_namespace.sync_detailed("worker-1", client=client)
try:
    get_namespace.sync("worker-1", client=client)
    raise AssertionError("the namespace is still there")
except ControlError as e:
    assert e.status == 404 and "could not be found" in e.detail, e

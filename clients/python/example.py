"""Looks at the entities of a Minibus, and makes and deletes a namespace: MINIBUS_CONNECTION=... python example.py"""

import asyncio
import os

from minibus_control import connect
from minibus_control.rest.api.entities import get_entity, list_entities
from minibus_control.rest.api.namespaces import create_namespace, delete_namespace, get_namespace, list_namespaces
from minibus_control.rest.models import Error, NamespaceCreation

client = connect(os.environ["MINIBUS_CONNECTION"])

paths = [e.path for e in list_entities.sync("$this", client=client).items]
assert paths == ["events", "events/Subscriptions/large", "orders"], paths
large = get_entity.sync("$this", "events/Subscriptions/large", client=client)
assert large.kind == "subscription" and large.counts.active == 0, large

made = create_namespace.sync(client=client, body=NamespaceCreation.from_dict({"name": "worker-1", "Queues": [{"Name": "jobs"}]}))
assert made.name == "worker-1" and made.connection_string.startswith("Endpoint=sb://"), made
assert {n.name for n in list_namespaces.sync(client=client).namespaces} >= {"worker-1"}
assert asyncio.run(list_entities.asyncio("worker-1", client=client)).items[0].path == "jobs"
assert delete_namespace.sync_detailed("worker-1", client=client).status_code == 204
missing = get_namespace.sync("worker-1", client=client)
assert isinstance(missing, Error) and "could not be found" in missing.detail, missing

"""Signs in with DefaultAzureCredential and nothing but the environment, synchronously and with asyncio."""

import asyncio
import datetime
import os
import time

from azure.core.exceptions import ClientAuthenticationError
from azure.identity import (AzureCliCredential, AzureDeveloperCliCredential, ClientSecretCredential, DefaultAzureCredential,
                            ManagedIdentityCredential, WorkloadIdentityCredential)
from azure.identity.aio import DefaultAzureCredential as AsyncDefaultAzureCredential
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient
from azure.servicebus.aio.management import ServiceBusAdministrationClient as AsyncServiceBusAdministrationClient
from azure.servicebus.exceptions import ServiceBusAuthorizationError, ServiceBusError
from azure.servicebus.management import ServiceBusAdministrationClient

HOSTS = os.environ["IDENTITY_TEST_HOSTS"].split(",")


def identity(name):
    return DefaultAzureCredential(managed_identity_client_id=os.environ["IDENTITY_TEST_" + name])


def exchange(host, credential=None):
    with ServiceBusClient(host, credential or DefaultAzureCredential()) as client:
        with client.get_queue_sender("orders") as sender:
            sender.send_messages(ServiceBusMessage("for " + host))
        with client.get_queue_receiver("orders", max_wait_time=30) as receiver:
            message = next(receiver)
            assert str(message) == "for " + host, message
            receiver.complete_message(message)


async def exchange_async(host):
    async with AsyncDefaultAzureCredential() as credential, AsyncServiceBusClient(host, credential) as client:
        async with client.get_queue_sender("orders") as sender:
            await sender.send_messages(ServiceBusMessage("for " + host))
        async with client.get_queue_receiver("orders", max_wait_time=30) as receiver:
            message = await anext(receiver)
            assert str(message) == "for " + host, message
            await receiver.complete_message(message)


def administer(host):
    with ServiceBusAdministrationClient(host, DefaultAzureCredential()) as client:
        client.create_queue("made")
        assert client.get_queue("made").name == "made"
        client.delete_queue("made")


async def administer_async(host):
    async with AsyncDefaultAzureCredential() as credential, AsyncServiceBusAdministrationClient(host, credential) as client:
        assert (await client.get_queue("orders")).name == "orders"


def refused(what, operation):
    begin = time.monotonic()
    try:
        operation()
    except (ServiceBusAuthorizationError, ServiceBusError) as e:
        assert what in str(e) and "required to perform this operation" in str(e), e
        assert time.monotonic() - begin < 15, "it has waited"
    else:
        raise AssertionError(f"{what}: not refused")


def send(host, name, queue):
    with ServiceBusClient(host, identity(name), retry_total=0) as client, client.get_queue_sender(queue) as sender:
        numbers = sender.schedule_messages(ServiceBusMessage("x"), datetime.datetime(2099, 1, 1))
        sender.cancel_scheduled_messages(numbers)


def receive(host, name, queue):
    with ServiceBusClient(host, identity(name), retry_total=0) as client:
        with client.get_queue_receiver(queue, max_wait_time=5) as receiver:
            receiver.receive_messages()


def only_receive(host):
    with ServiceBusClient(host, DefaultAzureCredential()) as client, client.get_queue_sender("orders") as sender:
        sender.send_messages(ServiceBusMessage("for a receiver"))
    with ServiceBusClient(host, identity("RECEIVER")) as client:
        with client.get_queue_receiver("orders", max_wait_time=30) as receiver:
            assert str(receiver.peek_messages()[0]) == "for a receiver"
            message = next(receiver)
            assert str(message) == "for a receiver", message
            receiver.complete_message(message)
    refused("'Send' claim(s)", lambda: send(host, "RECEIVER", "orders"))


for each in HOSTS:
    exchange(each)
    asyncio.run(exchange_async(each))
    administer(each)
    asyncio.run(administer_async(each))
    send(each, "SENDER", "orders")
    refused("'Send' claim(s)", lambda: send(each, "NOBODY", "orders"))
    refused("'Listen' claim(s)", lambda: receive(each, "NOBODY", "orders"))
    refused("'Listen' claim(s)", lambda: receive(each, "SENDER", "orders"))
    refused("'Send' claim(s)", lambda: send(each, "SENDER", "orders2"))
    only_receive(each)
    try:
        ServiceBusAdministrationClient(each, identity("SENDER")).get_queue("orders")
    except ClientAuthenticationError as e:
        assert e.status_code == 401, e
    else:
        raise AssertionError("the sender may read the queue")

# A developer who has signed in with az or azd, for which scripts stand.
exchange(HOSTS[0], AzureCliCredential())
exchange(HOSTS[0], AzureDeveloperCliCredential())

# As AD FS does it: for that tenant no SDK asks a Microsoft host.
authority = {"authority": f"https://{HOSTS[0]}:5671", "tenant_id": "adfs", "client_id": os.environ["AZURE_CLIENT_ID"]}
exchange(HOSTS[0], ClientSecretCredential(client_secret=os.environ["IDENTITY_HEADER"], **authority))
exchange(HOSTS[0], WorkloadIdentityCredential(token_file_path=os.environ["IDENTITY_TEST_ASSERTION"], **authority))

# Cloud Shell, and the metadata service of a virtual machine, at another address.
OPEN = os.environ["IDENTITY_TEST_OPEN"]
del os.environ["IDENTITY_ENDPOINT"], os.environ["IDENTITY_HEADER"]
for name, value in {"MSI_ENDPOINT": OPEN + "/minibus/identity/token", "AZURE_POD_IDENTITY_AUTHORITY_HOST": OPEN}.items():
    os.environ[name] = value
    assert ManagedIdentityCredential().get_token("https://servicebus.azure.net/.default").token.count(".") == 2, name
    del os.environ[name]
print("ok")

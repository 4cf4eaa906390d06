import asyncio

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from minibus import AsyncMinibus


async def send_to_a_busy_server():
    async with (
        AsyncMinibus.start(queues=["orders"]) as bus,
        bus.faults.throttle("orders", count=1) as fault,
        ServiceBusClient.from_connection_string(bus.connection_string) as client,
        client.get_queue_sender("orders") as sender,
    ):
        await sender.send_messages(ServiceBusMessage("two coffees"))
        assert await fault.hits() == 1
        assert (await bus.counts("orders")).active == 1


def test_a_busy_server():
    asyncio.run(send_to_a_busy_server())

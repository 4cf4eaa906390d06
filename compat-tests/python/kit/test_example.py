from datetime import timedelta

from azure.servicebus import ServiceBusClient, ServiceBusMessage
from minibus import Minibus


def take_orders(client):
    """The program under test."""
    with client.get_queue_receiver("orders") as receiver:
        for message in receiver.receive_messages(max_wait_time=10):
            if str(message) == "one tea":
                receiver.dead_letter_message(message, reason="no tea")
            else:
                receiver.complete_message(message)


def test_orders():
    with (
        Minibus.start(queues=["orders"]) as bus,
        ServiceBusClient.from_connection_string(bus.connection_string) as client,
        client.get_queue_sender("orders") as sender,
    ):
        sender.send_messages(ServiceBusMessage("one tea"))
        take_orders(client)
        assert [letter.dead_letter_reason for letter in bus.dead_letters("orders")] == ["no tea"]

        sender.schedule_messages(ServiceBusMessage("two coffees"), bus.clock.now() + timedelta(hours=1))
        bus.clock.advance("1h")
        take_orders(client)
        bus.wait_for("orders", idle=True)

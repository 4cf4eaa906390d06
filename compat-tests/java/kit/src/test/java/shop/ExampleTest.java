package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.time.OffsetDateTime;
import minibus.MinibusNamespace;
import minibus.junit.Minibus;
import org.junit.jupiter.api.Test;

@Minibus(queues = "orders")
class ExampleTest {
    @Test
    void anOrderWithoutStock(MinibusNamespace bus) {
        var client = new ServiceBusClientBuilder().connectionString(bus.connectionString());
        try (var sender = client.sender().queueName("orders").buildClient();
            var receiver = client.receiver().queueName("orders").buildClient()) {
            sender.sendMessage(new ServiceBusMessage("two coffees"));

            // The program under test receives the order and dead-letters it.
            var order = receiver.receiveMessages(1).iterator().next();
            receiver.deadLetter(order, new DeadLetterOptions().setDeadLetterReason("out of stock"));

            assertEquals("out of stock", bus.deadLetters("orders").get(0).deadLetterReason());

            sender.scheduleMessage(new ServiceBusMessage("order again"), OffsetDateTime.now().plusHours(1));
            bus.clock().advance("1h");

            var reminder = receiver.receiveMessages(1).iterator().next();
            assertEquals("order again", reminder.getBody().toString());
            receiver.complete(reminder);
            bus.waitFor(wait -> wait.entity("orders").idle());
        }
    }
}

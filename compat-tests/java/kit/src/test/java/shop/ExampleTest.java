package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusProcessorClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.time.Duration;
import java.time.ZoneOffset;
import minibus.MinibusNamespace;
import minibus.junit.Minibus;
import org.junit.jupiter.api.Test;

@Minibus(queues = "orders")
class ExampleTest {
    @Test
    void ordersWithoutAPriceAreDeadLettered(MinibusNamespace bus) {
        var client = new ServiceBusClientBuilder().connectionString(bus.connectionString());
        try (var sender = client.sender().queueName("orders").buildClient();
            var shop = takeOrders(client)) {
            sender.sendMessage(new ServiceBusMessage("one coffee").setMessageId("order-7"));
            bus.waitFor(wait -> wait.entity("orders").idle());
            assertEquals("no price", bus.deadLetters("orders").get(0).deadLetterReason());

            var soon = bus.clock().now().plus(Duration.ofHours(1)).atOffset(ZoneOffset.UTC);
            sender.scheduleMessage(new ServiceBusMessage("2 euros").setMessageId("reminder"), soon);
            bus.clock().advance("1h");
            bus.waitFor(wait -> wait.entity("orders").idle());
            var history = bus.history("reminder");
            assertEquals("completed", history.get(history.size() - 1).kind());
        }
    }

    /** The program under test. */
    private static ServiceBusProcessorClient takeOrders(ServiceBusClientBuilder client) {
        var processor = client.processor().queueName("orders").disableAutoComplete().processMessage(order -> {
            if (order.getMessage().getBody().toString().contains("euros")) {
                order.complete();
            } else {
                order.deadLetter(new DeadLetterOptions().setDeadLetterReason("no price"));
            }
        }).processError(error -> { }).buildProcessorClient();
        processor.start();
        return processor;
    }
}

package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Four tests use queues of the same name at the same time. */
class IsolationTest extends WithNamespace {
    @Test
    void first() throws Exception {
        seesItsOwnMessagesOnly("first");
    }

    @Test
    void second() throws Exception {
        seesItsOwnMessagesOnly("second");
    }

    @Test
    void third() throws Exception {
        seesItsOwnMessagesOnly("third");
    }

    @Test
    void fourth() throws Exception {
        seesItsOwnMessagesOnly("fourth");
    }

    private void seesItsOwnMessagesOnly(String test) throws Exception {
        var builder = new ServiceBusClientBuilder().connectionString(connectionString);
        try (var sender = builder.sender().queueName("orders").buildClient();
            var receiver = builder.receiver().queueName("orders").buildClient()) {
            var sent = List.of(test + " 1", test + " 2", test + " 3");
            sender.sendMessages(sent.stream().map(ServiceBusMessage::new).toList());
            meet();
            var received = new ArrayList<String>();
            for (int before = -1; before != received.size();) {
                before = received.size();
                var wait = Duration.ofSeconds(received.size() < sent.size() ? 30 : 2);
                for (var message : receiver.receiveMessages(received.size() < sent.size() ? 1 : 100, wait)) {
                    received.add(message.getBody().toString());
                    receiver.complete(message);
                }
            }
            assertEquals(sent, received);
        }
    }

    private void meet() throws Exception {
        var query = URLEncoder.encode(connectionString, StandardCharsets.UTF_8);
        var request = HttpRequest.newBuilder(URI.create(System.getenv("MINIBUS_MEETING") + "?" + query)).build();
        assertEquals(200, HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode());
    }
}

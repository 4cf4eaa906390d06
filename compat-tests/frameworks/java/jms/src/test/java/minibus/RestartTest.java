package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.servicebus.jms.ServiceBusJmsConnectionFactory;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Ends of the server: program 30. No other program runs meanwhile. */
@Isolated
class RestartTest {
    @Test
    void program_30_clients_come_back_to_their_subscriptions() throws Exception {
        final List<Bus> namespaces = new ArrayList<>();
        for (Setup setup : Programs.azure().toList()) {
            final Bus bus = new Bus(setup);
            namespaces.add(bus);
            bus.topic("events");
        }
        for (String end : List.of("restart", "kill")) {
            for (Bus bus : namespaces) {
                comeBack(bus, end);
            }
        }
        for (Bus bus : namespaces) {
            bus.close();
        }
    }

    private static void comeBack(Bus bus, String end) throws Exception {
        final var factory = new ServiceBusJmsConnectionFactory(Client.connectionString(bus.host, Bus.ROOT, Bus.KEY),
            null);
        factory.setClientId("x");
        try (var connection = factory.createConnection()) {
            connection.start();
            final Session session = Jms.automatic(connection);
            final Topic events = session.createTopic("events");
            session.createDurableConsumer(events, "audit").close();
            final MessageConsumer passing = session.createConsumer(events);
            session.createTemporaryQueue();
            final MessageProducer producer = session.createProducer(events);
            Jms.send(session, producer, "before");
            assertEquals("before", Jms.nextText(passing));
            final Set<String> before = bus.paths();
            assertEquals(4, before.size(), before::toString);

            final var request = HttpRequest.newBuilder(URI.create(System.getenv("MINIBUS_CONTROL") + "/" + end))
                .build();
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());

            Jms.send(session, producer, "after"); // once the client has come back
            assertEquals("after", Jms.nextText(passing));
            final Set<String> left = new TreeSet<>(bus.paths());
            left.retainAll(before);
            assertEquals(Set.of("events", "events/Subscriptions/audit$x$D"), left);
            // The client has made its volatile subscription and its queue again.
            assertEquals(before.size(), bus.paths().size(), () -> bus.paths().toString());

            final MessageConsumer durable = session.createDurableConsumer(events, "audit");
            assertEquals("before", Jms.nextText(durable));
            assertEquals("after", Jms.nextText(durable));
            durable.close();
            session.unsubscribe("audit");
        }
        bus.awaitPaths("only the topic is left", paths -> paths.equals(Set.of("events")));
    }
}

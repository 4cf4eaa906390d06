package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.amqp.AMQPComponent;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.springframework.jms.connection.CachingConnectionFactory;

/** Apache Camel's amqp component, which uses Qpid: program 25. */
class CamelAmqpTest {
    private static final int REQUESTS = 500;

    @Test
    void program_25_requests_get_their_replies() throws Exception {
        try (Bus bus = new Bus(new Setup(Client.QPID, "relaxed")); CamelContext context = new DefaultCamelContext()) {
            bus.queue("requests");
            bus.queue("replies");
            final var connections = new CachingConnectionFactory(bus.factory(Bus.ROOT, null,
                Map.of("jms.prefetchPolicy.all", "0")));
            connections.setCacheConsumers(false);
            context.addComponent("amqp", new AMQPComponent(connections));
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("amqp:queue:requests?concurrentConsumers=2").transform(simple("Hello, ${body}"));
                }
            });
            context.start();
            final ProducerTemplate template = context.createProducerTemplate();
            ask(template, "amqp:queue:requests");
            ask(template, "amqp:queue:requests?replyTo=replies&replyToType=Shared&receiveTimeout=1000");
            bus.await("requests", "active", 0);
            bus.await("replies", "active", 0);
            connections.destroy();
        }
    }

    /** Asks on ten threads, as a route with as many consumers does. */
    private static void ask(ProducerTemplate template, String endpoint) throws Exception {
        final var threads = Executors.newFixedThreadPool(10);
        try {
            final List<Future<String>> replies = new ArrayList<>();
            for (String number : Jms.numbers(0, REQUESTS)) {
                replies.add(threads.submit(() -> template.requestBody(endpoint, number, String.class)));
            }
            for (int i = 0; i < REQUESTS; i++) {
                assertEquals("Hello, " + i, replies.get(i).get());
            }
        } finally {
            threads.shutdown();
        }
    }
}

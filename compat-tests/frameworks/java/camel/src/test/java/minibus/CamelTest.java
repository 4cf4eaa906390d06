package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.azure.servicebus.ServiceBusComponent;
import org.apache.camel.component.azure.servicebus.ServiceBusConstants;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Routes of Apache Camel from and to queues, a topic, a subscription, a dead-letter queue and a queue with sessions. */
@Timeout(60)
class CamelTest {
    private static final BlockingQueue<Exchange> parcels = new LinkedBlockingQueue<>();
    private static final BlockingQueue<Exchange> undeliverable = new LinkedBlockingQueue<>();
    private static final BlockingQueue<Exchange> orders = new LinkedBlockingQueue<>();
    private static final BlockingQueue<Exchange> tours = new LinkedBlockingQueue<>();

    private static CamelContext context;
    private static ProducerTemplate producer;

    private static final class Routes extends RouteBuilder {
        @Override
        public void configure() {
            // The settings of docs/java.md, once for all routes.
            getContext().getComponent("azure-servicebus", ServiceBusComponent.class).getConfiguration()
                .setConnectionString(System.getenv("MINIBUS_CONNECTION_STRING"));
            errorHandler(noErrorHandler());

            from("direct:parcel").to("azure-servicebus:parcels");
            from("azure-servicebus:parcels?enableDeadLettering=true").convertBodyTo(String.class)
                .process(exchange -> {
                    if (exchange.getMessage().getBody(String.class).equals("broken")) {
                        throw new IllegalArgumentException("a broken parcel");
                    }
                })
                .process(parcels::add);
            from("azure-servicebus:parcels?subQueue=DEAD_LETTER_QUEUE").convertBodyTo(String.class).process(undeliverable::add);

            from("direct:orders").to("azure-servicebus:orders?serviceBusType=topic");
            from("azure-servicebus:orders?serviceBusType=topic&subscriptionName=billing").convertBodyTo(String.class).process(orders::add);

            from("direct:tour").to("azure-servicebus:tours?sessionId=monday");
            from("azure-servicebus:tours?sessionEnabled=true").convertBodyTo(String.class).process(tours::add);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        context = new DefaultCamelContext();
        context.addRoutes(new Routes());
        context.start();
        producer = context.createProducerTemplate();
    }

    @AfterAll
    static void stop() {
        context.stop();
    }

    private static Exchange next(BlockingQueue<Exchange> queue, String body) throws InterruptedException {
        final Exchange next = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(next, "nothing came");
        assertEquals(body, next.getMessage().getBody(String.class));
        return next;
    }

    @Test
    void a_route_takes_a_message_to_a_queue_and_another_takes_it_out() throws Exception {
        producer.sendBodyAndHeaders("direct:parcel", "to Leith", Map.of("shop", "Leith", ServiceBusConstants.CORRELATION_ID, "order-1"));
        final Exchange got = next(parcels, "to Leith");
        assertEquals("Leith", got.getMessage().getHeader("shop"));
        assertEquals("order-1", got.getMessage().getHeader(ServiceBusConstants.CORRELATION_ID));
    }

    @Test
    void a_route_that_fails_makes_a_dead_letter_with_its_reason() throws Exception {
        producer.sendBody("direct:parcel", "broken");
        final String reason = next(undeliverable, "broken").getMessage().getHeader(ServiceBusConstants.DEAD_LETTER_REASON, String.class);
        assertTrue(reason.contains("a broken parcel"), reason);
    }

    @Test
    void a_list_goes_through_a_topic_as_a_batch() throws Exception {
        producer.sendBody("direct:orders", List.of("tea", "milk", "sugar"));
        next(orders, "tea");
        next(orders, "milk");
        next(orders, "sugar");
    }

    @Test
    void a_session_comes_in_order() throws Exception {
        for (int i = 0; i < 5; i++) {
            producer.sendBody("direct:tour", "stop " + i);
        }
        for (int i = 0; i < 5; i++) {
            assertEquals("monday", next(tours, "stop " + i).getMessage().getHeader(ServiceBusConstants.SESSION_ID));
        }
    }
}

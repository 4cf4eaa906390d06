package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.quarkus.test.junit.QuarkusTest;
import io.smallrye.reactive.messaging.amqp.OutgoingAmqpMetadata;
import jakarta.inject.Inject;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSConsumer;
import jakarta.jms.JMSContext;
import jakarta.jms.Queue;
import jakarta.jms.TemporaryQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Starts the application with the connector that Quarkus configures, sends through its channels and looks at what comes back. */
@QuarkusTest
@Timeout(60)
class QuarkusApplicationTest {
    @Inject
    Shop shop;

    @Inject
    ConnectionFactory connections;

    @Test
    void a_message_goes_through_a_queue_with_its_properties() throws Exception {
        shop.parcelsOut().send(Message.of("to Leith").addMetadata(
            OutgoingAmqpMetadata.builder().withApplicationProperty("shop", "Leith").build()));
        assertEquals(new Shop.Parcel("to Leith", "Leith"), shop.parcels().poll(30, TimeUnit.SECONDS));
    }

    @Test
    void a_message_that_is_not_accepted_is_a_dead_letter() throws Exception {
        shop.parcelsOut().send("broken").toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertEquals("broken", shop.undeliverable().poll(30, TimeUnit.SECONDS));
    }

    /** The extension quarkus-qpid-jms has the settings of the application, and its connection. */
    @Test
    void jms_selects_messages_and_answers_over_a_temporary_queue() throws Exception {
        try (JMSContext jms = connections.createContext()) {
            final Queue queue = jms.createQueue("pumped");
            jms.createProducer().setProperty("shop", "Leith").send(queue, "to Leith");
            jms.createProducer().setProperty("shop", "Delft").send(queue, "to Delft");
            try (JMSConsumer delft = jms.createConsumer(queue, "shop = 'Delft'")) {
                assertEquals("to Delft", delft.receiveBody(String.class, 30_000));
            }
            final TemporaryQueue answers = jms.createTemporaryQueue();
            try (JMSConsumer leith = jms.createConsumer(queue); JMSConsumer answer = jms.createConsumer(answers)) {
                assertEquals("to Leith", leith.receiveBody(String.class, 30_000));
                jms.createProducer().setJMSReplyTo(answers).send(queue, "when?");
                jms.createProducer().send(leith.receive(30_000).getJMSReplyTo(), "now");
                assertEquals("now", answer.receiveBody(String.class, 30_000));
            }
        }
    }

    @Test
    void messages_go_through_a_topic_in_order() throws Exception {
        for (int i = 0; i < 100; i++) {
            shop.ordersOut().send("order " + i).toCompletableFuture().get(30, TimeUnit.SECONDS);
        }
        for (int i = 0; i < 100; i++) {
            assertEquals("order " + i, shop.orders().poll(30, TimeUnit.SECONDS));
        }
    }
}

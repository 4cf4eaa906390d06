package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.quarkus.test.junit.QuarkusTest;
import io.smallrye.reactive.messaging.amqp.OutgoingAmqpMetadata;
import jakarta.inject.Inject;
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

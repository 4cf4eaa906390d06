package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.azure.spring.messaging.servicebus.core.ServiceBusTemplate;
import com.azure.spring.messaging.servicebus.support.ServiceBusMessageHeaders;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.messaging.support.MessageBuilder;

/** Sends to {@link Shop} and looks at what its listeners get. */
@Timeout(60)
@SpringBootTest(properties = "spring.cloud.azure.servicebus.producer.entity-type=queue")
class SpringTest {
    @Autowired
    ServiceBusTemplate template;

    @Autowired
    Shop shop;

    @Test
    void a_parcel_arrives() throws Exception {
        template.sendAsync("parcels", MessageBuilder.withPayload("one parcel").build()).block();
        assertEquals("one parcel", shop.parcels.poll(30, TimeUnit.SECONDS).label());
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        final T next = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(next, "nothing came");
        return next;
    }

    @Test
    void what_the_template_sends_reaches_the_listener_with_its_headers() throws Exception {
        template.sendAsync("parcels", MessageBuilder.withPayload("to Leith")
            .setHeader("shop", "Leith").setHeader(ServiceBusMessageHeaders.CORRELATION_ID, "order-1").build()).block();
        final Shop.Parcel got = next(shop.parcels);
        assertEquals("to Leith", got.label());
        assertEquals("Leith", got.headers().get("shop"));
        assertEquals("order-1", got.headers().get(ServiceBusMessageHeaders.CORRELATION_ID));
    }

    @Test
    void a_listener_that_throws_gets_the_message_again_until_it_is_a_dead_letter() throws Exception {
        template.sendAsync("parcels", MessageBuilder.withPayload("broken").build()).block();
        for (int i = 0; i < 3; i++) { // the queue's MaxDeliveryCount
            assertEquals("broken", next(shop.parcels).label());
        }
        final Shop.Parcel dead = next(shop.undeliverable);
        assertEquals("broken", dead.label());
        assertEquals("MaxDeliveryCountExceeded", dead.headers().get(ServiceBusMessageHeaders.DEAD_LETTER_REASON));
    }

    @Test
    void an_object_goes_through_a_topic_as_json() throws Exception {
        final Shop.Order order = new Shop.Order("tea", 3);
        template.sendAsync("orders", MessageBuilder.withPayload(order).build()).block();
        assertEquals(order, next(shop.orders));
    }

    @Test
    void a_session_comes_in_order() throws Exception {
        for (int i = 0; i < 5; i++) {
            template.sendAsync("tours", MessageBuilder.withPayload("stop " + i)
                .setHeader(ServiceBusMessageHeaders.SESSION_ID, "monday").build()).block();
        }
        for (int i = 0; i < 5; i++) {
            assertEquals("monday stop " + i, next(shop.tours));
        }
    }
}

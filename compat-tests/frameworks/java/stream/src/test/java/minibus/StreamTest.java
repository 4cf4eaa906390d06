package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.cloud.stream.function.StreamBridge;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.messaging.support.MessageBuilder;

/** Sends to the queue that {@link Shop} is bound to, and looks at what its functions get. */
@Timeout(60)
class StreamTest {
    private static ConfigurableApplicationContext application;
    private static StreamBridge bridge;
    private static Shop shop;

    @BeforeAll
    static void start() {
        application = SpringApplication.run(Shop.class);
        bridge = application.getBean(StreamBridge.class);
        shop = application.getBean(Shop.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void functions_take_a_message_from_a_queue_through_a_topic_to_a_subscription() throws Exception {
        bridge.send("parcels", MessageBuilder.withPayload("to Leith").setHeader("shop", "Leith").build());
        assertEquals(new Shop.Bill("to Leith, packed", "Leith"), shop.bills.poll(30, TimeUnit.SECONDS));
    }

    @Test
    void a_message_that_a_function_rejects_is_a_dead_letter() throws Exception {
        bridge.send("parcels", "broken");
        assertEquals("broken", shop.undeliverable.poll(30, TimeUnit.SECONDS));
    }
}

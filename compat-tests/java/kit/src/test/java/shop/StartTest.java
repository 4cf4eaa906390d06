package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import minibus.MinibusMessage;
import minibus.MinibusServer;
import org.junit.jupiter.api.Test;

class StartTest {
    @Test
    void aServerOfItsOwn() {
        try (var bus = MinibusServer.start(o -> o
            .queue("work", queue -> queue.requiresSession(true).lockDuration(Duration.ofSeconds(30)))
            .topic("events", topic -> topic.subscription("large", s -> s.filter("amount > 5"))))) {
            bus.send("events", new MinibusMessage("parcel").property("amount", 7));
            assertEquals(1, bus.counts("events/Subscriptions/large").active());
        }
    }
}

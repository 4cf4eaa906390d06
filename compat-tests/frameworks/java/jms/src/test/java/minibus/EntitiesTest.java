package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import com.azure.servicebus.jms.ServiceBusJmsConnectionFactory;
import com.azure.servicebus.jms.ServiceBusJmsConnectionFactorySettings;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Entities that clients make, and what others see of them: programs 21 and 31. */
class EntitiesTest {
    @Programs.Azure
    void program_21_entities_are_made_at_attach(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            final var settings = new ServiceBusJmsConnectionFactorySettings(new HashMap<>());
            settings.setShouldReconnect(false);
            settings.setQueueAutoDeleteOnIdleDurationInSeconds(300);
            settings.setTopicAutoDeleteOnIdleDurationInSeconds(360);
            settings.setSubscriberAutoDeleteOnIdleDurationInSeconds(420);
            final var factory = new ServiceBusJmsConnectionFactory(Client.connectionString(bus.host, Bus.ROOT, Bus.KEY),
                settings);
            factory.setClientId("x");
            try (var connection = factory.createConnection()) {
                connection.start();
                final Session session = Jms.automatic(connection);
                Jms.send(session, session.createProducer(session.createQueue("new.queue")), "first");
                assertEquals("first", Jms.nextText(session.createConsumer(session.createQueue("new.queue"))));
                session.createDurableConsumer(session.createTopic("new.topic"), "audit");
            }
            assertEquals("PT5M", idle(bus, "new.queue"));
            assertEquals("PT6M", idle(bus, "new.topic"));
            assertEquals("PT7M", idle(bus, "new.topic/Subscriptions/audit$x$D"));
            bus.advance("PT8M");
            bus.awaitPaths("all are deleted as idle", Set::isEmpty);
        }
    }

    private static Object idle(Bus bus, String path) {
        return ((Map<?, ?>) bus.entity(path).get("properties")).get("AutoDeleteOnIdle");
    }

    @Programs.Azure
    void program_21_making_entities_needs_manage(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup); var connection = bus.factory(Bus.WORKER, null, Map.of()).createConnection()) {
            bus.queue("old.queue");
            final Session session = Jms.automatic(connection);
            Jms.send(session, session.createProducer(session.createQueue("old.queue")), "allowed");
            assertThrows(JMSSecurityException.class, () -> session.createProducer(session.createQueue("new.queue")));
            assertThrows(JMSSecurityException.class, () -> session.createConsumer(session.createTopic("new.topic")));
            assertEquals(Set.of("old.queue"), bus.paths());
        }
    }

    @Programs.Qpid
    void program_21_plain_qpid_makes_no_entities(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            final Session session = Jms.automatic(bus.connect());
            assertThrows(InvalidDestinationException.class, () ->
                session.createProducer(session.createQueue("new.queue")));
            assertThrows(InvalidDestinationException.class, () ->
                session.createConsumer(session.createTopic("new.topic")));
            assertEquals(Set.of(), bus.paths());
        }
    }

    @Programs.Azure
    void program_31_others_see_and_use_a_durable_subscription(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect("shop"));
            final Topic events = session.createTopic("events");
            session.createDurableConsumer(events, "audit", "color = 'red'", false).close();
            final MessageConsumer nobody = session.createConsumer(events);

            final String entry = bus.page("/events/Subscriptions/audit$shop$D?api-version=2021-05");
            final String feed = bus.page("/events/Subscriptions?api-version=2021-05");
            for (String page : new String[] {entry, feed}) {
                assertTrue(page.contains("<IsClientAffine>true</IsClientAffine>"), page);
                assertTrue(page.contains("<ClientId>shop</ClientId>"), page);
                assertTrue(page.contains("<IsDurable>true</IsDurable>"), page);
                assertTrue(page.contains("<IsShared>false</IsShared>"), page);
            }
            assertTrue(bus.page("/events/Subscriptions/audit$shop$D/rules?api-version=2021-05").contains("color = 'red'"));
            final String export = bus.here("GET", "config", null).toString();
            assertTrue(export.contains("audit$shop$D"), export);
            assertFalse(export.contains("$ND"), export);
            nobody.close();

            for (String color : new String[] {"red", "green"}) {
                final var message = session.createTextMessage(color);
                message.setStringProperty("color", color);
                session.createProducer(events).send(message);
            }
            receiveBySdk(bus);
        }
    }

    private static void receiveBySdk(Bus bus) {
        final String name = "audit$shop$D";
        try (var receiver = bus.sdk().receiver().topicName("events").subscriptionName(name).buildClient();
            var dead = bus.sdk().receiver().topicName("events").subscriptionName(name).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient()) {
            final ServiceBusReceivedMessage red = next(receiver);
            assertEquals("red", red.getApplicationProperties().get("color"));
            receiver.deadLetter(red, new DeadLetterOptions().setDeadLetterReason("not today"));
            assertEquals("not today", next(dead).getDeadLetterReason());
            assertEquals(0, bus.count("events/Subscriptions/" + name, "active"));
        }
    }

    private static ServiceBusReceivedMessage next(com.azure.messaging.servicebus.ServiceBusReceiverClient receiver) {
        return receiver.receiveMessages(1, Duration.ofMillis(Bus.SOON)).iterator().next();
    }
}

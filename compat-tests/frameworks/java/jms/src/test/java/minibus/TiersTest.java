package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a tier refuses: program 29, and plain Qpid on Premium, which serves it as Standard does. */
class TiersTest {
    @ParameterizedTest
    @ValueSource(strings = {"standard", "emulator"})
    void program_29_microsofts_client_needs_premium(String limits) throws Exception {
        try (Bus bus = new Bus(new Setup(Client.AZURE, limits))) {
            final JMSException refused = assertThrows(JMSException.class, () -> bus.connect());
            assertTrue(refused.getMessage().contains("Full JMS 2.0 parity over AMQP is a feature supported only by a Premium Messaging namespace."),
                refused.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"standard", "premium"})
    void program_29_a_durable_consumer_is_the_subscription_of_its_name(String limits) throws Exception {
        try (Bus bus = new Bus(new Setup(Client.QPID, limits))) {
            bus.topic("events");
            bus.subscription("events", "billing");
            final Session session = Jms.automatic(bus.connect("x"));
            final Topic events = session.createTopic("events");
            final MessageConsumer consumer = session.createDurableConsumer(events, "billing");
            Jms.send(session, session.createProducer(events), "invoice");
            assertEquals("invoice", Jms.nextText(consumer));
            bus.await("events/Subscriptions/billing", "active", 0);
            final JMSException refused = assertThrows(InvalidDestinationException.class, () ->
                session.createConsumer(events));
            assertTrue(refused.getMessage().contains("Topic:events|qpid-jms:receiver:ID:"), refused.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"standard", "premium"})
    void program_29_what_needs_jms_2_says_so(String limits) throws Exception {
        try (Bus bus = new Bus(new Setup(Client.QPID, limits))) {
            bus.queue("orders");
            final Session session = Jms.automatic(bus.connect());
            final List<Executable> attempts = List.of(
                () -> session.createConsumer(session.createQueue("orders"), "color = 'red'"),
                () -> session.createBrowser(session.createQueue("orders")).getEnumeration().hasMoreElements(),
                session::createTemporaryQueue,
                session::createTemporaryTopic);
            for (Executable attempt : attempts) {
                final JMSException refused = assertThrows(JMSException.class, attempt);
                assertTrue(refused.getMessage().contains("Premium"), refused.getMessage());
            }
        }
    }

    @Test
    void program_29_relaxed_prefers_the_subscription_of_the_name() throws Exception {
        try (Bus bus = new Bus(new Setup(Client.QPID, "relaxed"))) {
            bus.topic("events");
            bus.subscription("events", "billing");
            final Session session = Jms.automatic(bus.connect("x"));
            final Topic events = session.createTopic("events");
            final MessageConsumer consumer = session.createDurableConsumer(events, "billing");
            Jms.send(session, session.createProducer(events), "invoice");
            assertEquals("invoice", Jms.nextText(consumer));
            bus.await("events/Subscriptions/billing", "active", 0);
        }
    }
}

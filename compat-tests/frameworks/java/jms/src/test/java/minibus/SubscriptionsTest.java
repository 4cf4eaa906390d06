package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Subscriptions that clients make for themselves: programs 10 and 12 to 16. */
class SubscriptionsTest {
    @Programs.Both
    void program_10_a_volatile_consumer_receives_at_once_and_leaves_nothing(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session sender = Jms.automatic(bus.connect());
            final MessageProducer producer = sender.createProducer(sender.createTopic("events"));
            final Session session = Jms.automatic(bus.connect());
            final MessageConsumer consumer = session.createConsumer(session.createTopic("events"));
            Jms.send(sender, producer, "one");
            assertEquals("one", Jms.nextText(consumer));
            assertEquals(2, bus.paths().size(), () -> bus.paths().toString());
            consumer.close();
            bus.awaitPaths("the subscription is gone", paths -> paths.equals(Set.of("events")));
        }
    }

    @Programs.Both
    void program_10_no_local_is_ignored(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect());
            final Topic events = session.createTopic("events");
            final MessageConsumer consumer = session.createConsumer(events, null, true);
            Jms.send(session, session.createProducer(events), "my own");
            assertEquals("my own", Jms.nextText(consumer));
        }
    }

    @Programs.Both
    void program_12_a_durable_consumer_resumes(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect("x"));
            final Topic events = session.createTopic("events");
            session.createDurableConsumer(events, "audit").close();
            Jms.send(session, session.createProducer(events), "kept");
            assertEquals(Set.of("events", "events/Subscriptions/audit$x$D"), bus.paths());
            final MessageConsumer resumed = session.createDurableConsumer(events, "audit");
            assertEquals("kept", Jms.nextText(resumed));
            resumed.close();
        }
    }

    @Programs.Both
    void program_12_another_selector_or_topic_makes_a_durable_subscription_anew(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            bus.topic("news");
            final Session session = Jms.automatic(bus.connect("x"));
            final Topic events = session.createTopic("events");
            final MessageProducer producer = session.createProducer(null);
            session.createDurableConsumer(events, "audit").close();
            producer.send(events, session.createTextMessage("lost"));

            final MessageConsumer red = session.createDurableConsumer(events, "audit", "color = 'red'", false);
            assertNull(red.receiveNoWait());
            for (String color : List.of("green", "red")) {
                final var message = session.createTextMessage(color);
                message.setStringProperty("color", color);
                producer.send(events, message);
            }
            assertEquals("red", Jms.nextText(red));
            red.close();

            final Topic news = session.createTopic("news");
            final MessageConsumer moved = session.createDurableConsumer(news, "audit");
            producer.send(news, session.createTextMessage("new"));
            assertEquals("new", Jms.nextText(moved));
            assertEquals(Set.of("events", "news", "news/Subscriptions/audit$x$D"), bus.paths());
        }
    }

    @Programs.Azure
    void program_13_a_durable_subscription_has_one_consumer(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session first = Jms.automatic(bus.connect("x"));
            final MessageConsumer active = first.createDurableConsumer(first.createTopic("events"), "audit");
            final Session second = Jms.automatic(bus.connect("x"));
            final Topic events = second.createTopic("events");
            final JMSException refused = assertThrows(JMSException.class, () ->
                second.createDurableConsumer(events, "audit"));
            assertTrue(refused.getMessage().contains("Cannot create a new consumer on subscriber audit$x$D because there is already a "
                + "subscriber using the same name with an active consumer on the same or different topic."),
                    refused.getMessage());
            active.close();
            final MessageConsumer next = second.createDurableConsumer(events, "audit");
            Jms.send(second, second.createProducer(events), "two");
            assertEquals("two", Jms.nextText(next));
        }
    }

    @Programs.Azure
    void program_14_client_ids_have_subscriptions_of_their_own(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session x = Jms.automatic(bus.connect("x"));
            final Session y = Jms.automatic(bus.connect("y"));
            final Session none = Jms.automatic(bus.connect());
            final List<MessageConsumer> consumers = List.of(x.createDurableConsumer(x.createTopic("events"), "audit"),
                y.createDurableConsumer(y.createTopic("events"), "audit"),
                    none.createSharedDurableConsumer(none.createTopic("events"), "audit"));
            Jms.send(none, none.createProducer(none.createTopic("events")), "for all");
            for (MessageConsumer consumer : consumers) {
                assertEquals("for all", Jms.nextText(consumer));
                assertNull(consumer.receiveNoWait());
            }
            assertEquals(Set.of("events", "events/Subscriptions/audit$$D", "events/Subscriptions/audit$x$D",
                "events/Subscriptions/audit$y$D"),
                bus.paths());
        }
    }

    @Programs.Both
    void program_15_consumers_share_a_durable_subscription(Setup setup) throws Exception {
        for (String clientId : new String[] {"shop", null}) {
            try (Bus bus = new Bus(setup)) {
                final String subscription = share(bus, clientId, true);
                assertEquals(Set.of("events", subscription), bus.paths());
            }
        }
    }

    @Programs.Both
    void program_15_consumers_share_a_volatile_subscription(Setup setup) throws Exception {
        for (String clientId : new String[] {"shop", null}) {
            try (Bus bus = new Bus(setup)) {
                share(bus, clientId, false);
                bus.awaitPaths("the subscription is gone", paths -> paths.equals(Set.of("events")));
            }
        }
    }

    /** Four consumers of two connections take 400 messages, each once, from the subscription that this returns. */
    private static String share(Bus bus, String clientId, boolean durable) throws JMSException {
        bus.topic("events");
        final Queue<String> taken = new ConcurrentLinkedQueue<>();
        final List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            final Connection connection = bus.connect(clientId);
            connections.add(connection);
            for (int j = 0; j < 2; j++) {
                final Session session = Jms.automatic(connection);
                final Topic events = session.createTopic("events");
                final MessageConsumer consumer =
                    durable ? session.createSharedDurableConsumer(events, "audit")
                        : session.createSharedConsumer(events, "audit");
                consumer.setMessageListener(m -> {
                    try {
                        taken.add(Jms.text(m));
                    } catch (JMSException e) {
                        throw new IllegalStateException(e);
                    }
                });
            }
        }
        final String subscription = "events/Subscriptions/audit$" + (clientId == null ? "" : clientId)
            + (durable ? "$D" : "$ND");
        assertEquals(Set.of("events", subscription), bus.paths());
        bus.send("events", Jms.numbers(0, 400).stream().map(n -> Jms.json(n, "")).toList());
        bus.await(subscription, "active", 0);
        Bus.eventually("400 messages", () -> taken.size() >= 400, () -> taken.size() + "");
        assertEquals(400, taken.size());
        assertEquals(new TreeSet<>(Jms.numbers(0, 400)), new TreeSet<>(taken));
        connections.get(0).close();
        assertEquals(Set.of("events", subscription), bus.paths());
        connections.get(1).close();
        return subscription;
    }

    @Programs.Both
    void program_16_unsubscribing(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect("x"));
            final Topic events = session.createTopic("events");
            session.createDurableConsumer(events, "idle").close();
            session.unsubscribe("idle");
            assertEquals(Set.of("events"), bus.paths());

            final Session elsewhere = Jms.automatic(bus.connect("x"));
            final MessageConsumer active = elsewhere.createDurableConsumer(events, "active");
            assertThrows(JMSException.class, () -> session.unsubscribe("active"));
            Jms.send(session, session.createProducer(events), "still there");
            assertEquals("still there", Jms.nextText(active));

            assertThrows(InvalidDestinationException.class, () -> session.unsubscribe("unknown"));

            final Session none = Jms.automatic(bus.connect());
            none.createSharedDurableConsumer(none.createTopic("events"), "shared").close();
            assertEquals(Set.of("events", "events/Subscriptions/active$x$D", "events/Subscriptions/shared$$D"),
                bus.paths());
            none.unsubscribe("shared");
            assertEquals(Set.of("events", "events/Subscriptions/active$x$D"), bus.paths());
        }
    }
}

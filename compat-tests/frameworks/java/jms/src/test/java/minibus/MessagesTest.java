package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import jakarta.jms.BytesMessage;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.InvalidDestinationRuntimeException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSProducer;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.Topic;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Messages, their headers and outcomes: programs 1, 2, 20, 22, 27 and 28. */
class MessagesTest {
    private static final Map<String, Object> PROPERTIES = Map.of("aBoolean", true, "aByte", (byte) 1,
        "aShort", (short) 2, "anInt", 3, "aLong", 4L, "aFloat", 5.5f, "aDouble", 6.25, "aString", "seven");

    @Programs.Everywhere
    void program_1_types_headers_and_properties_arrive(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("parcels");
            bus.queue("answers");
            bus.topic("events");
            bus.subscription("events", "all");
            final Session session = Jms.automatic(bus.connect());
            goThrough(session, session.createQueue("parcels"), session.createQueue("parcels"));
            goThrough(session, session.createTopic("events"), session.createQueue("events/Subscriptions/all"));
        }
    }

    private static void goThrough(Session session, Destination to, Destination from) throws JMSException {
        final BytesMessage bytes = session.createBytesMessage();
        bytes.writeInt(1);
        final MapMessage map = session.createMapMessage();
        map.setLong("number", 2);
        final StreamMessage stream = session.createStreamMessage();
        stream.writeString("three");
        final MessageProducer producer = session.createProducer(to);
        final MessageConsumer consumer = session.createConsumer(from);
        roundTrip(session, producer, session.createMessage(), consumer);
        assertEquals("text", Jms.text(roundTrip(session, producer, session.createTextMessage("text"), consumer)));
        assertEquals(1, assertInstanceOf(BytesMessage.class, roundTrip(session, producer, bytes, consumer)).readInt());
        assertEquals(2, assertInstanceOf(MapMessage.class, roundTrip(session, producer, map,
            consumer)).getLong("number"));
        assertEquals("three", assertInstanceOf(StreamMessage.class,
            roundTrip(session, producer, stream, consumer)).readString());
        final Message object = roundTrip(session, producer, session.createObjectMessage("four"), consumer);
        assertEquals("four", assertInstanceOf(ObjectMessage.class, object).getObject());
        consumer.close();
    }

    private static Message roundTrip(Session session, MessageProducer producer, Message m, MessageConsumer consumer)
        throws JMSException {
        for (Map.Entry<String, Object> property : PROPERTIES.entrySet()) {
            m.setObjectProperty(property.getKey(), property.getValue());
        }
        m.setJMSCorrelationID("order-1");
        m.setJMSType("kind");
        m.setJMSReplyTo(session.createQueue("answers"));
        producer.send(m, DeliveryMode.PERSISTENT, 7, 100_000);
        final Message got = Jms.next(consumer);
        assertEquals(m.getJMSMessageID(), got.getJMSMessageID());
        assertEquals(name(producer.getDestination()), name(got.getJMSDestination()));
        assertEquals("answers", name(got.getJMSReplyTo()));
        assertEquals("order-1", got.getJMSCorrelationID());
        assertEquals("kind", got.getJMSType());
        assertEquals(7, got.getJMSPriority());
        assertEquals(DeliveryMode.PERSISTENT, got.getJMSDeliveryMode());
        assertFalse(got.getJMSRedelivered());
        assertEquals(1, got.getIntProperty(Jms.DELIVERY_COUNT));
        assertTrue(got.getJMSTimestamp() > 0, "JMSTimestamp");
        assertEquals(got.getJMSTimestamp() + 100_000, got.getJMSExpiration(), 1000.0);
        for (Map.Entry<String, Object> property : PROPERTIES.entrySet()) {
            assertEquals(property.getValue(), got.getObjectProperty(property.getKey()), property.getKey());
        }
        return got;
    }

    private static String name(Destination destination) throws JMSException {
        return destination instanceof Queue queue ? queue.getQueueName() : ((Topic) destination).getTopicName();
    }

    @Programs.Qpid
    void program_2_a_context_sends_anywhere(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("one");
            bus.queue("two");
            try (var context = bus.factory(Bus.ROOT, null, Map.of()).createContext()) {
                final JMSProducer producer = context.createProducer();
                producer.send(context.createQueue("one"), "first");
                producer.send(context.createQueue("two"), "second");
                assertThrows(InvalidDestinationRuntimeException.class, () ->
                    producer.send(context.createQueue("missing"), "third"));
                assertEquals("first", context.createConsumer(context.createQueue("one")).receiveBody(String.class,
                    Bus.SOON));
                assertEquals("second", context.createConsumer(context.createQueue("two")).receiveBody(String.class,
                    Bus.SOON));
            }
        }
    }

    @Programs.Both
    void program_20_a_delivery_delay_schedules(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("later");
            final Session session = Jms.automatic(bus.connect());
            delayed(bus, session, session.createQueue("later"), "later", "later");
        }
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            bus.subscription("events", "all");
            final Session session = Jms.automatic(bus.connect());
            delayed(bus, session, session.createTopic("events"), "events", "events/Subscriptions/all");
        }
    }

    private static void delayed(Bus bus, Session session, Destination to, String scheduledAt, String from)
        throws JMSException {
        final MessageProducer producer = session.createProducer(to);
        producer.setDeliveryDelay(600_000);
        final Message sent = session.createTextMessage("later");
        producer.send(sent);
        assertEquals(1, bus.count(scheduledAt, "scheduled"));
        final MessageConsumer consumer = session.createConsumer(session.createQueue(from));
        bus.advance("PT9M");
        assertNull(consumer.receiveNoWait(), "it came too early");
        bus.advance("PT1M1S");
        final Message got = Jms.next(consumer);
        assertEquals("later", Jms.text(got));
        assertEquals(sent.getJMSDeliveryTime(), got.getJMSDeliveryTime());
        consumer.close();
    }

    @Programs.Both
    void program_22_replies_by_jms_and_by_an_sdk_find_their_requests(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("requests");
            final Session session = Jms.automatic(bus.connect());
            final Queue answers = session.createTemporaryQueue();
            final MessageConsumer consumer = session.createConsumer(answers);
            final MessageProducer producer = session.createProducer(session.createQueue("requests"));

            final Message first = session.createTextMessage("2 + 2");
            first.setJMSReplyTo(answers);
            producer.send(first);
            final Session replier = Jms.automatic(bus.connect());
            final Message request = Jms.next(replier.createConsumer(replier.createQueue("requests")));
            final Message reply = replier.createTextMessage("4");
            reply.setJMSCorrelationID(request.getJMSMessageID());
            replier.createProducer(request.getJMSReplyTo()).send(reply);
            assertReply(first, "4", Jms.next(consumer));
            replier.close();

            final Message second = session.createTextMessage("3 + 3");
            second.setJMSReplyTo(answers);
            producer.send(second);
            try (var receiver = bus.sdk().receiver().receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).queueName("requests").buildClient()) {
                final ServiceBusReceivedMessage got = receiver.receiveMessages(1,
                    Duration.ofMillis(Bus.SOON)).iterator().next();
                try (var sender = bus.sdk().sender().queueName(got.getReplyTo()).buildClient()) {
                    sender.sendMessage(new ServiceBusMessage("6").setCorrelationId(got.getMessageId()));
                }
            }
            final Message fromSdk = Jms.next(consumer);
            assertEquals(second.getJMSMessageID(), fromSdk.getJMSCorrelationID());
            assertEquals("6", new String(fromSdk.getBody(byte[].class), StandardCharsets.UTF_8));
        }
    }

    private static void assertReply(Message request, String text, Message reply) throws JMSException {
        assertEquals(request.getJMSMessageID(), reply.getJMSCorrelationID());
        assertEquals(text, Jms.text(reply));
    }

    @Programs.Everywhere
    void program_27_acknowledgement_types_settle(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work");
            final Session session = Jms.manual(bus.connect(null, Map.of("jms.prefetchPolicy.all", "0")));
            final MessageConsumer consumer = session.createConsumer(session.createQueue("work"));
            final MessageProducer producer = session.createProducer(session.createQueue("work"));

            acknowledge(session, producer, consumer, "completed", 1);
            bus.await("work", "active", 0);

            acknowledge(session, producer, consumer, "dead-lettered", 2);
            bus.await("work", "deadLetter", 1);

            acknowledge(session, producer, consumer, "unlocked", 3);
            assertAgain(consumer, "unlocked", 1);

            acknowledge(session, producer, consumer, "abandoned", 4);
            assertAgain(consumer, "abandoned", 2);

            acknowledge(session, producer, consumer, "deferred", 5);
            bus.await("work", "deferred", 1);
            assertNull(consumer.receiveNoWait());
        }
    }

    private static void acknowledge(Session session, MessageProducer producer, MessageConsumer consumer, String text,
        int type) throws JMSException {
        Jms.send(session, producer, text);
        final Message message = Jms.next(consumer);
        assertEquals(text, Jms.text(message));
        message.setIntProperty("JMS_AMQP_ACK_TYPE", type);
        message.acknowledge();
    }

    private static void assertAgain(MessageConsumer consumer, String text, int count) throws JMSException {
        final Message again = Jms.next(consumer);
        assertEquals(text, Jms.text(again));
        assertEquals(count, again.getIntProperty(Jms.DELIVERY_COUNT));
        again.acknowledge();
    }

    @Programs.Everywhere
    void program_27_a_listener_that_throws_gets_the_message_again(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work", "\"MaxDeliveryCount\": 1");
            final BlockingQueue<Integer> deliveries = new LinkedBlockingQueue<>();
            final Session session = Jms.automatic(bus.connect());
            session.createConsumer(session.createQueue("work")).setMessageListener(message -> {
                deliveries.add(Jms.count(message));
                if (deliveries.size() < 3) {
                    throw new IllegalStateException("not yet");
                }
            });
            final Session sender = Jms.automatic(bus.connect());
            Jms.send(sender, sender.createProducer(sender.createQueue("work")), "again and again");
            Bus.eventually("three deliveries", () -> deliveries.size() == 3, deliveries::toString);
            assertEquals(List.of(1, 1, 1), List.copyOf(deliveries));
            bus.await("work", "active", 0);
            assertEquals(0, bus.count("work", "deadLetter"));
        }
    }

    @Programs.Everywhere
    void program_27_a_session_recovers(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work");
            final Session session = Jms.manual(bus.connect());
            Jms.send(session, session.createProducer(session.createQueue("work")), "unsaved");
            final MessageConsumer consumer = session.createConsumer(session.createQueue("work"));
            final Message first = Jms.next(consumer);
            session.recover();
            final Message again = Jms.next(consumer);
            assertEquals(first.getJMSMessageID(), again.getJMSMessageID());
            assertTrue(again.getJMSRedelivered());
            again.acknowledge();
            bus.await("work", "active", 0);
        }
    }

    @Programs.Everywhere
    void program_28_a_group_is_a_session_of_the_sdk(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("tours", "\"RequiresSession\": true");
            final Session session = Jms.automatic(bus.connect());
            final Queue tours = session.createQueue("tours");
            final Message stop = session.createTextMessage("first stop");
            stop.setStringProperty("JMSXGroupID", "monday");
            session.createProducer(tours).send(stop);
            try (var accepting = bus.sdk().sessionReceiver().queueName("tours").buildClient();
                var receiver = accepting.acceptSession("monday")) {
                final ServiceBusReceivedMessage got = receiver.receiveMessages(1,
                    Duration.ofMillis(Bus.SOON)).iterator().next();
                assertEquals(stop.getJMSMessageID(), got.getMessageId());
                assertEquals("monday", got.getSessionId());
                receiver.complete(got);
            }
            assertThrows(JMSException.class, () -> session.createConsumer(tours));
        }
    }
}

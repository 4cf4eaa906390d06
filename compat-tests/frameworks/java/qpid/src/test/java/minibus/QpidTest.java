package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Hashtable;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.JMSException;
import javax.jms.JMSSecurityException;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TextMessage;
import javax.jms.Topic;
import javax.naming.Context;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program that uses JMS 1.1 with Qpid, looked up as the documentation of Service Bus shows it. */
@Timeout(60)
class QpidTest {
    private static final long SECONDS = 20_000;

    private Context context;
    private Connection connection;

    /** The settings of docs/java.md. */
    private static Context settings() throws NamingException {
        final Hashtable<String, String> settings = new Hashtable<>();
        settings.put(Context.INITIAL_CONTEXT_FACTORY, "org.apache.qpid.jms.jndi.JmsInitialContextFactory");
        settings.put("connectionfactory.bus", "amqps://localhost:" + System.getenv("MINIBUS_PORT_TLS"));
        settings.put("connectionfactory.plain", "amqp://localhost:" + System.getenv("MINIBUS_PORT_AMQP"));
        settings.put("queue.PARCELS", "parcels");
        settings.put("topic.ORDERS", "orders");
        settings.put("queue.BILLING", "orders/Subscriptions/billing");
        settings.put("queue.UNDELIVERABLE", "parcels/$DeadLetterQueue");
        return new InitialContext(settings);
    }

    private Connection connect(String factory, String key) throws Exception {
        return ((ConnectionFactory) context.lookup(factory)).createConnection("RootManageSharedAccessKey", key);
    }

    private Queue queue(String name) throws NamingException {
        return (Queue) context.lookup(name);
    }

    @BeforeEach
    void connect() throws Exception {
        context = settings();
        connection = connect("bus", "SAS_KEY_VALUE");
        connection.start();
    }

    @AfterEach
    void close() throws JMSException {
        connection.close();
    }

    @Test
    void text_bytes_and_maps_go_through_a_queue() throws Exception {
        final Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        final var producer = session.createProducer(queue("PARCELS"));
        final TextMessage text = session.createTextMessage("tea");
        text.setStringProperty("shop", "Leith");
        text.setIntProperty("pounds", 3);
        text.setJMSCorrelationID("order-1");
        text.setJMSType("groceries");
        producer.send(text);
        final BytesMessage bytes = session.createBytesMessage();
        bytes.writeBytes(new byte[] {0, 1, -1});
        producer.send(bytes);
        final MapMessage map = session.createMapMessage();
        map.setLong("weight", 1L << 40);
        producer.send(map);

        final MessageConsumer consumer = session.createConsumer(queue("PARCELS"));
        final TextMessage gotText = assertInstanceOf(TextMessage.class, consumer.receive(SECONDS));
        assertEquals("tea", gotText.getText());
        assertEquals("Leith", gotText.getStringProperty("shop"));
        assertEquals(3, gotText.getIntProperty("pounds"));
        assertEquals("order-1", gotText.getJMSCorrelationID());
        assertEquals("groceries", gotText.getJMSType());
        assertEquals(text.getJMSMessageID(), gotText.getJMSMessageID());
        assertFalse(gotText.getJMSRedelivered());
        final BytesMessage gotBytes = assertInstanceOf(BytesMessage.class, consumer.receive(SECONDS));
        final byte[] body = new byte[(int) gotBytes.getBodyLength()];
        gotBytes.readBytes(body);
        assertArrayEquals(new byte[] {0, 1, -1}, body);
        assertEquals(1L << 40, assertInstanceOf(MapMessage.class, consumer.receive(SECONDS)).getLong("weight"));
        assertNull(consumer.receiveNoWait(), "a message more than were sent");
    }

    @Test
    void a_message_that_is_not_acknowledged_comes_again() throws Exception {
        final Session first = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        first.createProducer(queue("PARCELS")).send(first.createTextMessage("again"));
        final MessageConsumer consumer = first.createConsumer(queue("PARCELS"));
        final Message unacknowledged = consumer.receive(SECONDS);
        assertNotNull(unacknowledged);
        first.recover();
        final Message again = consumer.receive(SECONDS);
        assertEquals(unacknowledged.getJMSMessageID(), again.getJMSMessageID());
        assertTrue(again.getJMSRedelivered());
        again.acknowledge();
    }

    @Test
    void a_message_that_is_rejected_is_in_the_dead_letter_queue() throws Exception {
        final Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
        session.createProducer(queue("PARCELS")).send(session.createTextMessage("broken"));
        final Message broken = session.createConsumer(queue("PARCELS")).receive(SECONDS);
        broken.setIntProperty("JMS_AMQP_ACK_TYPE", 2);
        broken.acknowledge();
        final Message dead = session.createConsumer(queue("UNDELIVERABLE")).receive(SECONDS);
        assertEquals("broken", assertInstanceOf(TextMessage.class, dead).getText());
        dead.acknowledge();
    }

    @Test
    void a_listener_receives_what_a_topic_gave_its_subscription() throws Exception {
        final var heard = new ArrayBlockingQueue<Message>(10);
        final Session listening = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        listening.createConsumer(queue("BILLING")).setMessageListener(heard::add);
        final Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        final var producer = session.createProducer((Topic) context.lookup("ORDERS"));
        for (int i = 0; i < 5; i++) {
            producer.send(session.createTextMessage("order " + i));
        }
        for (int i = 0; i < 5; i++) {
            final Message m = heard.poll(SECONDS, TimeUnit.MILLISECONDS);
            assertEquals("order " + i, assertInstanceOf(TextMessage.class, m).getText());
        }
    }

    @Test
    void the_same_without_tls() throws Exception {
        try (Connection plain = connect("plain", "SAS_KEY_VALUE")) {
            plain.start();
            final Session session = plain.createSession(false, Session.AUTO_ACKNOWLEDGE);
            final Queue queue = session.createQueue("orders/Subscriptions/billing");
            session.createProducer(session.createTopic("orders")).send(session.createTextMessage("plain"));
            assertEquals("plain", assertInstanceOf(TextMessage.class, session.createConsumer(queue).receive(SECONDS)).getText());
        }
    }

    @Test
    void a_wrong_key_is_refused() {
        assertThrows(JMSSecurityException.class, () -> connect("bus", "WRONG"));
    }
}

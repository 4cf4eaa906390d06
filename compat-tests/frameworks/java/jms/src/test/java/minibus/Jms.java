package minibus;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** What most programs do with JMS. */
final class Jms {
    static final String DELIVERY_COUNT = "JMSXDeliveryCount";

    private Jms() {
    }

    static Session automatic(Connection connection) throws JMSException {
        return connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    }

    static Session manual(Connection connection) throws JMSException {
        return connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
    }

    static Session transacted(Connection connection) throws JMSException {
        return connection.createSession(true, Session.SESSION_TRANSACTED);
    }

    /** The next message, which must come. */
    static Message next(MessageConsumer consumer) throws JMSException {
        final Message message = consumer.receive(Bus.SOON);
        assertNotNull(message, "nothing came");
        return message;
    }

    static String text(Message message) throws JMSException {
        return assertInstanceOf(TextMessage.class, message).getText();
    }

    /** The text of the next message, which must come. */
    static String nextText(MessageConsumer consumer) throws JMSException {
        return text(next(consumer));
    }

    static void send(Session session, MessageProducer producer, String... texts) throws JMSException {
        for (String text : texts) {
            producer.send(session.createTextMessage(text));
        }
    }

    /** How often a message was delivered, for a listener. */
    static int count(Message message) {
        try {
            return message.getIntProperty(DELIVERY_COUNT);
        } catch (JMSException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The texts of all that is left for a consumer. */
    static List<String> rest(MessageConsumer consumer) throws JMSException {
        final List<String> texts = new ArrayList<>();
        for (Message m = consumer.receiveNoWait(); m != null; m = consumer.receiveNoWait()) {
            texts.add(text(m));
        }
        return texts;
    }

    /** The texts of numbered messages. */
    static List<String> numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).toList();
    }

    /**
     * A text message in the form of docs/message-json.md, as a JMS client reads it, with more members of the object.
     */
    static String json(String text, String more) {
        return "{\"bodyValue\": \"" + text + "\"" + (more.isEmpty() ? "" : ", " + more) + "}";
    }
}

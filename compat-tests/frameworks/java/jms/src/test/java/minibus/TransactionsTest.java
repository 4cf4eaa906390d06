package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TransactionRolledBackException;
import java.util.List;

/** Transacted sessions: programs 18 and 19. */
class TransactionsTest {
    @Programs.Everywhere
    void program_18_a_rollback_gives_the_message_back_at_once(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work", "\"LockDuration\": \"PT1M\", \"MaxDeliveryCount\": 3");
            final Session sender = Jms.automatic(bus.connect());
            Jms.send(sender, sender.createProducer(sender.createQueue("work")), "again");
            final Session session = Jms.transacted(bus.connect());
            final MessageConsumer consumer = session.createConsumer(session.createQueue("work"));
            for (int count = 1; count <= 3; count++) {
                final Message message = consumer.receive(2000);
                assertNotNull(message, "delivery " + count + " did not come within 2 s");
                assertEquals("again", Jms.text(message));
                assertEquals(count, message.getIntProperty(Jms.DELIVERY_COUNT));
                assertEquals(count > 1, message.getJMSRedelivered());
                session.rollback();
            }
            bus.await("work", "deadLetter", 1);
            assertNull(consumer.receiveNoWait());
        }
    }

    @Programs.Everywhere
    void program_19_two_producers_send_all_or_none(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("one");
            bus.queue("two");
            final Session session = Jms.transacted(bus.connect());
            final List<MessageProducer> producers =
                List.of(session.createProducer(session.createQueue("one")),
                    session.createProducer(session.createQueue("two")));
            for (MessageProducer producer : producers) {
                Jms.send(session, producer, "rolled back");
            }
            session.rollback();
            for (MessageProducer producer : producers) {
                Jms.send(session, producer, "committed");
            }
            assertEquals(0, bus.count("one", "active") + bus.count("two", "active"));
            session.commit();
            final Session reader = Jms.automatic(bus.connect());
            for (String queue : List.of("one", "two")) {
                assertEquals(List.of("committed"), Jms.rest(reader.createConsumer(reader.createQueue(queue))));
            }
        }
    }

    @Programs.Everywhere
    void program_19_a_consumer_and_a_producer(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("from");
            bus.queue("to");
            final Session sender = Jms.automatic(bus.connect());
            Jms.send(sender, sender.createProducer(sender.createQueue("from")), "order");
            final Session session = Jms.transacted(bus.connect());
            final MessageConsumer consumer = session.createConsumer(session.createQueue("from"));
            final MessageProducer producer = session.createProducer(session.createQueue("to"));
            assertEquals("order", Jms.nextText(consumer));
            Jms.send(session, producer, "invoice 1");
            session.rollback();
            final Message again = Jms.next(consumer);
            assertEquals("order", Jms.text(again));
            assertTrue(again.getJMSRedelivered());
            assertEquals(0, bus.count("to", "active"));
            Jms.send(session, producer, "invoice 2");
            session.commit();
            bus.await("from", "active", 0);
            assertEquals(List.of("invoice 2"), Jms.rest(sender.createConsumer(sender.createQueue("to"))));
        }
    }

    @Programs.Everywhere
    void program_19_a_commit_after_two_minutes_is_rolled_back(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work");
            final Session session = Jms.transacted(bus.connect());
            Jms.send(session, session.createProducer(session.createQueue("work")), "too late");
            session.createProducer(session.createQueue("work")); // the answer follows the message, which no one awaits
            bus.advance("PT2M1S");
            assertThrows(TransactionRolledBackException.class, session::commit);
            assertEquals(0, bus.count("work", "active"));
        }
    }
}

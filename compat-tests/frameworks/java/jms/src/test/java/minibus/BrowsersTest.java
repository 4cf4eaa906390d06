package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Queue browsers: program 9. */
class BrowsersTest {
    private static final int MESSAGES = 2500;

    @Programs.Both
    void program_9_browsing_shows_all_and_changes_nothing(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("parcels", "\"LockDuration\": \"PT5M\", \"MaxDeliveryCount\": 1");
            bus.queue("empty");
            final Session session = Jms.automatic(bus.connect());
            bus.send("parcels", IntStream.range(0, MESSAGES)
                .mapToObj(i -> Jms.json(String.valueOf(i), "\"applicationProperties\": {\"n\": " + i % 500 + "}"))
                .toList());

            final Session holder = Jms.manual(bus.connect());
            final MessageConsumer holding = holder.createConsumer(holder.createQueue("parcels"));
            assertEquals("0", Jms.nextText(holding));

            assertEquals(Jms.numbers(0, MESSAGES), browse(session.createBrowser(session.createQueue("parcels"))));
            assertEquals(List.of("7", "507", "1007", "1507", "2007"),
                browse(session.createBrowser(session.createQueue("parcels"), "n = 7")));
            assertEquals(List.of(), browse(session.createBrowser(session.createQueue("parcels"), "n = 700")));
            assertFalse(session.createBrowser(session.createQueue("empty")).getEnumeration().hasMoreElements());
            assertEquals(MESSAGES, bus.count("parcels", "active"));
            assertEquals(0, bus.count("parcels", "deadLetter"));

            for (int i = 1; i < MESSAGES; i++) {
                final Message message = Jms.next(holding);
                assertEquals(String.valueOf(i), Jms.text(message));
                assertEquals(1, message.getIntProperty(Jms.DELIVERY_COUNT));
                if (i % 1000 == 0 || i == MESSAGES - 1) {
                    message.acknowledge(); // all so far: the client's window is 2,047
                }
            }
            bus.await("parcels", "active", 0);
        }
    }

    private static List<String> browse(QueueBrowser browser) throws JMSException {
        final List<String> texts = new ArrayList<>();
        for (Object message : Collections.list(browser.getEnumeration())) {
            texts.add(Jms.text((Message) message));
        }
        browser.close();
        return texts;
    }
}

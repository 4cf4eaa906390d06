package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Selectors on queues and topics: programs 3 to 6 and 8. */
class SelectorsTest {
    @Programs.Both
    void program_3_the_selector_of_the_sample_takes_one_of_ten(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("orders");
            final Session session = Jms.automatic(bus.connect());
            final MessageProducer producer = session.createProducer(session.createQueue("orders"));
            for (int i = 0; i < 10; i++) {
                final TextMessage m = session.createTextMessage(String.valueOf(i));
                m.setJMSCorrelationID(String.valueOf(i));
                m.setStringProperty("prop1", "test");
                m.setStringProperty("prop2", "other");
                producer.send(m);
            }
            final MessageConsumer one = session.createConsumer(session.createQueue("orders"),
                "JMSCorrelationID='5' AND prop1='test' OR prop2='test'");
            assertEquals("5", Jms.nextText(one));
            assertNull(one.receiveNoWait());
            one.close();
            assertEquals(9, bus.count("orders", "active"));
            final List<String> others = new ArrayList<>(Jms.numbers(0, 10));
            others.remove("5");
            assertEquals(others, Jms.rest(session.createConsumer(session.createQueue("orders"))));
        }
    }

    @Programs.Both
    void program_3_selectors_on_a_subscription_and_a_dead_letter_queue(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            bus.subscription("events", "all");
            final List<String> messages = new ArrayList<>();
            for (String color : List.of("red", "green", "red")) {
                messages.add(Jms.json(color, "\"applicationProperties\": {\"color\": \"" + color + "\"}"));
            }
            bus.send("events", messages);
            final Session session = Jms.manual(bus.connect(null, Map.of("jms.prefetchPolicy.all", "0")));
            final MessageConsumer all = session.createConsumer(session.createQueue("events/Subscriptions/all"),
                "color = 'red'");
            for (int i = 0; i < 2; i++) {
                final Message red = Jms.next(all);
                assertEquals("red", Jms.text(red));
                red.setIntProperty("JMS_AMQP_ACK_TYPE", 2);
                red.acknowledge();
            }
            assertNull(all.receiveNoWait());
            bus.await("events/Subscriptions/all", "deadLetter", 2);
            assertEquals(1, bus.count("events/Subscriptions/all", "active"));
            final var dead = session.createQueue("events/Subscriptions/all/$DeadLetterQueue");
            assertNull(session.createConsumer(dead, "color = 'green'").receiveNoWait());
            assertEquals(List.of("red", "red"), Jms.rest(session.createConsumer(dead, "color = 'red'")));
        }
    }

    @Programs.Both
    void program_4_selectors_and_a_plain_consumer_share_a_queue(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("orders");
            final Map<String, List<Integer>> taken = new ConcurrentHashMap<>();
            for (String color : List.of("red", "blue", "")) {
                final List<Integer> list = Collections.synchronizedList(new ArrayList<>());
                taken.put(color, list);
                final Session session = Jms.automatic(bus.connect());
                final String selector = color.isEmpty() ? null : "color = '" + color + "'";
                session.createConsumer(session.createQueue("orders"), selector).setMessageListener(m ->
                    list.add(number(m)));
            }
            final List<String> messages = new ArrayList<>();
            for (int i = 0; i < 3000; i++) {
                final String color = List.of("red", "blue", "green").get(i % 3);
                messages.add(Jms.json(String.valueOf(i), "\"applicationProperties\": {\"color\": \"" + color + "\"}"));
            }
            bus.send("orders", messages);
            bus.await("orders", "active", 0);

            taken.get("red").forEach(i -> assertEquals(0, i % 3, "not red: " + i));
            taken.get("blue").forEach(i -> assertEquals(1, i % 3, "not blue: " + i));
            final List<Integer> all = new ArrayList<>();
            taken.forEach((color, list) -> {
                assertEquals(List.copyOf(new TreeSet<>(list)), List.copyOf(list), "not in order: " + color);
                all.addAll(list);
            });
            assertEquals(3000, all.size());
            assertEquals(3000, new TreeSet<>(all).size());
        }
    }

    private static int number(Message message) {
        try {
            return Integer.parseInt(Jms.text(message));
        } catch (JMSException e) {
            throw new IllegalStateException(e);
        }
    }

    @Programs.Azure
    void program_5_the_last_of_100000_is_found(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("deep");
            final List<String> thousand = Collections.nCopies(1000,
                Jms.json("hay", "\"applicationProperties\": {\"color\": \"yellow\"}"));
            for (int i = 0; i < 100; i++) {
                bus.send("deep", thousand);
            }
            bus.send("deep", List.of(Jms.json("needle", "\"applicationProperties\": {\"color\": \"red\"}")));
            final Session session = Jms.automatic(bus.connect());
            final MessageConsumer red = session.createConsumer(session.createQueue("deep"), "color = 'red'");
            assertEquals("needle", Jms.nextText(red));
            assertNull(red.receiveNoWait());
            assertNull(session.createConsumer(session.createQueue("deep"), "color = 'blue'").receiveNoWait());
            assertEquals(100_000, bus.count("deep", "active"));
        }
    }

    /** Messages for the table: one with everything, one with nothing, one with other types. */
    private static final List<String> ROWS = List.of(
        Jms.json("0", """
            "messageId": "ID:one", "correlationId": "c-1", "subject": "order", "priority": 7, "durable": true, "sessionId": "g",
            "groupSequence": 3, "userId": "u", "applicationProperties": {
              "t": "abc", "s": "abc", "i": {"int": 5}, "l": 5000000000, "d": {"double": 2.5}, "yes": true, "no": false,
              "_under": 1, "$dollar": 1, "percent": "5%"
            }"""),
        Jms.json("1", ""),
        Jms.json("2", """
            "messageId": {"uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, "correlationId": {"ulong": 7},
            "applicationProperties": {"s": {"int": 5}, "i": "5"}"""));

    /** Selectors and the messages that match: section 2 of the reference, line by line. */
    private static Map<String, String> table() {
        final Map<String, String> table = new LinkedHashMap<>();
        // Headers.
        table.put("JMSMessageID = 'ID:one'", "0");
        table.put("JMSMessageID = 'ID:AMQP_UUID:6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "2");
        table.put("JMSCorrelationID = 'c-1'", "0");
        table.put("JMSCorrelationID = 'ID:AMQP_ULONG:7'", "2");
        table.put("JMSType = 'order'", "0");
        table.put("JMSPriority = 4", "12");
        table.put("JMSPriority > 6", "0");
        table.put("JMSTimestamp > 1000", "012");
        table.put("JMSDeliveryMode = 'PERSISTENT'", "0");
        table.put("JMSDeliveryMode = 'NON_PERSISTENT'", "12");
        table.put("JMSXGroupID = 'g'", "0");
        table.put("JMSXGroupSeq = 3", "0");
        table.put("JMSXUserID = 'u'", "0");
        table.put("JMSReplyTo IS NULL AND JMSExpiration IS NULL AND JMSXDeliveryCount IS NULL", "012");
        // Names.
        table.put("t = 'abc'", "0");
        table.put("T = 'abc'", "");
        table.put("_under = 1", "0");
        table.put("$dollar = 1", "0");
        table.put("\"t\" = 'abc'", "0");
        // Booleans.
        table.put("yes", "0");
        table.put("no", "");
        table.put("NOT no", "0");
        table.put("yes = TRUE AND no <> TRUE", "0");
        table.put("t", "");
        // BETWEEN, IN, LIKE, NULL.
        table.put("l BETWEEN 4999999999 AND 5000000001", "0");
        table.put("d NOT BETWEEN 3 AND 4", "0");
        table.put("t IN ('x', 'abc')", "0");
        table.put("t NOT IN ('x', 'y')", "0");
        table.put("t LIKE 'a_c'", "0");
        table.put("t LIKE 'a%'", "0");
        table.put("t NOT LIKE 'x%'", "0");
        table.put("percent LIKE '5!%' ESCAPE '!'", "0");
        table.put("t IS NULL", "12");
        table.put("t IS NOT NULL", "0");
        // Numbers.
        table.put("i = 5", "0");
        table.put("i = 5L", "0");
        table.put("i = 0x5", "0");
        table.put("i = 05", "0");
        table.put("d = 2.5", "0");
        table.put("d > 2 AND d < 2.6E0", "0");
        table.put("i + 1 = 6 AND i * 2 - 4 = 6", "0");
        table.put("i / 2 = 2", "0");
        // Types that do not fit are false, missing properties unknown.
        table.put("i <> 5", "");
        table.put("NOT (i = 5)", "2");
        table.put("s <> 'abc'", "");
        table.put("missing = 1", "");
        table.put("missing <> 1", "");
        table.put("NOT (missing = 1)", "");
        table.put("missing = 1 OR l > 0", "0");
        return table;
    }

    @Programs.Both
    void program_6_selectors_on_a_queue(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            final Session session = Jms.automatic(bus.connect());
            final Map<String, String> matches = new LinkedHashMap<>();
            int queue = 0;
            for (String selector : table().keySet()) {
                final String name = "q" + queue++;
                bus.queue(name);
                bus.send(name, ROWS);
                final MessageConsumer consumer = session.createConsumer(session.createQueue(name), selector);
                matches.put(selector, String.join("", Jms.rest(consumer)));
                consumer.close();
            }
            assertEquals(lines(table()), lines(matches));
        }
    }

    @Programs.Both
    void program_6_selectors_on_a_topic(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect());
            final Map<String, MessageConsumer> consumers = new LinkedHashMap<>();
            for (String selector : table().keySet()) {
                consumers.put(selector, session.createConsumer(session.createTopic("events"), selector));
            }
            bus.send("events", ROWS);
            final Map<String, String> matches = new LinkedHashMap<>();
            for (Map.Entry<String, MessageConsumer> consumer : consumers.entrySet()) {
                matches.put(consumer.getKey(), String.join("", Jms.rest(consumer.getValue())));
            }
            assertEquals(lines(table()), lines(matches));
        }
    }

    /** A table as text, so that a failure shows the lines that differ. */
    private static String lines(Map<String, String> table) {
        final StringBuilder text = new StringBuilder();
        table.forEach((selector, matches) -> text.append(selector).append(": ").append(matches).append('\n'));
        return text.toString();
    }

    @Programs.Both
    void program_6_selectors_that_do_not_parse_are_refused(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("orders");
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect());
            final Session unvalidated = Jms.automatic(bus.connect(null, Map.of("jms.validateSelector", "false")));
            for (String selector : List.of("i = ", "a.b = 1", "i ! 5", "EXISTS(i)", "i IN (1, 2)", "[i] = 5")) {
                assertThrows(InvalidSelectorException.class, () ->
                    session.createConsumer(session.createQueue("orders"), selector), selector);
                assertThrows(JMSException.class, () -> unvalidated.createConsumer(unvalidated.createQueue("orders"),
                    selector), selector);
                assertThrows(JMSException.class, () -> unvalidated.createConsumer(unvalidated.createTopic("events"),
                    selector), selector);
            }
        }
    }

    @Programs.Azure
    void program_8_what_comes_back_reaches_a_waiting_selector(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("work", "\"LockDuration\": \"PT1M\", \"MaxDeliveryCount\": 10");
            final Session sender = Jms.automatic(bus.connect());
            final MessageProducer producer = sender.createProducer(sender.createQueue("work"));
            final Message red = sender.createTextMessage("red");
            red.setStringProperty("color", "red");
            producer.send(red);

            final Session first = Jms.manual(bus.connect());
            final Message held = Jms.next(first.createConsumer(first.createQueue("work"), "color = 'red'"));
            final BlockingQueue<Integer> counts = new LinkedBlockingQueue<>();
            final Session second = Jms.manual(bus.connect());
            second.createConsumer(second.createQueue("work"), "color = 'red'").setMessageListener(m ->
                counts.add(Jms.count(m)));
            held.setIntProperty("JMS_AMQP_ACK_TYPE", 4);
            held.acknowledge();
            assertEquals(2, counts.poll(Bus.SOON, TimeUnit.MILLISECONDS), "after an abandon");
            bus.advance("PT61S");
            assertEquals(3, counts.poll(Bus.SOON, TimeUnit.MILLISECONDS), "after the lock's end");
        }
    }
}

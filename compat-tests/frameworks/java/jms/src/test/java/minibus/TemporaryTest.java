package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What ends with its session, connection or process: programs 11 and 17. */
class TemporaryTest {
    @Programs.Both
    void program_11_a_session_takes_its_subscriptions_along(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.topic("events");
            final Session session = Jms.automatic(bus.connect());
            session.createConsumer(session.createTopic("events"));
            session.createSharedConsumer(session.createTopic("events"), "shared");
            assertEquals(3, bus.paths().size(), () -> bus.paths().toString());
            session.close();
            bus.awaitPaths("the subscriptions are gone", paths -> paths.equals(Set.of("events")));
        }
    }

    /**
     * Prints a line when it has everything, and waits to be killed. Its arguments are a client and a host, again and
     * again.
     */
    static final class Victim {
        public static void main(String[] args) throws Exception {
            for (int i = 0; i < args.length; i += 2) {
                final Connection connection = Client.valueOf(args[i]).factory(args[i + 1], Bus.ROOT, Bus.KEY, null,
                    Map.of())
                    .createConnection();
                connection.start();
                final Session session = Jms.automatic(connection);
                session.createConsumer(session.createTopic("events"));
                session.createSharedConsumer(session.createTopic("events"), "shared");
                session.createTemporaryQueue();
                session.createTemporaryTopic();
            }
            System.out.println("ready");
            System.in.read();
        }
    }

    @Test
    void program_11_a_killed_process_leaves_nothing() throws Exception {
        final List<Bus> namespaces = new ArrayList<>();
        final List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
        for (String property : List.of("javax.net.ssl.trustStore", "javax.net.ssl.trustStorePassword",
            "jdk.net.hosts.file")) {
            command.add("-D" + property + "=" + System.getProperty(property));
        }
        command.add(Victim.class.getName());
        for (Setup setup : Programs.both().toList()) {
            final Bus bus = new Bus(setup);
            namespaces.add(bus);
            bus.topic("events");
            command.addAll(List.of(setup.client().name(), bus.host));
        }
        final Process victim = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (var out = new BufferedReader(new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8))) {
            assertEquals("ready", out.readLine());
            for (Bus bus : namespaces) {
                assertEquals(5, bus.paths().size(), () -> bus.paths().toString());
            }
            victim.destroyForcibly();
            for (Bus bus : namespaces) {
                bus.awaitPaths("only the topic is left", paths -> paths.equals(Set.of("events")));
                bus.close();
            }
        } finally {
            victim.destroyForcibly();
        }
    }

    @Programs.Both
    void program_17_a_temporary_queue(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            final Connection connection = bus.connect();
            final Session session = Jms.automatic(connection);
            final TemporaryQueue queue = session.createTemporaryQueue();
            final Session other = Jms.automatic(bus.connect());
            Jms.send(other, other.createProducer(queue), "for you");
            final MessageConsumer consumer = session.createConsumer(queue);
            assertEquals("for you", Jms.nextText(consumer));
            consumer.close();
            assertEquals(Set.of(queue.getQueueName()), bus.paths());
            queue.delete();
            assertEquals(Set.of(), bus.paths());
            assertThrows(InvalidDestinationException.class, () ->
                Jms.send(other, other.createProducer(queue), "too late"));

            session.createTemporaryQueue();
            assertEquals(1, bus.paths().size());
            connection.close();
            bus.awaitPaths("the queue is gone", Set::isEmpty);
        }
    }

    @Programs.Both
    void program_17_a_temporary_topic(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            final Connection connection = bus.connect();
            final Session session = Jms.automatic(connection);
            final TemporaryTopic topic = session.createTemporaryTopic();
            final MessageConsumer one = session.createConsumer(topic);
            final MessageConsumer two = session.createConsumer(topic);
            final Session other = Jms.automatic(bus.connect());
            Jms.send(other, other.createProducer(topic), "for both");
            assertEquals("for both", Jms.nextText(one));
            assertEquals("for both", Jms.nextText(two));
            one.close();
            two.close();
            topic.delete();
            bus.awaitPaths("the topic is gone", Set::isEmpty);
            assertThrows(InvalidDestinationException.class, () ->
                Jms.send(other, other.createProducer(topic), "too late"));

            session.createTemporaryTopic();
            assertTrue(bus.paths().size() == 1, () -> bus.paths().toString());
            connection.close();
            bus.awaitPaths("the topic is gone", Set::isEmpty);
        }
    }
}

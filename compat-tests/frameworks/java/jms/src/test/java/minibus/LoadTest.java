package minibus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Session;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.parallel.Isolated;

/** What selectors cost the server: program 7. No other program runs meanwhile. */
@Isolated
class LoadTest {
    private static final int CONSUMERS = 500;
    private static final int ROUNDS = 10;

    @Programs.Both
    void program_7_500_correlation_ids_cost_little(Setup setup) throws Exception {
        try (Bus bus = new Bus(setup)) {
            bus.queue("plain");
            bus.queue("selected");
            final AtomicInteger received = new AtomicInteger();
            consume(bus, "plain", false, received);
            consume(bus, "selected", true, received);
            final List<String> round = IntStream.range(0, CONSUMERS).mapToObj(i ->
                Jms.json("x", "\"correlationId\": \"" + i + "\"")).toList();
            long plain = 0;
            long selected = 0;
            for (int i = 0; i <= ROUNDS; i++) { // the first one warms up
                final long start = processorTime();
                serve(bus, "plain", round, received);
                final long middle = processorTime();
                serve(bus, "selected", round, received);
                if (i > 0) {
                    plain += middle - start;
                    selected += processorTime() - middle;
                }
            }
            final double factor = (double) selected / plain;
            System.out.printf("500 selectors (%s): %.2f times the processor time of 500 plain consumers (%d ms)%n",
                setup, factor, plain);
            // On an idle machine it is below 1.3. Ticks of 10 ms and other programs blur it; without an index it
            // would be tens.
            assertTrue(factor < 4, "500 selectors take " + factor + " times the processor time of 500 plain consumers");
        }
    }

    private static void consume(Bus bus, String queue, boolean selecting, AtomicInteger received) throws JMSException {
        final Connection connection = bus.connect(null, Map.of("jms.prefetchPolicy.all", "1"));
        final Session session = Jms.automatic(connection);
        for (int i = 0; i < CONSUMERS; i++) {
            final String selector = selecting ? "JMSCorrelationID='" + i + "'" : null;
            session.createConsumer(session.createQueue(queue), selector).setMessageListener(m ->
                received.incrementAndGet());
        }
    }

    private static void serve(Bus bus, String queue, List<String> messages, AtomicInteger received) {
        final int end = received.get() + messages.size();
        bus.send(queue, messages);
        bus.await(queue, "active", 0);
        assertTrue(received.get() == end, () -> received.get() + " instead of " + end);
    }

    /** The processor time that the server has used, in ms. */
    private static long processorTime() {
        return ProcessHandle.allProcesses().map(ProcessHandle::info)
            .filter(p -> p.commandLine().orElse("").contains("--host " + System.getenv("MINIBUS_HOST")))
            .findFirst().orElseThrow().totalCpuDuration().orElseThrow().toMillis();
    }
}

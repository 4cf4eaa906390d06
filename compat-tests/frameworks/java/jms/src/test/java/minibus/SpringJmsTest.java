package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import jakarta.jms.Message;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.jms.core.BrowserCallback;
import org.springframework.jms.core.JmsTemplate;

/**
 * Spring Cloud Azure's JMS starter: what Spring does of programs 9 and 18, and programs 23 and 24, in one
 * application.
 */
class SpringJmsTest {
    private static final int REQUESTS = 1000;

    @ParameterizedTest
    @ValueSource(strings = {"relaxed", "premium"})
    void programs_9_18_23_and_24_with_springs_starter(String limits) throws Exception {
        try (Bus bus = new Bus(new Setup(Client.AZURE, limits))) {
            final String[] settings = {
                "--spring.jms.servicebus.connection-string=" + Client.connectionString(bus.host, Bus.ROOT, Bus.KEY),
                "--spring.jms.servicebus.pricing-tier=premium", "--spring.jms.servicebus.topic-client-id=shop",
                "--spring.jms.cache.enabled=true", "--logging.level.root=off",
            };
            try (var context = new SpringApplicationBuilder(SpringApp.class).web(WebApplicationType.NONE).bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false).run(settings)) {
                final SpringApp app = context.getBean(SpringApp.class);
                final JmsTemplate template = context.getBean(JmsTemplate.class);
                template.setReceiveTimeout(Bus.SOON);
                bus.awaitPaths("all listeners are there", paths -> paths.containsAll(
                    Set.of("events/Subscriptions/audit$shop$D", "events/Subscriptions/workers$shop$D", "failing",
                        "requests")));
                listen(app, template);
                browse(bus, template);
                rollBack(bus, template);
                final Set<String> before = bus.paths();
                request(template);
                bus.awaitPaths("no temporary queue is left", paths -> paths.equals(before));
            }
        }
    }

    /** Program 24. */
    private static void listen(SpringApp app, JmsTemplate template) throws Exception {
        template.setPubSubDomain(true);
        for (String event : Jms.numbers(0, 20)) {
            template.convertAndSend("events", event);
        }
        template.setPubSubDomain(false);
        assertEquals(Jms.numbers(0, 20), take(app.audit, 20));
        final List<String> shared = take(app.shared, 20);
        Collections.sort(shared);
        assertEquals(Jms.numbers(0, 20).stream().sorted().toList(), shared);
        assertNull(app.shared.poll());

        template.convertAndSend("failing", "work");
        assertEquals(List.of(1, 2, 3), take(app.failing, 3));
        assertNull(app.failing.poll());
    }

    private static <T> List<T> take(BlockingQueue<T> queue, int number) throws InterruptedException {
        final List<T> taken = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            final T next = queue.poll(Bus.SOON, TimeUnit.MILLISECONDS);
            assertNotNull(next, () -> "only " + taken);
            taken.add(next);
        }
        return taken;
    }

    /** Program 9. */
    private static void browse(Bus bus, JmsTemplate template) {
        bus.queue("browsed");
        bus.send("browsed", Jms.numbers(0, 100).stream().map(n ->
            Jms.json(n, "\"applicationProperties\": {\"n\": " + n + "}")).toList());
        final BrowserCallback<Integer> count = (session, browser) -> Collections.list(browser.getEnumeration()).size();
        assertEquals(Integer.valueOf(100), template.browse("browsed", count));
        assertEquals(Integer.valueOf(50), template.browseSelected("browsed", "n >= 50", count));
        assertEquals(100, bus.count("browsed", "active"));
        assertEquals("7", template.receiveSelectedAndConvert("browsed", "n = 7"));
    }

    /** Program 18. */
    private static void rollBack(Bus bus, JmsTemplate template) throws Exception {
        bus.queue("work", "\"LockDuration\": \"PT1M\", \"MaxDeliveryCount\": 2");
        template.convertAndSend("work", "again");
        try (var connection = template.getConnectionFactory().createConnection()) {
            connection.start();
            final Session session = Jms.transacted(connection);
            final var consumer = session.createConsumer(session.createQueue("work"));
            for (int count = 1; count <= 2; count++) {
                final Message message = consumer.receive(2000);
                assertNotNull(message, "delivery " + count + " did not come within 2 s");
                assertEquals(count, message.getIntProperty(Jms.DELIVERY_COUNT));
                session.rollback();
            }
        }
        bus.await("work", "deadLetter", 1);
    }

    /** Program 23. It prints how long the requests took; docs/performance.md has figures of a quiet machine. */
    private static void request(JmsTemplate template) throws Exception {
        final var threads = Executors.newFixedThreadPool(8);
        try {
            final List<Future<Long>> answers = new ArrayList<>();
            for (String number : Jms.numbers(0, REQUESTS)) {
                answers.add(threads.submit(() -> {
                    final long start = System.nanoTime();
                    final Message answer = template.sendAndReceive("requests", session ->
                        session.createTextMessage(number));
                    assertEquals("Hello, " + number, Jms.text(answer));
                    return System.nanoTime() - start;
                }));
            }
            final List<Long> times = new ArrayList<>();
            for (Future<Long> answer : answers) {
                times.add(answer.get());
            }
            Collections.sort(times);
            System.out.printf("sendAndReceive: median %.2f ms, 99th percentile %.2f ms%n",
                times.get(REQUESTS / 2) / 1e6, times.get(REQUESTS * 99 / 100) / 1e6);
        } finally {
            threads.shutdown();
        }
    }
}
